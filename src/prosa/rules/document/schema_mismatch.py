"""`schema-mismatch`: front matter that does not satisfy the JSON Schema which the project gives it (`[schemas]`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.data import Mapping, format_pointer, key_span_at, node_at, span_at, to_value
from prosa.data.pointer import parse_pointer
from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.front import FrontReading, front_under
from prosa.rules.schema_files import schema_at
from prosa.rules.subject import Corpus
from prosa.schema import Schema, SchemaProblem
from prosa.source import FileProblem


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the value, at the name of a field that nothing describes, and for a missing field at the opening fence. A
    schema that cannot be read is reported with the settings."""
    known: dict[str, Schema | None] = {}
    for real in corpus.asked if corpus.schemas is not None and corpus.root is not None else ():
        wanted = corpus.schemas(real) if corpus.schemas is not None else ()
        facts = corpus.entries.get(real)
        if not wanted or facts is None:
            continue
        try:
            front = front_under(corpus.files.read(Path(facts.path)), facts.dialect)
        except FileProblem:
            continue
        for path in wanted:
            if path not in known:
                known[path] = schema_at(corpus.root, path, corpus.files).schema if corpus.root is not None else None
            schema = known[path]
            yield from ((real, found) for found in _problems(front, schema, path)) if schema is not None else ()


def _problems(front: FrontReading, schema: Schema, path: str) -> Iterator[Problem]:
    """What a readable front matter, or none at all, lacks."""
    if (front.fields is None and (front.present or front.problems)) or not front.complete:
        return
    value = to_value(front.fields) if front.fields is not None else {}
    for each, names in schema.problems_with_names(value):
        if names and front.fields is not None:
            yield from _unexpected(front.fields, each, names, schema, path)
            continue
        at_top = not each.pointer or front.fields is None
        span = front.anchor if at_top or front.fields is None else span_at(front.fields, each.pointer)
        place = "" if at_top else f"`{_dotted(each.pointer)}`: "
        yield Problem("schema-mismatch", f"{place}{each.message}", span, (f"the schema is {path}",))


def _unexpected(
    fields: Mapping, problem: SchemaProblem, names: tuple[str, ...], schema: Schema, path: str
) -> Iterator[Problem]:
    """One problem for each field that nothing describes, at its name."""
    beside = node_at(fields, problem.pointer)
    written = {entry.key.text for entry in beside} if isinstance(beside, Mapping) else set()
    for name in names:
        guess = nearest(name, [each for each in sorted(_described(schema.raw)) if each not in written])
        pointer = format_pointer((*parse_pointer(problem.pointer), name))
        message = f"`{shown(_dotted(pointer))}` is no field that the schema describes"
        notes = ((f"did you mean `{guess}`?",) if guess else ()) + (f"the schema is {path}",)
        meant = Misspelling(name, guess) if guess else None
        yield Problem("schema-mismatch", message, key_span_at(fields, pointer), notes, misspelling=meant)


def _described(schema: object, depth: int = 0) -> set[str]:
    """The names of all properties that stand anywhere in a schema."""
    if depth > 20 or not isinstance(schema, dict | list):
        return set()
    inside = schema.values() if isinstance(schema, dict) else schema
    properties = schema.get("properties") if isinstance(schema, dict) else None
    found = set(properties) if isinstance(properties, dict) else set()
    return found.union(*(_described(each, depth + 1) for each in inside))


def _dotted(pointer: str) -> str:
    return ".".join(parse_pointer(pointer))
