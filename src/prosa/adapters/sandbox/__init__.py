"""CPython in WebAssembly behind the `Sandbox` port.

`WasmSandbox` is the adapter. Importing this package loads neither asyncio nor wasmtime: the worker process imports
from here too, and only the worker ever loads wasmtime.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from prosa.adapters.sandbox.limits import MIN_MEMORY

if TYPE_CHECKING:
    from prosa.adapters.sandbox.pool import WasmSandbox
    from prosa.adapters.sandbox.process import missing_part

__all__ = ["MIN_MEMORY", "WasmSandbox", "missing_part"]


_PLACES = {"WasmSandbox": "pool", "missing_part": "process"}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name in _PLACES:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
