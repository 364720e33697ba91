"""The wheel: pure Python, typed, with the sandbox inside and nothing of the tests."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, ROOT, files, named


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.iterdir())


def test_the_wheel_is_pure_python(wheel: Path):
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_wheel_has_all_that_a_run_needs_and_no_more(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        record = next(name for name in names if name.endswith("entry_points.txt"))
        assert archive.read(record).decode().split() == [
            "[console_scripts]",
            *("markdownlang", "=", "prosa.cli.markdownlang:entry"),
            *("prosa", "=", "prosa.cli.main:entry"),
        ]
    data = [named(file) for file in files() if file.is_relative_to(PACKAGE) and file.suffix != ".py"]
    assert len(data) > 100
    assert {name.removeprefix("src/") for name in data} <= set(names)
    site = [named(file) for file in files() if file.is_relative_to(ROOT / "examples" / "ferries")]
    assert len(site) == 16
    assert {name.replace("examples/", "prosa/demo/", 1) for name in site} <= set(names)
    assert [name for name in names if "__pycache__" in name or name.endswith(".pyc")] == []
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"prosa"}
    assert [name for name in names if name.endswith((".so", ".pyd", ".dylib", ".wasm"))] == []
