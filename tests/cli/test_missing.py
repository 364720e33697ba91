"""A file or folder that is missing gets the nearest name, in every command that takes a path."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from prosa.cli.commands import ALIASES, COMMANDS
from prosa.cli.main import main
from tests.cli.desk import desk

PATHS: tuple[tuple[str, str], ...] = (
    ("run triag.md question=x", "triage.md"),
    ("run triage.md --input @inptu.json", "input.json"),
    ("run triage.md question=x --model scripted:reply.jsonl", "replies.jsonl"),
    ("run triage.md question=x --replay tape", "tapes"),
    ("run report.mda --scripts inptu.json", "input.json"),
    ("run triage.md question=x --root doc", "docs"),
    ("plan triag", "triage.md"),
    ("render triag.md", "triage.md"),
    ("chat talk.md --config-file tallk.md", "talk.md"),
    ("chat talk.md --tool triag.md", "triage.md"),
    ("chat talk.md --skill refnds", "refunds"),
    ("test triage.tst.md", "triage.test.md"),
    ("test triage.test.md --against triag.md", "triage.md"),
    ("test triage.test.md --replay tape", "tapes"),
    ("batch triag.md --rows rows.jsonl --plan", "triage.md"),
    ("batch triage.md --rows row.jsonl --plan", "rows.jsonl"),
    ("batch triage.md --rows row.sqlite::t --plan", "rows.sqlite"),
    ("check triag.md", "triage.md"),
    ("check docs --root doc", "docs"),
    ("fmt doc", "docs"),
    ("show triag.md", "triage.md"),
    ("convert triag.md --to skill", "triage.md"),
    ("index doc", "docs"),
    ("search word doc", "docs"),
    ("search word --root doc", "docs"),
    ("search --similar triag.md", "triage.md"),
    ("worker --mail triag.md", "triage.md"),
    ("links triag.md", "triage.md"),
    ("path triag.md talk.md", "triage.md"),
    ("impact triag.md", "triage.md"),
    ("graph doc", "docs"),
    ("graph --around triag.md", "triage.md"),
    ("rename triag.md new.md", "triage.md"),
    ("stats doc", "docs"),
    ("query SELECT doc", "docs"),
    ("enrich tickt.ymj --no-embed", "ticket.ymj"),
    ("serve doc", "docs"),
    ("mcp doc", "docs"),
    ("build doc out", "docs"),
    ("probe doc", "docs"),
    ("call triag.md x --dry-run", "triage.md"),
    ("init doc", "docs"),
    ("improve triag.md", "triage.md"),
    ("improve triage.md --cases triage.tst.md", "triage.test.md"),
    ("new test x --program triag.md", "triage.md"),
    ("trust reprt.mda", "report.mda"),
)

WITHOUT = {"report", "agents", "runs", "mail", "models", "explain", "lsp", "visit", "agree", "doctor", "completion"}
WITHOUT |= {"demo", "view", "login", "logout"}
"""Commands that take no path which has to be there."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a document of each kind, which the tests copy."""
    place = tmp_path_factory.mktemp("made")
    calls = ("program triage", "test triage", "chat talk", "mda report", "skill refunds", "ymj ticket --profile ticket")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for call in calls:
            assert main(["new", *call.split()], desk().console) == 0
    for name in ("input.json", "replies.jsonl", "rows.jsonl", "rows.sqlite"):
        (place / name).write_text("{}")
    for name in ("docs", "tapes"):
        (place / name).mkdir()
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("call", "meant"), PATHS, ids=[call for call, _ in PATHS])
def test_the_nearest_name_is_said(folder: Path, call: str, meant: str):
    it = desk(environ={"MARKDOWNLANG_AGREE": "Trans rights are human rights"})
    status = main(call.split(), it.console)
    assert status in (1, 2)
    assert f"did you mean {meant}?" in it.err
    assert it.out == ""


def test_every_command_that_takes_a_path_is_tried():
    tried = {call.split()[0] for call, _ in PATHS}
    assert (
        tried - set(ALIASES) | {ALIASES[name][0] for name in tried & set(ALIASES)}
        == {each.name for each in COMMANDS} - WITHOUT
    )
