"""The locks: a hash for everything, no address, nothing heavy, and the same versions in each."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from itertools import chain

import pytest
from packaging.requirements import Requirement

from tests.house.tree import ROOT

LOCKS = ("run", "dev", "model", "vectors")
PINNED = re.compile(r"^(?P<name>[a-z0-9-]+)(?:\[[a-z0-9,-]+\])?==(?P<version>[^ ;]+)", re.MULTILINE)
PROJECTS = (".", "sandbox", "packaging/prosa")
HEAVY = {"torch", "transformers", "numpy", "tensorflow"}


def text(lock: str) -> str:
    return (ROOT / "requirements" / f"{lock}.lock").read_text()


def pins(lock: str) -> dict[str, str]:
    return {match["name"]: match["version"] for match in PINNED.finditer(text(lock))}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_only_pins_hashes_and_comments(lock: str):
    allowed = re.compile(
        r"#.*|    --hash=sha256:[0-9a-f]{64}( \\)?|[a-z0-9-]+(\[[a-z0-9,-]+\])?==[\w.]+( ; [\w .'<>=!()]+)? \\"
    )
    assert [line for line in text(lock).splitlines() if not allowed.fullmatch(line)] == []


def test_a_lock_pins_the_extras_that_its_packages_ask_for():
    """An extra without a pin of its own lets pip look at releases that are newer than the lock, and refuse them."""
    assert "--no-strip-extras" in (ROOT / "Makefile").read_text()
    locked = pins("dev")
    missing = [
        f"{name} asks for {need.name}[{','.join(need.extras)}]"
        for name in locked
        for need in _needs(name)
        if need.extras and need.name in locked and f"{need.name}[{','.join(sorted(need.extras))}]==" not in text("dev")
    ]
    assert missing == []


def _needs(name: str) -> list[Requirement]:
    try:
        asked = requires(name) or []
    except PackageNotFoundError:  # locked for another platform
        return []
    needs = [Requirement(line) for line in asked]
    return [need for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address(lock: str):
    assert not re.search(r"https?:|file:|index-url|find-links", text(lock))


@pytest.mark.parametrize("lock", LOCKS)
def test_nothing_heavy_is_locked(lock: str):
    wanted = {"numpy"} if lock == "dev" else set()  # the tests of the extra `semantic` need it
    assert (HEAVY - wanted).isdisjoint(pins(lock))


def test_the_development_lock_has_the_versions_of_the_others():
    assert pins("run").items() <= pins("dev").items()
    assert pins("model").items() <= pins("dev").items()


def test_every_dependency_has_an_upper_bound():
    """A new major version is read before it is installed."""
    for folder in PROJECTS:
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        extras = project.get("optional-dependencies", {}).values()
        asked = [Requirement(line) for line in chain(project.get("dependencies", ()), *extras)]
        assert [str(need) for need in asked if not any(each.operator in ("<", "==") for each in need.specifier)] == []


def test_the_run_lock_satisfies_what_the_whole_and_its_builds_ask_for():
    core, sandbox, whole = (tomllib.loads((ROOT / folder / "pyproject.toml").read_text()) for folder in PROJECTS)
    extras = core["project"]["optional-dependencies"]
    lines = [
        *core["project"]["dependencies"],
        *chain.from_iterable(extras[name] for name in ("run", "sandbox", "serve")),
    ]
    builds = chain.from_iterable(project["build-system"]["requires"] for project in (core, sandbox, whole))
    asked = [Requirement(line) for line in chain(lines, builds)]
    locked = pins("run") | {"prosa-sandbox": core["project"]["version"]}
    assert [str(need) for need in asked if not need.specifier.contains(locked.get(need.name, "0"))] == []


def test_what_builds_is_named_by_its_exact_version():
    for folder in PROJECTS:
        for line in tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["build-system"]["requires"]:
            assert re.fullmatch(r"[a-z0-9-]+==[\w.]+", line), line
