"""Keys of model services in a file of the user, used if no environment variable is set (X7).

In: the user's configuration folder. Out: keys by the name of their variable. A file readable or writable by others is
refused: its keys are no longer secret, and a writer could redirect text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from prosa.adapters.files.read import decode, read_bytes
from prosa.adapters.files.trust_store import require_own
from prosa.runtime.errors import RunError
from prosa.source import FileProblem

FILE_NAME = "keys.toml"

MAX_KEY_BYTES = 64 * 1024
"""A file of keys is written by hand."""

SHAPE = 'a line is VARIABLE = "key"'


def stored_keys(config_dir: Path) -> Mapping[str, str]:
    """Return the keys; none without a file. Raises `RunError`, which never shows the content."""
    path = config_dir / FILE_NAME
    try:
        text = decode(path, read_bytes(path, path, MAX_KEY_BYTES))
    except FileProblem as problem:
        if problem.kind == "missing":
            return {}
        raise RunError(f"the file of keys: {problem}") from None
    require_own(path, secret=True)
    try:
        found = tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise RunError(f"{path} is not valid TOML", hint=SHAPE) from None
    for name, key in found.items():
        if not (name.isascii() and name.isidentifier()) or not isinstance(key, str):
            raise RunError(f"{path}: `{name[:64]}` is no variable with a key", hint=SHAPE)
    return found
