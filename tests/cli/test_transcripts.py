"""Transcripts: what a user types, and what the commands of this source tree print."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from tests import warm
from tests.house.examples import differences

PAGES = sorted((Path(__file__).parent / "transcripts").glob("*.md"))


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A user without key, settings or agreement, and the two commands on the path."""
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    path = os.pathsep.join((str(warm.scripts(tmp_path / "bin")), os.environ.get("PATH", "")))
    source = str(Path(__file__).parents[2] / "src")
    return {"PATH": path, "HOME": str(tmp_path / "home"), "PYTHONPATH": source, "TERM": "xterm"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_l34_l36_l37_l41_commands_print_what_the_transcripts_say(page: Path, environ: dict[str, str], tmp_path: Path):
    wrong = [str(each) for each in differences(page.read_text(encoding="utf-8"), tmp_path / "work", environ)]
    assert not wrong, "\n\n".join(wrong)


def test_l40_the_agreement_is_accepted_at_a_real_terminal(environ: dict[str, str], tmp_path: Path):
    mine, theirs = pty.openpty()
    with subprocess.Popen(
        ["markdownlang", "agree"], stdin=theirs, stdout=theirs, stderr=theirs, env=environ
    ) as process:
        os.close(theirs)
        shown = read_until(mine, "accept: ")
        phrase = shown.split("\r\n\r\n")[2]
        os.write(mine, f"{phrase}\n".encode())
        shown += read_until(mine, "markdownlang.\r\n")
        assert process.wait(120) == 0
    os.close(mine)
    assert shown == (
        "markdownlang Trans Rights Agreement\r\n\r\n"
        "Before using markdownlang, you must agree to the following:\r\n\r\n"
        f"{phrase}\r\n\r\n"
        f"Type the above phrase exactly to accept: {phrase}\r\n\r\n"
        "Agreement accepted. You can now use markdownlang.\r\n"
    )
    assert re.search(r'"phrase_index": \d+', (tmp_path / "home" / ".markdownlang-agreement.json").read_text())


def read_until(descriptor: int, end: str) -> str:
    """What a terminal shows, up to and with ``end``."""
    shown = ""
    while not shown.endswith(end):
        shown += os.read(descriptor, 1024).decode()
    return shown
