"""X33: what a meta file lends is shown as lent and judged, wherever a document is looked at; it names nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.cli.main import main
from tests.cli.desk import desk

META = """---
globs: ["**/*.md", "!own/**", "https://example.org/*"]
title: Harbour rules
tags: [sea, 7]
audience: [crews]
expired-date: 2020-01-01
---
Text.
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {
        "prosa.toml": "",
        "docs/all.mda": META,
        "docs/fog.md": "## Signals\n\nText.\n",
        "docs/deep/ice.md": "---\naudience: [pilots]\ntags: ~\n---\n# Ice\n",
        "docs/own/rain.md": "# Rain\n",
        "far.mda": "---\nsource-url: https://example.org/far\n---\nText.\n",
        "near.md": "# Near\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def shown(*paths: Path) -> list[dict[str, object]]:
    found = desk()
    assert main(["show", "--format", "jsonl", *map(str, paths)], found.console) == 0
    return [json.loads(line) for line in found.out.splitlines()]


def test_x33_m20_show_says_what_is_lent_and_by_whom(project: Path):
    fog, ice, rain, far = shown(
        *(project / name for name in ("docs/fog.md", "docs/deep/ice.md", "docs/own/rain.md", "far.mda"))
    )
    by = "docs/all.mda"
    assert fog["front_matter"] is None
    assert fog["lent"] == {
        "title": {"value": "Harbour rules", "by": by},
        "tags": {"value": ["sea", "7"], "by": by},
        "audience": {"value": ["crews"], "by": by},
        "expired-date": {"value": "2020-01-01", "by": by},
    }
    assert ice["front_matter"] == {"audience": ["pilots"], "tags": None}
    assert ice["lent"] == {name: value for name, value in fog["lent"].items() if name != "audience"}  # type: ignore[attr-defined]
    assert "lent" not in rain
    assert far["lent"] == fog["lent"]


def test_x33_people_see_it_too(project: Path):
    found = desk()
    assert main(["show", str(project / "docs/fog.md")], found.console) == 0
    lines = [line.split(None, 1) for line in found.out.splitlines() if line.endswith("  (inherited from docs/all.mda)")]
    assert {name: value.partition("  (")[0] for name, value in lines} == {
        "title": "Harbour rules",
        "tags": "sea, 7",
        "audience": "crews",
        "expired-date": "2020-01-01",
    }


@pytest.mark.parametrize("named", ["docs/fog.md", "docs", "."])
def test_x33_ma20_a_lent_day_that_has_passed_is_reported_however_the_document_is_named(project: Path, named: str):
    found = desk(environ={"PROSA_CACHE_DIR": str(project / "cache")})
    main(["check", "--format", "json", "--select", "expired-document", named], found.console)
    said = {Path(each["path"]).name: each["message"] for each in json.loads(found.out)["diagnostics"]}
    assert said["fog.md"] == "this document expired on 2020-01-01, according to docs/all.mda"
    assert said.keys() <= {"fog.md", "ice.md", "all.mda", "far.mda"}
    assert named == "docs/fog.md" or "ice.md" in said


@pytest.mark.parametrize(
    ("command", "named"),
    [(["links", "docs/fog.md"], 0), (["graph", ".", "--format", "json"], 1), (["search", "text"], 1)],
)
def test_x33_a_lent_title_names_no_document_but_its_own(
    project: Path, command: list[str], named: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(project)
    found = desk(environ={"PROSA_CACHE_DIR": str(project / "cache")})
    main(command, found.console)
    assert "fog" in found.out
    assert found.out.count("Harbour rules") == named


def test_x33_who_lends_is_named_from_where_the_user_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X33, X30. As every other path, also where nothing marks a root."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "all.mda").write_text('---\nglobs: ["*.md"]\nexpired-date: 2020-01-01\n---\nm\n')
    (tmp_path / "docs" / "fog.md").write_text("# Fog\n")
    for folder, argument, named in (
        (tmp_path, "docs/fog.md", "docs/all.mda"),
        (tmp_path / "docs", "fog.md", "all.mda"),
        (tmp_path.parent, f"{tmp_path.name}/docs/fog.md", f"{tmp_path.name}/docs/all.mda"),
    ):
        monkeypatch.chdir(folder)
        told, checked = desk(), desk()
        assert main(["show", argument], told.console) == 0
        assert f"(inherited from {named})" in told.out
        assert main(["check", argument], checked.console) == 0
        assert f"according to {named}" in checked.out
