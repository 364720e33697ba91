"""Prompt files (`NAME.prompt`): a prompt in Handlebars under a model, its configuration and schemas in Picoschema.

Values, conditions and loops are translated both ways; `{{role}}` begins a message. Helpers, partials, history and media
have no counterpart: they become text, which is reported, and are restored on the way back.
"""

from __future__ import annotations

import math
from typing import cast

from prosa.convert.form import At, Form, FormReading, NewDocument, TargetContext
from prosa.convert.front import WORDED, Row, document, own_and_slots, read_part, with_carry
from prosa.convert.handlebars import MODEL_ROLES, escaped, from_handlebars, to_handlebars
from prosa.convert.neutral import NO_CARRY, Carry, Marks, Note, Piece, carry_of
from prosa.data import Node, Value, to_value
from prosa.regex import regex
from prosa.source import SourceText

BODY, PREFACE = "=body", "=preface"
WORDING = f"own/dotprompt/{BODY}"
_PREFACE = regex(r"\A\ufeff?(?:#[^\n]*\n|[ \t]*\r?\n)+(?=---\r?\n)")
_CONFIG = {
    "temperature": "temperature",
    "maxOutputTokens": "max_tokens",
    "topP": "top_p",
    "stopSequences": "stop",
}


def _input_in(node: Node) -> Value:
    """Return the input schema with its separate defaults; without a schema, the one that the defaults imply."""
    value = to_value(node)
    if not isinstance(value, dict):
        return None
    if "schema" not in value:
        return _defaults_in(value.get("default"))
    schema = from_picoschema(value["schema"])
    defaults = value.get("default")
    if not isinstance(schema, dict) or not isinstance(defaults, dict):
        return schema
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    filled: dict[str, Value] = {
        name: {**field, "default": defaults[name]} if name in defaults and isinstance(field, dict) else field
        for name, field in properties.items()
    }
    return {**schema, "properties": filled}


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (str, "string"),
    (bool, "boolean"),
    ((int, float), "number"),
    (list, "array"),
    (dict, "object"),
)


def _defaults_in(defaults: Value) -> Value:
    """Return the input schema that defaults without a schema are; None where there are none."""
    if not isinstance(defaults, dict) or not defaults:
        return None
    return {"type": "object", "properties": {name: _default_in(default) for name, default in defaults.items()}}


def _default_in(default: Value) -> dict[str, Value]:
    kind = next((name for types, name in _KINDS if isinstance(default, types)), None)
    return ({"type": kind} if kind else {}) | {"default": default}


def _input_of(schema: Value) -> Value:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    defaults = {
        name: field["default"]
        for name, field in (properties.items() if isinstance(properties, dict) else ())
        if isinstance(field, dict) and "default" in field
    }
    return {"schema": schema} | ({"default": defaults} if defaults else {})


def _output_in(node: Node) -> Value:
    value = to_value(node)
    return from_picoschema(value["schema"]) if isinstance(value, dict) and "schema" in value else None


def _output_of(schema: Value) -> Value:
    return {"format": "json", "schema": schema}


def _config_in(node: Node) -> Value:
    value = to_value(node)
    if not isinstance(value, dict):
        return None
    return {_CONFIG[name]: setting for name, setting in value.items() if name in _CONFIG} or None


def _config_of(sampling: Value) -> Value:
    names = {value: key for key, value in _CONFIG.items()}
    values = cast("dict[str, Value]", sampling)  # `is_slot` has checked it
    return {names.get(name, name): value for name, value in values.items()}


