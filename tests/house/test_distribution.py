"""How a session shares out tests to workers (`tests/distribution.py`), and what they report (`tests/reports.py`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.house.tree import ROOT

CONFTEST = """
from tests import reports
from tests.distribution import ByFile

def pytest_configure(config):
    reports.report_less(config)

def pytest_report_from_serializable(data):
    return reports.received(data)

def pytest_xdist_make_scheduler(config, log):
    reports.take_many(config)
    return ByFile(config, log)
"""
WITHOUT = [word for plugin in ("cacheprovider", "asyncio", "pytest-lsp") for word in ("-p", f"no:{plugin}")]
"""Plugins that a session of the tests does without as well."""
DYING = "import os\ndef test_before(): pass\ndef test_it(): os._exit(3)\ndef test_after(): pass\n"


def test_a_worker_that_dies_fails_its_test_once_and_the_session_ends(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_a.py").write_text(DYING)
    (tmp_path / "test_b.py").write_text("def test_b(): pass\n")
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", *WITHOUT, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    ended = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert "1 failed, 3 passed" in ended.stdout, ended.stdout
