"""How the process of a command ends: at once where nothing is held, always with its status and its output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm
from tests.cli.programs import program, script
from tests.cli.test_startup import agreed

HELD = """
import gc, io, sqlite3, sys, threading
from prosa.cli.main import main
status = main({argv!r})
open_files = [each for each in gc.get_objects() if isinstance(each, io.IOBase) and not each.closed]
standard = ("<stdin>", "<stdout>", "<stderr>", 0, 1, 2)
mine = [each for each in open_files if hasattr(each, "name") and each.name not in standard]
connections = [each for each in gc.get_objects() if isinstance(each, sqlite3.Connection)]
for each in connections:
    try:
        each.total_changes
    except sqlite3.ProgrammingError:
        continue
    mine.append(each)
mine += threading.enumerate()[1:]
sys.stdout.flush()
print(status, mine, file=sys.stderr)
"""

END = """
import atexit, sys
from prosa.cli.process import run
{before}
class Last:
    def __del__(self):
        print("freed")
last = Last()
atexit.register(lambda: print("told"))
print("out")
print("err", file=sys.stderr)
run(lambda: {status})
"""


def ended(before: str = "", status: int = 0, **options: object) -> tuple[int, str, str]:
    code = END.format(before=before, status=status)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("status", [0, 1, 2, 130, 143])
def test_everything_is_written_and_everybody_called_before_the_end(status: int):
    assert ended(status=status) == (status, "out\ntold\n", "err\n")


@pytest.mark.parametrize(
    "before",
    [
        "import tempfile",
        "import multiprocessing",
        "import concurrent.futures.thread",
        "import threading; release = threading.Event(); threading.Thread(target=release.wait, daemon=True).start()",
    ],
)
def test_a_process_that_may_hold_something_ends_as_any_other(before: str):
    status, out, err = ended(before, 3)
    assert (status, err) == (3, "err\n")
    assert out.splitlines()[:2] == ["out", "told"] and "freed" in out


def test_a_full_disk_is_an_error_at_the_end():
    code = END.format(before="", status=0)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode != 0 and "No space left" in done.stderr


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "prosa.toml").touch()
    (tmp_path / "notes.md").write_text("# Notes\n\nSee the [plan](plan.md).\n")
    (tmp_path / "plan.md").write_text("# Plan\n\nAs in the [notes](notes.md).\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "argv",
    [
        ("check",),
        ("check", "notes.md", "--no-cache"),
        ("fmt", "notes.md"),
        ("show", "notes.md"),
        ("search", "plan"),
        ("links", "notes.md"),
        ("graph",),
        ("run", "PROGRAM", "text=a", "--model", "SCRIPT"),
    ],
    ids=" ".join,
)
def test_lw3_a_command_has_closed_what_it_opened_when_it_returns(argv: tuple[str, ...], corpus: Path):
    """So that the process may end at once (ARCHITECTURE.md, 7)."""
    places = {"PROGRAM": str(program(corpus)), "SCRIPT": script(corpus)}
    home = str(agreed(corpus))
    environ = os.environ | {"HOME": home, "PROSA_CACHE_DIR": str(corpus / "cache")}
    code = HELD.format(argv=[places.get(each, each) for each in argv])
    done = warm.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "0 []"
