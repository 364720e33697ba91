"""What a skill implies and a program must declare (L46, LA30): parameters, results, tools; and placeholders in the
prose.

In: the parts of a skill. Out: schemas, servers and texts, by a few strict rules: unclear words are not interpreted.
The caller reports every guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import cast

from msgspec import Struct, field

from prosa.convert.body import spelled
from prosa.data import Value
from prosa.dialects.skill_md.model import Parameter
from prosa.regex import regex
from prosa.template import Template
from prosa.template.analyse import Path, positions

_LIST = regex(r"\((?P<words>[^()]{1,200})\)[.\s]*\Z")
_WORD = regex(r"[\w.+-]+(?: [\w.+-]+)?")
_URL = regex(r"(?:.*[_-])?(?:url|uri|link)", re.IGNORECASE)
_DEFAULT = regex(r"\bdefaults?(?: to| is|:|=)?\s+[`\"']?(?P<value>[^`\"',;)\s]+)", re.IGNORECASE)
_TYPES = {
    "string": "string",
    "text": "string",
    "integer": "integer",
    "int": "integer",
    "number": "number",
    "float": "number",
    "boolean": "boolean",
    "bool": "boolean",
    "list": "array",
    "array": "array",
    "object": "object",
}
_NOTE = regex(r"\((?P<note>[^()\r\n]*)\)")

_COUNTS = frozenset(
    {"status", "count", "number", "total", "size", "length", "code", "age", "index", "line", "id_number"}
)
"""Results that are whole numbers by their name: `status` is, by the specification's own example."""

_RETURNS = regex(
    r"\b[Rr]eturns?\s+(?P<names>(?:(?:the|a|an|its)\s+)?[a-z][a-z_]*"
    r"(?:(?:,\s*(?:and\s+)?|\s+and\s+)(?:(?:the|a|an|its)\s+)?[a-z][a-z_]*){0,9})\s*(?:[.;]|\r?\n\r?\n|\Z)"
)
_ARTICLE = regex(r"\A(?:the|a|an|its)\s+")

MCP_SERVERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "fetch": ("uvx", ("mcp-server-fetch",)),
    "git": ("uvx", ("mcp-server-git",)),
    "time": ("uvx", ("mcp-server-time",)),
    "memory": ("npx", ("-y", "@modelcontextprotocol/server-memory")),
    "filesystem": ("npx", ("-y", "@modelcontextprotocol/server-filesystem", ".")),
}
"""The reference servers of the protocol, as they are started (LA30)."""

TOOL_SERVERS = {"WebFetch": "fetch", "web_fetch": "fetch", "fetch": "fetch"}
"""Tools of other programs that a server here does the work of."""

_TOOL = regex(r"\b[Uu]s(?:es?|ing)\s+(?:the\s+)?`?(?P<name>[a-z][\w-]*)`?\s+(?:tool|server)\b")


def input_of(parameters: Sequence[Parameter], texts: Sequence[str]) -> dict[str, Value]:
    """Return the input schema of a list of parameters (step 1). ``texts`` are the items as they are written."""
    properties: dict[str, Value] = {}
    required: list[Value] = []
    for parameter, text in zip(parameters, texts, strict=True):
        property_schema = properties[parameter.name] = _property(parameter, text)
        if parameter.required is not False and "default" not in property_schema:
            required.append(parameter.name)
    schema: dict[str, Value] = {"type": "object", "properties": properties}
    return schema | ({"required": required} if required else {})


def _property(parameter: Parameter, text: str) -> dict[str, Value]:
    note = _NOTE.search(text.split(":", 1)[0])
    words = [part.strip().lower() for part in re.split(r"[,;|]", note["note"])] if note else []
    kind = next((_TYPES[word] for word in words if word in _TYPES), "string")
    schema: dict[str, Value] = {"type": kind}
    if kind == "string" and _URL.fullmatch(parameter.name):
        schema["format"] = "uri"
    allowed = _choices(parameter.description) if kind == "string" else []
    if allowed:
        schema["enum"] = allowed
    default = _default(f"{parameter.description} {note['note'] if note else ''}", kind, allowed)
    if default is not None:
        schema["default"] = default
    elif allowed and parameter.required is False:
        schema["default"] = allowed[0]
    return schema


