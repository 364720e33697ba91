"""Looks through what was built: `python tools/packaging/look_through.py dist`, the last step before a release.

In: a folder with three wheels and three source distributions. Each wheel is built again in a copy of its source
distribution and has to be the same to the byte, where the interpreter of `prosa-sandbox` is taken as it is. The package
index would take all of them, and an empty environment takes the tour. Exit status 1 at the first thing that is wrong.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

COMPONENT = "src/prosa_sandbox/python.wasm.xz"
"""What two builds do not make alike: a snapshot of a Python that has started, with its random seed of hashes."""


def main() -> None:
    """Look, and print what was seen."""
    dist = Path(sys.argv[1]).resolve()
    found = sorted(dist.iterdir())
    if len(found) != 6:
        raise SystemExit(f"{dist} has {len(found)} files; three wheels and three source distributions are a release")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *found], check=True)
    with tempfile.TemporaryDirectory() as folder:
        for source in dist.glob("*.tar.gz"):
            _same_again(source, Path(folder, source.name))
        _tour(dist, Path(folder, "empty"))


def _same_again(source: Path, folder: Path) -> None:
    """Build a wheel from its source distribution, in another folder and with another date."""
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    (wheel,) = source.parent.glob(f"{source.name.removesuffix('.tar.gz')}-*.whl")
    if wheel.name.startswith("prosa_sandbox-"):
        _take_component(wheel, tree)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=tree, check=True)
    if wheel.read_bytes() != (folder / wheel.name).read_bytes():
        raise SystemExit(f"{wheel.name}: built from the source distribution it is another one")
    print(f"{wheel.name}: the same from its source distribution, {wheel.stat().st_size / 1e6:,.1f} MB")


def _take_component(wheel: Path, tree: Path) -> None:
    """Put the interpreter of the wheel where its build would put it, with the stamp that says it is current."""
    with zipfile.ZipFile(wheel) as archive:
        (tree / COMPONENT).write_bytes(archive.read("prosa_sandbox/python.wasm.xz"))
    code = (
        "import hatch_build, pathlib; root = pathlib.Path.cwd(); stamp = root / hatch_build.STAMP;"
        "stamp.parent.mkdir(exist_ok=True); stamp.write_text(hatch_build._stamp(root / hatch_build.COMPONENT))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tree, check=True)
    shutil.rmtree(tree / "__pycache__", ignore_errors=True)


def _tour(dist: Path, folder: Path) -> None:
    """Install `prosa` from these wheels, with the libraries of the package index, and take the tour."""
    venv.create(folder, with_pip=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--find-links", dist, *dist.glob("*.whl")], check=True)
    home = {**os.environ, "HOME": str(folder), "PYTHONPATH": "", "XDG_CACHE_HOME": str(folder / "cache")}
    tour = subprocess.run([folder / "bin" / "prosa", "demo"], env=home, capture_output=True, text=True, check=False)
    if tour.returncode:
        raise SystemExit(f"{tour.stderr}\nthe tour ended with exit status {tour.returncode}")
    print("an empty environment: installed, and took the tour")


if __name__ == "__main__":
    main()
