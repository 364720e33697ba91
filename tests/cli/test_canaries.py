"""X5: what a test, a recording or the rows of a batch lead to is opened only as a regular file of the root."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.trust.places import GRADES, REPLY, TEST, program, skill
from tests.cli.programs import prosa, script, user

CANARY = "HUNTER2"


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def outside(path: Path) -> None:
    other = next(each for each in path.parents if each.name == "root").parent / "other.md"
    other.write_text(f"{CANARY}\n")
    path.symlink_to(other)


def program_of_test(root: Path) -> Path:
    return root / "p.md"


def grader(root: Path) -> Path:
    return root / "g.md"


def skill_grader(root: Path) -> Path:
    return skill(root / "inner", "g.md") / "g.md"


def skill_file(root: Path) -> Path:
    evals = skill(root / "inner", "../g.md") / "evals" / "evals.json"
    known = json.loads(evals.read_text())
    known["evals"][0]["files"] = ["in.txt"]
    evals.write_text(json.dumps(known))
    return root / "inner" / "in.txt"


def skill_cases(root: Path) -> Path:
    return skill(root / "inner", "../g.md") / "evals" / "evals.json"


def recordings(root: Path) -> Path:
    return root / "tapes"


def recording(root: Path) -> Path:
    assert run(root, "test", "p.test.md", "--record", "tapes", "--repeat", "1")[0] == 0
    return next((root / "tapes").glob("*.ymj"))


def rows(root: Path) -> Path:
    return root / "rows.jsonl"


PLACES: tuple[tuple[Callable[[Path], Path], tuple[str, ...]], ...] = (
    (program_of_test, ("test", "p.test.md")),
    (grader, ("test", "q.test.md")),
    (skill_grader, ("test", "inner")),
    (skill_file, ("test", "inner")),
    (skill_cases, ("test", "inner")),
    (recordings, ("test", "p.test.md", "--replay", "tapes")),
    (recording, ("test", "p.test.md", "--replay", "tapes")),
    (rows, ("batch", "p.md", "--rows", "rows.jsonl", "--yes")),
)
"""What is replaced, and the command that is led to it."""


def run(root: Path, *argv: str) -> tuple[int, str]:
    """The status of a command and what it said."""
    model = () if "--replay" in argv else ("--model", script(root.parent, REPLY, REPLY))
    status, at = prosa(*argv, *model, environ=user(root.parent))
    return status, at.out + at.err


@pytest.mark.parametrize("canary", [device, pipe, folder, outside], ids=lambda each: each.__name__)
@pytest.mark.parametrize(("place", "argv"), PLACES, ids=lambda each: each.__name__ if callable(each) else "")
def test_x5_no_test_recording_or_batch_opens_a_canary(
    place: Callable[[Path], Path],
    argv: tuple[str, ...],
    canary: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    """X5. No command waits for a pipe, reads a device without end or follows a link out; each ends in a sentence."""
    root = tmp_path / "root"
    program(root / "p.md")
    program(root / "g.md", output=GRADES)
    (root / ".git").mkdir()
    (root / "p.test.md").write_text(TEST.partition("```text")[0].format(program="./p.md", more=""))
    (root / "q.test.md").write_text(TEST.format(program="./p.md", more="grader: ./g.md\n"))
    monkeypatch.chdir(root)
    path = place(root)
    path.unlink(missing_ok=True)
    canary(path)
    status, said = run(root, *argv)
    fine = (place, canary) == (skill_file, folder)  # a case may have a folder of files
    assert status in ((0,) if fine else (1, 2)) and said.strip(), said
    assert CANARY not in said and "internal error" not in said and "Traceback" not in said
