"""What the sandbox needs beside Prosa, found without importing it."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGES = {"wasmtime": "wasmtime", "prosa_sandbox": "prosa-sandbox"}
"""The modules that the sandbox needs beside Prosa, and what installs them."""


@cache
def root_of(package: str) -> Path | None:
    """Return the folder a package would be imported from, found without importing it; looked for once."""
    spec = find_spec(package)
    return Path(spec.origin).parents[1] if spec and spec.origin else None


def component() -> Path | None:
    """Return the interpreter, one compressed WebAssembly component in the package of the distribution `prosa-sandbox`,
    or None where it is not installed or not built."""
    root = root_of("prosa_sandbox")
    path = root / "prosa_sandbox" / "python.wasm.xz" if root else None
    return path if path and path.exists() else None


def missing_part() -> str | None:
    """Return what this installation lacks and what to do about it, or None. Starts nothing; LA18 withholds the tool on
    it."""
    for module, package in PACKAGES.items():
        if root_of(module) is None:
            from prosa.extras import ALL

            return f"the Python sandbox needs the package {package} ({ALL})"
    if component() is None:
        return (
            "the interpreter of the Python sandbox is missing from the package prosa-sandbox "
            "(install it again, or in a source tree run: python sandbox/hatch_build.py)"
        )
    return None
