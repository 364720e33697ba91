"""What is made once for all tests: the interpreter of the sandbox, compiled, which takes ten seconds of a processor,
and the tables of characters that properties draw from, which take two in each worker."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

from hypothesis import strategies

from prosa.adapters.sandbox import WasmSandbox

ROOT = Path(__file__).parents[1]
CACHE = ROOT / "build" / "sandbox-cache"
_copies: dict[Path, Path] = {}


def lend_compiled(cache: Path, *, if_there: bool = False) -> Path:
    """Put the compiled interpreter into another cache folder, where a test has one of its own; ``if_there`` compiles
    none. Return the folder."""
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    for compiled in CACHE.glob("python-*.cwasm") if if_there else _compiled():
        try:
            os.link(compiled, cache / compiled.name)
        except FileExistsError:
            continue
        except OSError:  # another file system, as that of temporary files may be
            _lend_copy(compiled, cache / compiled.name)
    return cache


def _lend_copy(compiled: Path, place: Path) -> None:
    """Put a link to the copy there that this process made before, or a copy."""
    try:
        os.link(_copies.setdefault(compiled, place), place)
    except OSError:  # this is the first, or the other is gone
        shutil.copyfile(compiled, place)
        _copies[compiled] = place


def _compiled() -> list[Path]:
    CACHE.parent.mkdir(exist_ok=True)
    found = sorted(CACHE.glob("python-*.cwasm"))
    if not found:

        async def compile_it() -> None:
            async with WasmSandbox(CACHE) as sandbox:
                await sandbox.warm()

        asyncio.run(compile_it())
        found = sorted(CACHE.glob("python-*.cwasm"))
    return found


if __name__ == "__main__":
    _compiled()
    strategies.text().validate()  # keeps them in .hypothesis
