"""Agent Skills (L46, LA30): a body of instructions under a name and a description.

Parameters are a list under a matching title; `$ARGUMENTS` is the user's text after the name. A text with either is a
template here. A section at the end describes the input and output of a program, which the reader recognises.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import cast

from prosa.convert.body import as_template, opening, read_body, told, write_body
from prosa.convert.form import At, Form, FormReading, NewDocument, TargetContext
from prosa.convert.front import (
    CARRY,
    WORDED,
    FrontPart,
    Row,
    described,
    document,
    is_bare,
    joined_by,
    own_and_slots,
    read_part,
    titled,
)
from prosa.convert.guess import input_of, with_placeholders
from prosa.convert.neutral import NO_CARRY, Carry, Marks, Note, Piece, TextKind, carry_of
from prosa.data import Node, Value, to_value
from prosa.dialects.front import read_front
from prosa.dialects.skill_md.model import MAX_DESCRIPTION, as_name, is_name
from prosa.dialects.skill_md.read import read_parameters, read_tools
from prosa.document import parse
from prosa.regex import regex
from prosa.source import SourceText, Span

BARE = "=bare"
"""The field of a skill without front matter."""


def tools_in(node: Node) -> Value:
    """Return the names of tools, however they are separated."""
    tools, problems = read_tools(node)
    return None if problems else list(tools)


ROWS = (
    Row("name", "name"),
    Row("description", "description"),
    Row("license", "license"),
    Row("argument-hint", "hint"),
    Row("allowed-tools", "tools", tools_in, joined_by(" ")),
    Row("model", "host-model"),
)


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the skill. Raises `NotConvertible`."""
    part = read_part(source, "skill", ROWS)
    metadata = part.own.get("metadata")
    carry = NO_CARRY
    if isinstance(metadata, dict) and (carried := carry_of(metadata.get(CARRY))):
        carry = carried
        part.own.pop(WORDED, None)
        metadata = {name: value for name, value in metadata.items() if name != CARRY}
        part.own["metadata"] = metadata
        if not metadata:
            del part.own["metadata"]
    marks = marks or carry.marks
    piece, notes = _piece(part, marks)
    return FormReading(piece, carry, part.places | {"text/0": At(part.offset)}, notes)


def _piece(part: FrontPart, marks: Marks) -> tuple[Piece, tuple[Note, ...]]:
    slots, own = dict(part.slots), dict(part.own)
    notes = list(_shell(part))
    reading = read_body(part.body, marks, _as_template)
    own |= reading.own
    if reading.input is not None:
        slots["input"] = reading.input
        notes.append(
            Note("guessed", "input", f"its input is what the text describes: {_names(reading.input)}", "/input")
        )
    if part.bare:
        slots |= _derived(part.body)
        own[BARE] = True
        message = "the skill has no front matter: its first heading and paragraph are its name and description"
        notes.append(Note("guessed", "name", message))
    others = {**reading.others, "skill": own} if own else reading.others
    return Piece("skill", slots, reading.said, reading.template, others, part.bare), tuple(notes)


def _names(schema: Mapping[str, Value]) -> str:
    return ", ".join(f"`{name}`" for name in cast("dict[str, Value]", schema["properties"]))  # `_as_template` made it


def _derived(body: str) -> dict[str, Value]:
    """Name and description of a bare skill (LA30)."""
    name, description = as_name(titled(body)), described(body)
    return {key: value for key, value in (("name", name), ("description", description)) if value}


_TITLE = regex(r"(?:parameters|arguments|inputs?)\W{0,8}$", re.IGNORECASE | re.MULTILINE)


MAX_PARAMETERS = 64
"""Each is sought in the text; a longer list is text like any other."""


def _as_template(body: str) -> tuple[str, dict[str, Value]] | None:
    """Return the text as a template, with its input, where the skill has parameters; else None."""
    if _TITLE.search(body):
        source = SourceText(body)
        parsed = parse(source, body=Span(0, len(body)))
        parameters = read_parameters(parsed)
        if 0 < len(parameters) <= MAX_PARAMETERS:
            schema = input_of(parameters, [body[parameter.span.start : parameter.span.end] for parameter in parameters])
            text, _ = with_placeholders(
                _without_list(body, parameters[0].span, parameters[-1].span), parameters, schema
            )
            return text, schema
    return as_template(body)


