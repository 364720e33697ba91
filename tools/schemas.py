"""JSON Schemas for SchemaStore and editors, made of the tables that the readers of the dialects use.

In: the tables of fields and settings. Out: a file of draft-07 for each kind of front matter, footer, settings file and
suite, and the entries of the catalog. A schema refuses only what a rule of `prosa check` reports; it is laxer where a
rule asks more than a table says (`tests/packaging/test_schemas.py` lists the pages).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Value
from prosa.dialects import plain
from prosa.dialects.context import fields as context
from prosa.dialects.evals.document import fields as test
from prosa.dialects.evals.suite import fields as evals
from prosa.dialects.fields import ITEMS, Field, Kind
from prosa.dialects.magi import fields as magi
from prosa.dialects.markdownlang import fields as markdownlang
from prosa.dialects.mda import fields as mda
from prosa.dialects.mdh import fields as mdh
from prosa.dialects.skill_md import model as skill_md
from prosa.dialects.ymj import fields as ymj
from prosa.settings import PROJECT_FILE, SETTINGS, USER_FILE
from prosa.settings.model import PROTOCOLS, Level

Shape: TypeAlias = dict[str, Value]

DRAFT = "http://json-schema.org/draft-07/schema#"
HOME = "https://www.schemastore.org"
"""Where SchemaStore publishes them."""


class Schema(Struct, frozen=True):
    """A schema: the name of its file, what the catalog says of it, its content, and the files that it is for. Front
    matter is for no file alone: editors apply such a schema to a part of a document."""

    name: str
    title: str
    about: str
    body: Shape
    files: tuple[str, ...] = ()

    @property
    def whole(self) -> Shape:
        """The text of the file, as data."""
        head: Shape = {"$schema": DRAFT, "$id": f"{HOME}/{self.name}.json", "title": self.title}
        return {**head, "description": self.about, **self.body}


class Style(Struct, frozen=True):
    """How a dialect reads its mappings. ``closed``: an unknown field is an error. ``nulls``: an empty field counts as
    absent. ``open`` are the fields whose mappings may hold others all the same."""

    closed: bool = False
    nulls: bool = True
    open: frozenset[str] = frozenset()


USUAL = Style()
STRICT = Style(closed=True, nulls=False, open=frozenset(mda.OPEN))

_SCALARS: tuple[Shape, ...] = ({"type": "number"}, {"type": "boolean"})
"""In YAML these are strings too, where one is wanted: the source text counts (X1)."""

_FILLED = r"\S"


def schemas() -> tuple[Schema, ...]:
    """Return every schema, in the order of the catalog."""
    return (*_settings(), *_front_matter(), *_suites())


def catalog() -> Shape:
    """Return the entries of SchemaStore's catalog."""
    entries: list[Value] = []
    for each in schemas():
        entry: Shape = {"name": each.title, "description": each.about}
        if each.files:
            entry["fileMatch"] = list(each.files)
        entries.append({**entry, "url": f"{HOME}/{each.name}.json"})
    return {"version": 1, "schemas": entries}


