"""What `prosa show` tells a person about a document: a few aligned lines, then what a program takes and gives.

Every text of the document is made safe first (`render.plain`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from prosa.dialects.table import dialect
from prosa.render.json import dump
from prosa.render.plain import safe

MAX_VALUE = 100
"""Characters of one value in an outline; `--format json` has all of it."""

_WIDTH = 12


def render_outline(facts: Mapping[str, Any]) -> str:
    """The outline of what `document_facts` gave."""
    title = dialect(facts["dialect"]).title
    lines = [f"{safe(facts['path'])}: {title}", *_rows(facts)]
    return "\n".join(line.rstrip() for line in lines)


def _rows(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts["dialect"] == "markdownlang":
        yield from _program(facts)
    elif facts["front_matter"]:
        for key, value in facts["front_matter"].items():
            yield _row(key, value if isinstance(value, str) else dump(value))
    else:
        yield _row("front matter", "none")
    for key, each in facts.get("lent", {}).items():
        value = each["value"]
        yield _row(key, value if isinstance(value, str) else dump(value), f"  (lent by {safe(each['by'])})")
    yield _row("findings", _findings(facts["diagnostics"]))


def _program(facts: Mapping[str, Any]) -> Iterator[str]:
    derived = " (derived: the program has none)" if facts["description_derived"] else ""
    yield _row("name", facts["name"])
    yield _row("description", facts["description"], derived)
    yield _row("model", facts["model"] or "(the default)")
    for name in ("input", "output"):
        yield from _schema(name, facts[name])
    yield from _list("imports", facts["imports"])
    yield from _list("servers", [_server(server) for server in facts["mcp_servers"]])
    yield from _list("sites", facts["mdh"])
    yield from _list("uses", [f".{name}" for name in facts["variables"]])


def _schema(name: str, schema: Any) -> Iterator[str]:
    """One line per property; a schema without properties on one line."""
    if schema is None:
        yield _row(name, "(missing)")
        return
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not properties:
        yield _row(name, dump(schema))
        return
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    yield from _list(
        name, [f"{key}: {_type(value)}{'' if key in names else ', optional'}" for key, value in properties.items()]
    )


def _type(schema: Any) -> str:
    """A word or two for the type of a property."""
    if not isinstance(schema, dict):
        return "anything"
    found = schema.get("type", "anything")
    if found == "array" and isinstance(schema.get("items"), dict):
        return f"array of {_type(schema['items'])}"
    return " or ".join(str(each) for each in found) if isinstance(found, list) else str(found)


def _server(server: Mapping[str, Any]) -> str:
    how = server.get("url") or " ".join((server.get("command") or "(built in)", *server.get("args", ())))
    return f"{server['name']}: {how}{' (disabled)' if server.get('disabled') else ''}"


def _findings(diagnostics: Sequence[Mapping[str, Any]]) -> str:
    return f"{len(diagnostics)}; see: prosa check" if diagnostics else "none"


def _list(name: str, values: Sequence[str]) -> Iterator[str]:
    for at, value in enumerate(values):
        yield _row(name if at == 0 else "", value)


def _row(name: str, value: str, suffix: str = "") -> str:
    text = safe(value)
    shown = text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"
    return f"  {safe(name)[:40]:<{_WIDTH}} {shown}{suffix}"
