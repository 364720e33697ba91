"""The pure floors: template rendering and schema validation, inside this process."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bench.measure import Row, calls

NAMES = [f"name{i}" for i in range(30)]
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
        "count": {"type": "integer", "minimum": 0},
        "when": {"type": "string", "format": "date"},
    },
    "required": ["title", "tags", "count"],
    "additionalProperties": False,
}
GOOD = {"title": "Notes", "tags": ["a", "b", "c"], "count": 3, "when": "2026-01-31"}


def rows() -> Iterator[Row]:
    """Yield the table."""
    yield from _templates()
    yield from _schemas()


def _templates() -> Iterator[Row]:
    from prosa.template import Template

    data = {name: f"value of {name}" for name in NAMES}
    text = "\n".join(f"{name}: {{{{ .{name} }}}}" for name in NAMES)
    plain = "\n".join(f"{name}: {{{name}}}" for name in NAMES)
    template = Template(text)
    if template.render(data) != plain.format_map(data):
        raise SystemExit("the template and its baseline differ")
    base = calls(lambda: plain.format_map(data))
    yield Row("template, 30 names, rendered", calls(lambda: template.render(data)), "µs", "str.format_map", base)
    yield Row("template, 30 names, parsed", calls(lambda: Template(text)), "µs", "str.format_map", base)
    items = {"items": [{"n": i, "on": i % 2 == 0} for i in range(100)]}
    loop = Template("{{ range .items }}{{ if .on }}- {{ .n }}\n{{ end }}{{ end }}")
    compact = calls(lambda: json.dumps(items))
    yield Row(
        "template, range over 100 with if", calls(lambda: loop.render(items)), "µs", "json.dumps of the data", compact
    )


def _schemas() -> Iterator[Row]:
    from jsonschema import Draft202012Validator

    from prosa.schema import Schema

    schema, peer = Schema(SCHEMA), Draft202012Validator(SCHEMA)
    bad = GOOD | {"tags": ["a", "B"], "count": -1}
    for what, instance in (("valid", GOOD), ("with two errors", bad)):
        if len(schema.problems(instance)) != len(list(peer.iter_errors(instance))):
            raise SystemExit("the two validators disagree")
        ours = calls(lambda instance=instance: schema.problems(instance))
        theirs = calls(lambda instance=instance: list(peer.iter_errors(instance)))
        yield Row(f"schema, instance {what}", ours, "µs", "jsonschema (Python)", theirs)
    yield Row("schema, compiled", calls(lambda: Schema(SCHEMA)), "µs", "jsonschema check_schema", calls(_check))


def _check() -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(SCHEMA)
