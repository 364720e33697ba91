"""Prosa: one toolchain and runtime for Markdown that people read and agents act on.

Importing this package costs almost nothing: every public name loads on first use (``python -X importtime`` shows it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prosa import schema, template, testing
    from prosa.api import Document, arun, check, load, run
    from prosa.app import RunResult
    from prosa.diagnostics import Diagnostic
    from prosa.runtime.errors import AgreementRequired, RunError

__version__ = "0.1.0"

_MODULES = ("schema", "template", "testing")
_NAMES = {
    "AgreementRequired": "prosa.runtime.errors",
    "Diagnostic": "prosa.diagnostics",
    "Document": "prosa.api",
    "RunError": "prosa.runtime.errors",
    "RunResult": "prosa.app",
    "arun": "prosa.api",
    "check": "prosa.api",
    "load": "prosa.api",
    "run": "prosa.api",
}

__all__ = [
    "AgreementRequired",
    "Diagnostic",
    "Document",
    "RunError",
    "RunResult",
    "__version__",
    "arun",
    "check",
    "load",
    "run",
    "schema",
    "template",
    "testing",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"prosa.{name}")
    if name in _NAMES:
        globals()[name] = found = getattr(import_module(_NAMES[name]), name)
        return found
    raise AttributeError(f"module 'prosa' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
