"""Faults stay in their document: a rule or a reader that fails keeps nothing else from being looked at (X4)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.convert.convert import convert
from prosa.convert.form import NotConvertible, TargetContext
from prosa.convert.neutral import FormName
from prosa.convert.table import ROWS
from prosa.corpus.extract import extract, extracted
from prosa.corpus.facets import is_published
from prosa.diagnostics import INTERNAL
from prosa.dialects import DialectName, table
from prosa.dialects.dialect import FormatOptions, Hints
from prosa.dialects.reading import failed_reading
from prosa.dialects.table import DialectRow
from prosa.evaluation.jsonpath import BadQuery, compile_query
from prosa.render.outline import document_facts, render_outline
from prosa.rules import engine, registry, rule
from prosa.rules.engine import check_documents
from prosa.rules.fix import format_text
from prosa.rules.rule import Bound
from prosa.source import SourceText, TextFiles
from prosa.web import static
from tests.cli.programs import prosa, user
from tests.depth import examples
from tests.house.repeated import FORMS, NOW, PLACE, TOKENS

CORPUS = {
    "bad.md": "---\nid: a\ntype: b\ntitle: c\n---\n\nboom [gone](gone.md) [^x]\n",
    "good.md": "[away](missing.md)\n",
    "node.md": "---\nid: a\ntype: b\ntitle: d\n---\n\nText.\n",
}


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, text in CORPUS.items():
        (folder / name).write_text(text)
    (folder / "prosa.toml").write_text("")
    monkeypatch.chdir(folder)
    return folder


def diagnostics(folder: Path, *argv: str) -> list[tuple[str, str, str]]:
    status, it = prosa("check", ".", "--no-cache", "--jobs", "1", "--format", "json", *argv, environ=user(folder))
    assert status == 1, it.err
    found = json.loads(it.out)["diagnostics"]
    return [(each["path"], each["rule"], each["message"]) for each in found]


def test_x4_a_rule_of_one_document_that_fails_is_a_finding_of_it(corpus: Path, monkeypatch: pytest.MonkeyPatch):
    """X4."""
    whole = rule.found_by

    def failing(bound: Iterable[Bound[Any]], *given: Any) -> list[Any]:
        fails = "undefined-footnote" if "boom" in given[0].source.text else ""
        broken = lambda *_: 1 / 0  # noqa: E731
        return whole([Bound(each.rule, broken) if each.rule.name == fails else each for each in bound], *given)

    monkeypatch.setattr("prosa.rules.analyse.found_by", failing)
    found = diagnostics(corpus)
    words = "internal error: the rule `undefined-footnote` failed on this document: ZeroDivisionError: division by zero"
    assert [each for each in found if each[1] == "internal-error"] == [("bad.md", "internal-error", words)]
    assert {("bad.md", "duplicate-id"), ("good.md", "unresolved-link")} <= {each[:2] for each in found}


@pytest.mark.parametrize("name", ["unresolved-link", "duplicate-id"])
def test_x4_a_rule_of_many_documents_that_fails_is_a_finding(corpus: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    """X4."""
    monkeypatch.setattr("prosa.rules.engine._checks_of", engine._checks_of.__wrapped__)  # which keeps what it found
    for kind in ("among_checks", "corpus_checks"):
        checks = getattr(registry, kind)
        monkeypatch.setattr(
            f"prosa.rules.engine.{kind}",
            lambda names, checks=checks: [
                Bound(each.rule, lambda *_: 1 / 0) if each.rule.name == name else each for each in checks(names)
            ],
        )
    found = diagnostics(corpus)
    assert any(each[1] == "internal-error" and f"`{name}`" in each[2] for each in found)
    assert {each[1] for each in found} > {"internal-error"}


@pytest.mark.parametrize("part", ["read", "definitions", "corpus_facts", "strictness", "facts", "format_edits"])
def test_x4_a_reader_that_fails_is_a_finding_of_its_document(corpus: Path, monkeypatch: pytest.MonkeyPatch, part: str):
    """X4. Every command goes on with the other documents."""

    def failing(*_: Any) -> Any:
        raise KeyError("boom")

    def row_of(name: DialectName) -> DialectRow[Any]:
        row = table.dialect(name)
        return replace(row, load=lambda: replace(row.load(), **{part: failing})) if name == "mdh" else row

    monkeypatch.setattr("prosa.dialects.reading.dialect", row_of)
    if part not in ("facts", "format_edits"):
        found = diagnostics(corpus)
        assert {each[0] for each in found if each[1] == "internal-error"} == {"bad.md", "node.md"}
        assert ("good.md", "unresolved-link") in {each[:2] for each in found}
    for argv in (
        ["show", "bad.md", "good.md", "--format", "jsonl"],
        ["fmt", "--check", "."],
        ["index", "."],
        ["build", ".", str(corpus.parent / "out")],
        ["convert", "good.md", "--to", "magi"],
        ["graph", "."],
    ):
        status, it = prosa(*argv, environ=user(corpus))
        assert status in (0, 1) and "error: internal error" not in it.err, (argv, it.err)
        if argv[0] == "show":
            assert [json.loads(each)["path"] for each in it.out.splitlines()] == ["bad.md", "good.md"]


@pytest.mark.parametrize(
    "query", [f"$..[?count(@.*) > {'9' * 400}]", "$[?@.a == 1e999999]", "$[" + "(" * 300, "$[?" * 200]
)
def test_x4_a_query_of_a_document_raises_only_our_own_problem(query: str):
    """X4."""
    with pytest.raises(BadQuery):
        compile_query(query).find({"a": [1, {"b": 2}]})


def test_x9_a_filter_does_not_ask_for_a_large_output_again_and_again():
    """X9."""
    query = compile_query("$[?count($..*) > 1]")
    assert len(query.find([1, 2, 3])) == 3
    with pytest.raises(BadQuery, match="asks for `\\$` again in a filter"):
        query.find([0] * 5_000)
    assert len(compile_query("$[?@ == '$..*']").find(["$..*"] * 2)) == 2


written = st.tuples(
    st.sampled_from(FORMS), st.lists(st.sampled_from(TOKENS) | st.text(max_size=6), max_size=14).map("".join)
)


@given(written)
@settings(max_examples=examples(1_000))
def test_x4_no_document_reaches_an_internal_error(document: tuple[tuple[DialectName, str], str]):
    """X4. Rules, facts, rows of the index, the normal form and the outline of any document in any dialect."""
    (dialect, form), filling = document
    source = SourceText(filling.join(form.split(PLACE)), "doc.ymj" if dialect == "ymj" else "doc.md")
    checked = check_documents([Path(source.path)], TextFiles(source), dialect=dialect, now=NOW)
    assert [each.message for each in checked.diagnostics if each.rule == INTERNAL] == []
    (read,) = checked.documents
    render_outline(document_facts(read, checked.diagnostics))
    json.dumps(document_facts(read, checked.diagnostics).as_dict())
    made = format_text(source, Hints(dialect), FormatOptions(rehash=True, sync=True))
    assert made.problem is None or made.problem.rule != INTERNAL
    assert extract(source, "doc.md", explicit=dialect).record.dialect == dialect


@given(written, st.sampled_from([*ROWS]), st.sampled_from([*ROWS]))
@settings(max_examples=examples(1_000))
def test_x4_x31_no_document_makes_a_conversion_fail_unsaid(
    document: tuple[tuple[DialectName, str], str], origin: FormName, target: FormName
):
    """X4, X31."""
    (_, form), filling = document
    source = SourceText(filling.join(form.split(PLACE)), ROWS[origin].path("a"))
    with suppress(NotConvertible):
        convert(source, origin, target, TargetContext("a", ROWS[target].path("a")))


def test_x4_x31_a_fault_in_a_conversion_is_said_with_its_document(corpus: Path, monkeypatch: pytest.MonkeyPatch):
    """X4, X31."""
    monkeypatch.setattr("prosa.convert.convert._converted", lambda *_: 1 / 0)
    status, it = prosa("convert", "good.md", "--to", "magi", environ=user(corpus))
    assert status == 1 and "good.md" in it.err and "internal error: the conversion failed" in it.err


def test_x4_a_page_on_which_our_code_fails_is_left_out_of_a_site(corpus: Path, monkeypatch: pytest.MonkeyPatch):
    """X4."""
    whole = static.json_of

    def failing(view: Any, *given: Any) -> Any:
        return 1 / 0 if "bad" in view.path else whole(view, *given)

    monkeypatch.setattr(static, "json_of", failing)
    status, it = prosa("build", ".", corpus.parent / "out", environ=user(corpus))
    assert status == 0 and "'bad.md' is left out: internal error" in it.err
    assert not list((corpus.parent / "out").glob("bad*")) and list((corpus.parent / "out").glob("good*"))


def test_x23_what_a_reader_failed_on_is_shown_to_nobody(corpus: Path, monkeypatch: pytest.MonkeyPatch):
    """X23: nobody knows whether it is confidential."""
    error = ValueError("boom")
    reading = failed_reading(SourceText("---\nclassification: confidential\n---\nText.\n", "a.md"), error)
    assert not is_published(extracted(reading, "a.md").facets)
    assert "Text." not in reading.front.source.text and reading.problems[0].rule == INTERNAL
