"""Importing Prosa costs almost nothing, and every folder has its place in the import order."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import prosa
from tests.house.tree import PACKAGE, ROOT, modules, named

HEAVY = {
    "openai",
    "mcp",
    "wasmtime",
    "genai_prices",
    "jsonschema_rs",
    "pyromark",
    "yaml",
    "httpx2",
    "pydantic",
    "anyio",
}

LOADED = "import sys; before = set(sys.modules); {0}; print(*sorted(set(sys.modules) - before))"


def loaded(statement: str) -> set[str]:
    command = [sys.executable, "-c", LOADED.format(statement)]
    return set(
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()
    )


def test_importing_the_package_loads_nothing_else():
    assert loaded("import prosa") - loaded("import __future__, typing") == {"prosa"}


def test_every_public_name_is_there_and_documented():
    assert [name for name in prosa.__all__ if not getattr(prosa, name).__doc__] == []


def test_a_public_name_loads_when_it_is_used():
    names = loaded("import prosa; prosa.template.Template('{{ .a }}').render({'a': 1})")
    assert "prosa.template" in names
    assert HEAVY.isdisjoint(names)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"]])
def test_help_loads_no_heavy_library(arguments: list[str]):
    statement = f"""
import contextlib, io
from prosa.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main({arguments!r})"""
    names = loaded_by_script(statement)
    assert HEAVY.isdisjoint(names), HEAVY & names


def loaded_by_script(script: str) -> set[str]:
    text = f"import sys\nbefore = set(sys.modules)\n{script}\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_every_folder_has_a_place_in_the_import_order():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    placed = {name.strip().removeprefix("prosa.") for layer in layers for name in layer.split("|")}
    folders = {path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"} - {
        "__init__",
        "__pycache__",
    }
    assert folders - placed == set()


def test_every_adapter_is_independent_of_the_others():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    apart = next(contract["modules"] for contract in contracts if contract["type"] == "independence")
    adapters = {path.name for path in (PACKAGE / "adapters").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert {f"prosa.adapters.{name}" for name in adapters} == set(apart)


def test_a_check_loads_only_the_dialects_of_its_documents(tmp_path: Path):
    record = tmp_path / "a.ymj"
    record.write_text("---\nkind: note\n---\nHigh water.\n")
    names = loaded_by_script(f"""
import contextlib, io
from prosa.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(["check", "--no-cache", {str(record)!r}])""")
    loaded_dialects = {name.split(".")[2] for name in names if name.startswith("prosa.dialects.")}
    assert "ymj" in loaded_dialects
    assert not loaded_dialects & {"prapti", "magi", "markdownlang", "skill_md", "plain"}


def test_a_document_is_opened_through_one_front_door():
    """Detection and the looser front matter of plain Markdown are spelled out in the front door alone."""
    inside = {"detect.py", "front.py", "reading.py"}
    others = [file for file in modules() if file.parent.name != "dialects" or file.name not in inside]
    assert [
        named(file) for file in others if re.search(r"\b(detect|read_loose_front)\(", file.read_text("utf-8"))
    ] == []