def _choices(description: str) -> list[Value]:
    """Return the words in parentheses at the end of a description, two at least."""
    match = _LIST.search(description)
    parts = re.split(r",|\bor\b|\|", match["words"]) if match else []
    words = [word for part in parts if (word := part.strip().strip("`\"'"))]
    if len(words) < 2 or len(set(words)) < len(words) or not all(_WORD.fullmatch(word) for word in words):
        return []
    return [] if any(word.lower().startswith(("e.g", "i.e", "default")) for word in words) else [*words]


def _default(text: str, kind: str, allowed: Sequence[Value]) -> Value:
    match = _DEFAULT.search(text)
    if match is None:
        return None
    value = match["value"].rstrip(".")
    if kind == "integer" and re.fullmatch(r"-?\d{1,15}", value):
        return int(value)
    if kind == "number" and re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", value):
        return float(value)
    if kind == "boolean" and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return value if kind == "string" and (not allowed or value in allowed) else None


def output_of(text: str) -> dict[str, Value] | None:
    """Return the output schema that a text describes (step 2); None if it has no plain description."""
    for match in _RETURNS.finditer(text[:20_000]):
        names = [
            _ARTICLE.sub("", part.strip()) for part in re.split(r",\s*and\s+|,\s*|(?<!\s)\s++and\s+", match["names"])
        ]
        if all(regex(r"[a-z][a-z_]*").fullmatch(name) for name in names) and len(set(names)) == len(names):
            properties: dict[str, Value] = {
                name: {"type": "integer" if name in _COUNTS else "string"} for name in names
            }
            return {"type": "object", "properties": properties, "required": [*properties]}
    return None


UNKNOWN_OUTPUT: dict[str, Value] = {
    "type": "object",
    "properties": {"result": {"type": "string"}},
    "required": ["result"],
}
"""The output where nothing is known of it (LA30)."""


def servers_of(text: str, tools: Sequence[str]) -> tuple[list[dict[str, Value]], list[str]]:
    """Return the servers that a text names ("Uses the fetch tool") and tools ask for, and the tools that none is known
    for."""
    names = list(_named_servers(text[:100_000]))
    bare = {tool: tool.split("(")[0] for tool in tools}
    names += [TOOL_SERVERS[name] for name in bare.values() if name in TOOL_SERVERS]
    servers = [_server(name) for name in dict.fromkeys(names)]
    return servers, [tool for tool, name in bare.items() if name not in TOOL_SERVERS]


@lru_cache(maxsize=4)
def _named_servers(text: str) -> tuple[str, ...]:
    """Return the names of known servers that a text mentions. Cached, since a conversion writes twice."""
    return tuple(match["name"] for match in _TOOL.finditer(text) if match["name"] in MCP_SERVERS)


def _server(name: str) -> dict[str, Value]:
    command, args = MCP_SERVERS[name]
    return {"name": name, "command": command, "args": list(args)}


def with_placeholders(text: str, parameters: Sequence[Parameter], schema: dict[str, Value]) -> tuple[str, list[str]]:
    """Return the text as a template that uses the parameters (step 5), and the names of unmentioned ones.

    The first `{name}`, `{{name}}`, `<name>` or `$name`, else the first "a NAME" becomes an action. The remaining
    parameters are listed at the end.
    """
    pieces: list[tuple[int, int, str]] = []
    rest: list[str] = []
    for parameter in parameters:
        action = _action(parameter.name, schema)
        places = list(_places(text, parameter.name))
        taken = next((at for at in places if all(at[1] <= one[0] or at[0] >= one[1] for one in pieces)), None)
        if taken is None:
            rest.append(f"{_label(parameter)}: {action}.")
        else:
            pieces.append((*taken, action))
    template = _replaced(text, sorted(pieces))
    return (_told(template, rest) if rest else template), [parameter.name for parameter in parameters]


