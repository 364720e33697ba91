"""MDA documents among others: their edges with ranges, and what a move and a fix leave true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.cli.main import main
from prosa.dialects.reading import open_as
from prosa.dialects.table import MDA
from prosa.graph.build import build
from prosa.graph.records import record_of
from prosa.source import SourceText
from tests.cli.desk import desk
from tests.dialects.mda.reading import GOOD, found, model, sealed

FERRY = """---
name: ferry-times
requires:
  runtime: ["python>=3.11"]
  tools: ["Bash(jq:*)"]
depends-on:
  - name: timetable
    version-range: "^2.0.0"
---

See the timetable[^t].

[^t]: {"rel-type": "cites", "doc-id": "timetable-2026"}
"""
TABLE = '---\nname: timetable\ndoc-id: timetable-2026\nversion: "2.1.0"\n---\n\nAt eight.\n'


def prosa(*call: str) -> tuple[int, str]:
    it = desk()
    return main([*call], it.console), it.out


def test_x21_x42_dependencies_and_requirements_are_edges_with_ranges():
    """X21, X42. A requirement is of a host, and no document; a dependency is found by the name of the other."""
    texts = {"ferry.mda": FERRY, "table.mda": TABLE, "timetable.md": "# Another\n"}
    records = [record_of(open_as(SourceText(text, path), MDA), path) for path, text in texts.items()]
    edges = [(each.rel, each.target, each.range, each.state) for each in build(records).edges]
    assert edges == [
        ("requires", "python", ">=3.11", "external"),
        ("requires", "Bash(jq:*)", "", "external"),
        ("depends-on", "timetable-2026", "^2.0.0", "resolved"),
        ("citation", "timetable-2026", "", "resolved"),
    ]


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prosa.toml").write_text("")
    (tmp_path / "ferry.mda").write_text(FERRY)
    (tmp_path / "table.mda").write_text(TABLE)
    return tmp_path


def test_x21_the_index_keeps_ranges(corpus: Path):
    """X21."""
    edges = json.loads(prosa("graph", ".", "--format", "json")[1])["edges"]
    assert {each["target"]: each.get("range") for each in edges if each["rel"] == "depends-on"} == {
        "timetable-2026": "^2.0.0"
    }
    status, said = prosa("query", "SELECT written, range FROM edges WHERE rel = 'requires' ORDER BY written", ".")
    assert status == 0 and "python" in said and ">=3.11" in said


def test_a_move_of_a_dependency_changes_no_name(corpus: Path):
    assert prosa("rename", "table.mda", "plan.mda")[0] == 0
    assert (corpus / "ferry.mda").read_text() == FERRY
    assert prosa("check")[0] == 0


def test_x42_show_says_that_signatures_are_not_verified(corpus: Path):
    """X42."""
    (corpus / "signed.mda").write_text(sealed(GOOD))
    shown = json.loads(prosa("show", "signed.mda", "--format", "json")[1])
    assert [each["state"] for each in shown["signatures"]] == ["not verified"]
    assert shown["integrity"]["matches"] is True
    assert shown["depends_on"][0] | {"line": 0} == {
        "name": "timetable",
        "range": "^2.0.0",
        "digest": "sha256:a4f9c0d2e8b3a16e9c01b8f3d2a5c7b14e9f8a3d6c2b1e7f0a8d4c3b9e2f1a05",
        "line": 0,
    }
    assert "did-web:harbour.example, key desk-1: not verified" in prosa("show", "signed.mda")[1]


def test_x22_a_fix_keeps_a_digest_true_and_fmt_mends_the_rest(corpus: Path):
    """X22. A digest that was wrong stays wrong; that of a signed document is left to those who sign."""
    head = '---\nname: a\nversion: 1.0.0\nintegrity:\n  algorithm: sha256\n  digest: "sha256:DIGEST"\n---\n\n'
    text = sealed(f"{head}A zero\u200bwidth space.\n")
    (corpus / "a.mda").write_text(text)
    assert prosa("check", "a.mda", "--fix", "--unsafe-fixes")[0] == 0
    fixed = (corpus / "a.mda").read_text()
    assert fixed != text and "integrity-mismatch" not in {rule for rule, _ in found(fixed)}
    (corpus / "a.mda").write_text(f"{head}Text.\n".replace("DIGEST", "0" * 64))
    assert prosa("fmt", "a.mda", "--rehash")[0] == 0
    assert found((corpus / "a.mda").read_text()) == []
    assert model((corpus / "a.mda").read_text()).text("version") == "1.0.0"


def test_x42_the_profile_judges_what_is_compiled(corpus: Path):
    """X42. A SKILL.md is a skill otherwise."""
    (corpus / "ferry").mkdir()
    skill = corpus / "ferry" / "SKILL.md"
    skill.write_text('---\nname: ferry\ndescription: Says when.\nmetadata:\n  mda: {version: "1.0.0"}\n---\n\nLook.\n')
    assert prosa("check", "--profile", "mda")[0] == 0
    skill.write_text('---\nname: ferry\ndescription: Says when.\nversion: "1.0.0"\n---\n\nLook.\n')
    status, said = prosa("check", "--profile", "mda")
    assert status == 1 and "`version` is not a field of a compiled SKILL.md" in said
