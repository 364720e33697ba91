"""What a release consists of: one version everywhere, a changelog, what each distribution contains, a workflow."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

import prosa
from tests.adapters.sandbox.conftest import Python, cache, python, runner
from tests.house.tree import ROOT
from tests.packaging.validating import assert_fits
from tools.packaging import release

__all__ = ["cache", "python", "runner"]

WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
SBOMS = {
    "prosa-core": ROOT / "packaging" / "prosa-core.cdx.json",
    "prosa": ROOT / "packaging" / "prosa" / "prosa.cdx.json",
    "prosa-sandbox": ROOT / "sandbox" / "prosa-sandbox.cdx.json",
}


def test_every_place_says_the_same_version():
    assert set(release.versions().values()) == {prosa.__version__}
    assert list(release.problems(None)) == []


def test_the_changelog_is_one_by_its_form_and_knows_this_version():
    """Newest first; what is not released comes before all others, and this version is the newest or the next."""
    log = list(release.sections((ROOT / "CHANGELOG.md").read_text()))
    released = [section for section in log if section.date]
    assert [section.version for section in log if not section.date] == ["Unreleased"][: len(log) - len(released)]
    assert log[0].text
    numbers = [tuple(map(int, section.version.split("."))) for section in released]
    assert numbers == sorted(set(numbers), reverse=True)
    assert [section.date for section in released] == sorted((section.date for section in released), reverse=True)
    assert not numbers or Version(prosa.__version__) >= Version(released[0].version)


@pytest.mark.parametrize(
    "text", ["## 0.1.0\n", "## [0.1.0]\n", "## [Unreleased] - 2026-01-01\n", "## [1.0.0] - 2026-01-01\n### New\n"]
)
def test_another_form_is_refused(text: str):
    with pytest.raises(ValueError, match=r"heading|none of"):
        list(release.sections(text))


def test_a_tag_is_refused_while_something_is_missing():
    found = "\n".join(release.problems("v9.9.9"))
    assert "the tag v9.9.9 is not v" in found


def test_licences_are_the_same_text_in_each_distribution():
    texts = {(ROOT / folder / "LICENSE").read_bytes() for folder in release.PROJECTS}
    assert len(texts) == 1


# ---- what each distribution contains ----


def parts(name: str) -> dict[str, str]:
    """Name and version of each component of a distribution."""
    about = json.loads(SBOMS[name].read_text())
    assert (about["bomFormat"], about["specVersion"]) == ("CycloneDX", "1.6")
    own = about["metadata"]["component"]
    assert (own["name"], own["version"]) == (name, prosa.__version__)
    return {part["name"]: part.get("version", "") for part in about["components"]}


def test_the_lists_of_components_have_the_versions_of_the_lock():
    """`make lock` writes them anew."""
    locked = dict(
        re.findall(
            r"^([a-z0-9-]+)(?:\[[a-z0-9,-]+\])?==([\w.]+)",
            (ROOT / "requirements" / "run.lock").read_text(),
            re.MULTILINE,
        )
    )
    core = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {re.split(r"[^a-z0-9-]", line)[0] for line in core["dependencies"]}
    reading, whole = parts("prosa-core"), parts("prosa")
    assert asked <= set(reading) and set(reading.items()) <= set(locked.items())
    assert {name: whole.pop(name) for name in ("prosa-core", "prosa-sandbox")} == dict.fromkeys(
        ("prosa-core", "prosa-sandbox"), prosa.__version__
    )
    assert set(whole.items()) <= set(locked.items())
    building = {
        "componentize-py",
        "hatchling",
        "packaging",
        "pathspec",
        "pluggy",
        "tomlkit",
        "trove-classifiers",
        "tzdata",
    }
    assert set(locked) - set(whole) == building


def test_the_interpreter_contains_what_is_said(python: Python):
    code = (
        "import decimal, pyexpat, sqlite3, sys, zlib\n"
        "print(sys.version.split()[0], pyexpat.EXPAT_VERSION, decimal.__libmpdec_version__, sqlite3.sqlite_version,"
        " zlib.ZLIB_RUNTIME_VERSION)"
    )
    told = python(code).stdout.split()
    known = parts("prosa-sandbox")
    expat = f"expat_{known['expat']}"
    assert told == [known["cpython"], expat, known["libmpdec"], known["sqlite"], known["zlib"]]
    built = tomllib.loads((ROOT / "sandbox" / "pyproject.toml").read_text())["build-system"]["requires"]
    assert {f"{name}=={known[name]}" for name in ("componentize-py", "tzdata")} <= set(built)
    notices = (ROOT / "sandbox" / "licenses" / "NOTICES.txt").read_text()
    names = {"cpython": "Python", "libcxx": "libc++", "hacl-star": "HACL*", "sqlite": "SQLite", "expat": "Expat"}
    for name, version in known.items():
        assert names.get(name, name) in notices and (version in notices or name == "libcxx"), name


# ---- the workflow ----


def test_the_workflow_satisfies_the_schema_of_its_host():
    assert_fits("vendor.github-workflows", WORKFLOW)


def test_the_workflow_grants_little_and_keeps_what_others_write_out_of_commands():
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]) for step in steps if "uses" in step)
    assert "secrets." not in WORKFLOW.read_text()
    assert {name for name, job in jobs.items() if "id-token" in job["permissions"]} == {"publish", "image"}
    assert {name for name, job in jobs.items() if "packages" in job["permissions"]} == {"image"}
    assert all(job["permissions"].get("contents") != "write" or name == "announce" for name, job in jobs.items())
    assert jobs["publish"]["environment"] == "release" and set(jobs["publish"]["needs"]) == {"build", "try"}
    assert jobs["image"]["environment"] == "release" and jobs["image"]["needs"] == "publish"


def test_the_commands_of_the_workflow_satisfy_a_linter(tmp_path: Path):
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    scripts = [tmp_path / f"{number}.sh" for number in range(len(runs))]
    for script, run in zip(scripts, runs, strict=True):
        script.write_text(f"#!/bin/bash\n{run}\n")
    subprocess.run([Path(sys.executable).parent / "shellcheck", *scripts], check=True, capture_output=True)
    targets = re.findall(r"^make ([a-z-]+)$", "\n".join(runs), re.MULTILINE)
    assert targets and all(re.search(rf"^{each}:", (ROOT / "Makefile").read_text(), re.MULTILINE) for each in targets)
