"""A chat → its model and what its reader finds wrong (P1–P14). Never fails; executes and opens nothing."""

from __future__ import annotations

import re
from typing import NamedTuple

from prosa.diagnostics import Problem
from prosa.dialects.front import FrontReading
from prosa.dialects.prapti.command import read_command
from prosa.dialects.prapti.fields import check_settings
from prosa.dialects.prapti.headings import MessageHeading, find_headings
from prosa.dialects.prapti.lines import RawLine, find_lines
from prosa.dialects.prapti.model import HEAD_ROLE, ChatMessage, ChatModel, ConfigLine
from prosa.document import Document
from prosa.document.cover import Cover
from prosa.source import Span

_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_BLANK = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")


def read(front: FrontReading, document: Document) -> tuple[ChatModel, tuple[Problem, ...]]:
    """The chat of a document."""
    headings, problems = find_headings(document)
    lines = find_lines(document, tuple(heading.span.start for heading in headings))
    found = [Found(raw, *read_command(raw, front.source.text)) for raw in lines.config]
    messages = _messages(headings, found, document)
    ignored = Cover(message.body for message in messages if message.disabled)  # P8: nothing there is worth a word
    written = Cover(message.body for message in messages if message.by_model)  # PA6: nobody is to mend it
    complaints = (
        each.problem
        for each in found
        if each.problem and each.raw.span.start not in ignored and each.raw.span.start not in written
    )
    opaque = tuple(span for span in lines.opaque if span.start not in ignored)
    model = ChatModel(front.source, document, messages, opaque)
    return model, (*problems, *complaints, *check_settings(model.assignments))


class Found(NamedTuple):
    """A configuration line, what it says, and what keeps it from saying anything."""

    raw: RawLine
    line: ConfigLine | None
    problem: Problem | None


def _messages(headings: tuple[MessageHeading, ...], found: list[Found], document: Document) -> tuple[ChatMessage, ...]:
    text, body = document.source.text, document.body
    starts = [body.start, *(_after_line(text, heading.span.end) for heading in headings)]
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
        content=_content(text, body, [each.raw.span for each in found]),
        config=tuple(each.line for each in found if each.line is not None),
        unread=tuple(each.raw.span for each in found if each.line is None and not each.raw.disabled),
        colon=heading.colon if heading else True,
    )


def _content(text: str, body: Span, removed: list[Span]) -> str:
    """The text of a body without the removed lines; a blank line before one takes the place of those behind it (PA10).
    Without blank lines at its ends."""
    pieces: list[str] = []
    at = body.start
    blank = True
    for span in removed:
        pieces.append(text[at : span.start])
        blank = _ends_blank(pieces[-1]) if pieces[-1] else blank
        at = _after_line(text, span.end)
        if blank:
            at = _BLANK.match(text, at, body.end).end()  # type: ignore[union-attr]
    content = "".join((*pieces, text[min(at, body.end) : body.end]))
    return content[_BLANK.match(content).end() :].rstrip()  # type: ignore[union-attr]


def _ends_blank(piece: str) -> bool:
    """Whether a text that ends a line ends with a blank one."""
    lines = _LINE_BREAK.split(piece)
    return len(lines) < 2 or not lines[-2].strip()


def _after_line(text: str, at: int) -> int:
    found = _LINE_BREAK.match(text, at)
    return found.end() if found else at
