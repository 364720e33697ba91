"""The wheels: pure Python, equal at every build, with nothing of the tests; `prosa-core` alone does what it says."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import prosa
from prosa.extras import ALL, LIBRARIES, install_line
from tests.adapters.sandbox.conftest import cache
from tests.house.tree import PACKAGE, ROOT, files, named
from tests.packaging.calling import called

__all__ = ["cache"]

PROJECTS = {"prosa_core": ".", "prosa": "packaging/prosa", "prosa_sandbox": "sandbox"}
"""The distributions and their folders."""

EQUAL = ("prosa_core", "prosa")
"""Those that are built alike everywhere."""


def build(name: str, root: Path, target: Path) -> Path:
    """The wheel of a distribution, built from a tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    done = subprocess.run(command, cwd=root / PROJECTS[name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = target.glob(f"{name}-*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("wheels")
    return {name: build(name, ROOT, folder) for name in EQUAL}


def digest(wheel: Path) -> str:
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def names_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def metadata(wheel: Path, name: str) -> str:
    """A file of the metadata of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(next(each for each in archive.namelist() if each.endswith(f".dist-info/{name}"))).decode()


def test_the_wheels_are_pure_python_and_have_the_same_two_commands(wheels: dict[str, Path]):
    for wheel in wheels.values():
        assert wheel.name.endswith("-py3-none-any.whl")
        assert metadata(wheel, "entry_points.txt").split() == [
            "[console_scripts]",
            *("markdownlang", "=", "prosa.cli.markdownlang:entry"),
            *("prosa", "=", "prosa.cli.main:entry"),
        ]


def test_the_wheel_has_all_that_a_run_needs_and_no_more(wheels: dict[str, Path]):
    names = names_in(wheels["prosa_core"])
    data = [named(file) for file in files() if file.is_relative_to(PACKAGE) and file.suffix != ".py"]
    assert len(data) > 100
    assert {name.removeprefix("src/") for name in data} <= set(names)
    site = [named(file) for file in files() if file.is_relative_to(ROOT / "examples" / "ferries")]
    assert len(site) == 16
    assert {name.replace("examples/", "prosa/demo/", 1) for name in site} <= set(names)
    assert [name for name in names if name.endswith("SKILL.md") and "/demo/" not in name] == [
        "prosa/app/templates/SKILL.md"
    ]
    assert [name for name in names if "__pycache__" in name or name.endswith(".pyc")] == []
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"prosa"}
    assert [name for name in names if name.endswith((".so", ".pyd", ".dylib", ".wasm", ".xz"))] == []


def test_the_whole_has_no_code_and_needs_the_others_in_its_version(wheels: dict[str, Path]):
    assert {name.split("/")[0] for name in names_in(wheels["prosa"])} == {"prosa-0.1.0.dist-info"}
    needed = [line for line in metadata(wheels["prosa"], "METADATA").splitlines() if line.startswith("Requires-Dist:")]
    assert [line.partition(": ")[2] for line in needed if "extra ==" not in line] == [
        "prosa-core[run,sandbox,serve]==0.1.0",
        "prosa-sandbox==0.1.0",
    ]


def test_each_wheel_lists_what_it_consists_of_and_has_its_licence(wheels: dict[str, Path]):
    for name, wheel in wheels.items():
        about = json.loads(metadata(wheel, f"sboms/{name.replace('_', '-')}.cdx.json"))
        assert about["metadata"]["component"]["purl"] == f"pkg:pypi/{name.replace('_', '-')}@{prosa.__version__}"
        assert metadata(wheel, "licenses/LICENSE") == (ROOT / "LICENSE").read_text()


def test_the_wheel_of_the_interpreter_is_that_file_with_the_licences_of_what_it_contains(cache: Path, tmp_path: Path):
    """The fixture ``cache`` has made the component of this tree current. Its wheel is equal at every build."""
    first, second = build("prosa_sandbox", ROOT, tmp_path / "a"), build("prosa_sandbox", ROOT, tmp_path / "b")
    assert digest(first) == digest(second)
    names = names_in(first)
    assert {name for name in names if ".dist-info" not in name} == {
        *("prosa_sandbox/__init__.py", "prosa_sandbox/py.typed", "prosa_sandbox/python.wasm.xz"),
    }
    texts = {name.rpartition("/")[2] for name in names if ".dist-info/licenses/" in name}
    assert texts == {"LICENSE", *(path.name for path in (ROOT / "sandbox" / "licenses").iterdir())}
    assert json.loads(metadata(first, "sboms/prosa-sandbox.cdx.json"))["bomFormat"] == "CycloneDX"
    notices = metadata(first, "licenses/licenses/NOTICES.txt")
    assert all(name in texts for name in re.findall(r"[A-Z][A-Z0-9.-]+\.txt", notices))


def test_every_extra_of_the_code_is_one_of_the_whole():
    core, whole = (
        tomllib.loads((ROOT / each / "pyproject.toml").read_text())["project"] for each in (".", "packaging/prosa")
    )
    own = set(core["optional-dependencies"]) - {"run", "sandbox", "serve"}
    assert whole["optional-dependencies"] == {name: [f"prosa-core[{name}]=={core['version']}"] for name in own}


def test_the_libraries_that_only_the_whole_brings_are_known():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    asked = {Requirement(line).name.replace("-", "_") for line in (*extras["run"], *extras["serve"])}
    assert set(LIBRARIES) == asked


def test_a_build_elsewhere_and_at_another_time_gives_the_same_bytes(
    wheels: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What differs on purpose: the folder, the time and the rights of the files, and the user's mask."""
    tree = tmp_path / "elsewhere"
    for part in ("src", "examples", "skills", "packaging/prosa"):
        unwanted = shutil.ignore_patterns("__pycache__", "*.xz")
        shutil.copytree(ROOT / part, tree / part, ignore=unwanted, copy_function=shutil.copyfile)
    for part in ("pyproject.toml", "README.md", "LICENSE", ".gitignore", "packaging/prosa-core.cdx.json"):
        shutil.copyfile(ROOT / part, tree / part)
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    for name, first in wheels.items():
        assert digest(first) == digest(build(name, tree, tmp_path)), name


# ---- prosa-core with nothing but what it depends on ----


def needed(package: str) -> Iterator[str]:
    """A distribution with all that it depends on here."""
    yield package
    for line in distribution(package).requires or ():
        need = Requirement(line)
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            yield from needed(need.name)


@pytest.fixture(scope="module")
def core(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What `sys.path` is where `prosa-core` is installed alone: its files, and links to those of its dependencies."""
    site = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(wheels["prosa_core"]) as archive:
        archive.extractall(site)
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    for package in {name for line in asked for name in needed(Requirement(line).name)}:
        found = distribution(package)
        for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (site / top).symlink_to(found.locate_file(top))
    return [str(site)]


PROGRAM = """\
---
name: triage
description: Sorts a support request
input: {type: object, properties: {request: {type: string}}, required: [request]}
output: {type: object, properties: {urgent: {type: boolean}}, required: [urgent]}
---

Is this urgent? {{ .request }}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "prosa.toml").touch()
    (folder / "triage.md").write_text(PROGRAM)
    (folder / "notes.md").write_text("# Notes\n\nSee the [program](triage.md) and [more](gone.md).\n")
    (folder / "replies.jsonl").write_text('{"content": {"urgent": true}}\n')
    return folder


READING: list[tuple[list[str], int, str]] = [
    (["check"], 1, "notes.md:3:41: MD020"),
    (["fmt", "--check"], 0, "0 documents would change"),
    (["search", "program"], 0, "notes.md"),
    (["graph"], 0, "gone.md"),
    (["links", "notes.md"], 0, "triage.md"),
    (["render", "triage.md", "request=rent"], 0, "Is this urgent? rent"),
    (["plan", "triage.md", "request=rent"], 0, "no price"),
    (["explain", "unresolved-link"], 0, "# unresolved-link"),
    (["show", "triage.md"], 0, "triage"),
    (["doctor"], 0, "for runs and sites also: genai_prices, httpcore2"),
    (["convert", "triage.md", "--to", "skill"], 0, "name: triage"),
    (["new", "skill", "refunds"], 0, "refunds/SKILL.md"),
    (["run", "triage.md", "request=rent", "--model", "scripted:replies.jsonl"], 0, '"urgent": true'),
]
"""What `prosa-core` does alone, the status it ends with, and what it prints among other things."""


BEYOND = [
    ["run", "triage.md", "request=rent", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"],
    ["serve", "--port", "0"],
    ["build", ".", "out"],
    ["mcp"],
    ["visit", "http://127.0.0.1:9/"],
    ["call", "http://127.0.0.1:9/", "book"],
    ["probe", "http://127.0.0.1:9/"],
    ["doctor", "--online"],
]
"""What needs more libraries."""


def test_prosa_core_alone_reads_checks_searches_plans_and_plays(core: list[str], folder: Path):
    told = called(folder, [argv for argv, _, _ in READING], path=core)
    for (argv, status, text), (found, out, err) in zip(READING, told, strict=True):
        assert (found, text in out + err) == (status, True), (argv, found, out, err)


def test_what_needs_more_than_prosa_core_ends_in_the_line_that_installs_it(core: list[str], folder: Path):
    told = called(folder, [*BEYOND, ["lsp"], ["check", "--watch"]], path=core)
    for argv, (status, _, err) in zip(BEYOND, told, strict=False):
        assert (status, f"  {ALL}\n" in err) == (2, True), (
            argv,
            status,
            err,
        )
    for extra, (status, _, err) in zip(("lsp", "watch"), told[-2:], strict=True):
        assert (status, f"  {install_line(extra)}\n" in err) == (2, True), err


def test_the_console_script_of_prosa_core_starts(core: list[str]):
    code = (
        "import sys; sys.path += sys.argv.pop().split(','); from importlib.metadata import entry_points;"
        "(entry,) = entry_points(group='console_scripts', name='prosa'); entry.load()()"
    )
    command = [sys.executable, "-I", "-S", "-c", code, "--version", ",".join(core)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "prosa 0.1.0\n"
