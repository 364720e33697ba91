"""X36. What is said where there is no box, and what is never shown in one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from prosa.adapters.agents import box
from prosa.adapters.agents.box import BoxRefused, boxed, isolation


@pytest.fixture
def anew() -> Iterator[None]:
    isolation.cache_clear()
    yield
    isolation.cache_clear()


def test_x36_without_bubblewrap_the_reason_says_what_to_install(anew: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(box.shutil, "which", lambda name: None)
    assert isolation() == box.Isolation(
        "none", "bubblewrap is not installed: install the package `bubblewrap` of your system"
    )


def test_x36_elsewhere_the_reason_says_so(anew: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(box.sys, "platform", "darwin")
    assert isolation().reason == "isolation needs Linux: agents run in bubblewrap"


def test_x36_a_forbidden_box_is_found_by_trying(anew: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    (tmp_path / "restricted").write_text("1\n")
    monkeypatch.setattr(box.shutil, "which", lambda name: str(tmp_path / name))
    monkeypatch.setattr(box, "_APPARMOR", tmp_path / "restricted")
    reason = isolation().reason
    assert reason.startswith("bubblewrap cannot make a box here: bwrap: setting up uid map: Permission denied")
    assert reason.endswith("(AppArmor restricts user namespaces: see `sysctl restricted`)")


def test_x36_a_bubblewrap_that_hangs_is_none(anew: None, monkeypatch: pytest.MonkeyPatch):
    def hangs(*given: object, **named: object) -> None:
        raise subprocess.TimeoutExpired("bwrap", 10)

    monkeypatch.setattr(box.shutil, "which", lambda name: name)
    monkeypatch.setattr(box.subprocess, "run", hangs)
    assert isolation().reason.startswith("bubblewrap cannot be run here:")


@pytest.mark.parametrize("path", ["/", "/etc", "/tmp", "/home", "/root", "/proc", "~", "~/.."])
def test_x36_the_user_s_folders_are_not_shown(tmp_path: Path, path: str):
    with pytest.raises(BoxRefused, match="cannot be shown to an agent"):
        boxed(["true"], workspace=tmp_path, home=tmp_path, readable=[Path(path).expanduser()])
