"""Windows, as far as Linux can show it: without the modules and the calls of POSIX that Windows lacks.

Prosa asks `sys.platform`; what of POSIX is called all the same ends here as it would there, and an open file can be
neither moved nor removed. Paths with backslashes and the rights of files are not shown by this; servers and the sandbox
are in `test_systems`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import warm
from tests.packaging.calling import called

ABSENT = ("fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
"""Modules of the standard library that Windows lacks. Only Prosa lacks them here: others were made for this system."""

BLOCKED = f"""
import builtins, sys
_import = builtins.__import__

def _guarded(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and name in {ABSENT!r} and str((globals or {{}}).get("__name__")).startswith("prosa"):
        raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
    return _import(name, globals, locals, fromlist, level)

builtins.__import__ = _guarded
"""

ANEW = """
for name in [name for name in sys.modules if name.partition(".")[0] == "prosa"]:
    del sys.modules[name]
"""
"""A forked process has imported all modules before."""

IMPORTING = """
import importlib, pkgutil, prosa
found = [each.name for each in pkgutil.walk_packages(prosa.__path__, "prosa.") if not each.name.endswith("__main__")]
for name in found:
    importlib.import_module(name)
print(len(found))
"""

WINDOWS = """
import asyncio, multiprocessing, os, platform, shutil, signal, sqlite3, subprocess, sysconfig, tempfile, types
sysconfig.get_config_vars()
import mcp.client.sse, mcp.client.stdio, mcp.client.streamable_http  # on Windows they have libraries of it
for name in ("chown", "fchmod", "fchown", "fork", "geteuid", "killpg", "sched_getaffinity", "setsid", "uname"):
    delattr(os, name)
for name in ("O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH"):
    delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGALRM"):
    delattr(signal, name)
os.supports_dir_fd.clear()
os.environ["COMPUTERNAME"] = "elsewhere"
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, LK_UNLCK=0, locking=lambda descriptor, kind, size: None)
sys.platform = "win32"
from tests.packaging.sharing import refuse_open_files
refuse_open_files()
"""
"""What differs for Prosa. What is imported before of the standard library stays what it is here."""

PROGRAM = """\
---
name: triage
description: Sorts a support request
input: {type: object, properties: {request: {type: string}}, required: [request]}
output: {type: object, properties: {urgent: {type: boolean}}, required: [urgent]}
---

Is this urgent? {{ .request }}
"""


def test_every_module_can_be_imported_without_the_modules_of_posix():
    done = warm.run([sys.executable, "-c", BLOCKED + ANEW + IMPORTING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 800


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small project, with the replies and the rows of runs."""
    tmp_path = tmp_path / "project"
    tmp_path.mkdir()
    (tmp_path / "prosa.toml").touch()
    (tmp_path / "triage.md").write_text(PROGRAM)
    (tmp_path / "notes.md").write_text("# Notes\n\nSee the [program](triage.md) and [more](gone.md).\n")
    (tmp_path / "talk.md").write_text("### @user\n\nHello.\n")
    (tmp_path / "replies.jsonl").write_text('{"content": {"urgent": true}}\n')
    (tmp_path / "rows.jsonl").write_text('{"request": "rent"}\n')
    return tmp_path


CALLS: list[tuple[str, int, str]] = [
    ("check", 1, "notes.md:3:41: MD020"),
    ("check notes.md triage.md", 1, "notes.md:3:41: MD020"),
    ("fmt", 0, "1 document changed"),
    ("search program", 0, "notes.md"),
    ("search program", 0, "notes.md"),
    ("links notes.md", 0, "triage.md"),
    ("rename notes.md more.md", 0, "more.md"),
    ("run triage.md request=rent --model scripted:replies.jsonl", 0, '"urgent": true'),
    ("runs", 0, "triage"),
    ("batch triage.md --rows rows.jsonl --model scripted:replies.jsonl", 0, '"urgent": true'),
    ("chat talk.md --model scripted:replies.jsonl", 0, "urgent"),
    ("plan triage.md request=rent", 0, "asks gpt-4o"),
    ("build . ../site", 0, ""),
    ("doctor", 0, "CPython 3."),
]
"""Command lines, the status that each ends with, and what it prints among other things."""


def test_documents_and_scripted_runs_need_nothing_of_posix(folder: Path):
    calls = [line.split() for line, _, _ in CALLS]
    told = called(folder, calls, path=[each for each in sys.path if each], before=BLOCKED + WINDOWS)
    for (line, status, text), (found, out, err) in zip(CALLS, told, strict=True):
        assert (found, text in out + err, "internal" in err) == (status, True, False), (line, found, out, err)
