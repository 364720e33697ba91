"""Agents: instructions under a name and a description, with tools, a model and servers (`NAME.agent.md`)."""

from __future__ import annotations

from typing import cast

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
    servers: list[Value] = []
    for entry in node:
        settings = to_value(entry.value)
        if not isinstance(settings, dict) or not settings or "name" in settings:
            return None
        servers.append({"name": entry.key.text, **settings})
    return servers


def _by_name(servers: Value) -> Value:
    several = cast("list[dict[str, Value]]", servers)  # `is_slot` has checked it
    return {str(entry.get("name")): {key: value for key, value in entry.items() if key != "name"} for entry in several}


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
