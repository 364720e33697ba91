"""A mark of everything that findings and indexes depend on besides the documents: this program and its parsers.

In: nothing. Out: a text that changes with the code, without reading it.
"""

# Texts, not Paths: this runs before every check.
# ruff: noqa: PTH116, PTH118, PTH120
from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from zlib import adler32, crc32

import prosa

_FOLDERS = (
    *("adapters/sqlite", "corpus", "data", "diagnostics", "dialects", "document"),
    "evaluation",
    *("graph", "rules", "schema", "source", "template"),
)
_LIBRARIES = ("pyromark", "yaml", "jsonschema_rs")


def code_mark() -> str:
    """Return the version, and a checksum of name, size and time of every file that affects findings. Forgery is no
    concern, so it need not be a cryptographic digest."""
    package = os.path.dirname(prosa.__file__)
    parts = [prosa.__version__, sys.version]
    parts += [each for folder in _FOLDERS for each in _stamps(os.path.join(package, folder))]
    for name in _LIBRARIES:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            parts.append(_stamp(spec.origin, os.stat(spec.origin)))
    text = "\n".join(parts).encode("utf-8", "surrogateescape")
    return f"{prosa.__version__} {len(text)} {crc32(text):08x}{adler32(text):08x}"


def _stamps(folder: str) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(".py"):
            yield _stamp(entry.path, entry.stat())
        elif not entry.name.startswith(("_", ".")) and entry.is_dir():
            yield from _stamps(entry.path)


def _stamp(name: str, found: os.stat_result) -> str:
    return f"{name}:{found.st_size}:{found.st_mtime_ns}"
