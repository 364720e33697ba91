"""The YAML that most front matter is written in, read line by line: names, lists and values that each fit on one line.

In: a text. Out: the tree that `yaml_build` would make of it, down to every span; None for a text that holds anything
else, such as anchors, tags, block scalars, escapes or values of several lines, and for every text with a problem.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct, field

from prosa.data.tree import Entry, Mapping, Node, Scalar, Sequence
from prosa.data.yaml_core import WORDS, TooManyDigits, core_value
from prosa.regex import regex
from prosa.source import Span

_DEEPEST = 30
"""Levels of nesting, far below the limit that is a problem."""

_ODD = regex("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""Line ends but `\\n`, tabs, and what `yaml_shield` hides from libyaml. Most texts are
printable but for their line ends, and have none: compiling this set takes as long as all expressions below."""

_NAME = r"([^\W\d](?:[\w./ -]{0,100}[\w./-])?+):"
_QUOTED = r'"([^"\\\n]*+)"|\'([^\'\n]*+)\''
_PLAIN = r"(?:[^ \-?:,\[\]{}#&*!|>'\"%@`\n]|-(?=\w))[^:#\n]*+(?:(?::(?=[^ \n])|(?<! )#)[^:#\n]*+)*+"
_LINE = regex(
    rf" *+((?:-(?: ++|(?=\n|\Z)))*+)(?:{_NAME}(?: ++|(?=\n|\Z)))?"
    rf"(?:(?=([\[{{]))|(?:{_QUOTED}|({_PLAIN}))?+ *+(?:(?<![^ \n])#[^\n]*+)?+(?:\n|\Z))"
)
"""Dashes, a name, a bracket that opens a value, or the rest of the line: a value in quotes or a plain one."""

_INNER = regex(rf" *+(?:{_NAME} ++)?(?:{_QUOTED}|([^\W_][\w./+'()&@$%=~ -]*+)|([\[{{]))")
"""A name and a value between brackets, or the bracket that opens an inner one."""

_AFTER = regex(r" *+([,\]}])")
_CLOSED = regex(r" *+([\]}])")
_REST = regex(r" *+(?:(?<= )#[^\n]*+)?+(?:\n|\Z)")


class _Unusual(Exception):
    """The text holds something that is read event by event."""


class _Open(Struct):
    """A list or mapping that more lines may belong to. ``empty`` is where the value of its last dash or name would
    stand, as long as it has none, else -1."""

    column: int
    mapping: bool
    start: int
    end: int
    children: list[Any] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    key: Scalar | None = None
    empty: int = -1


def read_plain_yaml(text: str, offset: int) -> Node | None:
    """Return the data of a text, every span moved right by ``offset``; None where it has none or is not as plain."""
    if not text.replace("\n", "").isprintable() and _ODD.search(text):
        return None
    lines = _Lines(text, offset)
    at, last = 0, len(text)
    try:
        while at < last:
            at = lines.read(at)
        return lines.root()
    except (_Unusual, TooManyDigits):
        return None


