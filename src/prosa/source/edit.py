"""Edits: the only way an author's text changes. Spans in, a new text out; nothing outside the spans moves."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from prosa.source.span import Span


class OverlappingEdits(ValueError):
    """Two edits claim the same characters; the caller applies them in separate passes."""

    def __init__(self, first: Edit, second: Edit) -> None:
        super().__init__(f"edits overlap: {first.span} and {second.span}")
        self.first = first
        self.second = second


class Edit(Struct, frozen=True):
    """Replace the characters of ``span`` by ``replacement``; an empty span inserts."""

    span: Span
    replacement: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Apply all edits at once and return the text. Their spans count in the text before any edit.

    Insertions at the same offset keep their order. Raises `OverlappingEdits`; a span past the end is a ValueError.
    """
    ordered = sorted(edits, key=lambda edit: edit.span)
    pieces: list[str] = []
    done = 0
    previous: Edit | None = None
    for edit in ordered:
        if edit.span.end > len(text):
            raise ValueError(f"edit {edit.span} lies past the end of a text of {len(text)} characters")
        if previous is not None and edit.span.start < done:
            raise OverlappingEdits(previous, edit)
        pieces += (text[done : edit.span.start], edit.replacement)
        done = edit.span.end
        previous = edit
    return "".join((*pieces, text[done:]))
