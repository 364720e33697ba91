"""What a chat would send, as text for people and as plain data. Nothing is sent and nothing is left out."""

from __future__ import annotations

from collections.abc import Sequence

from prosa.data import Value
from prosa.runtime.lower.prapti import Turn
from prosa.runtime.messages import Message


def turns_data(turns: Sequence[Turn]) -> list[dict[str, Value]]:
    """Return one object for each turn: ``responder``, ``model`` and ``provider`` (null: as the user chose), ``n``,
    ``parameters``, and ``messages`` or ``prompt``."""
    return [_turn(turn) for turn in turns]


def turns_text(turns: Sequence[Turn]) -> str:
    """Return every message below a line with its author; several participants get a line each."""
    parts: list[str] = []
    for turn in turns:
        if len(turns) > 1:
            parts.append(f"== {turn.name or turn.responder}")
        if turn.mode == "completion":
            parts.append(f"-- prompt\n{turn.prompt}")
        parts += [f"-- {message.role}{_name(message)}\n{message.content}" for message in turn.messages]
    return "\n\n".join(parts)


def _turn(turn: Turn) -> dict[str, Value]:
    sent: dict[str, Value] = {"responder": turn.responder, "model": turn.model_name, "provider": turn.provider}
    sent |= {"n": turn.n, "parameters": dict(turn.parameters)}
    if turn.mode == "completion":
        return {**sent, "prompt": turn.prompt}
    return {**sent, "messages": [_message(message) for message in turn.messages]}


def _message(message: Message) -> dict[str, Value]:
    data: dict[str, Value] = {"role": message.role, "content": message.content}
    return {**data, "name": message.name} if message.name else data


def _name(message: Message) -> str:
    return f"/{message.name}" if message.name else ""
