"""Browser tests run where there is a Chromium, are left out where there is none; CI fails where they did not run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import presence
from tests.house.tree import ROOT

CI = (ROOT / ".ci" / "run").read_text()
ONE = "tests/house/test_makefile.py::test_the_ci_runs_the_two_commands_of_the_readme"


def session(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A session of its own, with this environment."""
    command = [sys.executable, "-m", "pytest", "-n", "0", *words]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PROSA_", "PYTEST_"))}
    return subprocess.run(command, cwd=ROOT, env=kept | environ, capture_output=True, text=True, check=False)


def browser(folder: Path, name: str) -> str:
    """A program that could be a browser, by its name."""
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_browser_is_the_one_that_is_named_or_found(tmp_path: Path):
    other = browser(tmp_path, "google-chrome")
    assert presence.chromium({"PATH": str(tmp_path)}) == other
    first = browser(tmp_path, "chromium")
    assert presence.chromium({"PATH": str(tmp_path)}) == first
    assert presence.chromium({"PATH": str(tmp_path), "PROSA_CHROMIUM": other}) == other
    assert presence.chromium({"PATH": str(tmp_path), "PROSA_CHROMIUM": str(tmp_path / "none")}) is None
    assert presence.chromium({"PATH": str(tmp_path / "nowhere")}) is None


def test_without_a_browser_its_tests_are_left_out_and_that_is_said(tmp_path: Path):
    done = session("tests/browser", ONE, PROSA_CHROMIUM=str(tmp_path / "none"))
    assert (done.returncode, "browser tests: left out, there is no Chromium" in done.stdout) == (0, True), done.stdout
    assert "1 passed" in done.stdout


def test_a_required_browser_that_is_missing_ends_the_session(tmp_path: Path):
    done = session(ONE, PROSA_CHROMIUM=str(tmp_path / "none"), PROSA_BROWSER="required")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "there is no Chromium: install" in done.stderr


def test_a_session_without_the_required_browser_tests_fails(tmp_path: Path):
    done = session(ONE, PROSA_CHROMIUM=browser(tmp_path, "chromium"), PROSA_BROWSER="required")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 passed" in done.stdout
    assert "nothing has passed of: tests/browser/test_action.py, " in done.stdout
    assert presence.not_run({f"{name}::test_x" for name in presence.files()}) == []
    assert len(presence.files()) >= 7


def test_the_ci_requires_the_browser_and_installs_it_where_it_may():
    lines = CI.splitlines()
    (required,) = (at for at, line in enumerate(lines) if line == "export PROSA_BROWSER=required")
    assert required < lines.index("make demo") < lines.index("make test")
    assert re.search(r"chromium .*\|\| missing\+=\(chromium\)$", CI, re.MULTILINE)
    assert re.search(r'apt-get .*install .*"\$\{missing\[@\]\}"', CI)
    assert "id -u" in CI and "playwright install" not in CI
    assert subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=False).returncode == 0
