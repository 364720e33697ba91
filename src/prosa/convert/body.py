"""The body of forms that are Markdown for agents and people: a text, a chat, or a literal template.

In: a body and its marks. Out: texts, and back. A form with its own parameters (`$ARGUMENTS`) defines how a text with
them becomes a template. A section at the end describes the input and output of a program; its digest identifies it
later.

In a chat nothing is included and no command is run. `{{` in a skill stays `{{` when the program made from it is
rendered, and `### @system:` does not become a message.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, field

from prosa.convert.neutral import NO_MARKS, FormName, Marks, Piece, Said, TextKind, digest
from prosa.data import Value
from prosa.dialects.front import read_front
from prosa.dialects.prapti.content import escaped, sent_text
from prosa.dialects.prapti.model import HEAD_ROLE, ChatModel
from prosa.dialects.prapti.read import read
from prosa.dialects.prapti.write import heading
from prosa.document import parse
from prosa.regex import regex
from prosa.source import SourceText, Span
from prosa.template import Template, TemplateError

BODY = "=body"
ROLES = "=roles"
"""Private fields of a form: the wording of a text with parameters, and a marker that the text contains headings
of messages."""

AsTemplate = Callable[[str], tuple[str, dict[str, Value]] | None]


def no_template(_: str) -> tuple[str, dict[str, Value]] | None:
    """For forms that know no parameters."""
    return None


class BodyReading(Struct, frozen=True):
    """The parts of a body. ``input`` is the input of a text that is a template by itself; ``own`` are fields of
    the form."""

    said: tuple[Said, ...]
    template: TextKind = "text"
    own: Mapping[str, Value] = field(default_factory=dict)
    others: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    input: dict[str, Value] | None = None


def unescaped_headings(text: str) -> str:
    """Return the original text of `escaped_headings`."""
    return _HEADING.sub(lambda match: match["before"] + "\\" * (len(match["slashes"]) // 2), text)


def read_body(
    body: str,
    marks: Marks,
    as_template: AsTemplate = no_template,
    unescaped: Callable[[str], str] = unescaped_headings,
) -> BodyReading:
    """Return the parts of a body. ``unescaped`` removes what its writer added before structure."""
    body = _without_section(body, marks)
    if marks.escaped:
        body = unescaped(body)
    template: TextKind = "go" if marks.template else "text"
    if marks.chat:
        messages, others = conversation_in(body)
        return BodyReading(messages, template, {}, others)
    own: dict[str, Value] = {ROLES: True} if not marks.escaped and has_headings(body) else {}
    made = None if marks.template or marks.literal else as_template(body)
    if made is None:
        return BodyReading((Said(body),), template, own)
    if made[1] != ARGUMENTS or as_arguments(made[0]) != body:
        own[BODY] = body
    return BodyReading((Said(made[0]),), "go", own, input=made[1])


def write_body(
    piece: Piece, form: FormName, as_template: AsTemplate = no_template, *, tells: bool = False, guards: bool = True
) -> tuple[str, Marks]:
    """Return the body, and how its reader finds the texts in it. ``tells`` adds the section of parameters, ``guards``
    escapes headings of messages."""
    own = piece.own_of(form)
    if piece.is_conversation:
        text = body_of(piece)
        shown = escaped_headings(text) if form == "mdh" else text
        return shown, Marks(chat=True, template=piece.template == "go", escaped=shown != text)
    text, marks = _told(piece, own.get(BODY), as_template, tells=tells)
    if guards and not own.get(ROLES) and has_headings(text):
        return escaped_headings(text), Marks(marks.template, marks.literal, escaped=True, section=marks.section)
    return text, marks


def _told(piece: Piece, worded: Value, as_template: AsTemplate, *, tells: bool) -> tuple[str, Marks]:
    text, wanted = piece.text, piece.slot("input")
    if isinstance(worded, str) and as_template(worded) == (text, wanted):
        return worded, NO_MARKS
    if piece.template == "go" and wanted == ARGUMENTS:
        plain = as_arguments(text)
        if plain is not None and as_template(plain) == (text, wanted):
            return plain, NO_MARKS
    section = told(piece) if tells else ""
    if piece.template == "text" and as_template(text) is not None:
        return f"{text}{section}", Marks(literal=True, section=digest(section) if section else "")
    return f"{text}{section}", Marks(template=piece.template == "go", section=digest(section) if section else "")


def told(piece: Piece) -> str:
    """Return the section that describes parameters and results (L46); empty if a document describes neither."""
    parts = [("Parameters", piece.slot("input")), ("Output", piece.slot("output"))]
    sections = [f"## {title}\n\n{lines}\n" for title, schema in parts if (lines := _listed(schema))]
    gap = "\n" if piece.text.endswith(("\n", "\r")) else "\n\n"
    return gap + "\n".join(sections) if sections else ""


def _without_section(body: str, marks: Marks) -> str:
    """Return the text without the section at its end, while that is as it was written."""
    at = len(body)
    for _ in range(2 if marks.section else 0):  # it has two headings at most
        at = body.rfind("\n## ", 0, at)
        if at < 0:
            break
        for start in (at, at - 1):
            if digest(body[start:]) == marks.section:
                return body[:start]
    return body


def _listed(schema: Value) -> str:
    if not isinstance(schema, dict) or not isinstance(properties := schema.get("properties"), dict):
        return ""
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return "\n".join(_line(name, member, name in names) for name, member in properties.items() if _is_shown(name))


def _is_shown(name: str) -> bool:
    return name.isprintable() and "`" not in name and bool(name.strip())


def _line(name: str, schema: Value, required: bool) -> str:
    schema = schema if isinstance(schema, dict) else {}
    kind = schema.get("type")
    words = [str(kind)] if isinstance(kind, str) else []
    words += ["required" if required else "optional"]
    details = [str(schema["description"]).strip()] if isinstance(schema.get("description"), str) else []
    allowed = schema.get("enum")
    if isinstance(allowed, list) and allowed:
        details.append(f"one of {', '.join(str(choice) for choice in allowed)}")
    if schema.get("default") is not None:
        details.append(f"default {json.dumps(schema['default'], ensure_ascii=False)}")
    text = " ".join("; ".join(details).split())
    return f"- `{name}` ({', '.join(words)}){': ' + text if text else ''}"


# Conversations as the text of a chat, and back (P2–P14, PA6). Values only.

"""The field of a chat that holds the wording of its author: comments, configuration lines, blank space."""

OFF = "//"
"""Prefix of the role of a disabled message."""


def chat_model(source: SourceText, body: Span) -> ChatModel:
    """Return the chat in a part of a source."""
    return read(read_front(source), parse(source, body=body))[0]


def messages_of(model: ChatModel) -> tuple[Said, ...]:
    """Return the messages of a chat; text before the first heading counts as one unless it is blank."""
    return tuple(
        Said(sent_text(message, model.document, {}), f"{OFF if message.disabled else ''}{message.role}", message.name)
        for message in model.messages
        if message.heading is not None or message.content.strip()
    )


def conversation_in(text: str) -> tuple[tuple[Said, ...], dict[str, Mapping[str, Value]]]:
    """Return the messages in the body of a chat, and what its author worded otherwise than `chat_body` would."""
    messages = messages_of(chat_model(SourceText(text), Span(0, len(text))))
    return messages, {} if chat_body(messages) == text.removeprefix("\n") else {"chat": {BODY: text}}


def body_of(piece: Piece) -> str:
    """Return the messages of a piece as the body of a chat, in the author's wording if it means the same."""
    worded = piece.own_of("chat").get(BODY)
    if isinstance(worded, str) and _says(worded, piece.said):
        return worded
    return chat_body(piece.said)


