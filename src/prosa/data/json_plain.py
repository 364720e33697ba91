"""The JSON that most blocks hold, read a member at a time: objects and lists of strings without escapes, of numbers,
and of `true`, `false` and `null`.

In: a text. Out: the tree that the exact reader would make of it, down to every span; None for a text that holds
anything else, and for every text with a problem.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct, field

from prosa.data.limits import MAX_DEPTH
from prosa.data.tree import Entry, Mapping, Node, Scalar, Sequence
from prosa.regex import regex
from prosa.source import Span

_SPACE = r"[ \t\n\r]*+"
_STRING = r'"([^"\\\x00-\x1f\ud800-\udfff]*+)"'
_VALUE = (
    rf"(?:{_STRING}|(-?(?:0|[1-9][0-9]{{0,17}})(\.[0-9]{{1,17}})?+)|(true|false|null)|(?=([\[{{]))){_SPACE}([,\]}}])?"
)
"""A value with the sign behind it, or the bracket that opens one."""

_MEMBER = regex(rf"{_SPACE}{_STRING}{_SPACE}:{_SPACE}{_VALUE}")
_ITEM = regex(rf"{_SPACE}(){_VALUE}")
_OPEN = regex(rf"\ufeff?{_SPACE}([\[{{]){_SPACE}([\]}}])?")
_NEXT = regex(rf"{_SPACE}([,\]}}])")
_END = regex(rf"{_SPACE}\Z")

_NAMES = {"null": None, "true": True, "false": False}


class _Open(Struct):
    """An object or list that is still open; ``key`` is that of its last member."""

    mapping: bool
    start: int
    children: list[Any] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    key: Scalar | None = None

    def attach(self, node: Node) -> None:
        self.children.append(node if self.key is None else Entry(self.key, node))

    def closed(self, end: int, offset: int) -> Node:
        span, children = Span(self.start + offset, end + offset), tuple(self.children)
        return Mapping(children, span) if self.mapping else Sequence(children, span)


def read_plain_json(text: str, offset: int) -> Node | None:
    """Return the data, every span moved right by ``offset``; None where the exact reader is needed."""
    frames: list[_Open] = []
    opened = _OPEN.match(text)
    while opened is not None and len(frames) < MAX_DEPTH:
        frame = _Open(opened[1] == "{", opened.start(1))
        frames.append(frame)
        at, sign, opened = opened.end(), opened[2], None
        while opened is None:
            if sign is None or sign == ",":
                step = (_MEMBER if frame.mapping else _ITEM).match(text, at)
                if step is None or (frame.mapping and not _named(frame, step, offset)):
                    return None
                at, sign = step.end(), step[7]
                if step[6]:
                    opened = _OPEN.match(text, at)
                elif sign is None:
                    return None
                else:
                    frame.attach(_scalar(step, offset))
                continue
            if (sign == "}") is not frame.mapping:
                return None
            made = frames.pop().closed(at, offset)
            if not frames:
                return made if _END.match(text, at) else None
            frame = frames[-1]
            frame.attach(made)
            if (following := _NEXT.match(text, at)) is None:
                return None
            at, sign = following.end(), following[1]
    return None


def _named(frame: _Open, step: re.Match[str], offset: int) -> bool:
    """Give the frame the key of its next member, and return whether no other has it."""
    name: str = step[1]
    start, end = step.span(1)
    frame.key = Scalar(name, name, Span(start - 1 + offset, end + 1 + offset), "double")
    known = len(frame.names)
    frame.names.add(name)
    return len(frame.names) > known


def _scalar(step: re.Match[str], offset: int) -> Scalar:
    _, string, number, fraction, word, _, _ = step.groups()
    if string is not None:
        start, end = step.span(2)
        return Scalar(string, string, Span(start - 1 + offset, end + 1 + offset), "double")
    if number is not None:
        start, end = step.span(3)
        value = float(number) if fraction else int(number)
        return Scalar(value, number, Span(start + offset, end + offset))
    start, end = step.span(5)
    return Scalar(_NAMES[word], word, Span(start + offset, end + offset))
