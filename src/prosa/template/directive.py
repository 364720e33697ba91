"""A ``printf`` format taken apart as Go does it. In: the format and the arguments. Out: literal text and directives.

A directive knows its flags, width and precision; stars and argument indexes are resolved here, because the argument
that a directive takes depends on every one before it.

    directive = "%" {flag} [index] [width | "*"] ["." [index] [digits | "*"]] [index] verb
    index     = "[" digits "]"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Value
from prosa.regex import regex
from prosa.template.function import FunctionError

MAX_WIDTH: Final = 10_000
"""Largest width and precision. Go allows a million; wider than any page, and a loop would fill the memory."""

_FLAGS: Final = {"#": "sharp", "0": "zero", "+": "plus", "-": "minus", " ": "space"}
_NUMBER: Final = regex("[0-9]+")
_SHORTEST_INDEX: Final = 3
_MOST_INDEX_DIGITS: Final = 10
"""Digits after which an index is always out of range."""


class Spec(Struct, frozen=True):
    """How one value is laid out: the flags, the width and the precision, None where there is none."""

    sharp: bool = False
    zero: bool = False
    plus: bool = False
    minus: bool = False
    space: bool = False
    width: int | None = None
    precision: int | None = None


class Directive(Struct, frozen=True):
    """One verb, how to lay it out, and the value it takes."""

    verb: str
    spec: Spec
    value: Value


class Extra(Struct, frozen=True):
    """The arguments that no verb took, when no index was used."""

    values: tuple[object, ...]


Step: TypeAlias = str | Directive | Extra


def steps(format_text: str, args: Sequence[object]) -> Iterator[Step]:
    """Literal text and Go's error texts, directives with their values, and at most one `Extra` at the end.

    Raises `FunctionError` for a width or precision above `MAX_WIDTH`.
    """
    return _Reader(format_text, args).steps()


class _Reader:
    """The state of reading a format: the position, the next argument, and the indexes seen."""

    def __init__(self, text: str, args: Sequence[object]) -> None:
        self._text = text
        self._args = args
        self._at = 0
        self._next = 0
        self._reordered = False
        self._good_index = True
        self._last_bracket = text.rfind("]")

    def steps(self) -> Iterator[Step]:
        while self._at < len(self._text):
            percent = self._text.find("%", self._at)
            end = len(self._text) if percent < 0 else percent
            if end > self._at:
                yield self._text[self._at : end]
            self._at = end + 1
            if percent >= 0:
                yield from self._directive()
        if not self._reordered and self._next < len(self._args):
            yield Extra(tuple(self._args[self._next :]))

    def _directive(self) -> Iterator[Step]:
        self._good_index = True
        spec = self._flags()
        after_index = self._index()
        starred = self._peek() == "*"
        width = self._star() if starred else self._number()
        if width is None and starred:
            yield "%!(BADWIDTH)"
        self._good_index &= starred or not after_index or width is None
        spec = _with_width(spec, width)
        after_index = after_index and not starred
        if self._peek() == "." and self._at + 1 < len(self._text):
            self._good_index &= not after_index
            self._at += 1
            after_index = self._index()
            starred = self._peek() == "*"
            precision = self._star() if starred else self._number() or 0
            if starred and (precision is None or precision < 0):
                yield "%!(BADPREC)"
                precision = None
            spec = replace(spec, precision=precision)
            after_index = after_index and not starred
        if not after_index:
            self._index()
        yield self._verb(spec)

    def _verb(self, spec: Spec) -> Step:
        verb = self._peek()
        self._at += 1
        if not verb:
            return "%!(NOVERB)"
        if verb == "%":
            return "%"
        if not self._good_index:
            return f"%!{verb}(BADINDEX)"
        if self._next >= len(self._args):
            return f"%!{verb}(MISSING)"
        self._next += 1
        return Directive(verb, spec, self._args[self._next - 1])

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _flags(self) -> Spec:
        start = self._at
        while self._peek() in _FLAGS:
            self._at += 1
        return Spec(**{_FLAGS[flag]: True for flag in set(self._text[start : self._at])})

    def _number(self) -> int | None:
        match = _NUMBER.match(self._text, self._at)
        if match is None:
            return None
        self._at = match.end()
        digits = match[0].lstrip("0")
        if len(digits) > len(str(MAX_WIDTH)):
            raise _too_wide()
        return _checked(int(digits or "0"))

    def _star(self) -> int | None:
        """Return the argument that ``*`` takes; None when there is none or it is not an integer."""
        self._at += 1
        if self._next >= len(self._args):
            return None
        value = self._args[self._next]
        self._next += 1
        return None if isinstance(value, bool) or not isinstance(value, int) else _checked(value)

    def _index(self) -> bool:
        """Read ``[n]``, if one stands here, and moves to that argument. Whether an index was read."""
        if self._peek() != "[":
            return False
        self._reordered = True
        if len(self._text) - self._at < _SHORTEST_INDEX or self._last_bracket < self._at:
            self._at += 1
            self._good_index = False
            return False
        closing = self._text.index("]", self._at)
        match = _NUMBER.fullmatch(self._text, self._at + 1, closing)
        self._at = closing + 1
        number = int(match[0].lstrip("0")[:_MOST_INDEX_DIGITS] or "0") if match else 0
        if 1 <= number <= len(self._args):
            self._next = number - 1
        else:
            self._good_index = False
        return match is not None


def _with_width(spec: Spec, width: int | None) -> Spec:
    """Return a negative width, which only ``*`` can bring, means its value and the flag ``-``."""
    if width is not None and width < 0:
        return replace(spec, width=-width, minus=True, zero=False)
    return replace(spec, width=width)


def _checked(number: int) -> int:
    if abs(number) > MAX_WIDTH:
        raise _too_wide()
    return number


def _too_wide() -> FunctionError:
    return FunctionError(f"a width or precision is at most {MAX_WIDTH:,}")
