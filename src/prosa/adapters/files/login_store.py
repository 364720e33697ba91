"""Logins at MCP servers in one file of the user's data folder, for its owner alone (X18).

In: logins by the URL of their server. Out: the same, or `RunError` for a file that others may read or that is invalid.
A change is written whole or not at all; a login is renewed by one process at a time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from prosa.adapters.files.lock import only_one
from prosa.adapters.files.places import data_dir, data_place
from prosa.adapters.files.read import read_bytes
from prosa.adapters.files.trust_store import ATTEMPTS, require_own
from prosa.adapters.files.write import FileChanged, replace_file
from prosa.runtime.errors import RunError
from prosa.runtime.login import Login
from prosa.source import FileProblem

LOGINS_FILE = "logins.json"

MAX_BYTES = 4 * 1024 * 1024
"""Bytes of the file: some hundred logins with the longest tokens that servers issue."""


class _Record(Struct, frozen=True):
    logins: tuple[Login, ...] = ()
    version: int = 1


class LoginStore(Struct, frozen=True):
    """The logins of a user. Every method reads the file again; all raise `RunError` for one that is not the user's own
    or is invalid."""

    environ: Mapping[str, str]

    @property
    def path(self) -> Path:
        """Where the file is, or would be."""
        return data_place(self.environ) / LOGINS_FILE

    def listed(self) -> tuple[Login, ...]:
        """Return every login, by the URL of its server."""
        return self._load()[0]

    def at(self, server: str) -> Login | None:
        """Return the login at exactly this server."""
        return next((login for login in self.listed() if login.server == server), None)

    def covering(self, url: str) -> Login | None:
        """Return the login for requests to a URL; the one with the longest resource where several cover it."""
        logins = [login for login in self.listed() if login.covers(url)]
        return max(logins, key=lambda login: (login.server == url, len(login.resource)), default=None)

    def put(self, login: Login) -> None:
        """Store a login in place of an earlier one at its server."""
        self._change(lambda known: (*(other for other in known if other.server != login.server), login))

    def remove(self, server: str) -> None:
        """Forget the login at a server."""
        self._change(lambda known: tuple(login for login in known if login.server != server))

    @contextlib.contextmanager
    def held(self, server: str) -> Iterator[None]:
        """Let no other process change the login at a server for the length of a block. Raises `Locked`."""
        folder = data_dir(self.environ)
        with only_one(folder / f"{LOGINS_FILE}.{sha256(server.encode()).hexdigest()}", folder):
            yield

    def _change(self, change: Callable[[tuple[Login, ...]], tuple[Login, ...]]) -> None:
        data_dir(self.environ)
        for _ in range(ATTEMPTS):
            known, digest = self._load()
            logins = tuple(sorted(change(known), key=lambda login: login.server))
            text = msgspec.json.format(msgspec.json.encode(_Record(logins)), indent=1)
            with contextlib.suppress(FileChanged):
                replace_file(self.path, text + b"\n", expect_digest=digest, private=True)
                return
        raise RunError(f"{self.path}: other commands keep changing it; nothing was stored")

    def _load(self) -> tuple[tuple[Login, ...], str]:
        """Return the logins, and the digest of the file; both empty where there is none."""
        path = self.path
        try:
            data = read_bytes(path, path, MAX_BYTES)
        except FileProblem as problem:
            if problem.kind == "missing":
                return (), ""
            raise RunError(f"the record of logins: {problem}", hint=f"remove {path} and log in again") from None
        require_own(path, secret=True)
        try:
            record = msgspec.json.decode(data, type=_Record)
        except msgspec.DecodeError:
            raise RunError(f"{path} is not a record of logins", hint="remove it and log in again") from None
        if record.version != 1:
            raise RunError(f"{path} is of a newer version of Prosa", hint="use that version")
        return record.logins, sha256(data).hexdigest()
