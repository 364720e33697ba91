"""Messages of the OpenAI API: a JSON list, or a request that holds one beside a model and its parameters.

There is no place in it for what others say: that is lost, and reported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from prosa.convert.chat import SAMPLING, as_messages, sendable
from prosa.convert.exchange import ExchangeProblem
from prosa.convert.exchange.openai import as_data, messages_of
from prosa.convert.form import At, Form, FormReading, NewDocument, NotConvertible, TargetContext
from prosa.convert.neutral import NO_CARRY, Carry, Marks, Note, Piece, Said, is_slot, same
from prosa.data import JsonError, Value, format_pointer, parse_json, read_json, span_at
from prosa.dialects.prapti.write import NewMessage
from prosa.source import SourceText

MESSAGES, REQUEST = "=messages", "=request"
_FORMAT = "response_format"


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the messages. Raises `NotConvertible`."""
    del marks
    data = json_in(source)
    fields = data if isinstance(data, dict) else {}
    items = fields.get("messages") if isinstance(data, dict) else data
    if not isinstance(items, list):
        raise NotConvertible("expected a JSON list of messages, or an object with `messages`")
    messages, losses = said_in(items)
    slots, own = _fields(fields)
    if not same([_data(message) for message in sendable(messages)], items):
        own[MESSAGES] = items
    if isinstance(data, dict) and not slots:
        own[REQUEST] = True
    prefix = "/messages" if isinstance(data, dict) else ""
    pointers = {name: format_pointer((name,)) for name in fields}
    wanted = {f"text/{number}": f"{prefix}/{number}" for number in range(len(items))}
    wanted |= {f"own/openai/{name}": pointer for name, pointer in pointers.items()}
    wanted |= {slot: pointers[name] for slot, name in (("model", "model"), ("output", _FORMAT)) if name in pointers}
    places = places_in(source, wanted)
    piece = Piece("openai", slots, messages, "text", {"openai": own} if own else {}, bare=True)
    notes = tuple(Note("guessed", f"own/openai/{MESSAGES}", text) for text in losses)
    return FormReading(piece, NO_CARRY, places, notes)


def json_in(source: SourceText) -> Value:
    """Return the JSON value of a source. Raises `NotConvertible`."""
    try:
        return parse_json(source.text.removeprefix("\ufeff"))
    except JsonError as error:
        at = source.lines.offset(error.line, error.column) if error.line else 0
        raise NotConvertible(f"not valid JSON: {error.message}", at) from None


def places_in(source: SourceText, pointers: Mapping[str, str]) -> dict[str, At]:
    """Return the places of these pointers in a JSON text."""
    node = read_json(source.text).node
    if node is None:
        return {}
    return {key: At(span_at(node, pointer).start, pointer) for key, pointer in pointers.items()}


def said_in(items: list[Value]) -> tuple[tuple[Said, ...], tuple[str, ...]]:
    """Return the messages in a list, and what of them is no text. Raises `NotConvertible`."""
    try:
        messages, losses = messages_of(items)
    except ExchangeProblem as problem:
        raise NotConvertible(str(problem)) from None
    return tuple(Said(message.content, message.role, message.name) for message in messages), losses


def _fields(fields: Mapping[str, Value]) -> tuple[dict[str, Value], dict[str, Value]]:
    """Return the slots of a request, and its private fields."""
    own = {name: value for name, value in fields.items() if name != "messages"}
    slots: dict[str, Value] = {}
    if isinstance(own.get("model"), str):
        slots["model"] = own.pop("model")
    sampling = {name: own.pop(name) for name in SAMPLING if own.get(name) is not None}
    if sampling:
        slots["sampling"] = sampling
    output = _output(own.get(_FORMAT))
    if output is not None:
        slots["output"] = output
        if same(_format(output), own[_FORMAT]):
            del own[_FORMAT]
    return slots, own


def _output(value: Value) -> Value:
    inner = value.get("json_schema") if isinstance(value, dict) and value.get("type") == "json_schema" else None
    schema = inner.get("schema") if isinstance(inner, dict) else None
    return schema if is_slot("output", schema) and isinstance(schema, dict) else None


def _format(schema: Value) -> dict[str, Value]:
    return {"type": "json_schema", "json_schema": {"name": "output", "schema": schema}}


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the messages; a request where there is more to say."""
    del carry, context
    turns, notes = as_messages(piece)
    own = dict(piece.own_of("openai"))
    worded, request = own.pop(MESSAGES, None), own.pop(REQUEST, False)
    messages: list[Value] = [_data(message) for message in sendable(turns)]
    if isinstance(worded, list) and said_in(worded)[0] == turns:
        messages = worded
    fields = _written_fields(piece, own)
    data = {**fields, "messages": messages} if fields or request else messages
    return NewDocument(json.dumps(data, ensure_ascii=False, indent=2) + "\n", notes=notes)


def _written_fields(piece: Piece, own: Mapping[str, Value]) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    if piece.slot("model") is not None:
        fields["model"] = piece.slot("model")
    sampling, output = piece.slot("sampling"), piece.slot("output")
    if isinstance(sampling, dict):
        fields |= sampling
    if isinstance(output, dict):
        fields[_FORMAT] = own[_FORMAT] if same(_output(own.get(_FORMAT)), output) else _format(output)
    return fields | {name: value for name, value in own.items() if name not in fields}


def _data(message: Said) -> dict[str, Value]:
    return as_data(NewMessage(message.role or "user", message.text, message.name))


FORM = Form(name="openai", read=read, write=write, carrier="")