def opening(piece: Piece, text: str) -> str:
    """Return what a description is taken from: of a conversation the first message, else ``text``."""
    shown = (turn.text for turn in piece.said if not (turn.role or "").startswith("_") and turn.text.strip())
    return next(shown, "") if piece.is_conversation else text


def _says(text: str, messages: Sequence[Said]) -> bool:
    return messages_of(chat_model(SourceText(text), Span(0, len(text)))) == tuple(messages)


def chat_body(messages: Sequence[Said], head: Sequence[str] = ()) -> str:
    """Return the text of a chat with these first lines."""
    blocks = ["\n".join(head)] if head else []
    for turn in messages:
        if turn.role == HEAD_ROLE:
            blocks.append(_escaped(turn.text))
            continue
        blocks.append(_heading(turn))
        if turn.text.strip():
            blocks.append(_escaped(turn.text))
    return "\n\n".join(blocks) + "\n" if blocks else ""


@lru_cache(maxsize=32)
def _escaped(text: str) -> str:
    """Return a text as it is written below a heading. Cached, since every conversion writes or compares chats
    with it."""
    return escaped(text)


def _heading(turn: Said) -> str:
    role = turn.role or "user"
    line = heading(role.removeprefix(OFF), turn.name)
    return line.replace("### ", f"### {OFF}", 1) if role.startswith(OFF) else line


