"""The Makefile: about a dozen targets, each with a line of help."""

from __future__ import annotations

import re
import subprocess
import tomllib

from tests.house.tree import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
HELPED = dict(re.findall(r"^([a-z-]+):.*?## (.+)$", MAKEFILE, re.MULTILINE))


def test_every_target_has_a_line_of_help():
    (phony,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    assert set(phony.split()) == set(HELPED)
    assert 8 <= len(HELPED) <= 18


def test_make_without_a_target_prints_the_help():
    shown = subprocess.run(["make", "-s"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert all(f"make {target}" in shown and line in shown for target, line in HELPED.items())


def test_b15_the_demo_says_what_it_does_and_how_long_before_it_installs():
    steps = subprocess.run(
        ["make", "-n", "-B", "demo", "VENV=.venv-of-this-test"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    said = steps.index("First this installs Prosa into .venv-of-this-test: about a minute")
    assert said < steps.index("pip install") < steps.index("prosa demo")


def test_the_ci_runs_the_two_commands_of_the_readme():
    assert re.findall(r"^make (\w+)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE) == ["demo", "test"]


def test_an_old_python_is_refused_with_words():
    refused = subprocess.run(
        ["make", "-s", "-B", ".venv-of-this-test/bin/python", "VENV=.venv-of-this-test", "PYTHON=no-such-python"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode != 0
    assert "Prosa needs Python 3.11 or newer" in refused.stderr
    assert "make PYTHON=" in refused.stderr


def test_what_is_installed_to_be_edited_needs_no_further_library_for_that():
    """Without `dev-mode-dirs` hatchling would look for the library `editables`, which nothing locks."""
    (line,) = re.findall(r"pip install .*--no-build-isolation.*$", MAKEFILE, re.MULTILINE)
    edited = re.findall(r"-e (\S+)", line)
    assert edited == [".", "./sandbox"]
    for folder in edited:
        assert (
            "dev-mode-dirs" in tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
        )
