"""The errors of the template engine, and what a template function is.

A `FunctionError` knows no position; the executor adds it and raises a `TemplateError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from prosa.source import LineIndex, ProsaError
from prosa.template.values import TemplateValue

SHOWN = 40
"""Characters of the offending piece that a message repeats."""


class TemplateError(ProsaError):
    """A template that cannot be parsed, or not rendered with this data.

    ``offset`` counts characters from the start of the template, ``line`` and ``column`` from 1; ``fragment`` is the
    offending piece as written, ``suggestion`` the name that was most likely meant there, or empty.
    """

    def __init__(self, message: str, *, text: str, offset: int, fragment: str = "", suggestion: str = "") -> None:
        self.message = message
        self.offset = offset
        self.line, self.column = _lines_of(text).position(offset)
        self.fragment = fragment
        self.suggestion = suggestion
        super().__init__(f"line {self.line}, column {self.column}: {message}")


@lru_cache(maxsize=1)
def _lines_of(text: str) -> LineIndex:
    """Return the lines of a template: one with many mistakes has them counted once."""
    return LineIndex(text)


class TooDeep(TemplateError):
    """Blocks or parentheses within each other beyond the limit. Nothing behind it is read."""


class Unended(TemplateError):
    """A block without its ``{{end}}`` at the end of the template."""


def quoted(piece: str) -> str:
    """Return a piece of the template for a message: on one line, shortened, in quotes."""
    one_line = " ".join(piece.split())
    return repr(one_line if len(one_line) <= SHOWN else f"{one_line[: SHOWN - 1]}…")


# What a template function is: a name, how many arguments it takes, and what to call. And how it fails.

MAX_RESULT: Final = 10_485_760
"""Characters of one printed or joined value: as many as the largest document has bytes. A loop that doubles a
variable would otherwise fill the memory before any limit on the output sees a character."""


class FunctionError(Exception):
    """A function failed.

    ``message`` says why. The executor adds the name of the function and the position.
    """

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class Function(Struct, frozen=True):
    """A function of the template language.

    ``call`` gets the arguments in the order of the call and whether the last of them came through ``|`` (X14). The
    caller has counted them: at least ``min_args``, at most ``max_args`` unless that is None.
    """

    name: str
    call: Callable[[Sequence[TemplateValue], bool], TemplateValue]
    min_args: int
    max_args: int | None


def joined(pieces: Iterable[str], separator: str = "") -> str:
    """Return the pieces as one text. Raises `FunctionError` as soon as it would have more than `MAX_RESULT`
    characters."""
    kept: list[str] = []
    room = MAX_RESULT + len(separator)
    for piece in pieces:
        room -= len(piece) + len(separator)
        if room < 0:
            raise FunctionError(f"the result has more than {MAX_RESULT:,} characters")
        kept.append(piece)
    return separator.join(kept)


def bounded(text: str) -> str:
    """Return the text itself, or a `FunctionError` when it has more than `MAX_RESULT` characters."""
    return joined((text,))
