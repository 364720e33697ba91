"""Logs of the tool `llm`: a JSON list with one object for each reply, as `llm logs --json` prints it.

Data for other forms is stored in its first object under `prosa`, which that tool ignores.
"""

from __future__ import annotations

import json

from prosa.convert.chat import as_messages, sendable
from prosa.convert.exchange import ExchangeProblem
from prosa.convert.exchange.llm import export, rows_of
from prosa.convert.form import At, Form, FormReading, NewDocument, NotConvertible, TargetContext
from prosa.convert.front import CARRY
from prosa.convert.neutral import NO_CARRY, Carry, Marks, Note, Piece, Said, carry_of, same
from prosa.convert.openai import json_in
from prosa.data import Value
from prosa.dialects.prapti.write import NewMessage
from prosa.source import SourceText

ROWS = "=rows"


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the conversation. Raises `NotConvertible`."""
    del marks
    data = json_in(source)
    carry, rows = _without_carry(data)
    try:
        imported = rows_of(rows)
    except ExchangeProblem as problem:
        raise NotConvertible(str(problem)) from None
    messages = tuple(Said(message.content, message.role, message.name) for message in imported.messages)
    slots = dict(imported.settings)
    own = {} if same(_rows(sendable(messages), slots.get("model")), rows) else {ROWS: rows}
    piece = Piece("llm", slots, messages, "text", {"llm": own} if own else {}, bare=True)
    notes = tuple(Note("guessed", f"own/llm/{ROWS}", note) for note in imported.notes)
    places = {f"text/{number}": At(0) for number in range(len(messages))}
    return FormReading(piece, carry, places, notes)


def _without_carry(data: Value) -> tuple[Carry, Value]:
    if not isinstance(data, list) or not data or not isinstance(data[0], dict):
        return NO_CARRY, data
    carry = carry_of(data[0].get(CARRY))
    if carry is None:
        return NO_CARRY, data
    first = {name: value for name, value in data[0].items() if name != CARRY}
    return carry, ([first] if first else []) + data[1:]


def _rows(turns: tuple[Said, ...], model_name: Value) -> list[Value]:
    messages = [NewMessage(message.role or "user", message.text, message.name) for message in turns]
    rows: list[Value] = json.loads(export(messages, model_name if isinstance(model_name, str) else None))
    return rows


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the log."""
    del context
    messages, notes = as_messages(piece)
    rows = _rows(sendable(messages), piece.slot("model"))
    worded = piece.own_of("llm").get(ROWS)
    if isinstance(worded, list) and _says(worded, piece, messages):
        rows = list(worded)
    if carry:
        first = rows[0] if rows and isinstance(rows[0], dict) else {}
        rows = [{**first, CARRY: _kept(carry)}, *rows[1:]]
    return NewDocument(json.dumps(rows, ensure_ascii=False, indent=2) + "\n", notes=notes)


def _kept(carry: Carry) -> Value:
    """Return a carry as JSON can hold it: with infinite numbers in it as a text."""
    data = carry.data()
    try:
        json.dumps(data, allow_nan=False)
    except ValueError:
        return json.dumps(data, ensure_ascii=False)
    return data


def _says(rows: list[Value], piece: Piece, messages: tuple[Said, ...]) -> bool:
    try:
        imported = rows_of(rows)
    except ExchangeProblem:
        return False
    texts = tuple(Said(message.content, message.role, message.name) for message in imported.messages)
    return texts == messages and imported.settings.get("model") == piece.slot("model")


FORM = Form(name="llm", read=read, write=write, carrier="`prosa` in the first object")
