"""X44: the action runs nothing of the checkout, and installs nothing by a name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tests.packaging.test_ci_files import BIN, CHOICES, STEP

BACKEND = """\
import zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "prosa_core-9.9.9-py3-none-any.whl"
    info = "prosa_core-9.9.9.dist-info"
    with zipfile.ZipFile(f"{directory}/{name}", "w") as wheel:
        wheel.writestr("prosa_stub.py", STUB)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: prosa-core\\nVersion: 9.9.9\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\\nprosa = prosa_stub:main\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
STUB = '''
import json, shutil, sys, venv
def main():
    print("prosa 9.9.9" if "--version" in sys.argv else "ran " + json.dumps(sys.argv[1:]))
'''
"""
PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "prosa-core"
version = "9.9.9"
"""
MODULES = (
    "venv",
    "shutil",
    "sitecustomize",
    "usercustomize",
    "pip",
    "ensurepip",
    "prosa",
    "json",
    "zipfile",
    "backend",
)


def hostile(folder: Path, canary: Path) -> Path:
    """A checkout with every name that something might look for in the working directory."""
    leaves = f"open({str(canary)!r}, 'a').write(__file__ + '\\n')\n"
    for name in MODULES:
        (folder / f"{name}.py").write_text(leaves)
    for name in ("venv", "pip", "prosa"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(leaves)
        (folder / name / "__main__.py").write_text(leaves)
    (folder / "setup.py").write_text(leaves)
    (folder / "evil.pth").write_text(f"import os; {leaves}")
    (folder / "pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:9/\nno-such = 1\n")
    (folder / "uv.toml").write_text('index-url = "http://127.0.0.1:9/"\n')
    (folder / "pyproject.toml").write_text('[tool.uv]\nindex-url = "http://127.0.0.1:9/"\n' + PROJECT)
    (folder / "a.md").write_text("# A\n")
    return folder


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job: the files of an action whose package is a stub, and a hostile checkout."""
    action, work = tmp_path / "action", tmp_path / "work"
    (action / "packaging" / "github").mkdir(parents=True)
    shutil.copy(STEP, action / "packaging" / "github")
    (action / "pyproject.toml").write_text(PROJECT)
    (action / "backend.py").write_text(BACKEND)
    work.mkdir()
    hostile(work, tmp_path / "canary")
    (tmp_path / "output").write_text("")
    return tmp_path


def step(job: Path, script: Path, **environ: str) -> tuple[int, str]:
    own = {
        **CHOICES,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(BIN), "/usr/bin", "/bin"]),
        "GITHUB_OUTPUT": str(job / "output"),
        "GITHUB_PATH": str(job / "path"),
        "RUNNER_TEMP": str(job),
        "HOME": str(job),
        "PROSA_CACHE_DIR": str(job / "cache"),
        "PIP_NO_INDEX": "1",
    }
    done = subprocess.run(
        ["bash", str(script)], cwd=job / "work", env=own | environ, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("paths", [(), (".", "work")], ids=["no path", "the checkout"])
def test_x44_installing_runs_nothing_of_the_checkout(job: Path, paths: tuple[str, ...]):
    """X44: nor where the workflow lets Python look for modules in the checkout, by a relative and by its whole path."""
    named = os.pathsep.join(str(job / path) if path == "work" else path for path in paths)
    more = {"PYTHONPATH": named, "PIP_CONFIG_FILE": "pip.conf"} if paths else {}
    script = job / "action" / "packaging" / "github" / "action.sh"
    status, log = step(job, script, PROSA_VERSION="", **more)
    assert (status, "ran [" in log) == (0, True), log
    assert not (job / "canary").exists(), (job / "canary").read_text()
    assert "version=9.9.9" in (job / "output").read_text()
    (added,) = (job / "path").read_text().splitlines()
    assert Path(added, "prosa").is_file() and not Path(added).is_relative_to(job / "work")


@pytest.mark.parametrize("path", ["", "."])
def test_x44_checking_runs_nothing_of_the_checkout(job: Path, path: str):
    status, log = step(job, STEP, PROSA_COMMAND="check", PROSA_PATHS="a.md", **({"PYTHONPATH": path} if path else {}))
    assert status == 0, log
    assert not (job / "canary").exists(), (job / "canary").read_text()


@pytest.mark.parametrize("version", ["0.1.0", "9.9.9", "latest", "installed ", "-e."])
def test_x44_no_version_is_installed_by_its_name(job: Path, version: str):
    status, log = step(job, STEP, PROSA_VERSION=version)
    assert status == 2 and log.startswith("::error title=Prosa::version:")


def test_x44_no_package_is_named_in_the_step():
    """X44: what is installed is a path."""
    text = STEP.read_text(encoding="utf-8")
    assert 'pip install --quiet --disable-pip-version-check "${parts[@]}"' in text
    assert not any(word in text for word in ("pipx", "uv tool", "prosa-core", "prosa=="))
    assert (ROOT / "sandbox" / "pyproject.toml").is_file() and (
        ROOT / "packaging" / "prosa" / "pyproject.toml"
    ).is_file()
