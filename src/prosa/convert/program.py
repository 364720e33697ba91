"""Programs: a template with a schema for what goes in and what comes out (L2–L8).

A program must declare its input and output. If a source does not, the writer guesses and reports it: a text without
parameters is followed by the request that the program takes. A carry is stored in a comment of the template, which
renders as nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import cast

from msgspec.structs import replace

from prosa.convert.body import body_of, conversation_in, guarded, opening, spelled, spells, unguarded
from prosa.convert.form import At, Form, FormReading, NewDocument, TargetContext
from prosa.convert.front import (
    WORDED,
    Row,
    any_in,
    described,
    document,
    is_bare,
    node_of,
    own_and_slots,
    read_part,
    texts_in,
    titled,
    with_ends_of,
)
from prosa.convert.guess import UNKNOWN_OUTPUT, output_of, servers_of, taken_by
from prosa.convert.markdown import UNSOUND, ill_formed
from prosa.convert.neutral import NO_CARRY, NO_MARKS, Carry, Marks, Note, Piece, Said, TextKind, carry_of
from prosa.data import Entry, Node, Value
from prosa.data import Mapping as Fields
from prosa.data import Sequence as Items
from prosa.dialects.markdownlang.fields import PROGRAM
from prosa.dialects.markdownlang.model import BUILT_IN_SERVER
from prosa.dialects.markdownlang.read import read_servers
from prosa.regex import regex
from prosa.schema import SchemaError, check_schema_shape
from prosa.source import SourceText
from prosa.template import Template, TemplateError, undeclared

ROWS = (
    Row("name", "name"),
    Row("description", "description"),
    Row("input", "input", any_in),
    Row("output", "output", any_in),
    Row("imports", "imports", texts_in),
    Row("mcp_servers", "servers", any_in),
    Row("model", "model"),
)

REQUEST: dict[str, Value] = {
    "type": "object",
    "properties": {"request": {"type": "string"}},
    "required": ["request"],
}
_REQUEST = "\n## Request\n\n{{ .request }}\n"
_OPEN, _CLOSE = "{{/* prosa ", " */}}"
_TOOL_NAME = regex(r"[A-Za-z0-9_-]{1,64}")


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the program. Raises `NotConvertible`."""
    part = read_part(source, "program", ROWS)
    body, carried = _split(part.body)
    carry = carry_of(carried) or carry_of(part.carry) or NO_CARRY
    marks = marks or carry.marks
    text, template = _text(body, marks)
    if _unsound(part.slots) or (template == "go" and _undeclared(text, part.slots.get("input", {}))):
        part.own[UNSOUND] = True
    messages, worded = conversation_in(text) if marks.chat else ((Said(text),), {})
    own = worded | ({"program": part.own} if part.own else {})
    piece = Piece("program", part.slots, messages, template, own, part.bare)
    return FormReading(piece, carry, part.places | {"text/0": At(part.offset)})


def _split(body: str) -> tuple[str, Value]:
    """Return the template, and what the comment at its end keeps."""
    at = body.rfind(_OPEN)
    end = body.rstrip()
    if at < 0 or not end.endswith(_CLOSE):
        return body, None
    try:
        data = json.loads(end[at + len(_OPEN) : -len(_CLOSE)])
    except (ValueError, RecursionError):
        return body, None
    rest = body[len(end) :].removesuffix("\n").removesuffix("\r")
    return (body, None) if carry_of(data) is None else (body[:at] + rest, data)


