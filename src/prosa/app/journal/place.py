"""Where the store of runs is: a path or a server that the user named, else a file in the user's data folder (X7, X10).

In: what the user chose and the environment. Out: a place. Nothing is opened; the data folder is made. A flag wins over
`PROSA_STORE`, and that over the user's settings; a document or a project never names one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from prosa.adapters.files import UnsafePlace, data_dir, data_place
from prosa.app.settings import settings_for
from prosa.records.run import StorePlace, StoreServer
from prosa.runtime.errors import StoreProblem

if TYPE_CHECKING:
    from prosa.app.options import JournalOptions

STORE = "store.sqlite"
VARIABLE = "PROSA_STORE"

_SERVERS = "postgresql", "postgres"


def place_named(text: str) -> StorePlace:
    """Return the place that a text names. Raises `StoreProblem`, which never shows a password."""
    scheme, mark, _ = text.partition("://")
    if not mark:
        if Path(text).is_dir():
            raise StoreProblem(f"{text} is a folder; name a file in it")
        return Path(text)
    if scheme.lower() not in _SERVERS:
        raise StoreProblem(f"a store is a file or on PostgreSQL, and {scheme[:20]}:// is neither")
    try:
        parts = urlsplit(text)
        has_password = parts.password is not None or any(name == "password" for name, _ in parse_qsl(parts.query))
    except ValueError as error:
        raise StoreProblem(f"the address of a store cannot be read: {error}") from None
    if has_password:
        hint = "leave it out: it comes from PGPASSWORD, or from ~/.pgpass"
        raise StoreProblem("the address of a store holds no password: others could read it", hint=hint)
    return StoreServer(text)


def store_there(options: JournalOptions | None, environ: Mapping[str, str]) -> StorePlace | None:
    """Return the place of the store where there is one, as far as that is known without asking a server; nothing is
    made."""
    try:
        place = _named(None if options is None else options.store, environ) or data_place(environ) / STORE
        return place if isinstance(place, StoreServer) or place.is_file() else None
    except OSError:
        return None


def store_path(options: JournalOptions | None, environ: Mapping[str, str]) -> StorePlace:
    """Return the place of the store of a call. Raises `StoreProblem` where there is none."""
    return store_of(None if options is None else options.store, environ)


def store_of(named: StorePlace | None, environ: Mapping[str, str]) -> StorePlace:
    """Return the place of the store, ``named`` by the user or not. Raises `StoreProblem` where there is none."""
    return _named(named, environ) or own_file(environ)


def file_beside(place: StorePlace, environ: Mapping[str, str]) -> Path:
    """Return the file beside which this machine keeps what belongs to a store. Raises `StoreProblem`."""
    return own_file(environ) if isinstance(place, StoreServer) else place


def own_file(environ: Mapping[str, str]) -> Path:
    """Return the file of a user who names none. Raises `StoreProblem` where there is no place for it."""
    try:
        return data_dir(environ) / STORE
    except UnsafePlace as error:
        raise StoreProblem(str(error)) from None
    except OSError as error:
        reason = f"there is no folder for the store of runs: {error.filename or ''} {error.strerror or error}"
        raise StoreProblem(
            " ".join(reason.split()), hint="--store PATH or PROSA_DATA_DIR names another place"
        ) from None


def _named(named: StorePlace | None, environ: Mapping[str, str]) -> StorePlace | None:
    """Return the place that a flag, the environment or the user's settings name."""
    if named is None:
        text = environ.get(VARIABLE) or settings_for(None, environ).store
        named = place_named(text) if text else None
    return named.absolute() if isinstance(named, Path) else named
