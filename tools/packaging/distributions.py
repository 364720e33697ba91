"""Looks through distributions: what each contains, that its source builds it again, and that Pythons can use it.

In: a folder with three wheels and three source distributions. Each wheel is built again in a copy of its source
distribution and has to be the same to the byte, where the interpreter of `prosa-sandbox` is taken as it is. Whatever is
wrong is raised as `Wrong`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from email.parser import Parser
from pathlib import Path
from typing import Any

COMPONENT = "src/prosa_sandbox/python.wasm.xz"
"""What two builds do not make alike: a snapshot of a Python that has started, with its random seed of hashes."""

SBOMS = {
    "prosa_core": "packaging/prosa-core",
    "prosa": "packaging/prosa/prosa",
    "prosa_sandbox": "sandbox/prosa-sandbox",
}
"""The list of components of each distribution, without `.cdx.json`."""

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PROVENANCE = "https://slsa.dev/provenance/v1"
BUILDER = "urn:prosa:unsigned"
"""Who built what an unsigned statement speaks of: nobody that could be asked."""


class Wrong(Exception):
    """Something that keeps a release from being one."""


def run(command: Sequence[str | Path], cwd: str | Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run a command and return what it prints; raise `Wrong` with its last lines where it fails."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=1200)
    if done.returncode:
        said = " · ".join((done.stdout + done.stderr).split("\n")[-12:]).strip(" ·")
        raise Wrong(f"{Path(command[0]).name} ended with {done.returncode}: {said}")
    return done.stdout


def names(found: Iterable[str], version: str) -> None:
    """Raise `Wrong` unless these are the six files of a version."""
    expected = {f"{name}-{version}{end}" for name in SBOMS for end in (".tar.gz", "-py3-none-any.whl")}
    if expected != set(found):
        wrong = ", ".join(sorted(expected ^ set(found)))
        raise Wrong(f"a release is six files of version {version}; one too many or missing: {wrong}")


def licences(wheel: Path, source: Path, root: Path) -> list[str]:
    """Return the names of the components without a declared licence. Raises `Wrong` where the distribution itself has
    none, or where its list of components is another than that of the tree."""
    name = wheel.name.partition("-")[0]
    with zipfile.ZipFile(wheel) as archive:
        inside = {each.partition(".dist-info/")[2]: each for each in archive.namelist() if ".dist-info/" in each}
        head = Parser().parsestr(archive.read(inside["METADATA"]).decode("utf-8"), headersonly=True)
        for file in head.get_all("License-File") or ("LICENSE",):
            if f"licenses/{file}" not in inside:
                raise Wrong(f"{wheel.name} has no licence: {file} is missing")
        if not head["License-Expression"]:
            raise Wrong(f"{wheel.name} declares no licence")
        if (list_ := f"sboms/{Path(SBOMS[name]).name}.cdx.json") not in inside:
            raise Wrong(f"{wheel.name} has no list of components")
        parts = archive.read(inside[list_])
    if parts != (root / f"{SBOMS[name]}.cdx.json").read_bytes():
        raise Wrong(f"{wheel.name} has another list of components than the tree")
    with tarfile.open(source) as packed:
        if not any(re.fullmatch(r"[^/]+/LICENSE", each) for each in packed.getnames()):
            raise Wrong(f"{source.name} has no licence")
    return [part["name"] for part in json.loads(parts)["components"] if not part.get("licenses")]


def same_again(source: Path) -> None:
    """Build the wheel of a source distribution in another folder, with another date; raise `Wrong` if it differs."""
    (wheel,) = source.parent.glob(f"{source.name.removesuffix('.tar.gz')}-*.whl")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter="data")
        (tree,) = Path(folder).iterdir()
        if wheel.name.startswith("prosa_sandbox-"):
            _take_component(wheel, tree)
        run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=tree)
        if wheel.read_bytes() != Path(folder, wheel.name).read_bytes():
            raise Wrong(f"{wheel.name}: built from the source distribution it is another one")


def _take_component(wheel: Path, tree: Path) -> None:
    """Put the interpreter of the wheel where its build would put it, with the stamp that says it is current."""
    with zipfile.ZipFile(wheel) as archive:
        (tree / COMPONENT).write_bytes(archive.read("prosa_sandbox/python.wasm.xz"))
    code = (
        "import hatch_build, pathlib; root = pathlib.Path.cwd(); stamp = root / hatch_build.STAMP;"
        "stamp.parent.mkdir(exist_ok=True); stamp.write_text(hatch_build._stamp(root / hatch_build.COMPONENT))"
    )
    run([sys.executable, "-c", code], cwd=tree)
    shutil.rmtree(tree / "__pycache__", ignore_errors=True)


# ---- statements ----


def statement(file: Path, repository: str, commit: str, tag: str) -> dict[str, Any]:
    """Return the in-toto statement about a file, without a signature: what the code host would sign."""
    place = f"git+{repository or 'file:.'}"
    build = {
        "buildType": "https://actions.github.io/buildtypes/workflow/v1",
        "externalParameters": {
            "workflow": {"ref": f"refs/tags/{tag}", "repository": repository, "path": ".github/workflows/release.yml"}
        },
        "resolvedDependencies": [{"uri": f"{place}@refs/tags/{tag}", "digest": {"gitCommit": commit}}],
    }
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": file.name, "digest": {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}}],
        "predicateType": PROVENANCE,
        "predicate": {"buildDefinition": build, "runDetails": {"builder": {"id": BUILDER}}},
    }


def write_statements(files: Iterable[Path], folder: Path, repository: str, commit: str, tag: str) -> int:
    """Write a statement for each file and their checksums into an empty folder, and return how many there are."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sums = []
    for file in files:
        about = statement(file, repository, commit, tag)
        text = json.dumps(about, indent=1) + "\n"
        (folder / f"{file.name}.unsigned.intoto.json").write_text(text, encoding="utf-8")
        sums.append(f"{about['subject'][0]['digest']['sha256']}  {file.name}\n")
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    return len(sums)


