"""Agents: instructions under a name and a description, with tools, a model and servers (`NAME.agent.md`)."""

from __future__ import annotations

from prosa.convert.form import Form, FormReading, NewDocument, TargetContext
from prosa.convert.front import Row, texts_in
from prosa.convert.markdown import read_markdown, write_markdown
from prosa.convert.neutral import Carry, Marks, Piece
from prosa.data import Mapping as Fields
from prosa.data import Node, Value, to_value
from prosa.source import SourceText


def _servers_in(node: Node) -> Value:
    """Return the servers of a mapping by their names, as a list."""
    if not isinstance(node, Fields):
        return None
    found = [{"name": entry.key.text, **_settings(to_value(entry.value))} for entry in node]
    return found if all(len(each) > 1 for each in found) else None


def _settings(value: Value) -> dict[str, Value]:
    return value if isinstance(value, dict) and "name" not in value else {}


def _by_name(servers: Value) -> Value:
    return {str(each.get("name")): {key: value for key, value in each.items() if key != "name"} for each in servers}


ROWS = (
    Row("name", "name"),
    Row("description", "description"),
    Row("argument-hint", "hint"),
    Row("tools", "tools", texts_in),
    Row("model", "host-model"),
    Row("mcp-servers", "servers", _servers_in, _by_name),
)


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the agent. Raises `NotConvertible`."""
    return read_markdown(source, marks, "agent", ROWS)


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the agent."""
    del context
    return write_markdown(piece, carry, "agent", ROWS, piece.slots, tells=True)


FORM = Form(name="agent", read=read, write=write, carrier="/prosa")
