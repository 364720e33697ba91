"""Loads the standard library into the snapshot, and names the sandbox when a module is not there.

There is no library on disk at run time: a module that is not loaded here does not exist later.
"""

from __future__ import annotations

import importlib
import importlib.abc
import pkgutil
import sys

LEFT_OUT = frozenset(
    ("antigravity", "ensurepip", "idlelib", "pydoc_data", "test", "this", "tkinter", "turtle", "turtledemo", "venv")
)
"""Modules that open windows or browsers, install things, or only test CPython; `pydoc_data` is the text of help()."""

LEFT_OUT_PARTS = frozenset(("__main__", "test", "tests"))
"""Submodules that are programs or tests."""


def load_all() -> None:
    """Imports every standard module that works here."""
    for name in sorted(sys.stdlib_module_names - LEFT_OUT):
        module = _load(name)
        for part in _parts(module):
            _load(part)


def _parts(package) -> list[str]:
    """The dotted names of all modules inside a package, outer before inner."""
    found, waiting = [], [package]
    while waiting:
        module = waiting.pop()
        for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
            if info.name in LEFT_OUT_PARTS:
                continue
            name = f"{module.__name__}.{info.name}"
            found.append(name)
            if info.ispkg:
                waiting.append(_load(name))
    return found


def _load(name: str):
    try:
        return importlib.import_module(name)
    except BaseException:  # a module that WASI cannot carry; the finder below explains that to the program
        return None


class SandboxFinder(importlib.abc.MetaPathFinder):
    """Stands last among the finders: whoever gets here asked for a module that is not there."""

    def find_spec(self, fullname, path=None, target=None):
        top = fullname.partition(".")[0]
        if top in sys.stdlib_module_names:
            reason = "this standard module is not available in the Prosa sandbox"
        else:
            reason = "the Prosa sandbox has only the Python standard library"
        raise ModuleNotFoundError(f"No module named {fullname!r}: {reason}", name=fullname)


def install_finder() -> None:
    """Adds the finder after all others and forgets the build machine's folders; a program imports its own files."""
    sys.meta_path.append(SandboxFinder())
    sys.path[:] = ["/tmp"]
    sys.path_importer_cache.clear()
