"""What a schema says about values that are being written: which members and values there are, in words.

In: a schema as plain data, and a path into the values that it describes. Out: the schemas of the value there, and
their descriptions. Alternatives count together: what one of them allows may be written. Nothing is validated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prosa.data import Value
from prosa.schema.inputs import type_text
from prosa.schema.walk import ABOUT, References, SchemaData, in_place
from prosa.schema.wording import shown_value

MAX_PARTS = 1_000
"""Maximum number of subschemas visited for one value; recursive schemas are infinite."""

MAX_VALUES = 200
"""Values of one enumeration that are listed."""


class SchemaView:
    """The view of a schema with its references. A schema that is no mapping describes nothing."""

    def __init__(self, root: SchemaData) -> None:
        self.root = root
        self.references = References(root)

    def at(self, path: Iterable[str | None]) -> tuple[Mapping[str, Value], ...]:
        """Return the schemas of the value at a path; None stands for an element of a list or of a mapping."""
        parts = self._parts((self.root,))
        for step in path:
            parts = self._parts(child for part in parts for child in _inner(part, step))
        return parts

    def members(self, path: Iterable[str | None]) -> dict[str, list[Value]]:
        """Return the members that are declared for the value at a path, each with its schemas."""
        by_name: dict[str, list[Value]] = {}
        for part in self.at(path):
            properties = part.get("properties")
            for name, schema in properties.items() if isinstance(properties, Mapping) else ():
                by_name.setdefault(name, []).append(schema)
        return by_name

    def required(self, path: Iterable[str | None]) -> frozenset[str]:
        """Return the members that the value at a path must have."""
        lists = (part.get("required") for part in self.at(path))
        return frozenset(str(name) for names in lists if isinstance(names, list) for name in names)

    def values(self, path: Iterable[str | None]) -> list[Value]:
        """Return the values that are named for the one at a path: of an enumeration, a constant, examples, the
        default."""
        by_text: dict[str, Value] = {}
        for part in self.at(path):
            for value in _named(part):
                if len(by_text) < MAX_VALUES:
                    by_text.setdefault(shown_value(value), value)
        return list(by_text.values())

    def told(self, schemas: Iterable[Value]) -> tuple[str, str]:
        """Return the type that schemas accept, and their description, for people."""
        parts = self._parts(schemas)
        types = dict.fromkeys(type_text(part, self.references) for part in parts if part.keys() & _TYPED)
        texts = (part.get(key) for key in ("description", "title") for part in parts)
        about = next((" ".join(text.split()) for text in texts if isinstance(text, str) and text.strip()), "")
        return " or ".join(types) or "any JSON", about

    def _parts(self, schemas: Iterable[SchemaData]) -> tuple[Mapping[str, Value], ...]:
        """Return the schemas and all that apply to the same value."""
        waiting, seen, parts = list(schemas), set[int](), list[Mapping[str, Value]]()
        while waiting and len(parts) < MAX_PARTS:
            schema = waiting.pop(0)
            if isinstance(schema, Mapping) and id(schema) not in seen:
                seen.add(id(schema))
                parts.append(schema)
                if "not" in schema:
                    schema = {key: member for key, member in schema.items() if key != "not"}
                waiting += in_place(schema, self.references)
        return tuple(parts)


_TYPED = frozenset({"type", "enum", "const", "properties"})


def _inner(schema: Mapping[str, Value], step: str | None) -> Iterator[Value]:
    properties, others = schema.get("properties"), schema.get("additionalProperties")
    if step is None:
        yield schema.get("items")
        yield from prefix if isinstance(prefix := schema.get("prefixItems"), list) else ()
        yield others
    elif isinstance(properties, Mapping) and step in properties:
        yield properties[step]
    else:
        yield others


def _named(schema: Mapping[str, Value]) -> Iterator[Value]:
    if isinstance(allowed := schema.get("enum"), list):
        yield from allowed
    if "const" in schema:
        yield schema["const"]
    types = schema.get("type")
    if types == "boolean" or (isinstance(types, list) and "boolean" in types):
        yield from (True, False)
    if types == "null" or (isinstance(types, list) and "null" in types):
        yield None
    if "default" in schema:
        yield schema["default"]
    if isinstance(examples := schema.get("examples"), list):
        yield from examples


def keyword_text(name: str) -> str:
    """Return what a keyword of JSON Schema means; empty for an unknown one."""
    return ABOUT.get(name, "")
