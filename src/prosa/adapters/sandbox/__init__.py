"""CPython in WebAssembly behind the `Sandbox` port.

`WasmSandbox` is the adapter. Importing this package loads neither asyncio nor wasmtime: the worker process imports
from here too, and only the worker ever loads wasmtime.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from prosa.adapters.sandbox.limits import MIN_MEMORY

if TYPE_CHECKING:
    from prosa.adapters.sandbox.process import WasmSandbox, missing_part

__all__ = ["MIN_MEMORY", "WasmSandbox", "missing_part"]


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name in __all__:
        found = globals()[name] = getattr(import_module(f"{__name__}.process"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
