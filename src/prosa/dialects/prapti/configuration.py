"""The configuration of a chat: where it comes from, and what is in effect (P14, PA9, X7).

In: chats that were read, lowest layer first. Out: one list of assignments, the messages that precede the document's,
and one value for every path that is set, with the line that set it; also as text for people. The last assignment wins,
`var(NAME)` is looked up late. A file in the tree only has the rights of a document; the user's own file has the
user's. Nothing runs: actions have no effect here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import Value
from prosa.dialects.prapti.fields import path_of
from prosa.dialects.prapti.model import ChatMessage, ChatModel, ConfigLine
from prosa.source import SourceText

LayerKind: TypeAlias = Literal["user", "tree", "given", "document"]

TREE_FILE = ".prapticonfig.md"
"""Configuration of all chats in and below its folder."""

USER_FILES = ("chat.md",)
"""The user's own configuration of chats, in the folder of their settings."""


class Layer(Struct, frozen=True):
    """One chat file that configures. ``trusted`` gives it the rights of the user, ``follows`` lets the files it
    includes hold configuration lines too: trust in a document does not extend to those (PA11)."""

    kind: LayerKind
    model: ChatModel
    trusted: bool = False
    follows: bool = False


class Standing(Struct, frozen=True):
    """A line or a message with the layer it comes from; ``final`` is true in the last message of the chat."""

    layer: Layer
    message: ChatMessage
    final: bool


def standings(layers: Sequence[Layer]) -> Iterator[Standing]:
    """Yield every message that is not disabled, lowest layer first."""
    for layer in layers:
        enabled = [message for message in layer.model.messages if not message.disabled]
        for message in enabled:
            final = layer.kind == "document" and message is enabled[-1]
            yield Standing(layer, message, final)


def runs(line: ConfigLine, standing: Standing) -> bool:
    """Return whether a line takes effect: with `!` only in the last message (P14)."""
    return standing.final or not line.last_only


def is_config_root(model: ChatModel) -> bool:
    """Return whether a file stops the search for configuration above it."""
    values = [line.value for line in model.assignments if path_of(line.key or "") == "prapti.config_root"]
    return bool(values) and values[-1] is True


MAX_CHAIN = 20
"""Variables that refer to variables, in a row; the bound of the first implementation."""


class Assigned(Struct, frozen=True):
    """An assignment and where it stands."""

    line: ConfigLine
    source: SourceText


class EffectiveValue(Struct, frozen=True):
    """A value in effect. ``problem`` is the reason why a variable cannot be looked up; ``value`` is None then."""

    path: str
    value: Value
    line: ConfigLine
    source: SourceText
    problem: str | None = None


def effective(model: ChatModel) -> Mapping[str, EffectiveValue]:
    """Return the tree of one chat by path, in the order in which the winning lines stand."""
    return effective_of(Assigned(line, model.source) for line in model.assignments)


def effective_of(assigned: Iterable[Assigned]) -> Mapping[str, EffectiveValue]:
    """Return the tree by path, in the order in which the winning assignments come."""
    last: dict[str, Assigned] = {}
    for assignment in assigned:
        path = path_of(assignment.line.key or "")
        last.pop(path, None)
        last[path] = assignment
    return {path: _resolved(path, assignment, last) for path, assignment in last.items()}


def _resolved(path: str, assigned: Assigned, last: Mapping[str, Assigned]) -> EffectiveValue:
    at = assigned.line
    for _ in range(MAX_CHAIN):
        if at.variable is None:
            return EffectiveValue(path, at.value, assigned.line, assigned.source)
        following = last.get(path_of(at.variable))
        if following is None:
            problem = f"the variable `{at.variable}` is not set anywhere"
            return EffectiveValue(path, None, assigned.line, assigned.source, problem)
        at = following.line
    problem = f"variables refer to each other more than {MAX_CHAIN} times, or in a circle"
    return EffectiveValue(path, None, assigned.line, assigned.source, problem)


def inspected(values: Mapping[str, EffectiveValue]) -> str:
    """Return one line for each value, by path."""
    return "\n".join(f"{path} = {_shown(value)}  ({_where(value)})" for path, value in sorted(values.items()))


def as_rows(values: Mapping[str, EffectiveValue]) -> list[dict[str, Value]]:
    """Return the same as plain data: ``path``, ``value``, ``source``, ``line``, and ``problem`` where there is one."""
    rows = []
    for path, value in sorted(values.items()):
        line = value.source.position(value.line.span.start).line
        row = {"path": path, "value": value.value, "source": value.source.path, "line": line}
        rows.append(row | ({"problem": value.problem} if value.problem else {}))
    return rows


def _shown(setting: EffectiveValue) -> str:
    value = json.dumps(setting.value, ensure_ascii=False)
    if setting.problem:
        return f"var({setting.line.variable}): {setting.problem}"
    return f"{value} by var({setting.line.variable})" if setting.line.variable else value


def _where(value: EffectiveValue) -> str:
    return f"{value.source.path}:{value.source.position(value.line.span.start).line}"
