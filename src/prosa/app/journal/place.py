"""Where the store of runs is: the path that the user named, else a file in the user's data folder (X7, X10).

In: what the user chose and the environment. Out: a path. Nothing is opened; the data folder is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.adapters.files import UnsafePlace, data_dir, data_place
from prosa.runtime.errors import StoreProblem

if TYPE_CHECKING:
    from prosa.app.options import JournalOptions

STORE = "store.sqlite"


def store_there(options: JournalOptions | None, environ: Mapping[str, str]) -> Path | None:
    """The path of the store where there is one; nothing is made."""
    named = options.store if options is not None else None
    try:
        path = named.absolute() if named is not None else data_place(environ) / STORE
        return path if path.is_file() else None
    except OSError:
        return None


def store_path(options: JournalOptions | None, environ: Mapping[str, str]) -> Path:
    """The path of the store of a call. Raises `StoreProblem` where there is no place for it."""
    return store_of(None if options is None else options.store, environ)


def store_of(named: Path | None, environ: Mapping[str, str]) -> Path:
    """The path of the store, ``named`` by the user or not. Raises `StoreProblem` where there is no place for it."""
    if named is not None:
        return named.absolute()
    try:
        return data_dir(environ) / STORE
    except UnsafePlace as error:
        raise StoreProblem(str(error)) from None
    except OSError as error:
        reason = f"there is no folder for the store of runs: {error.filename or ''} {error.strerror or error}"
        raise StoreProblem(
            " ".join(reason.split()), hint="--store PATH or PROSA_DATA_DIR names another place"
        ) from None