class _Lines:
    """The state of a reading: the collections that are open, outermost first, below one that holds the root."""

    __slots__ = ("offset", "open", "text")

    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.offset = offset
        self.open = [_Open(-1, False, 0, 0, empty=0)]

    def root(self) -> Node | None:
        """End all collections, and return the outermost."""
        while len(self.open) > 1:
            self._close()
        return self.open[0].children[0] if self.open[0].children else None

    def read(self, at: int) -> int:
        """Take the line at a place, and return where the next one begins."""
        match = _LINE.match(self.text, at)
        if match is None:
            raise _Unusual
        _, (first, behind), (start, _), (bracket, _), *_ = match.regs
        if behind > first:
            self._dashes(at, first, behind)
        group = match.lastindex or 0
        if start >= 0:
            self._name(match[2], start, start - at)
        elif first == behind and group != 1:
            raise _Unusual  # a value that begins on a line of its own, or is continued there
        if group > 3:
            self._put(self._scalar(match, group, 4))
        elif bracket >= 0:
            return self._rest(*self._between(bracket, len(self.open)))
        return match.end()

    def _rest(self, node: Node, end: int) -> int:
        """Take a value in brackets, and return where the line ends."""
        self._put(node)
        rest = _REST.match(self.text, end)
        if rest is None:
            raise _Unusual
        return rest.end()

    def _dashes(self, line: int, first: int, behind: int) -> None:
        """Take items of lists. A list may stand below its name without indentation."""
        for at in range(first, behind):
            if self.text[at] != "-":
                continue
            column = at - line
            while (last := self.open[-1]).column > column:
                self._close()
            if last.column != column or last.mapping:
                last = self._begin(False, at, column, last)
            elif last.empty >= 0:
                self._fill(last)
            last.empty = at + 1

    def _name(self, name: str, at: int, column: int) -> None:
        while (last := self.open[-1]).column > column or (last.column == column and not last.mapping):
            self._close()
        if last.column != column:
            last = self._begin(True, at, column, last)
        elif last.empty >= 0:
            self._fill(last)
        if name in last.names:
            raise _Unusual
        last.names.add(name)
        last.key = self._key(name, at)
        last.empty = at + len(name) + 1

    def _key(self, name: str, at: int) -> Scalar:
        at += self.offset
        return Scalar(WORDS.get(name, name), name, Span(at, at + len(name)))

    def _begin(self, mapping: bool, at: int, column: int, outer: _Open) -> _Open:
        if outer.empty < 0 or len(self.open) > _DEEPEST:
            raise _Unusual
        self.open.append(_Open(column, mapping, at + self.offset, at + self.offset))
        return self.open[-1]

    def _close(self) -> None:
        """End the innermost collection."""
        last = self.open[-1]
        if last.empty >= 0:
            self._fill(last)
        self.open.pop()
        kind = Mapping if last.mapping else Sequence
        self._put(kind(tuple(last.children), Span(last.start, last.end)))

    def _fill(self, last: _Open) -> None:
        """Give a name or dash without a value the value null."""
        at = last.empty + self.offset
        self._put(Scalar(None, "", Span(at, at)))

    def _put(self, node: Node) -> None:
        last = self.open[-1]
        if last.key is None:
            last.children.append(node)
        else:
            last.children.append(Entry(last.key, node))
            last.key = None
        last.empty = -1
        last.end = node.span.end

    def _scalar(self, match: re.Match[str], group: int, first: int) -> Scalar:
        """Return the value in a group, of which the ``first`` is one in double quotes, the next one in single ones."""
        text, start = match[group], match.start(group) + self.offset
        if group < first + 2:
            return Scalar(text, text, Span(start - 1, start + len(text) + 1), "double" if group == first else "single")
        text = text.rstrip(" ")
        return Scalar(core_value(text), text, Span(start, start + len(text)))

    def _between(self, at: int, level: int) -> tuple[Node, int]:
        """Return the list or mapping whose bracket is at a place, and where it ends."""
        if level > _DEEPEST:
            raise _Unusual
        text, start, mapping = self.text, at, self.text[at] == "{"
        children: list[Any] = []
        names: set[str] = set()
        closed = _CLOSED.match(text, at + 1)
        while closed is None:
            match = _INNER.match(text, at + 1)
            if match is None:
                raise _Unusual
            name, group = match[1], match.lastindex or 0
            if mapping is (name is None) or name in names:
                raise _Unusual
            node: Any
            if group == 5:
                node, at = self._between(match.start(5), level + 1)
            else:
                node, at = self._scalar(match, group, 2), match.end()
            if mapping:
                names.add(name)
                node = Entry(self._key(name, match.start(1)), node)
            children.append(node)
            after = _AFTER.match(text, at)
            if after is None:
                raise _Unusual
            at = after.end() - 1
            if after[1] != ",":
                closed = after
        if closed[1] != ("}" if mapping else "]"):
            raise _Unusual
        kind, end = Mapping if mapping else Sequence, closed.end()
        return kind(tuple(children), Span(start + self.offset, end + self.offset)), end
