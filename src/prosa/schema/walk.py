"""The schemas inside a schema, and what its references name. Pure lookups; nothing is validated or fetched.

In: a schema as plain data. Out: subschemas with the parts of their pointers; the target of a local reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote, urldefrag, urljoin

from prosa.data import Value
from prosa.data.pointer import parse_pointer
from prosa.schema.keywords import IN_PLACE, LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, ONE_SCHEMA

Parts = tuple[str | int, ...]


def children(schema: Value) -> Iterator[tuple[Parts, Value]]:
    """Yield the schemas that a schema directly holds, with the way to each."""
    if not isinstance(schema, Mapping):
        return
    for keyword, value in schema.items():
        if keyword in ONE_SCHEMA:
            yield (keyword,), value
        elif keyword in LIST_OF_SCHEMAS and isinstance(value, list):
            yield from (((keyword, index), item) for index, item in enumerate(value))
        elif keyword in MAP_OF_SCHEMAS and isinstance(value, Mapping):
            yield from (((keyword, name), item) for name, item in value.items())


def subschemas(schema: Value) -> Iterator[tuple[Parts, Value]]:
    """Yield the schema itself and every schema inside it, outer ones first, in the order written."""
    waiting: list[tuple[Parts, Value]] = [((), schema)]
    while waiting:
        parts, current = waiting.pop()
        yield parts, current
        waiting.extend(reversed([((*parts, *way), child) for way, child in children(current)]))


def applicators(parts: Iterable[str | int]) -> Iterator[str]:
    """Yield the keywords on a way through a schema, without the names and numbers between them."""
    name_next = False
    for part in parts:
        if name_next:
            name_next = False
        else:
            yield str(part)
            name_next = part in LIST_OF_SCHEMAS or part in MAP_OF_SCHEMAS


class References:
    """The targets of the references of one schema: pointers, anchors and embedded ``$id``s (section 8.2).

    Built in one pass; ``$dynamicRef`` is looked up like ``$ref``.
    """

    def __init__(self, root: Value) -> None:
        self.root = root
        self._bases: dict[int, str] = {}
        self._resources: dict[str, tuple[Parts, Value]] = {"": ((), root)}
        self._anchors: dict[str, tuple[Parts, Value]] = {}
        waiting: list[tuple[Parts, Value, str]] = [((), root, "")]
        while waiting:
            parts, schema, base = waiting.pop()
            if not isinstance(schema, Mapping):
                continue
            base = self._register(parts, schema, base)
            waiting += [((*parts, *way), child, base) for way, child in children(schema)]

    def _register(self, parts: Parts, schema: Mapping[str, Value], base: str) -> str:
        if isinstance(identity := schema.get("$id"), str):
            base = _join(base, identity)
            self._resources.setdefault(base, (parts, schema))
        self._bases[id(schema)] = base
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := schema.get(keyword), str):
                self._anchors.setdefault(f"{base}#{name}", (parts, schema))
        return base

    def target(self, schema: Mapping[str, Value]) -> Value | None:
        """Return the schema that the ``$ref`` (or ``$dynamicRef``) of a subschema names, or None."""
        found = self.locate(schema)
        return None if found is None else found[1]

    def locate(self, schema: Mapping[str, Value]) -> tuple[Parts, Value] | None:
        """Return the target with its path from the root, or None if it is outside this schema."""
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        if not isinstance(reference, str):
            return None
        address, fragment = urldefrag(_join(self._bases.get(id(schema), ""), reference))
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(f"{address}#{fragment}")
        resource = self._resources.get(address)
        if resource is None or not fragment:
            return resource
        return _follow(resource, fragment)


def _join(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference) if base else reference
    except ValueError:
        return reference


def _follow(resource: tuple[Parts, Value], pointer: str) -> tuple[Parts, Value] | None:
    parts, current = resource
    try:
        steps = parse_pointer(pointer)
    except ValueError:
        return None
    for step in steps:
        key: str | int = step
        if isinstance(current, Mapping) and step in current:
            current = current[step]
        elif isinstance(current, list) and step.isascii() and step.isdigit() and int(step[:9]) < len(current):
            key = int(step[:9])
            current = current[key]
        else:
            return None
        parts = (*parts, key)
    return parts, current


def in_place(schema: Mapping[str, Value], references: References) -> Iterator[Value]:
    """Yield the schemas that apply to the same value as this one: its reference and its in-place applicators."""
    if (target := references.target(schema)) is not None:
        yield target
    yield from (child for way, child in children(schema) if way[0] in IN_PLACE)
