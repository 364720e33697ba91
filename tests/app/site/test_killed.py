"""A build that is killed at any point is healed by the next one (H8)."""

from __future__ import annotations

import hashlib
import json
from itertools import count
from pathlib import Path

import pytest

from prosa.adapters.files.builds import JOURNAL, Build
from prosa.cli.main import main
from tests.adapters.files.killing import killed

CODE = """\
import json
from pathlib import Path
from prosa.adapters.files.builds import Build

with Build(Path(arguments[0])) as build:
    for path, text in json.loads(arguments[1]).items():
        build.put(path, text.encode())
"""
COMMAND = """\
import prosa.cli.build
import prosa.web.static
from prosa.cli.main import main

assert main(["build", *arguments]) == 0
"""
FIRST = {"a.md": "first", "b/c.md": "first", "old/deep/d.md": "first"}
SECOND = {"a.md": "second", "b/c.md": "second", "new/e.md": "second"}
THIRD = {"a.md": "third", "b/c.md": "third", "other/f.md": "third"}


def tree(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, hidden files and empty folders too."""
    return {
        each.relative_to(folder).as_posix(): each.read_bytes() if each.is_file() else None for each in folder.rglob("*")
    }


def built(out: Path, files: dict[str, str]) -> Build:
    with Build(out) as build:
        for path, text in files.items():
            build.put(path, text.encode())
    return build


@pytest.mark.parametrize("begins", ["empty", "built"])
def test_h8_a_build_killed_before_any_change_is_healed_by_the_next(begins: str, tmp_path: Path):
    """Every change of the build is a place to be killed at; the sources are others afterwards."""
    built(tmp_path / "fresh", THIRD)
    for step in count(1):
        out = tmp_path / f"{begins}{step}"
        if begins == "built":
            built(out, FIRST)
        was_killed = killed(step, CODE, str(out), json.dumps(SECOND))
        assert built(out, THIRD).kept == [], step
        assert tree(out) == tree(tmp_path / "fresh"), step
        if not was_killed:
            break
    assert step > 15


def test_h8_a_build_killed_again_and_again_is_healed(tmp_path: Path):
    out = tmp_path / "out"
    built(out, FIRST)
    for step, files in ((9, SECOND), (7, THIRD), (5, FIRST), (12, {"b/c.md": "fourth"}), (3, SECOND)):
        assert killed(step, CODE, str(out), json.dumps(files))
    assert built(out, THIRD).kept == []
    built(tmp_path / "fresh", THIRD)
    assert tree(out) == tree(tmp_path / "fresh")


def test_h8_what_somebody_changed_after_the_kill_is_left_alone(tmp_path: Path):
    out = tmp_path / "out"
    built(out, FIRST)
    assert killed(14, CODE, str(out), json.dumps(SECOND))
    (out / "a.md").write_text("mine")
    assert built(out, THIRD).kept == ["a.md"]
    assert (out / "a.md").read_text() == "mine"


def test_h8_what_a_power_cut_left_empty_is_written_again(tmp_path: Path):
    """Files of a build are not forced to the disk: the next build makes them again."""
    built(tmp_path, FIRST)
    for name in ("a.md", "old/deep/d.md"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "new").mkdir()
    (tmp_path / "new/e.md").write_bytes(b"")  # was never ours
    made = built(tmp_path, SECOND)
    assert (made.written, made.removed, made.kept) == (2, 1, ["new/e.md"])
    assert (tmp_path / "a.md").read_text() == "second" and not (tmp_path / "old").exists()


def test_h8_a_torn_journal_and_one_that_names_files_elsewhere_are_not_believed(tmp_path: Path):
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "own.md").write_text("mine")
    digest = hashlib.sha256(b"mine").hexdigest()
    lines = [f'["../own.md", "{digest}"]', '{"x": 1}', "[1, 2]", "7", '"ab"', f'["a.md", "{digest[:20]}']
    (out / JOURNAL).write_text("\n".join(lines))
    assert built(out, FIRST).kept == []
    assert (tmp_path / "own.md").read_text() == "mine"
    (out / JOURNAL).symlink_to(tmp_path / "own.md")
    with pytest.raises(OSError, match="is a link"):
        built(out, FIRST)


def test_h8_the_command_heals_what_it_was_killed_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PROSA_CACHE_DIR", str(tmp_path / "cache"))
    site = tmp_path / "site"
    site.mkdir()
    for step in (40, 90):
        out = tmp_path / f"out{step}"
        for text in ("# A\n", "# B\n"):
            for each in range(12):
                (site / f"a{each}.md").write_text(f"{text}\n{each}\n")
            if text == "# A\n":
                assert killed(step, COMMAND, str(site), str(out))
                assert (out / JOURNAL).exists()
        assert main(["build", str(site), str(out)]) == 0
        assert main(["build", str(site), str(tmp_path / f"fresh{step}")]) == 0
        assert tree(out) == tree(tmp_path / f"fresh{step}")