def _text(body: str, marks: Marks) -> tuple[str, TextKind]:
    if marks.request:
        (asked,) = with_ends_of(body, _REQUEST)
        body = body.removesuffix(asked)
    if marks.literal:
        text = spells(body)
        if text is not None:
            return text, "text"
    return unguarded(body) if marks.chat else body, "go" if "{{" in body else "text"


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the program, and what of it is guessed."""
    notes: list[Note] = []
    slots = dict(piece.slots)
    text = body_of(piece) if piece.is_conversation else piece.text
    if piece.is_conversation:
        notes.append(Note("guessed", "roles", "the messages are the text of one prompt", "the body"))
    if not piece.own_of("program").get(UNSOUND):
        _leave_out(slots, notes)
        if piece.template == "go":
            _declare(slots, text, notes)
    _named(slots, opening(piece, text), piece.template, context, notes)
    body, marks = _body(piece, text)
    if "input" not in slots and piece.form == "dotprompt":
        slots["input"] = {"type": "object", "properties": {}}
        notes.append(Note("guessed", "input", "the program takes nothing, as the prompt does", "/input"))
    elif "input" not in slots:
        slots["input"] = REQUEST
        (asked,) = with_ends_of(body, _REQUEST if body.endswith("\n") else f"\n{_REQUEST}")
        body, marks = body + asked, replace(marks, request=True)
        notes.append(Note("guessed", "input", "the program takes a `request`, appended to the text", "/input"))
    if "output" not in slots:
        _guess_output(slots, text, notes)
    _guess_servers(slots, text, notes)
    _guess_imports(slots, text, context, notes)
    fields = own_and_slots(piece, "program", ROWS, slots)
    whole = document(fields, body, bare=is_bare(piece), worded=piece.own_of("program").get(WORDED))
    comment = with_ends_of(whole, _comment(carry)) if carry else ()
    return NewDocument("".join((whole, *comment)), marks, tuple(notes))


_FIELDS = {row.slot: row.field for row in ROWS}


def _leave_out(slots: dict[str, Value], notes: list[Note]) -> None:
    """Remove parts of other forms that would be an error in a program."""
    for slot in _unsound(slots):
        field = _FIELDS[slot]
        notes.append(
            Note("manual", slot, f"`{field}` of a program cannot be what this is: it is left out", f"/{field}")
        )
        del slots[slot]


def _declare(slots: dict[str, Value], text: str, notes: list[Note]) -> None:
    """Declare what the template uses and no schema declares: it would be an error in a program."""
    schema = slots.get("input")
    names = _undeclared(text, {"type": "object", "properties": {}} if schema is None else schema)
    if not names and schema is not None:
        return
    known = schema.get("properties") if isinstance(schema, dict) else None
    properties = dict(known) if isinstance(known, dict) else {}
    taken = taken_by(Template(text)) if names else {}
    properties |= {name: {} if name in properties else taken.get(name, {}) for name in names}
    slots["input"] = {**(schema if isinstance(schema, dict) else {"type": "object"}), "properties": properties}
    listed = ", ".join(f"`{name}`" for name in names) or "nothing"
    notes.append(Note("guessed", "input", f"the program takes {listed}, as the template does", "/input"))


def _undeclared(text: str, schema: Value) -> list[str]:
    """Return the names of the input that a template uses and a schema does not declare."""
    if not isinstance(schema, dict | bool):
        return []
    try:
        undeclareds = undeclared(Template(text), schema)
    except (TemplateError, SchemaError):
        return []
    return list(dict.fromkeys(variable.name.split(".")[0] for variable in undeclareds))


def _unsound(slots: Mapping[str, Value]) -> list[str]:
    """Return the slots that are malformed as fields of a program."""
    nodes = {slot: node_of(slots[slot]) for slot in _FIELDS if slots.get(slot) is not None}
    wrong = [slot for slot in ill_formed(slots, ROWS, PROGRAM) if slot not in ("name", "description")]
    wrong += [slot for slot in ("input", "output") if slot in nodes and not _is_schema(nodes[slot])]
    servers = nodes.get("servers")
    if isinstance(servers, Items) and not all(map(_is_server, servers.items)):
        wrong.append("servers")
    return list(dict.fromkeys(wrong))


def _is_schema(node: Node) -> bool:
    return not any(problem.rule == "bad-schema" for problem in check_schema_shape(node))


def _is_server(node: Node) -> bool:
    """Return whether a server has a name and one way to be reached, in fields of the right shape."""
    if not isinstance(node, Fields) or not node.entries:
        return False
    (server,), problems = read_servers(Entry(node.entries[0].key, Items((node,), node.span)))
    sound = all(problem.rule in ("unknown-field", "schema-without-type") for problem in problems)
    reached = (server.command is None) != (server.url is None) or server.name == BUILT_IN_SERVER
    return sound and reached and (server.url is None or server.url.startswith(("http://", "https://")))


def _named(slots: dict[str, Value], text: str, template: TextKind, context: TargetContext, notes: list[Note]) -> None:
    name = slots.get("name") or slots.get("id")
    clean = regex(r"[^A-Za-z0-9_-]+").sub("-", str(name or context.stem)).strip("-")[:64] or "program"
    if name is None or not _TOOL_NAME.fullmatch(str(name)):
        slots["name"] = clean
        why = f"`{name}` is not a name for a tool" if name else "the source has no name"
        notes.append(Note("guessed", "name", f"{why}: the program is called `{clean}`", "/name"))
    slots.setdefault("name", name)
    if not str(slots.get("description") or "").strip():
        description = described(text, template) or titled(text, template)
        slots["description"] = description or str(slots["name"])
        how = "the first paragraph, or else the first heading" if description else "the name: nothing else describes it"
        notes.append(Note("guessed", "description", f"the description is {how}", "/description"))


def _body(piece: Piece, text: str) -> tuple[str, Marks]:
    """Return the template, and how its reader finds the text in it."""
    chat = piece.is_conversation
    if piece.template == "go":
        return (guarded(text), Marks(chat=True)) if chat else (text, NO_MARKS)
    body = spelled(text)
    return body, Marks(chat=chat, literal=body != text)


def _guess_output(slots: dict[str, Value], text: str, notes: list[Note]) -> None:
    schema = output_of(f"{slots.get('description') or ''}\n\n{text}")
    output = slots["output"] = schema or UNKNOWN_OUTPUT
    names = ", ".join(f"`{name}`" for name in cast("dict[str, Value]", output["properties"]))
    how = "as the text describes" if schema else "the text does not describe what it returns: edit this by hand"
    notes.append(Note("guessed" if schema else "manual", "output", f"the program gives {names}: {how}", "/output"))


def _guess_servers(slots: dict[str, Value], text: str, notes: list[Note]) -> None:
    if "servers" in slots:
        return
    tools = cast("list[str]", slots.get("tools") or [])  # `is_slot` has checked it
    servers, unknown = servers_of(text, tools)
    if servers:
        slots["servers"] = cast("list[Value]", servers)
        names = ", ".join(f"`{server['name']}`" for server in servers)
        notes.append(Note("guessed", "servers", f"a server for {names}, as the text requires", "/mcp_servers"))
    if unknown:
        names = ", ".join(f"`{name}`" for name in unknown[:20])
        notes.append(Note("manual", "tools", f"no server is known for {names}: declare one, or leave it out"))


_CALL = regex(r"(?<![\w/.:<`-])/(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)(?![\w/.:-])")


def _guess_imports(slots: dict[str, Value], text: str, context: TargetContext, notes: list[Note]) -> None:
    """Step 6: `/name` calls a skill of that name. It is an import where there is a program of it."""
    if "imports" in slots:
        return
    known: list[Value] = [context.programs[name] for name in calls_in(text) if name in context.programs]
    if known:
        slots["imports"] = known
        names = ", ".join(f"`{name}`" for name in known)
        notes.append(Note("guessed", "imports", f"what the text calls is imported: {names}", "/imports"))


@lru_cache(maxsize=4)
def calls_in(text: str) -> tuple[str, ...]:
    """Return the names of skills or commands that a text calls as `/name`, each once."""
    matches = _CALL.finditer(text[:200_000].replace("`/", " /"))
    return tuple(dict.fromkeys(match["name"] for match in matches))


def _comment(carry: Carry) -> str:
    text = json.dumps(carry.data(), ensure_ascii=False).replace("*/", "*\\/").replace("{{", "{\\u007b")
    return f"{_OPEN}{text}{_CLOSE}\n"


FORM = Form(name="program", read=read, write=write, carrier="a comment of the template")