def write(folder: Path) -> None:
    """Write the schemas and the catalog into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in (*((each.name, each.whole) for each in schemas()), ("catalog", catalog())):
        text = json.dumps(value, indent=2, ensure_ascii=False)
        (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


# ---- the tables of fields ----


def mapping(table: Iterable[Field], style: Style = USUAL, *, open_: bool = False) -> Shape:
    """Return the schema of a mapping with the fields of a table."""
    properties: Shape = {}
    needed: list[Value] = []
    either: list[Value] = []
    for field in table:
        properties[field.name] = said = _field(field, style)
        if field.also:
            properties[field.also] = said
        if field.required and field.also:
            either.append({"anyOf": [_having(field.name), _having(field.also)]})
        elif field.required:
            needed.append(field.name)
    shape: Shape = {"type": "object", "properties": properties}
    if style.closed and not open_:
        shape["additionalProperties"] = False
    if needed:
        shape["required"] = needed
    return {**shape, "allOf": either} if either else shape


def _having(name: str) -> Shape:
    return {"required": [name], "properties": {name: True}}


def _field(field: Field, style: Style) -> Shape:
    shape = _kind(field.kind, field, style)
    if style.nulls and not field.required:
        shape = _or_null(shape)
    head: Shape = {"description": _sentence(field.about)} if field.about else {}
    if field.usual:
        shape = {**shape, "examples": list(field.usual)}
    return {**head, **shape}


def _kind(kind: Kind, field: Field, style: Style) -> Shape:
    """Return the schema of a value of one kind."""
    if kind in ITEMS:
        return {"type": "array", "items": _kind(ITEMS[kind], replace(field, required=False), style)}
    if field.choices:
        return {"type": "string", "enum": list(field.choices)}
    filled: Shape = {"pattern": _FILLED} if field.required else {}
    match kind:
        case "text":
            return {"type": "string", **filled}
        case "number" | "integer" | "boolean":
            return {"type": kind}
        case "string" | "quantity":
            return _either({"type": "string", **filled}, *_SCALARS)
        case "text-or-integer":
            return _either({"type": "string"}, {"type": "integer"})
        case "string-map":
            values = {} if field.ruled else {"additionalProperties": _either({"type": "string"}, *_SCALARS)}
            return {"type": "object", **values}
        case "schema":
            return _either({"type": "object"}, {"type": "boolean"})
        case "anything":
            return {}
    inner = mapping(field.inner, style, open_=field.name in style.open) if field.inner else {"type": "object"}
    if kind == "string-or-mapping":
        return _either({"type": "string"}, *_SCALARS, inner)
    return _either({"type": "boolean"}, inner) if kind == "flag-or-mapping" else inner


def _either(*shapes: Shape) -> Shape:
    """Return a schema for a value of one of several types, which ajv in its strict mode wants apart."""
    return {"anyOf": [*shapes]}


def _or_null(shape: Shape) -> Shape:
    """Return a schema that accepts null too."""
    if "anyOf" in shape:
        found = shape["anyOf"]
        assert isinstance(found, list)
        return {**shape, "anyOf": [*found, {"type": "null"}]}
    if "type" not in shape:
        return shape
    choices = shape.get("enum")
    more: Shape = {"enum": [*choices, None]} if isinstance(choices, list) else {}
    return {**shape, "type": [shape["type"], "null"], **more}


def _sentence(text: str) -> str:
    """Return a phrase of a table as a sentence."""
    first = text.partition(" ")[0]
    begun = text if first.endswith(":") or first[:1] == "`" else f"{text[:1].upper()}{text[1:]}"
    return begun if begun.endswith((".", "…")) else f"{begun}."


def _front_matter() -> Iterator[Schema]:
    """Yield the schemas of front matter, and of the JSON in documents."""
    for name, title, table in TABLES:
        style = STRICT if name == "prosa-mda" else USUAL
        yield Schema(name, title, f"{title}, checked by Prosa", mapping(table, style))


TABLES: tuple[tuple[str, str, tuple[Field, ...]], ...] = (
    ("prosa-program", "Front matter of a markdownlang program", markdownlang.PROGRAM),
    ("prosa-magi", "Front matter of a MAGI document", magi.FRONT),
    ("prosa-magi-script", "ai-script block of a MAGI document", magi.SCRIPT),
    ("prosa-magi-relationship", "Relationship of a MAGI document", magi.RELATIONSHIP),
    ("prosa-mda", "Front matter of an MDA document", mda.SOURCE),
    ("prosa-ymj-header", "Header of a YMJ record", ymj.HEADER),
    ("prosa-ymj-footer", "Footer of a YMJ record", ymj.FOOTER),
    ("prosa-mdh", "Front matter of an MDH node", mdh.NODE),
    ("prosa-skill", "Front matter of an Agent Skill", (*skill_md.SKILL, *skill_md.CLIENT)),
    ("prosa-test", "Front matter of a test of a program", test.FRONT),
    ("prosa-document", "Front matter of a Markdown document", plain.DOCUMENT),
    ("prosa-claude-agent", "Front matter of an agent of Claude Code", context.CLAUDE_AGENT),
    ("prosa-claude-rule", "Front matter of a rule of Claude Code", context.CLAUDE_RULE),
    ("prosa-claude-command", "Front matter of a command of Claude Code", context.CLAUDE_COMMAND),
    ("prosa-copilot-agent", "Front matter of an agent of GitHub Copilot", context.COPILOT_AGENT),
    ("prosa-copilot-instructions", "Front matter of instructions of GitHub Copilot", context.COPILOT_INSTRUCTIONS),
    ("prosa-copilot-prompt", "Front matter of a prompt of GitHub Copilot", context.COPILOT_PROMPT),
    ("prosa-cursor-rule", "Front matter of a rule of Cursor", context.CURSOR_RULE),
    ("prosa-gemini-agent", "Front matter of an agent of Gemini CLI", context.GEMINI_AGENT),
)


# ---- suites beside a skill ----


def _suites() -> Iterator[Schema]:
    """Yield the schemas of the files that try a skill."""
    case: Shape = {"type": "array", "items": mapping(evals.EVAL)}
    file = mapping(each for each in evals.TOP if each.name != "evals")
    properties = file["properties"]
    assert isinstance(properties, dict)
    properties["evals"] = {"description": "The cases.", **case}
    yield Schema(
        "prosa-evals",
        "Cases of an Agent Skill",
        "Cases that try an Agent Skill, and what is expected of the answers",
        {"anyOf": [{**file, "required": ["evals"]}, case]},
        ("**/evals/evals.json",),
    )
    asked: Shape = {"type": "array", "items": mapping(evals.QUERY)}
    lists: list[Value] = [
        {"type": "object", "properties": {"skill_name": {"type": "string"}, name: asked}, "required": [name]}
        for name in evals.LISTS
    ]
    yield Schema(
        "prosa-trigger-eval",
        "Requests for an Agent Skill",
        "Requests, and whether an Agent Skill is for them",
        {"anyOf": [asked, *lists]},
        ("**/evals/trigger-eval.json", "**/evals/triggers.json"),
    )


# ---- the settings ----

_TEXT: Shape = {"type": "string", "minLength": 1}
_TEXTS: Shape = {"type": "array", "items": _TEXT}
_PAGES: Shape = {"type": "array", "items": {"anyOf": [_TEXT, {"type": "object"}]}}

SETTING_KINDS: Mapping[str, Shape] = {
    "text": _TEXT,
    "texts": _TEXTS,
    "nav": _PAGES,
    "flag": {"type": "boolean"},
    "url": {"type": "string", "pattern": r"^https?://\S*$"},
    "api": {"type": "string", "enum": ["chat", "responses"]},
    "protocol": {"type": "string", "enum": [*PROTOCOLS]},
    "history": {"type": "string", "enum": ["off", "summary", "full"]},
    "store": _TEXT,
    "variable": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
    "signal": _TEXT,
    "whole": {"type": "integer", "minimum": 0, "maximum": 2**53},
    "count": {"type": "integer", "minimum": 1, "maximum": 2**53},
    "mebibytes": {"type": "integer", "minimum": 1, "maximum": 2**53},
    "seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 2**53},
    "price": {"type": "number", "minimum": 0, "maximum": 2**53},
    "amount": {"type": "number", "minimum": 0, "maximum": 2},
}
"""What each kind of setting accepts; `settings.read.KINDS` says it in words."""


def _settings() -> Iterator[Schema]:
    """Yield the schemas of the two files of settings."""
    about = "Settings of Prosa, which checks, tests and runs Markdown that people read and agents act on"
    yield Schema("prosa", "Prosa", about, _level("project"), (PROJECT_FILE,))
    mine = "Settings of Prosa for one user: services, limits, prices"
    yield Schema("prosa-user", "Prosa (user)", mine, _level("user"), (f"**/prosa/{USER_FILE}",))


def _level(level: Level) -> Shape:
    """Return the schema of a settings file: a table in a table for each part of a key."""
    top = _table()
    for each in SETTINGS:
        if each.level == level:
            _put(
                top,
                each.path,
                {"description": f"{_sentence(each.doc)} Default: {each.default}.", **SETTING_KINDS[each.kind]},
            )
    return top


def _table() -> Shape:
    return {"type": "object", "additionalProperties": False, "properties": {}}


def _put(table: Shape, path: tuple[str, ...], shape: Shape) -> None:
    """Put the schema of a setting below its table; `*` is a name that the user chooses."""
    name, *rest = path
    if name == "*":
        table.pop("properties", None)
        found = table["additionalProperties"] = (table.get("additionalProperties") or _table()) if rest else shape
    else:
        properties = table["properties"]
        assert isinstance(properties, dict)
        found = properties[name] = properties.get(name, _table()) if rest else shape
        if "-" in name:  # `_` is read too, and no editor need offer both
            spelled = table.setdefault("patternProperties", {})
            assert isinstance(spelled, dict)
            spelled[f"^{name.replace('-', '_')}$"] = found
    if rest:
        assert isinstance(found, dict)
        _put(found, tuple(rest), shape)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
