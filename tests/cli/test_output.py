"""`-o -` is standard output, as for `curl` and `pandoc`, and never a file called `-`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.app.batch.labels import LABEL
from tests.cli.programs import program, prosa, script, user

CHAT = "### @user:\n\nq\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a document of each kind."""
    program(tmp_path)
    (tmp_path / "label.md").write_text(LABEL)
    (tmp_path / "rows.csv").write_text("text\none\n")
    (tmp_path / "chat.md").write_text(CHAT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "reply"),
    [
        (("run", "count.md", "text=a b"), {"content": {"words": 2}}),
        (("batch", "label.md", "--rows", "rows.csv"), {"content": {"n": 1}}),
        (("chat", "chat.md", "--export", "openai"), None),
        (("graph", ".", "--format", "dot"), None),
        (("new", "program"), None),
        (("convert", "count.md", "--to", "skill"), None),
    ],
)
def test_a_dash_is_standard_output(folder: Path, words: Sequence[str], reply: object):
    model = () if reply is None else ("-m", script(folder, {"content": json.dumps(reply["content"])}))  # type: ignore[index]
    status, at = prosa(*words, *model, "-o", "-", environ=user(folder))
    assert status == 0 and at.out.strip(), at.err
    assert not (folder / "-").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("convert", "count.md", "label.md", "--to", "skill"),
        ("convert", "count.md", "--to", "skill", "--wrap"),
        ("improve", "count.md"),
        ("visit", "https://example.org/", "--skills"),
        ("new", "program", "name"),
    ],
)
def test_what_needs_a_place_on_disk_refuses_a_dash(folder: Path, words: Sequence[str]):
    before = sorted(folder.rglob("*"))
    status, at = prosa(*words, "-o", "-", environ={})
    assert status == 2 and ("standard output" in at.err or "both name" in at.err)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("place", ["-", "out.txt"])
def test_an_output_that_would_hold_nothing_is_refused(folder: Path, place: str):
    """The reply goes into the chat, and results of scripts into their document."""
    (folder / "talk.md").write_text("### @user:\n\nHi\n", encoding="utf-8")
    (folder / "notes.mda").write_text('```ai-script\n{"script_id": "a", "prompt": "Hi"}\n```\n', encoding="utf-8")
    model = script(folder, {"content": "Hello"})
    before = {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    for words, message in (
        (("chat", "talk.md", "-m", model), "--output needs --export"),
        (("run", "notes.mda", "--all", "--write", "-m", model), "--output and --write are two places"),
    ):
        status, at = prosa(*words, "-o", place, environ=user(folder))
        assert status == 2 and message in at.err, at.err
    assert {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()} == before


def test_letters_behind_a_short_flag_without_a_value_are_no_flag(folder: Path):
    status, at = prosa("search", "-hi", environ=user(folder))
    hint = "words that begin with a dash stand behind --: prosa search -- -hi"
    assert (status, at.err) == (2, f"error: unknown flag -hi\n  {hint}\n")
    assert prosa("search", "-qh", environ=user(folder))[0] == 0


def test_a_search_of_excluded_words_says_where_they_stand(folder: Path):
    environ = user(folder)
    status, at = prosa("search", "-zebra", environ=environ)
    hint = "words that begin with a dash stand behind --: prosa search -- -zebra"
    assert (status, at.err) == (2, f"error: unknown flag -zebra\n  {hint}\n")
    status, at = prosa("search", "--files", "--", "-count", environ=environ)
    assert status == 0 and "chat.md" in at.out and "count.md" not in at.out


def test_results_so_far_are_exported_to_standard_output(folder: Path):
    run = ("batch", "label.md", "--rows", "rows.csv", "-m", script(folder, {"content": '{"n": 1}'}))
    environ = user(folder)
    assert prosa(*run, environ=environ)[0] == 0
    status, at = prosa("batch", "label", "--export", "-", environ=environ)
    assert status == 0 and json.loads(at.out)["output"] == {"n": 1}
    assert not (folder / "-").exists()
