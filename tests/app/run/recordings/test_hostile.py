"""Recordings that somebody else made: what they name beside them is opened only as a regular file of their folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from prosa.app.options import Record, Replay
from prosa.app.run import recordings as cassettes
from prosa.runtime.errors import CassetteProblem
from tests.app.run.recordings.runs import command, program, ran, says
from tests.cli.programs import prosa, user

LONG = {"text": "long " * 20_000}


def outside(beside: Path) -> None:
    other = beside.parent.parent / "other.txt"
    other.write_bytes(beside.read_bytes())
    beside.unlink()
    beside.symlink_to(other)


def device(beside: Path) -> None:
    beside.unlink()
    beside.symlink_to("/dev/zero")


def pipe(beside: Path) -> None:
    beside.unlink()
    os.mkfifo(beside)


def folder(beside: Path) -> None:
    beside.unlink()
    beside.mkdir()


def large(beside: Path) -> None:
    os.truncate(beside, cassettes.MAX_CASSETTE + 1)


CANARIES: dict[Callable[[Path], None], str] = {
    outside: "is a link that leads out of its folder",
    device: "is a link that leads out of its folder",
    pipe: "is a pipe, not a regular file",
    folder: "is a folder, not a regular file",
    large: "is too large",
}


@pytest.mark.parametrize("canary", CANARIES, ids=lambda each: each.__name__)
def test_x5_x27_what_stands_beside_a_recording_is_a_regular_file_of_its_folder(
    tmp_path: Path, canary: Callable[[Path], None]
):
    """X5, X27. No command waits for a pipe, reads a device without end or follows a link out."""
    path, tapes = program(tmp_path), tmp_path / "tapes"
    ran(path, LONG, [says(1)], record=Record(tapes))
    (beside,) = tapes.glob("*.txt")
    canary(beside)
    with pytest.raises(CassetteProblem, match=CANARIES[canary]):
        ran(path, LONG, replay=Replay(tapes))
    for argv in (("check", tmp_path), ("show", *tapes.glob("*.ymj")), ("index", tmp_path), ("search", "long")):
        status, it = prosa(*argv, environ=user(tmp_path))
        assert status in (0, 1, 2) and "internal" not in it.err


def test_x9_x27_what_stands_beside_a_recording_is_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X9, X27."""
    path, tapes = program(tmp_path), tmp_path / "tapes"
    ran(path, LONG, [says(1)], record=Record(tapes))
    monkeypatch.setattr(cassettes, "MAX_CASSETTE", 50_000)
    (beside,) = tapes.glob("*.txt")
    with pytest.raises(cassettes.Unreadable, match="may have 50,000 bytes together"):
        cassettes._Beside(next(tapes.glob("*.ymj"))).text(beside.name)


def test_x5_a_replay_by_command_ends_in_a_sentence(tmp_path: Path):
    """X5, X27."""
    path, tapes = program(tmp_path), tmp_path / "tapes"
    ran(path, LONG, [says(1)], record=Record(tapes))
    (beside,) = tapes.glob("*.txt")
    pipe(beside)
    status, it = command(path, "--replay", tapes, f"text={LONG['text']}")
    assert status == 1 and "is a pipe, not a regular file" in it.err
