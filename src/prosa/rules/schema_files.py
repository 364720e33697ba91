"""Schema files: JSON Schemas of front matter, which the settings of a project name (`[schemas]`, X5).

In: a path below the root of the project, and the files below it. Out: the schema, or the problems of the file, at
their places. It opens nothing outside the root and follows no reference to another file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import read_json, read_yaml, to_value
from prosa.diagnostics import Diagnostic, Problem
from prosa.rules.severity import Policy, diagnosed
from prosa.schema import Schema, SchemaError, check_schema_shape
from prosa.settings.model import Settings
from prosa.settings.read import key_spans, span_of
from prosa.source import FileProblem, Files, SourceText, Span

RULE = "bad-schema-file"


class SchemaFile(Struct, frozen=True):
    """``schema`` is None where the file is no schema; then ``problems`` say why, at places of ``source``, which is None
    where the file cannot be read."""

    schema: Schema | None
    problems: tuple[Problem, ...] = ()
    source: SourceText | None = None


def schema_at(root: Path, path: str, files: Files) -> SchemaFile:
    """Return the schema in a file below ``root``."""
    place = root / path
    if not files.inside_root(place):
        return SchemaFile(None, (Problem(RULE, f"the schema {path} lies outside the project", Span(0, 0)),))
    try:
        source = files.read(place)
    except FileProblem as problem:
        return SchemaFile(None, (Problem(RULE, f"the schema {path} cannot be read: {problem.reason}", Span(0, 0)),))
    reading = (read_yaml if path.lower().endswith((".yaml", ".yml")) else read_json)(source.text)
    if reading.problems or reading.node is None:
        found = reading.problems or (Problem(RULE, "the file is empty", Span(0, 0)),)
        return SchemaFile(None, tuple(_named(found, "no schema can be read in this file")), source)
    try:
        return SchemaFile(Schema(to_value(reading.node)), (), source)
    except SchemaError:
        shape = [each for each in check_schema_shape(reading.node) if each.rule == "bad-schema"]
        return SchemaFile(None, tuple(_named(shape, "")), source)


def schema_diagnostics(settings: Settings, source: SourceText, root: Path, files: Files) -> Iterator[Diagnostic]:
    """Yield the problems of the schemas that the settings in ``source`` name: at their place in the schema, or, if it
    cannot be read, at the setting."""
    inside = ("tool", "prosa") if source.path.endswith("pyproject.toml") else ()
    spans = key_spans(source.text)
    done: set[str] = set()
    for glob, path in settings.schemas:
        found = schema_at(root, path, files)
        if found.schema is not None or path in done:
            continue
        done.add(path)
        if found.source is not None:
            shown = PurePath(source.path).parent / path
            yield from diagnosed(found.problems, replace(found.source, path=str(shown)), Policy())
            continue
        span = span_of(spans, (*inside, "schemas", glob))
        yield from diagnosed(tuple(Problem(RULE, each.message, span) for each in found.problems), source, Policy())


def _named(problems: Iterable[Problem], lead: str) -> Iterator[Problem]:
    for each in problems:
        yield Problem(RULE, f"{lead}: {each.message}" if lead else each.message, each.span, each.notes)