# ---- Pythons ----


def pythons(environ: Mapping[str, str]) -> dict[str, Path | None]:
    """Return an interpreter for each version of Python that is supported, or nothing where none was found. Those that
    `RELEASE_PYTHONS` names, divided as in `PATH`, come before those of `PATH`, pyenv and uv."""
    found: dict[str, Path | None] = {}
    named = [Path(each) for each in environ.get("RELEASE_PYTHONS", "").split(os.pathsep) if each]
    home = Path(environ.get("HOME", "/nowhere"))
    for version in PYTHONS:
        on_path = shutil.which(f"python{version}", path=environ.get("PATH"))
        others = [*home.glob(f".pyenv/versions/{version}.*/bin/python{version}")]
        others += home.glob(f".local/share/uv/python/cpython-{version}.*/bin/python{version}")
        every = [*named, *([Path(on_path)] if on_path else []), *sorted(others)]
        found[version] = next((each for each in every if _version_of(each).startswith(f"{version}.")), None)
    return found


def _version_of(python: Path) -> str:
    code = "import platform; print(platform.python_version())"
    try:
        return run([python, "-I", "-c", code]).strip()
    except (Wrong, OSError, subprocess.TimeoutExpired):  # a shim of a version that is not installed
        return ""


def use(python: Path, dist: Path) -> str:
    """Install the wheels into two empty environments: `prosa-core` alone checks a document, all of Prosa takes the
    tour. Return what was seen."""
    with tempfile.TemporaryDirectory() as folder:
        (core,) = dist.glob("prosa_core-*.whl")
        home = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PROSA_", "VIRTUAL"))
        }
        home |= {"HOME": folder, "XDG_CACHE_HOME": f"{folder}/cache", "XDG_DATA_HOME": f"{folder}/data"}
        Path(folder, "ferry.md").write_text("# Ferry\n\nSee the [timetable](#timetable).\n\n## Timetable\n")
        alone = _environment(python, Path(folder, "core"), [core], home)
        run([alone / "prosa", "check", "ferry.md"], cwd=folder, env=home)
        whole = _environment(python, Path(folder, "whole"), sorted(dist.glob("*.whl")), home)
        run([whole / "prosa", "demo"], cwd=folder, env=home)
        version = run([whole / "python", "-I", "-c", "import platform; print(platform.python_version())"]).strip()
    return f"{version}: prosa-core alone checks, prosa takes the tour"


def _environment(python: Path, folder: Path, wheels: Sequence[Path], environ: Mapping[str, str]) -> Path:
    """Make an environment with these wheels and return the folder of its commands. No distribution of ours is taken
    from an index."""
    run([python, "-I", "-m", "venv", folder], env=environ)
    bin_ = folder / "bin"
    pip = [bin_ / "python", "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "--only-binary=:all:", *wheels], env={**os.environ, "PYTHONPATH": ""})
    return bin_
