"""Tests with a real model run where there is one, are left out where there is none; CI fails where they did not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.embedded import presence
from tests.depth import DEEP
from tests.house.test_browser import CI, ONE, session
from tests.house.tree import ROOT


def test_x35_without_weights_these_tests_are_left_out_and_that_is_said(tmp_path: Path):
    there = {presence.PLACE: str(tmp_path / "none")}
    done = session("tests/adapters/embedded", "--ignore=tests/adapters/embedded/weights", ONE, **there)
    assert (done.returncode, "embedded tests: left out, there " in done.stdout) == (0, True), done.stdout
    assert "1 passed" in done.stdout


def test_x35_required_weights_that_are_missing_end_the_session(tmp_path: Path):
    done = session(ONE, **{presence.PLACE: str(tmp_path / "none"), "PROSA_EMBEDDED": "required"})
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "PROSA_EMBEDDED=required, and there " in done.stderr


def test_x35_every_file_of_these_tests_must_have_run():
    assert presence.not_run({f"{name}::test_x" for name in presence.files()}) == []
    assert len(presence.files()) >= 4
    assert ("tests/adapters/embedded/test_deep.py" in presence.files()) is DEEP


def test_x35_the_ci_requires_them_and_pulls_the_weights():
    lines = CI.splitlines()
    (required,) = (at for at, line in enumerate(lines) if line == "export PROSA_EMBEDDED=required")
    pulled = lines.index(".venv/bin/prosa models pull smollm2")
    assert required < lines.index("make demo") < pulled < lines.index("make test")


def test_x35_the_tour_can_do_without_a_model():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "$(if $(filter 0,$(DEMO_MODEL)),,$(WEIGHTS))" in makefile
