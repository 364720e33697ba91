"""A description for a program that has none (LA1): its first heading, else its first paragraph, else its name."""

from __future__ import annotations

from collections.abc import Sequence

from prosa.source import SourceText, Span
from prosa.template import Template, action_spans

MAX_DESCRIPTION = 300
"""Characters of a derived description; a first paragraph may be a page."""


def describe(source: SourceText, body: Span, template: Template | None, name: str) -> str:
    """Text for people: template actions are left out, white space is folded."""
    from prosa.document import parse  # only here: most programs describe themselves

    actions = _actions(source, body) if template is not None else ()
    document = parse(source, body=body, masked=actions)
    blocks = (*(heading.content for heading in document.headings[:1]), *(item.span for item in document.paragraphs[:1]))
    for block in blocks:
        text = _without(source, block, actions)
        if text:
            return text
    return name


def _actions(source: SourceText, body: Span) -> tuple[Span, ...]:
    return tuple(span.shift(body.start) for span in action_spans(source.slice(body)))


def _without(source: SourceText, block: Span, actions: Sequence[Span]) -> str:
    pieces: list[str] = []
    done = block.start
    for action in actions:
        if action.end <= block.start or action.start >= block.end:
            continue
        pieces.append(source.text[done : max(done, action.start)])
        done = max(done, action.end)
    pieces.append(source.text[done : max(done, block.end)])
    text = " ".join(" ".join(pieces).split())
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - 1] + "…"
