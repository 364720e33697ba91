"""Message headings: level-3 headings at the top level that name a role (P3, P7, P8, PA2–PA5, PA16)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from prosa.diagnostics import Fix, Problem
from prosa.document import Document, Heading
from prosa.source import Edit, Span

_MESSAGE = re.compile(r"(?P<off>//\s*)?@(?P<role>[\w.-]+)(?:/(?P<name>[\w.-]+))?\s*(?P<colon>:)?\s*")
_ALMOST = re.compile(r"(?://\s*)?@[\w.-]+(?:/[^:]*)?:")

_IN_CODE = re.compile(r"(?<=[\r\n])(?P<marks>###)[ \t]+(?P<text>(?://\s*)?@[^\r\n]*?)[ \t]*(?=[\r\n])")

LEVEL = 3


@dataclass(frozen=True, slots=True)
class MessageHeading:
    """A heading that begins a message. ``role`` and ``name`` are as written; ``role_span`` covers `role/name`."""

    role: str
    name: str | None
    disabled: bool
    colon: bool
    span: Span
    role_span: Span


def find_headings(
    document: Document, *, legacy: bool = False
) -> tuple[tuple[MessageHeading, ...], tuple[Problem, ...]]:
    """The message headings in order, and what is to be said about headings that are one or nearly are. With ``legacy``
    lines of code are headings too (PA1)."""
    found: list[MessageHeading] = []
    problems: list[Problem] = []
    for heading in _with_code(document) if legacy else document.headings:
        if heading.level != LEVEL or heading.nested:
            continue
        message = _message(heading)
        if message is None:
            problems += _almost(heading)
            continue
        found.append(message)
        if not message.colon:
            problems.append(_without_colon(message))
    return tuple(found), tuple(problems)


def _with_code(document: Document) -> list[Heading]:
    """All headings, and what would be one of level 3 if it did not stand in a fence."""
    text = document.source.text
    found = list(document.headings)
    for fence in document.fences:
        for line in _IN_CODE.finditer(text, fence.span.start, fence.span.end):
            content = Span(*line.span("text"))
            found.append(Heading(LEVEL, line["text"], Span(line.start("marks"), line.end()), content, nested=False))
    return sorted(found, key=lambda heading: heading.span.start)


def _message(heading: Heading) -> MessageHeading | None:
    found = _MESSAGE.fullmatch(heading.text)
    if found is None:
        return None
    start = heading.content.start
    end = found.end("name") if found["name"] else found.end("role")
    return MessageHeading(
        role=found["role"],
        name=found["name"],
        disabled=bool(found["off"]),
        colon=bool(found["colon"]),
        span=heading.span,
        role_span=Span(start + found.start("role"), start + end),
    )


def _without_colon(heading: MessageHeading) -> Problem:
    end = heading.role_span.end
    fix = Fix("put the colon behind the role", (Edit(Span(end, end), ":"),))
    message = f"the message heading of {heading.role} has no colon"
    return Problem("message-heading-colon", message, heading.role_span, ("write `### @role:`",), fix=fix)


def _almost(heading: Heading) -> list[Problem]:
    """A heading that reads like a message heading and is ordinary text (PA3, PA4)."""
    if not _ALMOST.match(heading.text):
        return []
    message = "this heading looks like a message heading, but it is an ordinary one"
    notes = (
        "a message heading ends with its colon: put the text on the next line",
        "a role or name is made of letters, digits, `_`, `.` and `-`",
    )
    return [Problem("message-heading-text", message, heading.content, notes)]
