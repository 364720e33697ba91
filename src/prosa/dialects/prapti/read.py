"""A chat → its model and what its reader finds wrong (P1–P14). Never fails; executes and opens nothing."""

from __future__ import annotations

from typing import NamedTuple

from prosa.diagnostics import Problem
from prosa.dialects.front import FrontReading
from prosa.dialects.prapti.content import Cut, after_line, without
from prosa.dialects.prapti.fields import check_settings
from prosa.dialects.prapti.headings import MessageHeading, find_headings
from prosa.dialects.prapti.lines import RawLine, find_lines, read_command
from prosa.dialects.prapti.model import HEAD_ROLE, ChatMessage, ChatModel, ConfigLine
from prosa.document import Document
from prosa.document.model import Cover
from prosa.source import Span


def read(front: FrontReading, document: Document, *, legacy: bool = False) -> tuple[ChatModel, tuple[Problem, ...]]:
    """Return the chat of a document. ``legacy`` reads headings and configuration lines in code too, as older tools
    (PA1)."""
    headings, problems = find_headings(document, legacy=legacy)
    lines = find_lines(document, tuple(heading.span.start for heading in headings), legacy=legacy)
    found = [Found(raw, *read_command(raw, front.source.text)) for raw in lines.config]
    messages = _messages(headings, found, document)
    ignored = Cover(message.body for message in messages if message.disabled)  # P8: nothing there is worth a word
    written = Cover(message.body for message in messages if message.by_model)  # PA6: it must not be repaired
    complaints = (
        each.problem
        for each in found
        if each.problem and each.raw.span.start not in ignored and each.raw.span.start not in written
    )
    opaque = tuple(span for span in lines.opaque if span.start not in ignored)
    model = ChatModel(front.source, document, messages, opaque)
    return model, (*problems, *complaints, *check_settings(model.assignments))


class Found(NamedTuple):
    """A configuration line, its content, and the problem that makes it invalid."""

    raw: RawLine
    line: ConfigLine | None
    problem: Problem | None


def _messages(headings: tuple[MessageHeading, ...], found: list[Found], document: Document) -> tuple[ChatMessage, ...]:
    text, body = document.source.text, document.body
    starts = [body.start, *(after_line(text, heading.span.end) for heading in headings)]
    ends = [*(heading.span.start for heading in headings), body.end]
    messages: list[ChatMessage] = []
    at = 0
    for heading, start, end in zip((None, *headings), starts, ends, strict=True):
        mine: list[Found] = []
        while at < len(found) and found[at].raw.span.start < end:
            mine.append(found[at])
            at += 1
        messages.append(_message(heading, Span(min(start, end), end), mine, text))
    return tuple(messages)


def _message(heading: MessageHeading | None, body: Span, found: list[Found], text: str) -> ChatMessage:
    return ChatMessage(
        role=heading.role if heading else HEAD_ROLE,
        name=heading.name if heading else None,
        disabled=heading.disabled if heading else False,
        heading=heading.span if heading else None,
        role_span=heading.role_span if heading else Span(body.start, body.start),
        body=body,
        content=without(text, body, (Cut(each.raw.span) for each in found)),
        config=tuple(each.line for each in found if each.line is not None),
        unread=tuple(each.raw.span for each in found if each.line is None and not each.raw.disabled),
        colon=heading.colon if heading else True,
        removed=tuple(each.raw.span for each in found),
    )
