"""A span: a half-open range of character offsets into one source (style 6)."""

from __future__ import annotations

from msgspec import Struct


class Span(Struct, frozen=True, order=True, gc=False):
    """Characters ``start`` up to, not including, ``end``. Offsets count Unicode code points from 0."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span needs 0 <= start <= end, not {self.start}..{self.end}")

    def shift(self, by: int) -> Span:
        """Return the same span seen from a text that has ``by`` more characters in front."""
        return Span(self.start + by, self.end + by)

    def of(self, text: str) -> str:
        """Return the characters the span covers."""
        return text[self.start : self.end]

    def __len__(self) -> int:
        return self.end - self.start

    def __contains__(self, offset: int) -> bool:
        return self.start <= offset < self.end
