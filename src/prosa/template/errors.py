"""The one error of the template engine, for parsing and for rendering."""

from __future__ import annotations

from functools import lru_cache

from prosa.source import LineIndex, ProsaError

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
