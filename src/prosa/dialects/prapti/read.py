"""A chat → its model and what its reader finds wrong (P1–P14). Never fails; executes and opens nothing."""

from __future__ import annotations

import re

from prosa.diagnostics import Problem
from prosa.dialects.front import FrontReading
from prosa.dialects.prapti.command import read_command
from prosa.dialects.prapti.fields import check_settings
from prosa.dialects.prapti.headings import MessageHeading, find_headings
from prosa.dialects.prapti.lines import RawLine, find_lines
from prosa.dialects.prapti.model import HEAD_ROLE, ChatMessage, ChatModel, ConfigLine
from prosa.document import Document
from prosa.source import Span

_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_BLANK = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")


def read(front: FrontReading, document: Document) -> tuple[ChatModel, tuple[Problem, ...]]:
    """The chat of a document."""
    headings, problems = find_headings(document)
    lines = find_lines(document, tuple(heading.span.start for heading in headings))
    found, complaints = _commands(lines.config, front.source.text)
    messages = _messages(headings, found, document)
    model = ChatModel(front.source, document, messages, lines.opaque)
    return model, (*problems, *complaints, *check_settings(model.assignments))


Found = list[tuple[RawLine, ConfigLine | None]]


def _commands(lines: tuple[RawLine, ...], text: str) -> tuple[Found, list[Problem]]:
    found: Found = []
    problems: list[Problem] = []
    for raw in lines:
        line, problem = read_command(raw, text)
        found.append((raw, line))
        problems += [problem] if problem else []
    return found, problems


def _messages(headings: tuple[MessageHeading, ...], found: Found, document: Document) -> tuple[ChatMessage, ...]:
    text, body = document.source.text, document.body
    starts = [body.start, *(_after_line(text, heading.span.end) for heading in headings)]
    ends = [*(heading.span.start for heading in headings), body.end]
    messages: list[ChatMessage] = []
    at = 0
    for heading, start, end in zip((None, *headings), starts, ends, strict=True):
        mine: Found = []
        while at < len(found) and found[at][0].span.start < end:
            mine.append(found[at])
            at += 1
        messages.append(_message(heading, Span(min(start, end), end), mine, text))
    return tuple(messages)


def _message(heading: MessageHeading | None, body: Span, found: Found, text: str) -> ChatMessage:
    return ChatMessage(
        role=heading.role if heading else HEAD_ROLE,
        name=heading.name if heading else None,
        disabled=heading.disabled if heading else False,
        heading=heading.span if heading else None,
        role_span=heading.role_span if heading else Span(body.start, body.start),
        body=body,
        content=_content(text, body, [raw.span for raw, _ in found]),
        config=tuple(line for _, line in found if line is not None),
        colon=heading.colon if heading else True,
    )


def _content(text: str, body: Span, removed: list[Span]) -> str:
    """The text of a body without the removed lines; two blank lines that meet become one (PA10). Trimmed."""
    pieces: list[str] = []
    at = body.start
    blank = True
    for span in removed:
        pieces.append(text[at : span.start])
        blank = _ends_blank(pieces[-1]) if pieces[-1] else blank
        at = _after_line(text, span.end)
        if blank:
            at = _after_blank_line(text, at, body.end)
    content = "".join((*pieces, text[min(at, body.end) : body.end]))
    return content[_BLANK.match(content).end() :].rstrip()  # type: ignore[union-attr]


def _ends_blank(piece: str) -> bool:
    """Whether a text that ends a line ends with a blank one."""
    lines = _LINE_BREAK.split(piece)
    return len(lines) < 2 or not lines[-2].strip()


def _after_blank_line(text: str, at: int, limit: int) -> int:
    ended = _LINE_BREAK.search(text, at, limit)
    return ended.end() if ended and not text[at : ended.start()].strip() else at


def _after_line(text: str, at: int) -> int:
    found = _LINE_BREAK.match(text, at)
    return found.end() if found else at
