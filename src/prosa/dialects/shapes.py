"""What a mapping may hold, by the path to it: from the tables of a dialect, JSON Schema itself, or a schema of a
project.

In: a `DataShape` and a path. Out: the possible members, the possible values, and their descriptions, for editing.
Nothing is checked here, and an unknown path has no members and no values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from msgspec import Struct

from prosa.data import Value
from prosa.dialects.fields import WANTED, Field
from prosa.schema.described import SchemaView, keyword_text
from prosa.schema.walk import FORMATS, KNOWN, LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, ONE_SCHEMA, TYPES

Path: TypeAlias = tuple[str | None, ...]
"""Names from the top; None stands for an item of a list."""


class Member(Struct, frozen=True):
    """A member of a mapping. ``type`` is its type, in words; ``opens`` is true if its value is not a scalar and
    continues below."""

    name: str
    type: str
    about: str
    required: bool = False
    opens: bool = False


class KnownValue(Struct, frozen=True):
    """A known value and its description."""

    value: Value
    about: str = ""


class DataShape(Protocol):
    """What mappings below a path may hold."""

    def members(self, path: Path) -> list[Member]:
        """Return the members of the mapping at a path."""
        ...

    def choices(self, path: Path) -> list[KnownValue]:
        """Return the values that are known for the one at a path."""
        ...


class TableShape(Struct, frozen=True):
    """The shape of a table of fields. ``names`` are those that are written, by the path to their mapping: a schema in
    the document refers to them."""

    table: tuple[Field, ...]
    names: Mapping[Path, tuple[str, ...]] = {}

    def members(self, path: Path) -> list[Member]:
        """Return the fields of the table at a path, or the keywords of a schema in it."""
        table, rest, field = self._walk(path)
        if field is not None and field.holds is not None:
            return self._schema(field, path, rest).members(rest)
        return [] if rest else [_member(spec) for spec in table if spec.about]

    def choices(self, path: Path) -> list[KnownValue]:
        """Return the values of a field."""
        _, rest, field = self._walk(path)
        if field is None:
            return []
        if field.holds is not None:
            return self._schema(field, path, rest).choices(rest)
        flag = field.kind in ("boolean", "flag-or-mapping")
        named = field.choices or field.usual or (("true", "false") if flag else ())
        return [KnownValue(value == "true" if flag else value) for value in named] if not rest else []

    def _schema(self, field: Field, path: Path, rest: Path) -> KeywordShape:
        return KeywordShape(self.names, path[: len(path) - len(rest)], named=field.holds == "schemas")

    def _walk(self, path: Path) -> tuple[tuple[Field, ...], Path, Field | None]:
        """Return the table at the end of a path, the part of the path that leads into no table, and the last field."""
        table, last = self.table, None
        for at, step in enumerate(path):
            if step is None:
                if last is None or last.kind not in _LISTS:
                    return (), path[at:], None
                continue
            if last is not None and last.holds is not None:
                return (), path[at:], last
            last = next((field for field in table if step in (field.name, field.also)), None)
            if last is None:
                return (), path[at:], None
            table = last.inner
        return table, (), last


_LISTS = ("strings", "strings-or-mappings", "texts", "numbers", "mappings", "anything")
_OPENS = ("strings", "strings-or-mappings", "string-map", "texts", "numbers", "mapping", "mappings", "schema")


def _member(field: Field) -> Member:
    return Member(field.name, WANTED[field.kind], field.about, field.required, field.kind in _OPENS)


class KeywordShape(Struct, frozen=True):
    """The shape of a JSON Schema that is being written below ``base``, or of a mapping of names to schemas
    (``named``)."""

    names: Mapping[Path, tuple[str, ...]] = {}
    base: Path = ()
    named: bool = False

    def members(self, path: Path) -> list[Member]:
        """Return the keywords, where a schema stands at the path."""
        if self._state(path) != "schema":
            return []
        return [Member(name, _keyword_type(name), keyword_text(name), opens=_opens(name)) for name in sorted(KNOWN)]

    def choices(self, path: Path) -> list[KnownValue]:
        """Return the values of a keyword."""
        state = self._state(path)
        if state == "schema":
            return [KnownValue(value=True, about="anything"), KnownValue(value=False, about="nothing")]
        keyword = next((step for step in reversed(path) if step is not None), "")
        if keyword == "type":
            return [KnownValue(name) for name in TYPES]
        if keyword == "format":
            return [KnownValue(name, f"{what}: {example}") for name, (what, example) in FORMATS.items()]
        if keyword == "required":
            beside = self.names.get((*self.base, *path[: path.index("required")], "properties"), ())
            return [KnownValue(name) for name in beside]
        if keyword == "$ref":
            return [
                KnownValue(f"#/{where}/{name}")
                for where in ("$defs", "definitions")
                for name in self.names.get((*self.base, where), ())
            ]
        return [KnownValue(value=True), KnownValue(value=False)] if keyword in _FLAGS else []

    def _state(self, path: Path) -> str:
        """Return what stands at a path: a schema, names of schemas, a list of them, or something else."""
        state = "named" if self.named else "schema"
        for step in path:
            if state == "schema" and step is not None:
                one, many, named = step in ONE_SCHEMA, step in LIST_OF_SCHEMAS, step in MAP_OF_SCHEMAS
                state = "schema" if one else "list" if many else "named" if named else "other"
            elif (state == "list" and step is None) or (state == "named" and step is not None):
                state = "schema"
            else:
                return "other"
        return state


_FLAGS = frozenset({"uniqueItems", "readOnly", "writeOnly", "deprecated"})
_LISTED = frozenset({"enum", "required", "examples"})


def _opens(keyword: str) -> bool:
    return keyword in LIST_OF_SCHEMAS | MAP_OF_SCHEMAS | _LISTED or keyword in ONE_SCHEMA


def _keyword_type(keyword: str) -> str:
    if keyword in ONE_SCHEMA:
        return "a schema"
    if keyword in LIST_OF_SCHEMAS:
        return "a list of schemas"
    if keyword in MAP_OF_SCHEMAS:
        return "schemas by name"
    return "true or false" if keyword in _FLAGS else "a list" if keyword in _LISTED else "a value"


class WordsShape(Struct, frozen=True):
    """The shape of a mapping of words that may take the place of any value."""

    words: tuple[Field, ...]

    def members(self, path: Path) -> list[Member]:
        """Return the words, wherever a mapping stands."""
        deep = TableShape(self.words).members(path[-1:])
        return deep or [_member(word) for word in self.words]

    def choices(self, path: Path) -> list[KnownValue]:
        """Return the values of a word."""
        return TableShape(self.words).choices(path[-1:])


class SchemaShape(Struct, frozen=True):
    """The shape that a JSON Schema gives to data."""

    view: SchemaView

    def members(self, path: Path) -> list[Member]:
        """Return the properties that the schema declares."""
        required = self.view.required(path)
        return [self._member(name, schemas, name in required) for name, schemas in self.view.members(path).items()]

    def choices(self, path: Path) -> list[KnownValue]:
        """Return the values that the schema names."""
        return [KnownValue(value) for value in self.view.values(path)]

    def _member(self, name: str, schemas: list[Value], required: bool) -> Member:
        words, about = self.view.told(schemas)
        opens = words in ("object", "list") or words.startswith("list of")
        return Member(name, words, about, required, opens)


def member_at(shapes: tuple[DataShape, ...], path: Path, name: str) -> Member | None:
    """Return the data of one member; the first shape with a description for it counts."""
    members = [member for shape in shapes for member in shape.members(path) if member.name == name]
    return next((member for member in members if member.about), members[0] if members else None)
