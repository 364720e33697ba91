"""`prosa new`: a record after a profile, never over a file that exists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.cli.main import main
from prosa.cli.new import MAKERS
from tests.cli.desk import desk


def test_y30_a_new_record_goes_to_stdout():
    """Y30, Y25."""
    it = desk()
    assert main(["new", "ymj", "--profile", "ticket", "--subject", "Ferry late"], it.console) == 0
    assert it.out.startswith("---\ndoc_summary: ")
    assert "subject: Ferry late\n" in it.out
    assert it.out.endswith("}\n```\n")
    assert it.err == ""


def test_yw6_a_file_that_exists_is_not_overwritten(tmp_path: Path):
    """YW6."""
    file = tmp_path / "ticket.ymj"
    call = ["new", "ymj", "--profile", "ticket", "--output", str(file)]
    assert main(call, desk().console) == 0
    written = file.read_text(encoding="utf-8")
    assert main(["check", "--strict", str(file)], desk().console) == 0
    it = desk()
    assert main([*call, "--subject", "Other"], it.console) == 2
    assert "exists" in it.err
    assert file.read_text(encoding="utf-8") == written


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ymj"], "ticket"),
        (["ymj", "--profile", "tickt"], "did you mean ticket?"),
        (["ymj", "--profile", "novel"], "profiles:"),
        (["ymjj", "--profile", "ticket"], "did you mean ymj?"),
        (["latex"], "prosa new writes: program, skill, test, chat, mda, mdh, ymj"),
        (["ymj", "--profile", "note", "--output"], "--output"),
        (["ymj", "--profile", "card", "--summary", "x" * 121], "120"),
        (["ymj", "--profile", "card", "--output", "/no/such/folder/x.ymj"], "/no/such/folder"),
        (["program", "no/such/x"], "no/such/x.md: the folder no/such does not exist"),
    ],
)
def test_wrong_use_says_what_to_do(arguments: list[str], said: str):
    it = desk()
    assert main(["new", *arguments], it.console) in (1, 2)
    assert said in it.err
    assert it.out == ""


@pytest.mark.parametrize(("strict", "status"), [([], 0), (["--strict"], 1)])
def test_yw4_a_record_without_a_hash_is_checked_and_errors_have_a_status(
    tmp_path: Path, strict: list[str], status: int
):
    """YW4."""
    file = tmp_path / "a.ymj"
    header = "doc_summary: a\nkind: a\nversion: a\nsubject: a\nmaintained_by: a\n"
    file.write_text(f'---\n{header}---\n```json\n{{"schema": "1", "index": {{}}}}\n```\n')
    it = desk()
    assert main(["check", *strict, str(file)], it.console) == status
    assert "missing-payload-hash" in it.out


def test_y15_a_record_is_recognised_by_its_extension(tmp_path: Path):
    """Y15, X3: `.ymj`, or `--as ymj`."""
    text = "# Nothing of a record\n"
    for name, flags, wrong in (("a.ymj", [], 1), ("a.YMJ", [], 1), ("b.md", [], 0), ("c.md", ["--as", "ymj"], 1)):
        (tmp_path / name).write_text(text)
        assert main(["check", *flags, str(tmp_path / name)], desk().console) == wrong


PROGRAM = """---
name: triage
description: Routes a request
input:
  type: object
  properties: {request: {type: string, description: what was asked}, tone: {type: string, enum: [calm, loud]}}
  required: [request, tone]
output:
  type: object
  properties: {team: {type: string}, urgent: {type: boolean}}
  required: [team]
---
Route {{ .request }} {{ .tone }}
"""


def test_x28_a_new_test_fits_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("triage.md").write_text(PROGRAM)
    it = desk()
    assert main(["new", "test", "triage"], it.console) == 0
    assert it.err == "wrote triage.test.md\nnext: prosa test triage.test.md\n"
    text = Path("triage.test.md").read_text()
    assert "tests: ./triage.md" in text
    assert "request: what was asked\ntone: calm" in text
    assert main(["check", "--strict", "."], desk().console) == 0
    assert main(["new", "test", "triage.test.md"], desk().console) == 2
    Path("deep").mkdir()
    assert main(["new", "test", "deep/other", "--program", "triage.md"], desk().console) == 0
    assert "tests: ../triage.md" in Path("deep/other.test.md").read_text()
    assert main(["check", "--strict", "."], desk().console) == 0


def test_x28_a_new_test_without_a_program_is_a_sketch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    it = desk()
    assert main(["new", "test"], it.console) == 0
    assert "tests: ./program.md" in it.out
    assert main(["new", "test", "--program", "gone.md"], desk().console) == 2
    assert main(["new", "test", "a", "--output", "b"], desk().console) == 2


@pytest.mark.parametrize("name", ["foo", "deep/foo.test.md"])
def test_x28_a_new_test_of_no_program_is_not_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`prosa check` would refuse it at once; with the program that is offered, nothing is to report."""
    monkeypatch.chdir(tmp_path)
    it = desk()
    (tmp_path / "deep").mkdir()
    assert main(["new", "test", name], it.console) == 2
    program = name.removesuffix(".test.md")
    assert f"there is no {program}.md to test" in it.err and f"prosa new program {program}, or --program" in it.err
    assert not list(tmp_path.rglob("*.md"))
    assert main(["new", "program", program], desk().console) == 0
    assert main(["new", "test", name], desk().console) == 0
    assert main(["check"], desk().console) == 0


@pytest.mark.parametrize("arguments", [[], ["--list"]])
def test_the_kinds_are_listed_with_their_files(arguments: list[str]):
    it = desk()
    assert main(["new", *arguments], it.console) == 0
    assert [line.split()[:2] for line in it.out.splitlines()] == [
        [kind, f"NAME{maker.suffix}"] for kind, maker in MAKERS.items()
    ]


@pytest.mark.parametrize("name", ["reply-letters", "Über uns", "a: b", "x.y z"])
@pytest.mark.parametrize(
    ("kind", "dialect"), [("program", "markdownlang"), ("chat", "prapti"), ("mda", "magi"), ("mdh", "mdh")]
)
def test_a_new_document_is_of_its_kind_and_has_nothing_to_report(
    kind: str, dialect: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    call = ["new", kind, "--subject", "Letters: 12 of them", "--owner", "Ada", "--summary", "- yes", name]
    assert main(call, desk().console) == 0
    it = desk()
    assert main(["check", "--strict", "--ignore", "site-without-root", "."], it.console) == 0
    assert it.out == "Nothing found in 1 document.\n"
    (file,) = tmp_path.iterdir()
    it = desk()
    assert main(["show", str(file), "--format", "json"], it.console) == 0
    assert json.loads(it.out)["dialect"] == dialect


def test_a_dialect_is_a_name_of_its_kind_too():
    one, other = desk(), desk()
    assert main(["new", "markdownlang"], one.console) == main(["new", "program"], other.console) == 0
    assert one.out == other.out


def test_a_new_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "program", "answer"], desk().console) == 0
    Path("replies.jsonl").write_text('{"content": {"answer": "Four.", "sure": true}}')
    it = desk(environ={"MARKDOWNLANG_AGREE": "Trans rights are human rights"})
    assert main(["run", "answer.md", "question=2 + 2?", "--model", "scripted:replies.jsonl"], it.console) == 0
    assert json.loads(it.out) == {"answer": "Four.", "sure": True}
