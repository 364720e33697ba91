"""Builds the Python interpreter of the sandbox: from the guest's sources to one compressed WebAssembly component.

As a hatch build hook it runs for every wheel (a normal install, an editable one, and a wheel made from an sdist);
``python sandbox/hatch_build.py`` does the same in place. Nothing is built when the component is there and was made
from these very sources. It needs componentize-py and tzdata, and no network.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ModuleNotFoundError:  # run as a script, without a build backend
    BuildHookInterface = object

HERE = Path(__file__).resolve().parent
COMPONENT = Path("src/prosa_sandbox/python.wasm.xz")
STAMP = Path("build/sources.sha256")
WORLD = "interpreter"
GUEST = "prosa_guest"
TOOL = (sys.executable, "-c", "import sys, componentize_py; sys.exit(componentize_py.script())")
"""componentize-py of the very environment that runs this file, also in pip's isolated build environment."""


class CustomBuildHook(BuildHookInterface):
    """Called by hatchling before it packs a wheel."""

    def initialize(self, _version, build_data):
        ensure_component(Path(self.root))
        build_data["artifacts"].append(COMPONENT.as_posix())


def ensure_component(root: Path) -> bool:
    """Builds the component under ``root`` unless it is there and current. Returns whether it was built."""
    component, stamp = root / COMPONENT, root / STAMP
    if component.exists() and stamp.exists() and stamp.read_text() == _stamp(component):
        return False
    _tools()
    _write(component, lzma.compress(_compile_guest(), preset=6))
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(_stamp(component))
    return True


def _stamp(component: Path) -> str:
    """Ties the component to its sources and to the tools that made it."""
    digest = hashlib.sha256(_tools().encode())
    for path in sorted([*HERE.glob("*.py"), *HERE.glob("wit/*.wit"), *HERE.glob(f"{GUEST}/*.py")]):
        digest.update(f"{path.relative_to(HERE).as_posix()}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    digest.update(component.read_bytes())
    return digest.hexdigest()


def _tools() -> str:
    try:
        return f"componentize-py {version('componentize-py')}, tzdata {version('tzdata')}\n"
    except PackageNotFoundError as missing:
        raise SystemExit(
            f"the sandbox cannot be built without {missing.name}: pip install componentize-py==0.25.1 tzdata"
        ) from missing


def _compile_guest() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(HERE / GUEST, Path(folder, GUEST), ignore=shutil.ignore_patterns("__pycache__"))
        runpy.run_path(str(HERE / "time_zones.py"))["write_module"](Path(folder, "prosa_zones.py"))
        target = Path(folder, "python.wasm")
        command = [*TOOL, "-q", "-d", str(HERE / "wit"), "-w", WORLD, "componentize", GUEST, "-p", folder, "-o", target]
        # With VIRTUAL_ENV set, the tool would add that environment's packages to the snapshot.
        env = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
        done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"componentize-py could not build the sandbox:\n{done.stdout}{done.stderr}")
        return target.read_bytes()


def _write(target: Path, data: bytes) -> None:
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    part.write_bytes(data)
    os.replace(part, target)


if __name__ == "__main__":
    print("built" if ensure_component(HERE) else "up to date", HERE / COMPONENT)
