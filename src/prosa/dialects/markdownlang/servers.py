"""The `mcp_servers` of a program (L18, LA9). A mapping per server in, models and shape problems out."""

from __future__ import annotations

from typing import cast

from prosa.data import Entry, Mapping, Scalar, Sequence
from prosa.diagnostics import Problem
from prosa.dialects.fields import Owner, read_fields, text_of
from prosa.dialects.markdownlang.fields import SERVER
from prosa.dialects.markdownlang.model import ServerModel, Transport
from prosa.source import Span


def read_servers(entry: Entry | None) -> tuple[tuple[ServerModel, ...], tuple[Problem, ...]]:
    """The servers in the order they are declared."""
    if entry is None or not isinstance(entry.value, Sequence):
        return (), ()
    servers: list[ServerModel] = []
    problems: list[Problem] = []
    for item in entry.value.items:
        if isinstance(item, Mapping):
            server, wrong = _server(item)
            servers.append(server)
            problems += wrong
    return tuple(servers), tuple(problems)


def _server(item: Mapping) -> tuple[ServerModel, tuple[Problem, ...]]:
    anchor = item.entries[0].key.span if item.entries else item.span
    entries, problems = read_fields(item, SERVER, Owner("an MCP server", anchor))
    model = ServerModel(
        name=text_of(entries.get("name")) or "",
        span=item.span,
        name_span=_span(entries, "name") or anchor,
        command=text_of(entries.get("command")),
        args=_args(entries.get("args")),
        env=_env(entries.get("env")),
        url=text_of(entries.get("url")),
        url_span=_span(entries, "url"),
        transport=cast("Transport", text_of(entries.get("transport")) or "auto"),
        transport_span=_span(entries, "transport"),
        disabled=_is_true(entries.get("disabled")),
    )
    return model, problems


def _span(entries: dict[str, Entry], name: str) -> Span | None:
    entry = entries.get(name)
    return entry.value.span if entry else None


def _args(entry: Entry | None) -> tuple[str, ...]:
    if entry is None or not isinstance(entry.value, Sequence):
        return ()
    return tuple(item.text for item in entry.value.items if isinstance(item, Scalar))


def _env(entry: Entry | None) -> dict[str, str] | None:
    if entry is None or not isinstance(entry.value, Mapping):
        return None
    return {item.key.text: item.value.text for item in entry.value if isinstance(item.value, Scalar)}


def _is_true(entry: Entry | None) -> bool:
    return entry is not None and isinstance(entry.value, Scalar) and entry.value.value is True
