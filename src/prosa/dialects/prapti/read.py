"""Read a chat: its message headings (P3, P7, P8, PA2–PA5, PA16) and configuration lines become a model and problems.
Never fails; executes and opens nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from prosa.diagnostics import Fix, Problem
from prosa.dialects.front import FrontReading
from prosa.dialects.prapti.content import Cut, after_line, without
from prosa.dialects.prapti.fields import check_settings
from prosa.dialects.prapti.lines import RawLine, find_lines, read_command
from prosa.dialects.prapti.model import HEAD_ROLE, ChatMessage, ChatModel, ConfigLine
from prosa.document import Document, Heading, parse
from prosa.document.model import Cover
from prosa.regex import regex
from prosa.source import Edit, SourceText, Span


def read(front: FrontReading, document: Document, *, legacy: bool = False) -> tuple[ChatModel, tuple[Problem, ...]]:
    """Return the chat of a document. ``legacy`` reads headings and configuration lines in code too, as older tools
    (PA1)."""
    headings, problems = find_headings(document, legacy=legacy)
    lines = find_lines(document, tuple(heading.span.start for heading in headings), legacy=legacy)
    config_lines = [FoundLine(raw, *read_command(raw, front.source.text)) for raw in lines.config]
    messages = _messages(headings, config_lines, document)
    ignored = Cover(message.body for message in messages if message.disabled)  # P8: nothing there is worth a word
    written = Cover(message.body for message in messages if message.by_model)  # PA6: it must not be repaired
    complaints = (
        entry.problem
        for entry in config_lines
        if entry.problem and entry.raw.span.start not in ignored and entry.raw.span.start not in written
    )
    opaque = tuple(span for span in lines.opaque if span.start not in ignored)
    model = ChatModel(front.source, document, messages, opaque)
    return model, (*problems, *complaints, *check_settings(model.assignments))


class FoundLine(NamedTuple):
    """A configuration line, its content, and the problem that makes it invalid."""

    raw: RawLine
    line: ConfigLine | None
    problem: Problem | None


def _messages(
    headings: tuple[MessageHeading, ...], config_lines: list[FoundLine], document: Document
) -> tuple[ChatMessage, ...]:
    text, body = document.source.text, document.body
    starts = [body.start, *(after_line(text, heading.span.end) for heading in headings)]
    ends = [*(heading.span.start for heading in headings), body.end]
    messages: list[ChatMessage] = []
    at = 0
    for heading, start, end in zip((None, *headings), starts, ends, strict=True):
        mine: list[FoundLine] = []
        while at < len(config_lines) and config_lines[at].raw.span.start < end:
            mine.append(config_lines[at])
            at += 1
        messages.append(_message(heading, Span(min(start, end), end), mine, text))
    return tuple(messages)


def _message(heading: MessageHeading | None, body: Span, config_lines: list[FoundLine], text: str) -> ChatMessage:
    return ChatMessage(
        role=heading.role if heading else HEAD_ROLE,
        name=heading.name if heading else None,
        disabled=heading.disabled if heading else False,
        heading=heading.span if heading else None,
        role_span=heading.role_span if heading else Span(body.start, body.start),
        body=body,
        content=without(text, body, (Cut(entry.raw.span) for entry in config_lines)),
        config=tuple(entry.line for entry in config_lines if entry.line is not None),
        unread=tuple(entry.raw.span for entry in config_lines if entry.line is None and not entry.raw.disabled),
        colon=heading.colon if heading else True,
        removed=tuple(entry.raw.span for entry in config_lines),
    )


# Message headings: level-3 headings at the top level that name a role (P3, P7, P8, PA2–PA5, PA16), and the names in
# them in the form for a model service and for mentions (PA4, PA18).

_MESSAGE = regex(r"(?P<off>//\s*)?@(?P<role>[\w.-]+)(?:/(?P<name>[\w.-]+))?\s*+(?P<colon>:)?\s*+")
_ALMOST = regex(r"(?://\s*)?@[\w.-]+(?:/[^:]*)?:")

_IN_CODE = regex(r"(?<=[\r\n])(?P<marks>###)[ \t]+(?P<text>(?://\s*)?@[^\r\n]*?)[ \t]*(?=[\r\n])")

LEVEL = 3


class MessageHeading(Struct, frozen=True):
    """A heading that starts a message. ``role`` and ``name`` are as written; ``role_span`` covers `role/name`."""

    role: str
    name: str | None
    disabled: bool
    colon: bool
    span: Span
    role_span: Span


def find_headings(
    document: Document, *, legacy: bool = False
) -> tuple[tuple[MessageHeading, ...], tuple[Problem, ...]]:
    """Return the message headings in order, and the problems of headings that are one or nearly are. With ``legacy``
    lines of code are headings too (PA1)."""
    headings: list[MessageHeading] = []
    problems: list[Problem] = []
    for heading in _with_code(document) if legacy else document.headings:
        if heading.level != LEVEL or heading.nested:
            continue
        message = _heading_message(heading)
        if message is None:
            problems += _almost(heading)
            continue
        headings.append(message)
        if not message.colon:
            problems.append(_without_colon(message))
    return tuple(headings), tuple(problems)


def _with_code(document: Document) -> list[Heading]:
    """Return all headings, including those of level 3 inside fences."""
    text = document.source.text
    headings = list(document.headings)
    for fence in document.fences:
        for line in _IN_CODE.finditer(text, fence.span.start, fence.span.end):
            content = Span(*line.span("text"))
            headings.append(Heading(LEVEL, line["text"], Span(line.start("marks"), line.end()), content, nested=False))
    return sorted(headings, key=lambda heading: heading.span.start)


def _heading_message(heading: Heading) -> MessageHeading | None:
    match = _MESSAGE.fullmatch(heading.text)
    if match is None:
        return None
    start = heading.content.start
    end = match.end("name") if match["name"] else match.end("role")
    return MessageHeading(
        role=match["role"],
        name=match["name"],
        disabled=bool(match["off"]),
        colon=bool(match["colon"]),
        span=heading.span,
        role_span=Span(start + match.start("role"), start + end),
    )


def _without_colon(heading: MessageHeading) -> Problem:
    end = heading.role_span.end
    fix = Fix("put the colon behind the role", (Edit(Span(end, end), ":"),))
    message = f"the message heading of {heading.role} has no colon"
    return Problem("message-heading-colon", message, heading.role_span, ("write `### @role:`",), fix=fix)


def _almost(heading: Heading) -> list[Problem]:
    """Return a heading that reads like a message heading and is ordinary text (PA3, PA4)."""
    if not _ALMOST.match(heading.text):
        return []
    message = "this heading looks like a message heading, but it is an ordinary one"
    notes = (
        "a message heading ends with its colon: put the text on the next line",
        "a role or name is made of letters, digits, `_`, `.` and `-`",
    )
    return [Problem("message-heading-text", message, heading.content, notes)]


MAX_NAME = 64
"""Characters of a name in a request."""

_NOT_ALLOWED = regex(r"[^A-Za-z0-9_-]")
_MENTION = regex(r"(?<![\w@./-])@(?P<name>\w[\w.-]*)")


def wire_names(names: Iterable[str]) -> Mapping[str, str]:
    """Return each name reduced to letters, digits, `_` and `-`, at most 64; two names stay two (PA4)."""
    made: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        if name not in made:
            made[name] = _apart(_reduced(name), taken)
            taken.add(made[name])
    return made


def mentioned(text: str, participants: Iterable[str]) -> tuple[str, ...]:
    """Return the participants that a text speaks to as `@NAME`, in the order of the first time, case aside."""
    known = {name.lower(): name for name in participants}
    names: dict[str, None] = {}
    for match in _MENTION.finditer(text):
        name = known.get(match["name"].lower()) or known.get(match["name"].rstrip(".-").lower())
        if name is not None:
            names[name] = None
    return tuple(names)


def without_code(text: str) -> str:
    """Return a text without its code, in which mentions do not count (PA1)."""
    document = parse(SourceText(text))
    code = (*(fence.span for fence in document.fences), *document.indented_code, *(s.span for s in document.code_spans))
    pieces, at = [], 0
    for span in sorted(code):
        pieces.append(text[at : max(at, span.start)])
        at = max(at, span.end)
    return " ".join((*pieces, text[at:]))


def _reduced(name: str) -> str:
    """Without marks on letters, everything else that is not allowed as an underscore."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return _NOT_ALLOWED.sub("_", plain)[:MAX_NAME]


def _apart(name: str, taken: set[str]) -> str:
    number, made = 1, name
    while made in taken:
        number += 1
        end = f"-{number}"
        made = name[: MAX_NAME - len(end)] + end
    return made
