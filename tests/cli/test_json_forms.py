"""Commands that print something print it as JSON too, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.commands import COMMANDS
from prosa.cli.main import main
from prosa.dialects.markdownlang.agreement import PHRASES
from tests.cli.desk import desk
from tests.cli.programs import program, script

WITHOUT = {
    "completion": "what it prints is a script",
    "demo": "a tour for people",
    "lsp": "it speaks the protocol",
    "mcp": "it speaks the protocol; what `config` prints is for a file of the client",
    "serve": "it answers over HTTP",
    "view": "it answers over HTTP",
    "worker": "it prints JSON lines anyway",
}


def data(*argv: str, status: int = 0, home: Path | None = None) -> Any:
    at = desk(environ={"HOME": str(home)} if home else {})
    assert main((*argv, "--format", "json"), at.console) == status, at.err
    assert at.err == ""
    return json.loads(at.out)


@pytest.mark.parametrize("name", [each.name for each in COMMANDS])
def test_every_command_that_prints_knows_json(name: str):
    at = desk()
    main(("help", name, "--format", "json"), at.console)
    flags = {flag: each for each in json.loads(at.out)["options"] for flag in each["flags"]}
    assert (name in WITHOUT) != ("json" in flags.get("--format", {}).get("choices", ()))


def test_explain():
    found = data("explain")
    assert list(found["rules"][0]) == ["code", "name", "severity", "strict"]
    assert found["dialects"][0]["name"] == "magi"
    assert data("explain", "MD020")["page"].startswith("# ")


def test_fmt(tmp_path: Path):
    (tmp_path / "a.md").write_text("# A\n")
    assert data("fmt", str(tmp_path)) == {"documents": 1, "changed": [], "written": True}
    assert data("fmt", str(tmp_path), "--check")["written"] is False


def test_init(tmp_path: Path):
    planned = data("init", str(tmp_path), "--only", "settings", "--dry-run")
    assert planned["files"] == [{"path": str(tmp_path / "prosa.toml"), "new": True}] and not planned["written"]
    assert data("init", str(tmp_path), "--only", "settings")["written"]
    again = data("init", str(tmp_path), "--only", "settings")
    assert again["files"] == [] and again["left"][0]["path"] == str(tmp_path / "prosa.toml")


def test_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert [each["kind"] for each in data("new")["kinds"]][:2] == ["program", "skill"]
    assert data("new", "chat")["text"]
    planned = data("new", "program", "triage", "--dry-run")
    assert planned == {"files": ["triage.md"], "written": False, "next": "prosa run triage.md --help"}
    assert data("new", "program", "triage")["written"] and (tmp_path / "triage.md").is_file()


def test_convert(tmp_path: Path):
    source = program(tmp_path)
    found = data("convert", str(source), "--to", "skill", "-o", f"{tmp_path}/out/")
    assert found["written"] and all(Path(each["path"]).is_file() for each in found["files"])
    assert list(found["report"]) == ["kept", "items"]
    printed = data("convert", str(source), "--to", "skill")
    assert printed["files"][0]["path"] is None and printed["files"][0]["text"].startswith("---")


def test_build(tmp_path: Path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.md").write_text("# A\n")
    planned = data("build", f"{tmp_path}/site", f"{tmp_path}/out", "--dry-run", home=tmp_path)
    assert not planned["written"] and planned["changes"] and not (tmp_path / "out").exists()
    assert data("build", f"{tmp_path}/site", f"{tmp_path}/out", home=tmp_path)["files"] == planned["files"]


def test_trust(tmp_path: Path):
    document = tmp_path / "a.mda"
    document.write_text("# A\n")
    assert data("trust", str(document), home=tmp_path) == {"trusted": [str(document)]}
    assert data("trust", "--list", home=tmp_path) == {"trusted": [{"path": str(document), "change": None}]}
    assert data("trust", str(document), "--remove", home=tmp_path) == {"removed": [str(document)]}


def test_agree(tmp_path: Path):
    assert data("agree", "--phrase", PHRASES[0], home=tmp_path) == {"accepted": True}
    assert data("agree", home=tmp_path) == {"accepted": True}


def test_a_chat_without_a_message(tmp_path: Path):
    found = data("chat", str(program(tmp_path)))
    assert found == {"file": str(tmp_path / "count.md"), "replies": []}


def test_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    data("agree", "--phrase", PHRASES[0], home=tmp_path)
    found = data("run", str(program(tmp_path)), "--model", script(tmp_path), home=tmp_path)
    assert isinstance(found, dict)
