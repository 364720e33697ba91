"""CPython in WebAssembly behind the `Sandbox` port.

`WasmSandbox` is the adapter, `LateSandbox` the same before its first call. Importing this package loads neither asyncio
nor wasmtime: the worker process imports from here too, and only the worker ever loads wasmtime.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from prosa.adapters.sandbox.limits import MIN_MEMORY

if TYPE_CHECKING:
    from prosa.adapters.sandbox.late import LateSandbox
    from prosa.adapters.sandbox.parts import missing_part
    from prosa.adapters.sandbox.process import WasmSandbox

__all__ = ["MIN_MEMORY", "LateSandbox", "WasmSandbox", "missing_part"]

_PLACES = {"LateSandbox": "late", "WasmSandbox": "process", "missing_part": "parts"}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name in _PLACES:
        module = import_module(f"{__name__}.{_PLACES[name]}")
        value = globals()[name] = getattr(module, name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
