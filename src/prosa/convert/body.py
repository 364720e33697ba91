"""The body of forms that are Markdown for agents and people: a text, a chat, or a literal template.

In: a body and its marks. Out: texts, and back. A form with its own parameters (`$ARGUMENTS`) defines how a text with
them becomes a template. A section at the end describes the input and output of a program; its digest identifies it
later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from prosa.convert.arguments import ARGUMENTS, as_arguments
from prosa.convert.conversation import body_of, conversation_in
from prosa.convert.literal import escaped_headings, has_headings, unescaped_headings
from prosa.convert.neutral import NO_MARKS, FormName, Marks, Piece, Said, TextKind, digest
from prosa.data import Value

BODY, ROLES = "=body", "=roles"
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
    input: Mapping[str, Value] | None = None


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
        said, others = conversation_in(body)
        return BodyReading(said, template, {}, others)
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
    said = [f"## {title}\n\n{lines}\n" for title, schema in parts if (lines := _listed(schema))]
    gap = "\n" if piece.text.endswith(("\n", "\r")) else "\n\n"
    return gap + "\n".join(said) if said else ""


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
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return ""
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return "\n".join(_line(name, each, name in names) for name, each in properties.items() if _is_shown(name))


def _is_shown(name: str) -> bool:
    return name.isprintable() and "`" not in name and bool(name.strip())


def _line(name: str, schema: Value, required: bool) -> str:
    schema = schema if isinstance(schema, dict) else {}
    kind = schema.get("type")
    words = [str(kind)] if isinstance(kind, str) else []
    words += ["required" if required else "optional"]
    said = [str(schema["description"]).strip()] if isinstance(schema.get("description"), str) else []
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        said.append(f"one of {', '.join(str(each) for each in choices)}")
    if schema.get("default") is not None:
        said.append(f"default {json.dumps(schema['default'], ensure_ascii=False)}")
    text = " ".join("; ".join(said).split())
    return f"- `{name}` ({', '.join(words)}){': ' + text if text else ''}"
