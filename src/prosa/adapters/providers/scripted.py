"""A provider that plays fixed replies (X16): for tests, for the demo, and for `--model scripted:FILE`.

What comes in: replies as dicts or a file of JSON lines. What goes out: exactly these replies, in order, per program. It
reaches no network and invents nothing: when the replies are used up, it says so.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Iterable, Mapping

from prosa.adapters.providers.script import ScriptedReply, ScriptProblem, replies_of
from prosa.data import Value
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText

__all__ = ["ScriptProblem", "ScriptedProvider", "ScriptedReply"]


class ScriptedProvider:
    """Plays replies in order. A program takes its own replies first, then those without a `program`.

    Replies that name a program can be taken by no other, so programs that run at the same time cannot take each
    other's, whatever runs first. Replies without a `program` go to the first program that asks: with several at once,
    name them. One `complete` consumes one reply, so an `error` is one failed attempt.

    ``replies``: dicts `{program?, content | tool_calls | refusal | error, usage?, model?, finish?}`, or the path of a
    file with one such object per line. ``content`` is a text or any JSON value; ``tool_calls`` a list of
    `{name, arguments, id?}`; ``error`` a text or `{message, kind?, status?, retry_after?}`; ``usage`` counts
    `input_tokens`, `output_tokens`, `cached_input_tokens`. Raises `ScriptProblem` for anything else.

    ``requests`` holds every request in the order of arrival.
    """

    def __init__(self, replies: str | os.PathLike[str] | Iterable[Mapping[str, Value]]) -> None:
        self.requests: list[ModelRequest] = []
        self._waiting: dict[str | None, deque[ScriptedReply]] = {}
        self._given: dict[str | None, int] = {}
        self._last_error: dict[str, str] = {}
        for reply in replies_of(replies):
            self._waiting.setdefault(reply.program, deque()).append(reply)
            self._given[reply.program] = self._given.get(reply.program, 0) + 1

    @property
    def remaining(self) -> int:
        """How many replies have not been used yet."""
        return sum(len(waiting) for waiting in self._waiting.values())

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Return the next reply for the program that asks. Raises its `error`, or kind ``missing`` when there is none
        left."""
        self.requests.append(request)
        chosen = self._take(request.program)
        await asyncio.sleep(0)  # as a real call would, lets others run
        if chosen.error is not None:
            self._last_error[request.program] = chosen.error.message
            raise _copy(chosen.error)
        assert chosen.reply is not None
        if on_text is not None and chosen.reply.content:
            on_text(chosen.reply.content)
        return chosen.reply

    async def aclose(self) -> None:
        """Nothing to release."""

    def _take(self, program: str) -> ScriptedReply:
        for name in (program, None):
            waiting = self._waiting.get(name)
            if waiting:
                return waiting.popleft()
        raise self._used_up(program)

    def _used_up(self, program: str) -> ProviderError:
        own, shared = self._given.get(program, 0), self._given.get(None, 0)
        others = sorted(name for name in self._waiting if name not in (None, program))
        message = (
            f"the script has no reply left for program `{program}`: it had {_count(own, 'reply', 'replies')} for it"
            f" and {shared} for any program"
        )
        if program in self._last_error:
            message += f"; the last one for it was the error: {self._last_error[program]}"
        hint = "add a line for every model call"
        if others:
            hint += f"; the script also names {', '.join(f'`{name}`' for name in others)}"
        return ProviderError(message, kind="missing", retryable=False, hint=hint, billable=False)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _copy(error: ProviderError) -> ProviderError:
    """Return a fresh exception: a raised one collects traceback and context."""
    return ProviderError(
        error.message,
        kind=error.kind,
        retryable=error.retryable,
        status=error.status,
        retry_after=error.retry_after,
        hint=error.hint,
        billable=error.billable,
    )
