"""Places: private caches, settings folders, by environment alone (X10)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from prosa.adapters.files import UnsafePlace, cache_dir, config_dir, home, places, private_dir


def test_places_follow_the_environment_that_is_handed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(places.sys, "platform", "linux")
    user = {"HOME": str(tmp_path)}
    assert config_dir(user) == tmp_path / ".config" / "prosa"
    assert cache_dir(user) == tmp_path / ".cache" / "prosa"
    assert config_dir({**user, "XDG_CONFIG_HOME": "/etc/mine"}) == Path("/etc/mine/prosa")
    assert config_dir({**user, "XDG_CONFIG_HOME": "relative"}) == tmp_path / ".config" / "prosa"
    assert config_dir({**user, "PROSA_CONFIG_DIR": "/x", "XDG_CONFIG_HOME": "/y"}) == Path("/x")
    assert cache_dir({**user, "PROSA_CACHE_DIR": str(tmp_path / "c")}) == tmp_path / "c"
    assert home({"HOME": "/h"}) == Path("/h")
    assert home({}) == Path.home()
    with pytest.raises(OSError, match="relative path, 'h'; set HOME to an absolute one"):
        home({"HOME": "h"})


def test_places_on_other_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(places.sys, "platform", "darwin")
    assert config_dir({"HOME": "/h"}) == Path("/h/Library/Application Support/prosa")
    monkeypatch.setattr(places.sys, "platform", "win32")
    assert config_dir({"USERPROFILE": "/u", "APPDATA": "/u/roaming"}) == Path("/u/roaming/prosa")
    assert home({"USERPROFILE": "/u"}) == Path("/u")


def test_x10_a_cache_is_made_for_its_owner_alone(tmp_path: Path):
    before = os.umask(0)
    try:
        made = private_dir(tmp_path / "a" / "cache")
    finally:
        os.umask(before)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    made.chmod(0o755)
    assert stat.S_IMODE(private_dir(made).stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777, 0o1777])
def test_x10_a_cache_that_others_may_write_to_is_refused(tmp_path: Path, mode: int):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(UnsafePlace, match="may be written by others"):
        cache_dir({"PROSA_CACHE_DIR": str(folder)})


def test_x10_a_cache_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    mine = os.geteuid()
    monkeypatch.setattr(places.os, "geteuid", lambda: mine + 1)
    with pytest.raises(UnsafePlace, match="belongs to another user"):
        cache_dir({"PROSA_CACHE_DIR": str(tmp_path)})


def test_x10_a_link_to_a_folder_that_others_may_write_to_is_refused(tmp_path: Path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "cache").symlink_to("open")
    with pytest.raises(UnsafePlace):
        private_dir(tmp_path / "cache")