def _without_list(body: str, first: Span, last: Span) -> str:
    """Return the text without the list and its title."""
    start = body.rfind("\n", 0, len(body[: first.start].rstrip())) + 1
    before, after = body[:start].rstrip(), body[last.end :].lstrip()
    return f"{before}\n\n{after}" if after else f"{before}\n"


_COMMAND = regex(r"!`[^`\r\n]+`")


def _shell(part: FrontPart) -> Iterator[Note]:
    """Yield a note for each command that another program would run and put the output of into the text."""
    for match in _COMMAND.finditer(part.body):
        message = f"`{match[0][:60]}` is text here: no command is run"
        yield Note("manual", "text/0", message, offset=part.offset + match.start())


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the skill."""
    notes: list[Note] = []
    slots = dict(piece.slots)
    body, marks = write_body(piece, "skill", _as_template, tells=True, guards=False)
    if piece.is_conversation:
        notes.append(Note("guessed", "roles", "the messages are the text of the skill", "the body"))
    derived = all(slots.get(name) == value for name, value in _derived(body).items())
    if piece.own_of("skill").get(BARE) and not carry and derived:
        return NewDocument(body, marks, tuple(notes))
    _named(slots, opening(piece, body), piece.template, context, notes)
    fields = own_and_slots(piece, "skill", ROWS, slots)
    if carry:
        metadata = fields.get("metadata")
        text_map = dict(metadata) if isinstance(metadata, dict) else {}
        fields["metadata"] = text_map | {CARRY: json.dumps(carry.data(), ensure_ascii=False)}
    return NewDocument(
        document(fields, body, bare=is_bare(piece), worded=piece.own_of("skill").get(WORDED)), marks, tuple(notes)
    )


_UUID = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def _named(slots: dict[str, Value], text: str, template: TextKind, context: TargetContext, notes: list[Note]) -> None:
    name = slots.get("name") or slots.get("id")
    if not slots.get("name") and _UUID.fullmatch(str(name)):
        name = None  # it names the document to programs alone
    if name is None or not is_name(str(name)):
        slots["name"] = as_name(str(name or slots.get("title") or context.stem)) or "skill"
        why = f"`{name}` is not a valid skill name" if name else "the source has no name of its own"
        notes.append(Note("guessed", "name", f"{why}: it is called `{slots['name']}`", "/name"))
    slots.setdefault("name", name)
    description = str(slots.get("description") or "")
    if not description.strip():
        slots["description"] = (described(text, template) or str(slots.get("title") or slots["name"]))[:MAX_DESCRIPTION]
        notes.append(Note("guessed", "description", "the description is the first paragraph", "/description"))
    elif len(description) > MAX_DESCRIPTION:
        slots["description"] = f"{description[: MAX_DESCRIPTION - 1].rstrip()}…"
        message = f"agents read {MAX_DESCRIPTION:,} characters of a description: the rest is carried along"
        notes.append(Note("guessed", "description", message, "/description"))


WRAPPED = "prosa-wraps"
"""The metadata of a skill that names the program inside it."""


def wrapping(piece: Piece, stem: str) -> tuple[str, str]:
    """Return the name and the SKILL.md of a skill around a program, which has the file `scripts/STEM.md`."""
    name = as_name(str(piece.slot("name") or stem)) or "program"
    description = str(piece.slot("description") or "") or described(piece.text, piece.template) or name
    program = f"scripts/{stem}.md"
    schema = piece.slot("input")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    names = properties if isinstance(properties, dict) else ()
    keys = [f"{key}=VALUE" for key in names if regex(r"[\w.-]+").fullmatch(key)]
    fields: dict[str, Value] = {
        "name": name,
        "description": description[:MAX_DESCRIPTION],
        "compatibility": "Needs the command prosa and a model service",
        "metadata": {WRAPPED: program},
    }
    intro = f"# {piece.slot('name') or name}\n\nRun this from the folder of the skill. It prints the result as JSON."
    line = " ".join(("prosa run", shlex.quote(program), *keys))
    return name, document(fields, f"\n{intro}\n\n```sh\n{line}\n```\n{told(piece)}", bare=False)


def wrapped_path(source: SourceText) -> str | None:
    """Return the path of the program inside a skill that wraps one, below the folder of the skill."""
    fields = read_front(source).fields
    node = fields.get("metadata") if fields is not None else None
    value = to_value(node) if node is not None else None
    path = value.get(WRAPPED) if isinstance(value, dict) else None
    return path if isinstance(path, str) and path else None


FORM = Form(name="skill", read=read, write=write, carrier="metadata.prosa")
