"""The JSON Schemas of `tools/schemas.py`, compared with the readers whose tables they are made of.

A schema may be laxer than the rules, never stricter: what `prosa check` accepts, it accepts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest
from jsonschema_rs import Draft7Validator

from prosa.data import Value, read_json, to_value
from prosa.data.tree import Mapping
from prosa.diagnostics import Severity
from prosa.dialects.context.hosts import uses_of
from prosa.dialects.dialect import Hints
from prosa.dialects.evals.suite import fields as evals
from prosa.dialects.fields import Field, Owner, read_fields
from prosa.dialects.reading import open_document
from prosa.rules.engine import check_text
from prosa.settings import SETTINGS
from prosa.settings.read import KINDS, read_project_settings, read_user_settings
from prosa.source import SourceText, Span
from tests.packaging.validating import assert_fits
from tests.rules.literate import examples, pages
from tools.schemas import DRAFT, HOME, SETTING_KINDS, STRICT, TABLES, USUAL, Style, catalog, mapping, schemas, write

ROOT = Path(__file__).parents[2]
SCHEMAS = {each.name: each for each in schemas()}
VALIDATORS = {name: Draft7Validator(each.whole) for name, each in SCHEMAS.items()}
BY_NAME = {name: table for name, _, table in TABLES}

FRONT = {
    "markdownlang": "prosa-program",
    "magi": "prosa-magi",
    "mda": "prosa-mda",
    "ymj": "prosa-ymj-header",
    "mdh": "prosa-mdh",
    "skill_md": "prosa-skill",
    "test": "prosa-test",
    "plain": "prosa-document",
}
"""The schema of the front matter of each dialect. Context files have one for each kind, and a chat has none: its
configuration is lines of `% key = value`."""

BY_TABLE = {"missing-field", "missing-description", "missing-output", "wrong-type", "unknown-value"}
"""The rules that speak of what a table says."""

LAXER = {
    ("unknown-value", "unknown-pagination"): "a rule of its own reads the value",
    ("wrong-type", "tools-without-spaces"): "the kind of the field is `anything`: hosts read several forms",
}
"""Examples of pages that a rule about fields reports and the schema accepts, each with the reason. Rules that judge the
form of a text, a name that no table has, or several values together are no part of a schema at all."""

TOLERATED = {"scalar-for-list": "a tolerated form, which `prosa fmt` puts right"}
"""Pages whose example is refused although the rule is information only."""


class Written(NamedTuple):
    page: str
    name: str
    text: str
    explicit: str | None


def written() -> Iterator[Written]:
    """Every document in the pages of the rules, in the examples and in the skills of this repository."""
    for page in pages():
        for example in examples(page.read_text("utf-8")):
            explicit = next((flag[3:] for flag in example.flags if flag.startswith("as=")), None)
            for name, text in example.documents.items():
                if text is not None and not name.endswith(".toml"):
                    yield Written(page.stem, name, text, explicit)
    for folder in ("examples", "skills", "src/prosa/demo"):
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix in (".md", ".mda", ".ymj") or path.name in ("evals.json", "trigger-eval.json"):
                name = path.relative_to(ROOT).as_posix()
                yield Written(name, name, path.read_text("utf-8"), None)


def schema_for(each: Written) -> tuple[str, Value, int] | None:
    """The name of the schema, the value that it is for, and where that ends in the text."""
    source = SourceText(each.text, f"/project/{each.name}")
    reading = open_document(source, Hints(explicit=each.explicit))
    if reading.name == "evals":
        node = read_json(each.text).node
        name = "prosa-trigger-eval" if reading.model.holds == "triggers" else "prosa-evals"
        return (name, to_value(node), len(each.text)) if node is not None else None
    if reading.front.value is None:
        return None
    if reading.name == "context":
        tables = [use.place.fields for use in uses_of(source.path) if use.place.fields]
        names = {name for name, table in BY_NAME.items() for found in tables if table is found}
        found = names.pop() if len(names) == 1 and len(tables) == 1 else None
    else:
        found = FRONT.get(reading.name)
    return (found, reading.front.value, reading.front.body.start) if found else None


def test_schemas_accept_what_the_rules_accept_and_refuse_what_tables_refuse():
    seen: set[str] = set()
    laxer: set[tuple[str, str]] = set()
    for each in written():
        found = schema_for(each)
        if found is None:
            continue
        name, value, end = found
        source = SourceText(each.text, f"/project/{each.name}")
        told = [d for d in check_text(source, dialect=each.explicit).diagnostics if d.span.start <= end]
        rules = {d.rule for d in told if d.severity in (Severity.ERROR, Severity.WARNING)}
        accepted = VALIDATORS[name].is_valid(value)
        assert accepted or rules or each.page in TOLERATED, (each.page, each.name, name)
        laxer |= {(rule, each.page) for rule in BY_TABLE & {d.rule for d in told} if accepted}
        seen.add(name)
    assert laxer <= set(LAXER), laxer
    assert seen >= {*FRONT.values(), "prosa-evals", "prosa-trigger-eval", "prosa-claude-agent", "prosa-cursor-rule"}


# ---- each field with values of every kind ----

PROBES: tuple[Value, ...] = (
    *(None, True, False, 1, 1.5, "x", "", " ", [], {}),
    *(["x"], [1], [True], [None], [[]], [{}], {"a": "x"}, {"a": 1}, {"a": None}, {"a": []}),
)


def good(field: Field) -> Value:
    """A value that the field accepts."""
    if field.choices:
        return [field.choices[0]] if field.kind in ("strings", "texts") else field.choices[0]
    if field.kind in ("mapping", "string-map", "schema"):
        return {each.name: good(each) for each in field.inner if each.required}
    values: dict[str, Value] = {"number": 1, "integer": 1, "quantity": 1, "boolean": True, "flag-or-mapping": True}
    many = field.kind.endswith("s") and field.kind not in values
    return values.get(field.kind, [] if many else "x")


def refused(table: tuple[Field, ...], value: dict[str, Value], style: Style) -> bool:
    """Whether the reader reports what a table says of one of the values, itself or of one below."""
    node = read_json(json.dumps(value)).node
    assert isinstance(node, Mapping)
    found = read_fields(node, table, Owner("a mapping", Span(0, 1)))[1]
    null = not style.nulls and any(value.get(each.name, "") is None for each in table)
    return null or any(each.rule in BY_TABLE for each in found) or any(_inside(each, value, style) for each in table)


def _inside(field: Field, value: dict[str, Value], style: Style) -> bool:
    held = value.get(field.name)
    inner = [each for each in (held if isinstance(held, list) else [held]) if isinstance(each, dict)]
    return bool(field.inner) and any(refused(field.inner, each, style) for each in inner)


@pytest.mark.parametrize("name", [*BY_NAME, "evals", "query"])
def test_a_schema_refuses_a_value_of_a_field_exactly_where_the_reader_does(name: str):
    table = {"evals": evals.EVAL, "query": evals.QUERY}.get(name) or BY_NAME[name]
    style = STRICT if name == "prosa-mda" else USUAL
    check = Draft7Validator({"$schema": DRAFT, **mapping(table, style)})
    base = {each.name: good(each) for each in table if each.required}
    for field in table:
        assert field.missing in BY_TABLE
        for probe in PROBES:
            value = {**base, field.name: probe}
            if style.closed and field.inner and _has_unknown(probe):
                continue  # an unknown field, which is another rule
            assert check.is_valid(value) is not refused(table, value, style), (field.name, probe)
        bare = {key: each for key, each in base.items() if key != field.name}
        assert check.is_valid(bare) is not field.required
        if field.also and field.required:
            assert check.is_valid({**bare, field.also: good(field)})


def _has_unknown(probe: Value) -> bool:
    return any(isinstance(each, dict) and "a" in each for each in (probe if isinstance(probe, list) else [probe]))


# ---- settings ----

RAW: tuple[Value, ...] = (
    *(True, 0, 1, 3, -1, Decimal("0.5"), Decimal("2.5"), "", "x", "https://example.org", "http://a b", "/s", []),
    *("chat", "openai", "off", "OPENAI_API_KEY", "1A", "search=yes", ["x"], [""], [1], [{"Home": "a.md"}], {}),
)

TEXTS = {"store", "signal", "nav"}
"""Kinds whose form is more than a schema says."""


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kind_of_setting_accepts_what_its_reader_accepts(kind: str):
    check = Draft7Validator(SETTING_KINDS[kind])
    for raw in RAW:
        value = float(raw) if isinstance(raw, Decimal) else raw
        read = KINDS[kind][1](raw) is not None
        assert check.is_valid(value) is read or (kind in TEXTS and not read), (raw, read)


def test_every_kind_and_every_setting_is_in_a_schema():
    assert set(SETTING_KINDS) == set(KINDS)
    for each in SETTINGS:
        at: Value = SCHEMAS["prosa" if each.level == "project" else "prosa-user"].whole
        for part in each.path:
            assert isinstance(at, dict)
            at = at["additionalProperties"] if part == "*" else at["properties"][part]
        assert each.doc[1:] in at["description"]


def test_settings_in_the_documentation_and_the_pages_of_rules_are_judged_alike():
    files = [(ROOT / "prosa.toml").read_text("utf-8")]
    for page in pages():
        for example in examples(page.read_text("utf-8")):
            files += [text for name, text in example.documents.items() if name == "prosa.toml" and text]
    for path in (ROOT / "docs").glob("*.md"):
        files += [part.partition("\n```")[0] for part in path.read_text("utf-8").split("```toml\n")[1:]]
    accepted = 0
    for text in files:
        try:
            value = tomllib.loads(text)
        except ValueError:
            continue
        mine = any(VALIDATORS[name].is_valid(value) for name in ("prosa", "prosa-user"))
        problems = min((read_project_settings(text)[1], read_user_settings(text)[1]), key=len)
        assert mine is not bool(problems) or "tool" in value, (text, problems)
        accepted += mine
    assert accepted > 5


# ---- what SchemaStore asks ----


def test_every_schema_is_draft_07_with_an_id_a_title_and_a_description():
    from jsonschema import Draft7Validator as Reference

    for name, each in SCHEMAS.items():
        whole = each.whole
        Reference.check_schema(whole)
        assert list(whole)[:4] == ["$schema", "$id", "title", "description"]
        assert (whole["$schema"], whole["$id"]) == (DRAFT, f"{HOME}/{name}.json")
        assert all(said for said in _descriptions(whole))


def _descriptions(value: Value) -> Iterator[str]:
    if isinstance(value, dict):
        found = value.get("description")
        yield from [found] if isinstance(found, str) else []
        for each in value.values():
            yield from _descriptions(each)
    elif isinstance(value, list):
        for each in value:
            yield from _descriptions(each)


def test_the_catalog_has_an_entry_for_each_schema_and_no_word_that_schemastore_refuses():
    entries = catalog()["schemas"]
    assert [each["url"] for each in entries] == [f"{HOME}/{name}.json" for name in SCHEMAS]
    for each in entries:
        assert not {"schema", "json"} & {word.lower() for word in f"{each['name']} {each['description']}".split()}
        assert not each["description"].endswith(".")
    files = [file for each in entries for file in each.get("fileMatch", ())]
    assert len(files) == len(set(files)) and "prosa.toml" in files
    assert all("/" in file or file == "prosa.toml" for file in files)  # no generic name claims files of others


def test_the_command_writes_them_and_a_validator_of_others_takes_them(tmp_path: Path):
    write(tmp_path)
    assert {path.stem for path in tmp_path.iterdir()} == {*SCHEMAS, "catalog"}
    suites = [str(path) for path in sorted((ROOT / "examples").rglob("evals/evals.json"))][:3]
    assert suites
    assert_fits(str(tmp_path / "prosa-evals.json"), *suites)


def test_the_extension_for_vs_code_applies_those_of_json_files():
    manifest = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text("utf-8"))
    told = {each["url"]: tuple(each["fileMatch"]) for each in manifest["contributes"]["jsonValidation"]}
    mine = {each.name: each.files for each in SCHEMAS.values() if any(file.endswith(".json") for file in each.files)}
    assert told == {f"./schemas/{name}.json": files for name, files in mine.items()}


AJV = """
const folder = process.argv[2];
const { Ajv } = require(`${folder}/ajv`);
const formats = require(`${folder}/ajv-formats`);
for (const file of process.argv.slice(3)) {
  const ajv = new Ajv({ strict: true });
  (formats.default ?? formats)(ajv);
  ajv.compile(JSON.parse(require("node:fs").readFileSync(file, "utf8")));
}
console.log("compiled", process.argv.length - 3);
"""
"""What SchemaStore does with a schema: compile it in the strict mode of ajv."""


def test_ajv_compiles_them_in_its_strict_mode(tmp_path: Path):
    write(tmp_path / "schemas")
    script = tmp_path / "strict.cjs"
    script.write_text(AJV, encoding="utf-8")
    files = [str(tmp_path / "schemas" / f"{name}.json") for name in SCHEMAS]
    node = Path(sys.executable).with_name("node")
    command = [str(node), str(script), str(ROOT / "tests" / "peers" / "node_modules"), *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == f"compiled {len(files)}\n", done.stderr
