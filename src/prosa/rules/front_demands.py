"""Front matter held against what a project demands of it: fields that name other documents, and JSON Schemas.

In: a corpus with the relations and schemas of its project. Out: findings. The rules (`document.project_fields`) load it
where a project demands something, for it needs the graph and schemas, which no other check does.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from prosa.data import Mapping, Plain, format_pointer, key_span_at, node_at, span_at, to_value
from prosa.data.pointer import parse_pointer
from prosa.diagnostics import Misspelling
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.front import FrontReading, front_under
from prosa.document.references import Ref
from prosa.graph.record import Record, Reference
from prosa.graph.resolve import Resolution, outside, resolve
from prosa.graph.sites import Sites
from prosa.rules.backlinks import relations_in
from prosa.rules.corpus_names import CorpusNames, NamedDocument, corpus_names
from prosa.rules.project import schema_at
from prosa.rules.rule import Corpus, DocumentFacts, Finding
from prosa.schema import Schema, SchemaProblem
from prosa.source import FileProblem

MAX_NAMED = 3
"""Documents that a message names."""


def unresolved_relations(corpus: Corpus, real: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Yield the values that match no document, or several. A missing document is only reported if all documents below
    the root are known."""
    names = corpus_names(corpus)
    for ref in relations_in(corpus, facts):
        resolution = _lead(real, ref, names, corpus)
        if resolution.state == "ambiguous":
            yield _several(ref, resolution, corpus)
        elif resolution.state == "unresolved" and corpus.complete:
            yield _none(ref, names)


def _lead(real: Path, ref: Ref, names: CorpusNames, corpus: Corpus) -> Resolution[NamedDocument]:
    """Return where it leads. Documents are known by real paths here, so a path from the root is tried as one from the
    folder of the document too."""
    record = Record(real.as_posix(), "plain")
    resolution = resolve(record, _as_reference(ref, ref.target), Sites(), names)
    if resolution.state == "resolved" or ref.kind != "path" or corpus.root is None:
        return resolution
    from_root = posixpath.relpath((corpus.root / ref.target.lstrip("/")).as_posix(), real.parent.as_posix())
    again = resolve(record, _as_reference(ref, from_root), Sites(), names)
    if again.state == "resolved" or not real.is_relative_to(corpus.root):
        return again
    here = Record(real.relative_to(corpus.root).as_posix(), "plain")
    return Resolution(outside(here, _as_reference(ref, ref.target)) or "unresolved")


def _as_reference(ref: Ref, target: str) -> Reference:
    return Reference("front-matter", target, ref.kind, ref.span.start, ref.span.end, 0, ref.rel, fragment=ref.fragment)


def _several(ref: Ref, resolution: Resolution[NamedDocument], corpus: Corpus) -> Finding:
    named = ", ".join(corpus.entries[target.real].path for target in resolution.targets[:MAX_NAMED])
    more = ", …" if len(resolution.targets) > MAX_NAMED else ""
    note = "write as much of the path as makes it one: `[[folder/name]]`"
    return Finding(f"`{shown(ref.target)}` may be any of {named}{more}", ref.span, (note,))


def _none(ref: Ref, names: CorpusNames) -> Finding:
    guess = nearest(ref.target, sorted(set(names.stems()))) if ref.kind == "stem" else None
    notes = (f"did you mean `{guess}`?",) if guess else ()
    what = "is not a document" if ref.kind == "path" else "is the name of no document"
    meant = Misspelling(ref.target, guess) if guess else None
    return Finding(f"`{shown(ref.target)}` {what}", ref.span, notes, misspelling=meant)


def schema_mismatches(corpus: Corpus, real: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Yield the violations of a schema that the project assigns to the front matter. The finding points at the value,
    at the name of an undescribed field, or, for a missing field, at the opening fence."""
    wanted = corpus.schemas(real) if corpus.schemas is not None and corpus.root is not None else ()
    if not wanted or corpus.root is None:
        return
    try:
        front = front_under(corpus.files.read(Path(facts.path)), facts.dialect)
    except FileProblem:
        return
    for path in wanted:
        schema = corpus_names(corpus).derived(path, "schemas", partial(_schema, corpus, path))
        yield from _mismatches(front, schema, path) if schema is not None else ()


def _schema(corpus: Corpus, path: str) -> Schema | None:
    return schema_at(corpus.root, path, corpus.files).schema if corpus.root is not None else None


def _mismatches(front: FrontReading, schema: Schema, path: str) -> Iterator[Finding]:
    """Yield the violations of readable front matter, or of none."""
    if (front.fields is None and (front.present or front.problems)) or not front.complete:
        return
    value = to_value(front.fields) if front.fields is not None else {}
    for problem, names in schema.problems_with_names(value):
        if names and front.fields is not None:
            yield from _unexpected(front.fields, problem, names, schema, path)
            continue
        at_top = not problem.pointer or front.fields is None
        span = front.anchor if at_top or front.fields is None else span_at(front.fields, problem.pointer)
        place = "" if at_top else f"`{_dotted(problem.pointer)}`: "
        yield Finding(f"{place}{problem.message}", span, (f"the schema is {path}",))


def _unexpected(
    fields: Mapping, problem: SchemaProblem, names: tuple[str, ...], schema: Schema, path: str
) -> Iterator[Finding]:
    """Yield one problem for each field that nothing describes, at its name."""
    beside = node_at(fields, problem.pointer)
    written = {entry.key.text for entry in beside} if isinstance(beside, Mapping) else set()
    for name in names:
        guess = nearest(name, [field for field in sorted(_described(schema.raw)) if field not in written])
        pointer = format_pointer((*parse_pointer(problem.pointer), name))
        message = f"`{shown(_dotted(pointer))}` is not a field that the schema describes"
        notes = ((f"did you mean `{guess}`?",) if guess else ()) + (f"the schema is {path}",)
        meant = Misspelling(name, guess) if guess else None
        yield Finding(message, key_span_at(fields, pointer), notes, misspelling=meant)


def _described(schema: Plain, depth: int = 0) -> set[str]:
    """Return the names of all properties that stand anywhere in a schema."""
    if depth > 20 or not isinstance(schema, dict | list):
        return set()
    inside = schema.values() if isinstance(schema, dict) else schema
    properties = schema.get("properties") if isinstance(schema, dict) else None
    names = set(properties) if isinstance(properties, dict) else set()
    return names.union(*(_described(subschema, depth + 1) for subschema in inside))


def _dotted(pointer: str) -> str:
    return ".".join(parse_pointer(pointer))
