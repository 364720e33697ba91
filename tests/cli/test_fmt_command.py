"""`prosa fmt`: what is written, what is refused, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.cli.main import main
from prosa.dialects.dialect import Hints
from prosa.rules.fix import format_text
from prosa.source import SourceText
from tests.cli.desk import desk
from tests.depth import examples
from tests.dialects.test_program import HOSTILE

CHAT = "### @user\n\nHello.\n"
NORMAL = "### @user:\n\nHello.\n"
BROKEN = "---\nid: [\n---\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "prosa.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*argv: str, typed: str = "") -> tuple[int, str, str]:
    at = desk(typed)
    status = main(["fmt", *argv], at.console)
    return status, at.out, at.err


def test_x22_documents_are_brought_to_their_normal_form_once(folder: Path):
    """X22."""
    (folder / "chat.md").write_bytes(CHAT.encode())
    (folder / "plain.md").write_bytes(b"* plain\r\n")
    assert run() == (0, "", "1 document changed, 1 unchanged\n")
    assert (folder / "chat.md").read_bytes() == NORMAL.encode()
    assert (folder / "plain.md").read_bytes() == b"* plain\r\n"
    assert run(".") == (0, "", "0 documents changed, 2 unchanged\n")


def test_check_and_diff_write_nothing_and_fail(folder: Path):
    (folder / "chat.md").write_bytes(CHAT.encode())
    assert run("--check") == (1, "would change: chat.md\n", "1 document would change, 0 would not\n")
    status, out, _ = run("--diff")
    assert (status, out) == (1, "--- chat.md\n+++ chat.md\n@@ -1,3 +1,3 @@\n-### @user\n+### @user:\n \n Hello.\n")
    assert (folder / "chat.md").read_bytes() == CHAT.encode()
    run()
    assert run("--check") == (0, "", "0 documents would change, 1 would not\n")


def test_line_ends_and_a_byte_order_mark_survive(folder: Path):
    (folder / "chat.md").write_bytes("\ufeff".encode() + CHAT.replace("\n", "\r\n").encode())
    run()
    assert (folder / "chat.md").read_bytes() == "\ufeff".encode() + NORMAL.replace("\n", "\r\n").encode()


def test_a_document_that_cannot_be_read_is_left_alone_and_the_others_are_done(folder: Path):
    (folder / "broken.md").write_text(BROKEN, encoding="utf-8")
    (folder / "bytes.md").write_bytes(b"\xff")
    (folder / "chat.md").write_bytes(CHAT.encode())
    status, _, err = run()
    assert status == 1
    assert (folder / "broken.md").read_text(encoding="utf-8") == BROKEN
    assert (folder / "chat.md").read_bytes() == NORMAL.encode()
    lines = err.splitlines()
    assert lines[0].startswith("not formatted: broken.md:") and "[yaml-syntax]" in lines[0]
    assert lines[1].startswith("not formatted: bytes.md: is not UTF-8")


def test_x3_as_and_globs_decide_the_dialect(folder: Path):
    """X3."""
    (folder / "a.md").write_bytes(CHAT.encode())
    assert run("--check", "--as", "plain")[0] == 0
    (folder / "prosa.toml").write_text('[dialects]\n"*.md" = "plain"\n', encoding="utf-8")
    assert run("--check")[0] == 0


def test_standard_input_is_printed(folder: Path):
    assert run("-", typed=CHAT)[:2] == (0, NORMAL)
    assert run("--stdin-filename", "x.md", typed=NORMAL)[:2] == (0, NORMAL)
    assert run("-", typed=BROKEN)[:2] == (1, BROKEN)
    assert list(folder.glob("*.md")) == []


def test_nothing_to_format_is_wrong_use(folder: Path):
    assert run()[0] == 2
    assert run("none.md")[0] == 2


@settings(max_examples=examples(80), deadline=None)
@given(
    st.one_of(HOSTILE, st.text(max_size=120)),
    st.sampled_from([None, "magi", "markdownlang", "ymj", "mdh", "prapti", "skill_md", "test", "evals", "plain"]),
)
def test_x22_the_normal_form_of_any_text_is_stable(text: str, dialect):
    """X22. Formatting what was formatted changes nothing, in every dialect."""
    first = format_text(SourceText(text, "p.md"), Hints(dialect))
    assert "please report" not in first.reason
    if first.text is not None:
        assert format_text(SourceText(first.text, "p.md"), Hints(dialect)).text == first.text
