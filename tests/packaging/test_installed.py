"""The workflow that runs tests against installed wheels on every system and Python, and the script that it calls."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.house.tree import ROOT
from tests.packaging.validating import assert_fits
from tools.packaging import installed

WORKFLOW = ROOT / ".github" / "workflows" / "tests.yml"

ONLY_HERE = {
    *("house", "requirements", "packaging", "editors", "examples", "browser", "suites"),
    *("batch_services", "model_server", "peers", "warm"),
}
"""Tests of this checkout, and folders without tests."""


def test_the_workflow_satisfies_the_schema_of_its_host_and_grants_little():
    assert_fits("vendor.github-workflows", WORKFLOW)
    found = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    steps = [step for job in found["jobs"].values() for step in job["steps"]]
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]) for step in steps if "uses" in step)
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []
    assert found["permissions"] == {}
    assert all(job["permissions"] == {"contents": "read"} for job in found["jobs"].values())
    assert "secrets." not in WORKFLOW.read_text("utf-8")


def test_the_workflow_tries_every_python_that_the_package_names_on_every_system():
    matrix = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["installed"]["strategy"]["matrix"]
    named = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
    assert [f"Programming Language :: Python :: {each}" for each in matrix["python"]] == [
        each for each in named if re.search(r":: 3\.\d+$", each)
    ]
    kinds = {re.match(r"[a-z]+", each)[0] for each in matrix["os"]}
    assert kinds == {"ubuntu", "macos", "windows"} and "ubuntu-24.04-arm" in matrix["os"]


def test_every_folder_of_tests_is_for_an_installation_or_for_this_checkout():
    folders = {path.parent.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")}
    mine = {each.removeprefix("tests/") for each in installed.TESTS}
    assert folders - ONLY_HERE == mine, folders ^ mine


def test_what_is_only_for_this_checkout_is_taken_out_of_a_lock_with_its_hashes():
    lock = (
        "a==1 \\\n    --hash=sha256:00\nhadolint-bin==2.15.1 \\\n    --hash=sha256:11 \\\n    --hash=sha256:22\nz==2\n"
    )
    assert installed.without_linters(lock) == "a==1 \\\n    --hash=sha256:00\nz==2\n"
    locked = (ROOT / "requirements" / "dev.lock").read_text("utf-8")
    left = installed.without_linters(locked)
    assert all(f"{name}==" in locked and f"{name}==" not in left for name in installed.LINTERS)
    assert len(re.findall(r"^[a-z]", left, re.MULTILINE)) == len(re.findall(r"^[a-z]", locked, re.MULTILINE)) - 2


def test_a_folder_without_all_wheels_is_refused(tmp_path: Path):
    (tmp_path / "prosa_core-0.1.0-py3-none-any.whl").touch()
    with pytest.raises(SystemExit, match="make build"):
        installed.wheels(tmp_path)
    for name in ("prosa", "prosa_sandbox"):
        (tmp_path / f"{name}-0.1.0-py3-none-any.whl").touch()
    assert [each.name.partition("-")[0] for each in installed.wheels(tmp_path)] == [*installed.DISTRIBUTIONS]
