"""X5: schemas of front matter are opened inside the project only, and one that cannot be used fails the check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.cli.main import main
from tests.cli.desk import desk

SCHEMA = {"required": ["status"], "properties": {"status": {"enum": ["draft", "final"]}}}


def checked(project: Path) -> list[tuple[str, int, str]]:
    found = desk(environ={"PROSA_CACHE_DIR": str(project.parent / "cache")})
    main(["check", "--format", "json", str(project / "docs")], found.console)
    return [(Path(each["path"]).name, each["line"], each["rule"]) for each in json.loads(found.out)["diagnostics"]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "p"
    (root / "docs").mkdir(parents=True)
    (root / "docs/a.md").write_text("---\ntitle: A\nstatus: fnal\n---\n")
    (root / "docs/b.md").write_text("---\nstatus: final\n---\n")
    (root / "prosa.toml").write_text('[schemas]\n"docs/**" = "doc.json"\n')
    (root / "doc.json").write_text(json.dumps(SCHEMA))
    return root


def test_x5_a_change_of_the_schema_is_seen_at_once(project: Path):
    """X10: what is kept of a document says nothing about its schema."""
    assert checked(project) == [("a.md", 3, "schema-mismatch")]
    (project / "doc.json").write_text('{"required": ["owner"]}')
    assert checked(project) == [("a.md", 1, "schema-mismatch"), ("b.md", 1, "schema-mismatch")]
    (project / "doc.json").write_text("true")
    assert checked(project) == []


def test_x5_a_schema_outside_the_project_is_not_opened(project: Path):
    secret = project.parent / "secret.json"
    secret.write_text('{"secret": ')
    for name in ("../secret.json", str(secret), "link.json"):
        (project / "prosa.toml").write_text(f'[schemas]\n"docs/**" = "{name}"\n')
        if name == "link.json":
            (project / name).symlink_to(secret)
        assert checked(project) == [("prosa.toml", 2, "bad-schema-file")]


def test_a_schema_in_yaml(project: Path):
    (project / "prosa.toml").write_text('[schemas]\n"docs/**" = "doc.yaml"\n')
    (project / "doc.yaml").write_text("properties:\n  status: {enum: [final]}\n")
    assert checked(project) == [("a.md", 3, "schema-mismatch")]
    (project / "doc.yaml").write_text("properties:\n  status: {type: strin}\n")
    assert checked(project) == [("doc.yaml", 2, "bad-schema-file")]


def test_a_schema_that_refers_to_another_file_is_refused_where_it_says_so(project: Path):
    (project / "doc.json").write_text('{"$ref": "other.json"}')
    assert checked(project) == [("doc.json", 1, "bad-schema-file")]