def _places(text: str, name: str) -> Iterator[tuple[int, int]]:
    escaped = re.escape(name)
    marked = re.search(rf"\{{\{{\s*{escaped}\s*\}}\}}|\{{{escaped}\}}|<{escaped}>|\$\{{?{escaped}\b\}}?", text)
    if marked:
        yield marked.span()
    match = re.search(rf"(?<![\w`])(?:an?|the given|the)\s+{escaped}(?![\w`-])", text, re.IGNORECASE)
    if match:
        yield match.span()


def _action(name: str, schema: dict[str, Value]) -> str:
    path = f".{name}" if re.fullmatch(r"[A-Za-z_][\w-]*", name) else f'(index . "{name}")'
    default = cast("dict[str, dict[str, Value]]", schema["properties"])[name].get("default")  # as `input_of` made it
    if isinstance(default, str) and not set(default) & set('"\\\r\n{}'):
        return f'{{{{ {path} | default "{default}" }}}}'
    return f"{{{{ {path} }}}}"


def _label(parameter: Parameter) -> str:
    words = _LIST.sub("", parameter.description).strip().rstrip(".:")
    first = re.split(r"[.;:]\s", words)[0] if words else ""
    return spelled(first or parameter.name)


def _replaced(text: str, pieces: Sequence[tuple[int, int, str]]) -> str:
    done, at = "", 0
    for start, end, action in pieces:
        done += spelled(text[at:start]) + action
        at = end
    return done + spelled(text[at:])


def _told(template: str, rest: Sequence[str]) -> str:
    """Return the template with sentences behind its last paragraph, where it ends with one."""
    body = template.rstrip()
    ending = template[len(body) :] or "\n"
    last = body.rsplit("\n", 1)[-1]
    prose = last[:1].isalpha() and last.endswith((".", "!", "?"))
    return f"{body}{' ' if prose else chr(10) * 2}{' '.join(rest)}{ending}"


MAX_GUESSED = 12
"""Lists and mappings inside one another of which the types are guessed."""


class _Taken(Struct):
    """A value that a template takes: how it is used, and its parts."""

    kinds: set[str] = field(default_factory=set)
    members: dict[str, _Taken] = field(default_factory=dict)
    element: _Taken | None = None

    def at(self, path: Path) -> _Taken:
        """Return the value at a path; a step of None is any element."""
        taken = self
        for step in path:
            if step is not None:
                taken = taken.members.setdefault(step, _Taken())
            elif taken.element is None:
                taken.element = taken = _Taken()
            else:
                taken = taken.element
        return taken

    def schema(self, depth: int = 0) -> dict[str, Value]:
        """Return the schema; it allows any value where the positions do not agree, and where it would be nested too
        deep."""
        kinds = self.kinds | ({"object"} if self.members else set())
        if len(kinds) != 1 or "any" in kinds or depth == MAX_GUESSED:
            return {}
        schema: dict[str, Value] = {"type": next(iter(kinds))}
        if self.members:
            schema["properties"] = {name: member.schema(depth + 1) for name, member in self.members.items()}
        items = self.element.schema(depth + 1) if self.element else {}
        return schema | ({"items": items} if items else {})


def taken_by(template: Template) -> dict[str, dict[str, Value]]:
    """Return the schemas of the values that a template takes, by name: the position of a value decides its type.

    A printed value is a text, one that `range` iterates over a list, one in which names are looked up a mapping. A
    condition decides nothing, and the arguments of functions may have any type.
    """
    root = _Taken()
    for use in template.uses:
        root.at(use.path)
    used = positions(template.tree)
    for kind, paths in (("string", used.printed), ("array", used.listed), ("any", used.given)):
        for path in paths:
            root.at(path).kinds.add(kind)
    return {name: member.schema() for name, member in root.members.items()}
