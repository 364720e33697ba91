"""What is at an offset of YAML or JSON that is being edited.

In: a text, the part of it that is data, and an offset. Out: a `DataPlace`, or None where no name or value can be
written, as in a comment or a block scalar. It works on lines, indents and brackets instead of a parse, so it also
answers while the text is not valid YAML or JSON. Never fails; every character is visited a bounded number of times.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from prosa.data.limits import MAX_DEPTH
from prosa.regex import regex
from prosa.source import Span

Step: TypeAlias = str | None
"""A name, or None for an item of a list."""

_Part: TypeAlias = str | int
_Way: TypeAlias = tuple[_Part, ...]

_LINE = regex(r"[^\r\n]*")
_LINE_END = regex(r"\r\n|\n|\r")
_COLON = regex(r":(?=[ \t\r\n]|\Z)")
_BLANKS = regex(r"[ \t\r\n]*")
_QUOTED = {'"': regex(r'"(?:[^"\\\r\n]|\\[^\r\n])*"?'), "'": regex(r"'(?:[^'\r\n]|'')*'?")}
_PLAIN = regex(r"(?:[^,\[\]{}:#\r\n]|:(?![ \t\r\n,\[\]{}]|\Z)|(?<![ \t])#)+")
_PLAIN_JSON = regex(r"[^,\[\]{}:\"/\r\n]+|/")
_COMMENT = regex(r"(?<![^ \t])#")
_NAME = regex(r"[\w.$-]*")
_NAME_BACK = regex(r"(?<![\w.$-])[\w.$-]*+\Z")
_KEY_LINE = regex(r"(?:- +)*[\w\"'.$-]{1,64}[ \t]*:(?=[ \t\r\n]|\Z)")
_NO_SCALAR = "&*!%@`"


class DataPlace(Struct, frozen=True):
    """A place where data can be written. ``slot`` is the name of a field, its value, or an item of a list, which may
    become the first name of a mapping. ``path`` leads from the top to the mapping of a name, to the field of a value,
    to the item of a list.

    ``span`` is the text there, without quotes; ``typed`` its part before the offset. ``quote`` is the opening quote,
    ``closed`` whether one closes it; ``colon`` whether the name has its colon, ``gap`` whether a blank precedes the
    value. ``flow`` is true between brackets. ``beside`` are the other names of the same mapping.
    """

    slot: Literal["key", "value", "item"]
    path: tuple[Step, ...]
    span: Span
    typed: str
    quote: str = ""
    closed: bool = False
    colon: bool = False
    gap: bool = True
    flow: bool = False
    beside: frozenset[str] = frozenset()


def yaml_place(text: str, region: Span, offset: int) -> DataPlace | None:
    """Return the place in the lines of a YAML mapping. ``region`` consists of whole lines."""
    if not region.start <= offset <= region.end:
        return None
    walk = _PlaceSearch(text, region.end, offset)
    walk.lines(region.start)
    return walk.place()


def json_place(text: str, region: Span, offset: int) -> DataPlace | None:
    """Return the place in a JSON value, `//` comments allowed."""
    if not region.start <= offset <= region.end:
        return None
    walk = _PlaceSearch(text, region.end, offset, json=True)
    gap = _BLANKS.match(text, region.start, region.end)
    walk.flow(gap.end() if gap else region.start, ())
    return walk.place()


def yaml_names(text: str, region: Span) -> Mapping[tuple[Step, ...], tuple[str, ...]]:
    """Return the names of all fields that are written in the lines of a YAML mapping, by the path to their mapping."""
    walk = _PlaceSearch(text, region.end, -1)
    walk.lines(region.start)
    by_path: dict[tuple[Step, ...], dict[str, None]] = {}
    for way, names in walk.names.items():
        by_path.setdefault(_path(way), {}).update(dict.fromkeys(name for name, _ in names))
    return {path: tuple(names) for path, names in by_path.items()}


def _path(way: _Way) -> tuple[Step, ...]:
    return tuple(None if isinstance(part, int) else part for part in way)


class _Frame(Struct):
    """An open name or item: where its line starts, and what it adds to the path."""

    indent: int
    part: _Part


class _Bracket(Struct):
    """An open bracket: the way to it, its name or number at hand, and what comes next in it."""

    way: _Way
    is_map: bool
    key: str = ""
    number: int = 0
    state: Literal["key", "colon", "value", "after"] = "key"

    def inner(self) -> _Way:
        return (*self.way, self.key if self.is_map else self.number)


class _PlaceSearch(Struct):
    """The state of one search. ``names`` are the fields met, by the path to their mapping, each with its position;
    ``found`` is the place without its siblings, with the path to the mapping."""

    text: str
    end: int
    offset: int
    json: bool = False
    stack: list[_Frame] = field(default_factory=list)
    counts: dict[_Way, int] = field(default_factory=dict)
    names: dict[_Way, list[tuple[str, int]]] = field(default_factory=dict)
    found: tuple[DataPlace, _Way] | None = None
    block: int | None = None
    """The indent of the field whose block scalar continues."""
    hidden: bool = False
    """Whether the offset lies in a comment."""

    def place(self) -> DataPlace | None:
        """Return what was found, with the names beside it."""
        if self.found is None:
            return None
        place, way = self.found
        beside = frozenset(name for name, at in self.names.get(way, ()) if at != place.span.start)
        return DataPlace(
            place.slot,
            _path(way),
            place.span,
            place.typed,
            place.quote,
            place.closed,
            place.colon,
            place.gap,
            place.flow,
            beside,
        )

    # ---- lines ----

    def lines(self, at: int) -> None:
        while at <= self.end:
            line = _LINE.match(self.text, at, self.end)
            end = line.end() if line else at
            at = self.line(at, end)
            ended = _LINE_END.match(self.text, at, self.end)
            if ended is None:
                break
            at = ended.end()

    def line(self, start: int, end: int) -> int:
        """Read one line and the lines its brackets span, and return where the last one ends."""
        indent = end - start - len(self.text[start:end].lstrip(" "))
        first = start + indent
        here = start <= self.offset <= end
        blank = not self.text[first:end].strip()
        if self.block is not None:
            if (indent > self.block and not blank) or (blank and not (here and self.offset - start <= self.block)):
                return end
            self.block = None if not blank else self.block
        if blank:
            if here:
                self._empty(self.offset - start)
            return end
        if self.text[first] == "#":
            return end
        return self._content(start, first, end)

    def _empty(self, column: int) -> None:
        """Read an empty line: its column decides whether a new name can start there."""
        way = self._way(column)
        self._set("key", way, Span(self.offset, self.offset))

    def _way(self, column: int) -> _Way:
        """Return the way to the mapping that a name at a column belongs to."""
        return tuple(frame.part for frame in self.stack if frame.indent < column)

    def _content(self, start: int, at: int, end: int) -> int:
        """Return a line with something on it: dashes, then a name and its value, a name without colon, or an item."""
        text, item = self.text, False
        while text[at] == "-" and text[at + 1 : at + 2] in ("", " ", "\t", "\r", "\n") and at < end:
            if len(self.stack) > MAX_DEPTH:
                return end
            self._open_item(at - start)
            item, dash = True, at
            at += 1
            while at < end and text[at] in " \t":
                at += 1
            if at >= end:
                if dash < self.offset <= end:
                    self._set("item", self._way(end - start + 1), Span(self.offset, self.offset))
                return end
        if text[at] in "[{":
            self._pop(at - start)
            return self.flow(at, self._way(at - start), at - start)
        return self._scalar_or_field(start, at, end, item=item)

    def _open_item(self, column: int) -> None:
        """Open another item of the list whose dashes are at a column, which may be that of its field."""
        while self.stack and (
            self.stack[-1].indent > column or (self.stack[-1].indent == column and isinstance(self.stack[-1].part, int))
        ):
            self.stack.pop()
        way = tuple(frame.part for frame in self.stack)
        number = self.counts.get(way, 0)
        self.counts[way] = number + 1
        self.stack.append(_Frame(column, number))

    def _pop(self, column: int) -> None:
        while self.stack and self.stack[-1].indent >= column:
            self.stack.pop()

    def _scalar_or_field(self, start: int, at: int, end: int, *, item: bool) -> int:
        column = at - start
        self._pop(column)
        way = tuple(frame.part for frame in self.stack)
        quoted = _QUOTED[self.text[at]].match(self.text, at, end) if self.text[at] in _QUOTED else None
        colon = _COLON.search(self.text, quoted.end() if quoted else at, end)
        if colon is None or (quoted and self.text[quoted.end() : colon.start()].strip()):
            self._word(at, end, way, item=item or bool(way and isinstance(way[-1], int)))
            return end
        written = self._unquoted(at, colon.start())
        name = self._name(at, written)
        self.names.setdefault(way, []).append((name, written.start))
        if at <= self.offset <= colon.start():
            self._set("key", way, written, quote=self._quote(at), closed=True, colon=True)
        if len(self.stack) <= MAX_DEPTH:
            self.stack.append(_Frame(column, name))
        return self._value(colon.start(), end, column)

    def _word(self, at: int, end: int, way: _Way, *, item: bool) -> None:
        """Take a line without colon: a name that is being written, or a text in a list."""
        if not at <= self.offset <= end or self.text[at] in _NO_SCALAR:
            return
        stop = self._stop(at, end)
        if self.offset <= stop:
            slot: Literal["key", "item"] = "item" if item and way not in self.names else "key"
            self._set(slot, way, self._unquoted(at, stop), quote=self._quote(at), closed=self._is_closed(at, stop))

    def _value(self, colon: int, end: int, column: int) -> int:
        """Read the value after a colon and return where it ends."""
        at = colon + 1
        while at < end and self.text[at] in " \t":
            at += 1
        first = self.text[at] if at < end else ""
        way = tuple(frame.part for frame in self.stack)
        if first in ("|", ">"):
            self.block = column
        elif first in ("[", "{"):
            return self.flow(at, way, column)
        elif colon < self.offset <= end and first not in tuple(_NO_SCALAR):
            stop = self._stop(at, end)
            if not first or self.offset <= max(stop, at):
                span = self._unquoted(at, stop) if first and stop > at else Span(self.offset, self.offset)
                self._set(
                    "value",
                    way,
                    span,
                    quote=self._quote(at) if stop > at else "",
                    closed=self._is_closed(at, stop),
                    gap=self.offset > colon + 1,
                )
        return end

    def _stop(self, at: int, end: int) -> int:
        """Return where a scalar ends: in front of a comment, without blanks behind it."""
        quoted = _QUOTED[self.text[at]].match(self.text, at, end) if self.text[at : at + 1] in _QUOTED else None
        if quoted is not None and self._is_closed(at, quoted.end()):
            return quoted.end()
        comment = _COMMENT.search(self.text, at, end)
        stop = comment.start() if comment else end
        return max(at, len(self.text[:stop].rstrip(" \t")) if stop - at < 4096 else stop)

    def _quote(self, at: int) -> str:
        return self.text[at] if self.text[at : at + 1] in _QUOTED else ""

    def _is_closed(self, at: int, stop: int) -> bool:
        return stop - at > 1 and self._quote(at) != "" and self.text[stop - 1] == self.text[at]

    def _unquoted(self, at: int, stop: int) -> Span:
        """Return the span of a scalar without its quotes and the blanks behind it."""
        while stop > at and self.text[stop - 1] in " \t":
            stop -= 1
        if not self._quote(at):
            return Span(at, stop)
        return Span(at + 1, max(at + 1, stop - 1 if self._is_closed(at, stop) else stop))

    def _name(self, at: int, written: Span) -> str:
        """Return a name as it is read: without the escapes that its quotes ask for."""
        text = written.of(self.text)
        if self._quote(at) == "'":
            return text.replace("''", "'")
        if self._quote(at) != '"' or "\\" not in text:
            return text
        try:
            return str(json.loads(f'"{text}"'))
        except ValueError:
            return text

    # ---- brackets ----

    def flow(self, at: int, way: _Way, indent: int = -1) -> int:
        """Read a value between brackets, which may span lines, and return where it ends. An unclosed one ends at the
        first field indented no more than ``indent``."""
        text = self.text
        stack: list[_Bracket] = []
        while at < self.end:
            char = text[at]
            if char in " \t\r\n":
                gap = _BLANKS.match(text, at, self.end)
                after = gap.end() if gap else at + 1
                if stack and at <= self.offset <= after:
                    self._between(stack[-1], self.offset)
                if indent >= 0 and self._recovers(at, after, indent):
                    return _line_start(text, after) - 1
                at = after
            elif char in "[{":
                if len(stack) > MAX_DEPTH:
                    return self.end
                inner = stack[-1].inner() if stack else way
                if stack:
                    stack[-1].state = "after"
                stack.append(_Bracket(inner, is_map=char == "{"))
                at += 1
            elif not stack:
                return at
            elif char in "]}":
                if at == self.offset:
                    self._between(stack[-1], at)
                stack.pop()
                at += 1
                if not stack:
                    return at
            else:
                at = self._part(stack[-1], at)
        if stack and at == self.offset == self.end:
            self._between(stack[-1], at)
        return at

    def _recovers(self, at: int, after: int, indent: int) -> bool:
        start = _line_start(self.text, after)
        return start > at and after - start <= indent and _KEY_LINE.match(self.text, after, self.end) is not None

    def _part(self, bracket: _Bracket, at: int) -> int:
        """Return a comma, a colon, a comment or a scalar inside brackets."""
        text, char = self.text, self.text[at]
        if char in ",:":
            if at == self.offset:
                self._between(bracket, at)
            if char == ",":
                bracket.number += 1
                bracket.state = "key"
            else:
                bracket.state = "value"
            return at + 1
        if text.startswith("//", at) if self.json else char == "#":
            line = _LINE.match(text, at, self.end)
            end = line.end() if line else self.end
            self.hidden = self.hidden or at < self.offset <= end
            return end
        if char in _QUOTED and (char == '"' or not self.json):
            match = _QUOTED[char].match(text, at, self.end)
            end = match.end() if match else at + 1
            self._token(bracket, at, max(end, at + 1), quoted=True)
            return max(end, at + 1)
        match = (_PLAIN_JSON if self.json else _PLAIN).match(text, at, self.end)
        end = match.end() if match else at + 1
        self._token(bracket, at, end, quoted=False)
        return end

    def _token(self, bracket: _Bracket, at: int, end: int, *, quoted: bool) -> None:
        inner = self._unquoted(at, end)
        here = (at < self.offset if quoted else at <= self.offset) and self.offset <= max(inner.end, at)
        if bracket.is_map and bracket.state == "key":
            bracket.key, bracket.state = self._name(at, inner), "colon"
            gap = _BLANKS.match(self.text, end, self.end)
            colon = gap is not None and self.text.startswith(":", gap.end())
            if colon:
                self.names.setdefault(bracket.way, []).append((bracket.key, inner.start))
            if here:
                self._name_in_brackets(bracket, at, end, inner, quoted=quoted, colon=colon)
            return
        value = not bracket.is_map or bracket.state == "value"
        bracket.state = "after"
        if here and value:
            quote = self.text[at] if quoted else ""
            slot: Literal["value", "item"] = "value" if bracket.is_map else "item"
            closed = quoted and self._is_closed(at, end)
            self._set(slot, bracket.inner(), inner, quote=quote, closed=closed, flow=True)

    def _name_in_brackets(
        self, bracket: _Bracket, at: int, end: int, inner: Span, *, quoted: bool, colon: bool
    ) -> None:
        """Take a name between brackets. Of quotes that are not closed yet, or that the next name closes, only what a
        name is made of belongs to it."""
        span = inner
        if quoted and not colon:
            before = _NAME_BACK.search(self.text, inner.start, self.offset)
            after = _NAME.match(self.text, self.offset, inner.end)
            span = Span(before.start() if before else self.offset, after.end() if after else self.offset)
        closed = quoted and self._is_closed(at, end) and span == inner
        quote = self.text[at] if quoted else ""
        self._set("key", bracket.way, span, quote=quote, closed=closed, colon=colon and span == inner, flow=True)

    def _between(self, bracket: _Bracket, at: int) -> None:
        """Nothing is written yet."""
        if bracket.state == "value" and bracket.is_map:
            self._set("value", bracket.inner(), Span(at, at), gap=self.text[at - 1] != ":", flow=True)
        elif bracket.state == "key":
            way = bracket.way if bracket.is_map else bracket.inner()
            self._set("key" if bracket.is_map else "item", way, Span(at, at), flow=True)

    def _set(
        self,
        slot: Literal["key", "value", "item"],
        way: _Way,
        span: Span,
        *,
        quote: str = "",
        closed: bool = False,
        colon: bool = False,
        gap: bool = True,
        flow: bool = False,
    ) -> None:
        if self.hidden or not span.start <= self.offset <= span.end:
            return
        typed = self.text[span.start : self.offset]
        self.found = DataPlace(slot, (), span, typed, quote, closed, colon, gap, flow), way


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
