"""Ctrl-C while a command starts: no traceback of an import, and no library that is left half loaded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

{before}
sys.meta_path.insert(0, Interrupting())
from prosa.cli.main import entry
sys.argv[1:] = ["check", {path!r}]
entry()
"""


def interrupted(module: str, before: str = "") -> tuple[int, str]:
    """The end of a check that gets SIGINT when it looks for a module: its status, and what it said."""
    code = CODE.format(module=module, before=before, path=os.devnull)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("module", ["prosa.cli.errors", "argparse", "uuid"])
def test_while_libraries_are_imported_it_ends_at_once(module: str):
    assert interrupted(module) == (130, "")


def test_afterwards_it_ends_in_words():
    assert interrupted("prosa.cli.check") == (130, "interrupted\n")


def test_a_command_that_ignores_it_goes_on_ignoring_it():
    status, said = interrupted("argparse", "signal.signal(signal.SIGINT, signal.SIG_IGN)")
    assert status != 130
    assert "Traceback" not in said