ROWS = (
    Row("name", "name"),
    Row("description", "description"),
    Row("model", "model"),
    Row("config", "sampling", _config_in, _config_of),
    Row("input", "input", _input_in, _input_of),
    Row("output", "output", _output_in, _output_of),
)


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the prompt. Raises `NotConvertible`."""
    preface = _PREFACE.match(source.text)
    cut = preface.end() if preface else 0
    inner = SourceText(source.text[cut:], source.path)
    part = read_part(inner, "dotprompt", ROWS)
    carry = carry_of(part.carry) or NO_CARRY
    marks = marks or carry.marks
    messages, acts, unknown = from_handlebars(part.body)
    own = part.own | ({PREFACE: preface[0]} if preface else {})
    piece = Piece("dotprompt", part.slots, messages, "go" if acts else "text", {}, part.bare)
    if _body(piece)[0] != part.body:
        own[BODY] = part.body
    piece = Piece("dotprompt", part.slots, messages, piece.template, {"dotprompt": own} if own else {}, part.bare)
    notes = [Note("manual", WORDING, f"`{tag[:60]}` is text: it has no counterpart") for tag in unknown]
    for name, value in (("input", part.own.get("input")), ("output", part.own.get("output"))):
        if isinstance(value, dict) and "schema" in value and name not in part.slots:
            notes.append(Note("manual", f"own/dotprompt/{name}", f"the schema of `{name}` is defined elsewhere"))
    places = {key: At(at.offset + cut, at.pointer) for key, at in part.places.items()}
    return FormReading(piece, carry, places, tuple(notes))


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the prompt."""
    del context
    own = piece.own_of("dotprompt")
    slots = {name: value for name, value in piece.slots.items() if name != "sampling" or _is_finite(value)}
    worded = own.get(BODY)
    body, notes = _body(piece)
    if isinstance(worded, str):
        messages, acts, _ = from_handlebars(worded)
        if messages == piece.said and acts == (piece.template == "go"):
            body, notes = worded, ()
    fields = own_and_slots(piece, "dotprompt", ROWS, slots)
    text = document(with_carry(fields, carry), body, bare=False, worded=own.get(WORDED))
    preface = own.get(PREFACE) if text.startswith("---") else None
    return NewDocument(f"{preface if isinstance(preface, str) else ''}{text}", notes=notes)


def _is_finite(value: Value) -> bool:
    values = cast("dict[str, Value]", value).values()  # `is_slot` has checked it
    return not any(isinstance(item, float) and not math.isfinite(item) for item in values)


def _body(piece: Piece) -> tuple[str, tuple[Note, ...]]:
    """Return the prompt in Handlebars, and what of it can no longer be a template."""
    parts: list[str] = []
    notes: list[Note] = []
    for number, message in enumerate(piece.said):
        text = to_handlebars(message.text) if piece.template == "go" else escaped(message.text)
        if text is None:
            notes.append(
                Note("manual", f"text/{number}", "the template expresses what a prompt file cannot: it becomes text")
            )
            text = escaped(message.text)
        role = MODEL_ROLES.get(message.role or "", "user")
        if message.role is not None:
            text = f'{{{{role "{role}"}}}}{text}'
        parts.append(text)
    return "".join(parts), tuple(notes)


FORM = Form(name="dotprompt", read=read, write=write, carrier="/prosa")


# Picoschema: the short form of schemas in prompt files, as JSON Schema.

_SCALARS = ("string", "boolean", "null", "number", "integer", "any")
_PARENTHESES = ("array", "object", "enum")


def from_picoschema(data: Value) -> Value:
    """Return the JSON Schema. What has a type or properties of JSON Schema is one already."""
    if isinstance(data, dict):
        kind = data.get("type")
        if kind in (*_SCALARS, "object", "array"):
            return data
        if isinstance(data.get("properties"), dict):
            return {**data, "type": "object"}
    try:
        return _schema(data)
    except ValueError:
        return None


def _schema(data: Value) -> dict[str, Value]:
    if isinstance(data, str):
        return _scalar(data)
    if not isinstance(data, dict):
        raise ValueError
    properties: dict[str, Value] = {}
    required: list[Value] = []
    schema: dict[str, Value] = {"type": "object", "properties": properties, "additionalProperties": False}
    for key, value in data.items():
        if key == "(*)":
            schema["additionalProperties"] = _schema(value)
            continue
        name, _, rest = key.partition("(")
        optional = name.endswith("?")
        name = name.removesuffix("?")
        if not optional:
            required.append(name)
        properties[name] = _property(value, rest.removesuffix(")"), optional=optional)
    return schema | ({"required": required} if required else {})


def _property(value: Value, note: str, *, optional: bool) -> dict[str, Value]:
    kind, description = _described(note)
    if not kind:
        schema = _schema(value)
    elif kind == "array":
        schema = {"type": "array", "items": _schema(value)}
    elif kind == "object":
        schema = _schema(value)
    elif kind == "enum" and isinstance(value, list):
        schema = {"enum": [*value, *([None] if optional and None not in value else [])]}
    else:
        raise ValueError
    if optional and isinstance(schema.get("type"), str):
        schema = {**schema, "type": [schema["type"], "null"]}
    return schema | ({"description": description} if description else {})


def _scalar(text: str) -> dict[str, Value]:
    kind, description = _described(text)
    if kind not in _SCALARS:
        raise ValueError
    schema: dict[str, Value] = {} if kind == "any" else {"type": kind}
    return schema | ({"description": description} if description else {})


def _described(text: str) -> tuple[str, str]:
    kind, _, description = text.partition(",")
    return kind.strip(), description.strip()
