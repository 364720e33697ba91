"""A `prosa.toml` that is no regular file is reported, not passed over (X7)."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.programs import program, prosa, user


def _bind(path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as bound:
        bound.bind(path.name)  # the path of the folder may be too long for a socket


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.mkdir, "is a folder, not a regular file"),
        (os.mkfifo, "is a pipe, not a regular file"),
        (_bind, "is a socket, not a regular file"),
        (lambda path: path.symlink_to("nowhere"), "is a link to a file that does not exist"),
    ],
)
def test_x7_settings_that_cannot_be_read_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], reason: str
):
    """X7: by the check of documents as by a run, and nothing waits for a pipe."""
    monkeypatch.chdir(tmp_path)
    file = program(tmp_path)
    make(tmp_path / "prosa.toml")
    status, at = prosa("check", file, environ=user(tmp_path))
    assert status == 1 and f"prosa.toml:1:1: MD040 error: the settings cannot be read: {reason}" in at.out
    status, at = prosa("render", file, environ=user(tmp_path))
    assert (status, at.err) == (2, f"error: {tmp_path.resolve() / 'prosa.toml'}: {reason}\n")


def test_x9_a_limit_of_no_bytes_is_refused(tmp_path: Path):
    """X9: as other limits are."""
    for size in ("0", "0MB"):
        status, at = prosa("check", program(tmp_path), "--max-size", size, environ=user(tmp_path))
        assert status == 2 and f"--max-size {size}: not a size" in at.err
