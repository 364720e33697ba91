"""The six reading tools: their descriptions for an agent, and how a call becomes a query (X30, X23).

All of them together take at most 1,500 tokens of an agent's context. In: arguments that satisfy the input schema. Out:
plain data that satisfies the output schema. Nothing runs here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypedDict

from msgspec import Struct

from prosa.app.site import agents
from prosa.app.site.live import LiveSite
from prosa.data import Value
from prosa.dialects import DialectName

Arguments = TypedDict(
    "Arguments",
    {
        "query": str,
        "limit": float,  # 1.0 is a whole number of JSON Schema
        "where": str,
        "dialects": list[str],
        "document": str,
        "section": str,
        "start_line": float,
        "max_tokens": float,
        "text": str,
        "as": DialectName,
        "cursor": str,
    },
    total=False,
)
"""The arguments of all tools together: each takes those of its schema, which has checked them."""

Ask: TypeAlias = Callable[[LiveSite, agents.CheckScope, Arguments], Mapping[str, Value]]
"""From a site, what its owner chose for checks, and the arguments to the answer."""

_TEXT: Value = {"type": "string"}
_LINE: Value = {"type": "integer", "minimum": 1}
_DOCUMENT: Value = {"type": "string", "description": "path or id"}
_WHERE: Value = {"type": "string", "description": "condition on front matter: status=draft and has owner"}
_OBJECTS: Value = {"type": "array", "items": {"type": "object"}}
_NAMED: dict[str, Value] = {"path": _TEXT, "id": _TEXT, "title": _TEXT, "dialect": _TEXT}


def _object(properties: Mapping[str, Value], *required: str) -> dict[str, Value]:
    return {"type": "object", "properties": dict(properties), **({"required": list(required)} if required else {})}


class ReadTool(Struct, frozen=True):
    """A reading tool: its name, its purpose, its input and output schemas, its implementation."""

    name: str
    description: str
    parameters: dict[str, Value]
    output: dict[str, Value]
    ask: Ask


def _search(site: LiveSite, _: agents.CheckScope, arguments: Arguments) -> Mapping[str, Value]:
    return agents.search(
        site,
        arguments["query"],
        limit=int(arguments.get("limit", 10)),
        where=arguments.get("where", ""),
        dialects=arguments.get("dialects", ()),
    )


def _read(site: LiveSite, _: agents.CheckScope, arguments: Arguments) -> Mapping[str, Value]:
    return agents.read(
        site,
        arguments["document"],
        section=arguments.get("section", ""),
        start_line=int(arguments.get("start_line", 1)),
        max_tokens=int(arguments.get("max_tokens", agents.READ_TOKENS)),
    )


def _outline(site: LiveSite, _: agents.CheckScope, arguments: Arguments) -> Mapping[str, Value]:
    return agents.outline(site, arguments["document"])


def _links(site: LiveSite, _: agents.CheckScope, arguments: Arguments) -> Mapping[str, Value]:
    return agents.links(site, arguments["document"])


def _check(site: LiveSite, scope: agents.CheckScope, arguments: Arguments) -> Mapping[str, Value]:
    document, text = arguments.get("document", ""), arguments.get("text", "")
    if not document and not text and scope.changed_since is not None:
        return agents.check_changed(site, scope, arguments.get("as"))
    if bool(document) is bool(text):
        raise agents.UnknownDocument("give one of `document` and `text`")
    return agents.check(site, scope, document=document, text=text, dialect=arguments.get("as"))


def _list(site: LiveSite, _: agents.CheckScope, arguments: Arguments) -> Mapping[str, Value]:
    return agents.listing(site, where=arguments.get("where", ""), cursor=arguments.get("cursor", ""))


READ_TOOLS: tuple[ReadTool, ...] = (
    ReadTool(
        "search",
        "Find sections of the documents by words, best first.",
        _object(
            {
                "query": _TEXT,
                "limit": {"type": "integer", "minimum": 1, "maximum": agents.MOST_HITS},
                "where": _WHERE,
                "dialects": {"type": "array", "items": _TEXT},
            },
            "query",
        ),
        _object({"hits": _OBJECTS, "complete": {"type": "boolean"}}, "hits", "complete"),
        _search,
    ),
    ReadTool(
        "read",
        "Read a document or one section of it. next_line says where a long one continues.",
        _object(
            {
                "document": _DOCUMENT,
                "section": {"type": "string", "description": "anchor or heading"},
                "start_line": _LINE,
                "max_tokens": {"type": "integer", "minimum": 100, "maximum": agents.MOST_TOKENS},
            },
            "document",
        ),
        _object(
            {**_NAMED, "line": _LINE, "end_line": _LINE, "next_line": {"type": ["integer", "null"]}, "text": _TEXT},
            "path",
            "text",
        ),
        _read,
    ),
    ReadTool(
        "outline",
        "The fields and headings of a document.",
        _object({"document": _DOCUMENT}, "document"),
        _object({**_NAMED, "summary": _TEXT, "fields": {"type": "object"}, "headings": _OBJECTS}, "path", "headings"),
        _outline,
    ),
    ReadTool(
        "links",
        "What a document points at, and what points at it.",
        _object({"document": _DOCUMENT}, "document"),
        _object(
            {
                **_NAMED,
                "relationships": _OBJECTS,
                "links": _OBJECTS,
                "backlinks": _OBJECTS,
                "complete": {"type": "boolean"},
            },
            "path",
        ),
        _links,
    ),
    ReadTool(
        "check",
        "What is wrong in a document, or in a text before it is written.",
        _object({"document": _DOCUMENT, "text": _TEXT, "as": {"type": "string", "description": "dialect"}}),
        _object(
            {
                "path": {"type": ["string", "null"]},
                "documents": {"type": "array", "items": _TEXT},
                "diagnostics": _OBJECTS,
            },
            "diagnostics",
        ),
        _check,
    ),
    ReadTool(
        "list",
        "The documents by path, a page at a time.",
        _object({"where": _WHERE, "cursor": _TEXT}),
        _object(
            {"documents": _OBJECTS, "next_cursor": {"type": ["string", "null"]}, "complete": {"type": "boolean"}},
            "documents",
        ),
        _list,
    ),
)