# Text as a template that renders exactly this text, and headings of messages as plain text (X11, P2).

_BRACES = regex(r"\{{2,}")
_NOTHING = '{{ "" }}'
_HEADING = regex(r"(?:(?<=[\r\n])|\A)(?P<before>[ ]{0,3}#{3}[ \t]+)(?P<slashes>\\*)(?=(?://[ \t]*)?@)")
_GUARDED = regex(r'(?:(?<=[\r\n])|\A)([ ]{0,3}#{3}[ \t]+)\{\{ "" \}\}(?=(?://[ \t]*)?@)')


def spelled(text: str) -> str:
    """Return a template that always renders as ``text``."""
    return guarded(_BRACES.sub(r'{{ "\g<0>" }}', text)) if "{{" in text else guarded(text)


def spells(template: str) -> str | None:
    """Return the constant text of a template; None if it looks anything up, or is not a template."""
    try:
        parsed = Template(template)
        return None if parsed.uses else parsed.render({})
    except TemplateError:
        return None


def guarded(template: str) -> str:
    """Return a template in which no line is the heading of a message."""
    return _HEADING.sub(lambda match: f"{match['before']}{_NOTHING}{match['slashes']}", template)


def unguarded(template: str) -> str:
    """Return the original template of `guarded`."""
    return _GUARDED.sub(lambda match: match[1], template)


def has_headings(text: str) -> bool:
    """Return whether a line of it may be the heading of a message."""
    return any(not match["slashes"] for match in _HEADING.finditer(text))


def escaped_headings(text: str) -> str:
    """Return a Markdown text in which no line is the heading of a message; n backslashes become 2n + 1."""
    return _HEADING.sub(lambda match: match["before"] + "\\" * (2 * len(match["slashes"]) + 1), text)


# `$ARGUMENTS`: what a user types behind the name of a skill or a command, as a parameter of a template.

ARGUMENTS: dict[str, Value] = {
    "type": "object",
    "properties": {"arguments": {"type": "string"}},
    "required": ["arguments"],
}
_NAME = regex(r"\$ARGUMENTS(?![\w\[])|\$\{ARGUMENTS\}")
_ACTION = "{{ .arguments }}"


def as_template(text: str) -> tuple[str, dict[str, Value]] | None:
    """Return the text as a template, with its input; None where it does not speak of arguments."""
    pieces = _NAME.split(text)
    if len(pieces) == 1:
        return None
    return _ACTION.join(map(spelled, pieces)), ARGUMENTS


def as_arguments(template: str) -> str | None:
    """Return the text that a template is of; None where it does more than to place the arguments."""
    pieces = [spells(piece) for piece in template.split(_ACTION)]
    return None if None in pieces else "$ARGUMENTS".join(piece for piece in pieces if piece is not None)
