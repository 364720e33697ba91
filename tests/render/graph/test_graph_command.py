"""`prosa graph`: from files to an answer, through the index. M44, M46, M49, X21, X5."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from prosa.cli.graph import configure, run
from prosa.cli.parser import Parser, WrongUse
from prosa.corpus.errors import UnknownDocument
from prosa.source import FileProblem
from tests.cli.desk import Desk, desk

DOCUMENTS = {
    "prosa.toml": "",
    "notes/heat.mda": """---
doc-id: heat-1
title: Heat exchangers
---
# Heat exchangers

Opening words.

Plates last for twenty years.[^old] See [the guide](../guide/index.md).

[^old]: `{"doc-id": "cool-1", "rel-type": "contradicts", "rel-desc": "It says five years",
  "context": {"section": "How long plates last"}}`
[^lost]: `{"doc-id": "nowhere", "rel-type": "citation", "rel-desc": "Gone"}`
""",
    "notes/cooling.mda": """---
doc-id: cool-1
title: Cooling towers
---
What a tower does.

## How long plates last

Five years,
then they leak.
""",
    "guide/index.md": "# Guide\n\n[One](one.md)\n",
    "guide/one.md": "# One\n\nBack to the [guide](index.md).\n",
    "guide/alone.md": "# Alone\n",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name, text in DOCUMENTS.items():
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, "utf-8")
    return tmp_path / "docs"


def graph(corpus: Path, *arguments: str) -> Desk:
    """The command on a corpus with a cache of its own; it must say that all is well."""
    at = desk(environ={"PROSA_CACHE_DIR": str(corpus.parent / "cache")})
    parser = Parser(console=at.console, prog="prosa graph", description="Graph.")
    configure(parser)
    assert run(parser.parse_anywhere(list(arguments)), at.console) == 0
    return at


def ids(at: Desk) -> list[str]:
    return [node["id"] for node in json.loads(at.out)["nodes"]]


def test_m50_m51_x21_json_has_all_nodes_and_edges_and_derived_ones_marked(corpus: Path):
    found = json.loads(graph(corpus, str(corpus), "--format", "json").out)
    assert [node["id"] for node in found["nodes"]] == [
        *("guide/alone.md", "guide/index.md", "guide/one.md", "cool-1", "heat-1"),
    ]
    by_rel = {(edge["source"], edge["rel"]): edge for edge in found["edges"] if edge["rel"]}
    assert by_rel["heat-1", "contradicts"]["resolved"] is True
    assert by_rel["cool-1", "contradicts"]["derived"] is True
    assert by_rel["heat-1", "citation"]["target"] == "nowhere"
    assert by_rel["heat-1", "citation"]["resolved"] is False


def test_without_a_format_people_get_a_table(corpus: Path):
    out = graph(corpus, str(corpus)).out
    assert out.startswith("5 documents · 4 connections · 1 unresolved\n")
    assert "most linked" in out
    assert "notes/heat.mda:13" in out


def test_a_document_means_what_is_around_it(corpus: Path):
    assert graph(corpus, str(corpus / "guide" / "one.md")).out.splitlines()[:2] == [
        "guide/one.md  One",
        "└─ link ↔ guide/index.md  Guide",
    ]
    by_id = graph(corpus, str(corpus), "--around", "heat-1", "--format", "json")
    assert ids(by_id) == ["guide/index.md", "cool-1", "heat-1"]
    assert (
        ids(graph(corpus, str(corpus), "--around", "heat-1", "--depth", "2", "--format", "json"))[1] == "guide/one.md"
    )
    assert ids(graph(corpus, str(corpus), "--around", "heat-1", "--depth", "0", "--format", "json")) == ["heat-1"]


@pytest.mark.parametrize(
    ("arguments", "rels"),
    [
        (["--rel", "contradicts"], ["contradicts", "contradicts"]),
        (["--rel", "contradicts", "--no-derived"], ["contradicts"]),
        (["--rel", "none"], [None, None, None]),
        (["--rel", "import"], []),
        (["--origin", "footnote", "--no-derived"], ["contradicts", "citation"]),
        (["--dialect", "magi", "--no-derived"], ["contradicts", "citation"]),
    ],
)
def test_flags_choose_what_is_shown(corpus: Path, arguments: list[str], rels: list[str | None]):
    found = json.loads(graph(corpus, str(corpus), "--format", "json", *arguments).out)
    assert [edge["rel"] for edge in found["edges"]] == rels


def test_contradictions_show_what_both_documents_say(corpus: Path):
    (found,) = json.loads(graph(corpus, str(corpus), "--report", "contradictions", "--format", "json").out)[
        "contradictions"
    ]
    cooling, heat = found["documents"]
    assert cooling["passage"] == {
        "line": 9,
        "heading": "How long plates last",
        "text": "Five years, then they leak.",
    }
    assert heat["passage"]["line"] == 9
    assert heat["passage"]["text"].startswith("Plates last for twenty years.")
    assert found["description"] == "It says five years"
    assert graph(corpus, str(corpus), "--report", "contradictions").out.splitlines()[:4] == [
        "notes/heat.mda  contradicts  notes/cooling.mda",
        "  why: It says five years",
        "  notes/heat.mda:9 › Heat exchangers",
        "    Plates last for twenty years.[^old] See [the guide](../guide/index.md).",
    ]


def test_a_document_that_went_away_since_has_no_passage_and_the_report_stands(corpus: Path):
    graph(corpus, str(corpus))
    (corpus / "notes" / "cooling.mda").unlink()
    out = graph(corpus, str(corpus), "--report", "contradictions", "--no-refresh").out
    assert "notes/cooling.mda: cannot be read" in out


@pytest.mark.parametrize("form", ["dot", "mermaid", "graphml", "jsonld", "svg", "html"])
def test_every_format_goes_to_stdout_or_whole_into_a_file(corpus: Path, form: str):
    target = corpus.parent / f"picture.{form}"
    printed = graph(corpus, str(corpus), "--format", form, "--unresolved")
    at = graph(corpus, str(corpus), "--format", form, "--unresolved", "--output", str(target))
    assert at.out == ""
    assert at.err == f"wrote {target}\n"
    assert "nowhere" in target.read_text("utf-8")
    if form != "html":  # its links depend on where it lies
        assert target.read_text("utf-8") == printed.out
    if form in ("svg", "graphml"):
        ET.fromstring(printed.out.encode())


def test_links_of_a_page_lead_from_where_it_lies(corpus: Path):
    target = corpus.parent / "out" / "page.html"
    target.parent.mkdir()
    graph(corpus, str(corpus), "--format", "html", "--output", str(target))
    assert 'href="../docs/guide/one.md"' in target.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "no such file or folder"),
        (["--around", "hect-1"], "no document is called hect-1"),
        (["--rel", "contradict"], "no connection has this type"),
        (["--report", "rank", "--format", "svg"], "--report prints text or json"),
        (["--depth", "x"], "is not a number of steps"),
        (["--format", "pdf"], "--format pdf: expected one of text, json, dot"),
    ],
)
def test_what_makes_no_sense_is_wrong_use(corpus: Path, arguments: list[str], words: str):
    place = [] if arguments[0] == "nowhere" else [str(corpus)]
    with pytest.raises((WrongUse, FileProblem, UnknownDocument), match=words):
        graph(corpus, *place, *arguments)
