"""The `mcp-server.json` beside a compiled MCP-SERVER.md (§06-2.2): the three fields that MDA reads."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Value, read_json, to_value
from prosa.dialects.fields import shown
from prosa.dialects.mda.fields import version_form

SIDECAR = "mcp-server.json"


def read_sidecar(text: str) -> dict[str, Value] | None:
    """Return the data of the file; None where it is no JSON object."""
    reading = read_json(text)
    value = to_value(reading.node) if reading.node is not None and not reading.problems else None
    return value if isinstance(value, dict) else None


def sidecar_faults(data: dict[str, Value], name: str | None) -> Iterator[str]:
    """Yield what is wrong with the data beside an MCP-SERVER.md of that name."""
    for key in ("name", "version", "transport"):
        if not isinstance(data.get(key), str) or not data[key]:
            yield f"`{key}` must be a text"
    version, own = data.get("version"), data.get("name")
    if isinstance(version, str) and (complaint := version_form(version)):
        yield f"`version` {complaint}"
    if name is not None and isinstance(own, str) and own != name:
        yield f"`name` is `{shown(own)}`, and that of the document is `{name}`"
