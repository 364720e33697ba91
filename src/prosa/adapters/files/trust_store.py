"""What a user decided, in files outside every tree: trusted documents and stored keys (X7).

Any edit of a document ends its trust. A record or a file of keys that others can write is refused, because it decides
what runs here and where text goes.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files.read import RootedFiles, decode, read_bytes, real_path
from prosa.adapters.files.write import FileChanged, replace_file
from prosa.data import JsonError, is_mapping_of_texts, parse_json
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.runtime.errors import RunError
from prosa.source import FileProblem
from prosa.source.files import sha256

TRUST_FILE = "trust.json"

MAX_RECORD_BYTES = 16 * 1024 * 1024
"""The size of a record of some 80,000 documents; a larger file is not a record."""

MAX_DOCUMENTS = 20_000
"""Documents of a folder that are trusted at once; who means more names the folders in it."""

MAX_TRUSTED_BYTES = 100 * 1024 * 1024
"""Maximum bytes of a document that can be trusted: ten times the default limit of `--max-size`."""

ATTEMPTS = 5
"""How often a record that another command changes meanwhile is written again."""


class Trusted(Struct, frozen=True):
    """A trusted document. ``digest`` is the SHA-256 of its bytes when it was trusted."""

    path: Path
    digest: str


class TrustStore(Struct, frozen=True):
    """The record in ``config_dir`` (`places.config_dir`). Every method reads it again; all raise `RunError` for a
    record that is not the user's own or is invalid."""

    config_dir: Path

    @property
    def path(self) -> Path:
        """Where the record is."""
        return self.config_dir / TRUST_FILE

    def trusts(self, path: Path, digest: str) -> bool:
        """Return whether the user trusts the document at ``path`` with exactly this content."""
        return bool(digest) and self._load()[0].get(str(real_path(path))) == digest

    def knows(self, path: Path) -> bool:
        """Return whether the user has trusted this document with whatever content."""
        return str(real_path(path)) in self._load()[0]

    def add(self, path: Path) -> tuple[Trusted, ...]:
        """Trust a document, or every document below a folder, in its present state, and return them. Raises
        `FileProblem`."""
        trusteds = _documents(path)
        self._change(lambda known: {**known, **{str(trusted.path): trusted.digest for trusted in trusteds}})
        return trusteds

    def renew(self, path: Path, digest: str) -> None:
        """Trusts the document with another content, which the caller wrote itself."""
        self._change(lambda known: {**known, str(real_path(path)): digest})

    def remove(self, path: Path) -> tuple[Trusted, ...]:
        """Trusts a document, or everything below a folder, no more, whether or not it is still there, and return
        them."""
        real = real_path(path)
        gone = tuple(trusted for trusted in self.listed() if trusted.path == real or trusted.path.is_relative_to(real))
        names = {str(trusted.path) for trusted in gone}
        if names:
            self._change(lambda known: {name: digest for name, digest in known.items() if name not in names})
        return gone

    def listed(self) -> tuple[Trusted, ...]:
        """Return every trusted document, by path."""
        return tuple(Trusted(Path(name), digest) for name, digest in sorted(self._load()[0].items()))

    def _change(self, change: Callable[[Mapping[str, str]], Mapping[str, str]]) -> None:
        self.config_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        for _ in range(ATTEMPTS):
            known, digest = self._load()
            text = json.dumps({"version": 1, "documents": change(known)}, ensure_ascii=False, indent=1)
            with contextlib.suppress(FileChanged):
                replace_file(self.path, f"{text}\n", expect_digest=digest, private=True)
                return
        raise RunError(f"{self.path}: other commands keep changing it; nothing was stored")

    def _load(self) -> tuple[Mapping[str, str], str]:
        """Return the digests by real path, and the digest of the record itself; both empty where there is none."""
        try:
            data = read_bytes(self.path, self.path, MAX_RECORD_BYTES)
            text = decode(self.path, data)
        except FileProblem as problem:
            if problem.kind == "missing":
                return {}, ""
            raise RunError(f"the record of trusted documents: {problem}", hint=_ANEW) from None
        require_own(self.path)
        return _entries(text, self.path), sha256(data).hexdigest()


def require_own(path: Path, *, secret: bool = False) -> None:
    """Raise `RunError` for a file of another user, or one that others may write, or with ``secret`` read."""
    if sys.platform == "win32":
        return  # rights there are lists, inherited from the profile folder, which is private
    status = path.stat()
    if status.st_uid not in (os.geteuid(), 0):
        raise RunError(f"{path} belongs to another user and is not used")
    others = stat.S_IRWXG | stat.S_IRWXO if secret else stat.S_IWGRP | stat.S_IWOTH
    if status.st_mode & others:
        what = "read" if secret else "written"
        raise RunError(f"{path} may be {what} by others and is not used", hint=f"run: chmod 600 {path}")


_ANEW = "remove it and trust your documents again: prosa trust PATH"


def _entries(text: str, path: Path) -> Mapping[str, str]:
    try:
        value = parse_json(text)
    except JsonError:
        value = None
    documents = value.get("documents") if isinstance(value, dict) else None
    if not is_mapping_of_texts(documents):
        raise RunError(f"{path} is not a record of trusted documents", hint=_ANEW)
    return documents


def _documents(path: Path) -> tuple[Trusted, ...]:
    if not path.is_dir():
        return (_trusted(path),)
    from prosa.adapters.files.walk import documents_in

    documents: Iterable[Path | FileProblem] = documents_in([path], DOCUMENT_SUFFIXES, RootedFiles(path))
    paths = [document for document in documents if isinstance(document, Path)]
    if len(paths) > MAX_DOCUMENTS:
        raise RunError(f"{path} has more than {MAX_DOCUMENTS:,} documents", hint="name the folders in it")
    return tuple(map(_trusted, paths))


def _trusted(path: Path) -> Trusted:
    real = real_path(path)
    return Trusted(real, RootedFiles().digest(path, MAX_TRUSTED_BYTES))


KEYS_FILE = "keys.toml"

MAX_KEY_BYTES = 64 * 1024
"""A file of keys is written by hand."""

_KEY_LINE = 'a line is VARIABLE = "key"'


def stored_keys(config_dir: Path) -> Mapping[str, str]:
    """Return the keys; none without a file. Raises `RunError`, which never shows the content."""
    path = config_dir / KEYS_FILE
    try:
        text = decode(path, read_bytes(path, path, MAX_KEY_BYTES))
    except FileProblem as problem:
        if problem.kind == "missing":
            return {}
        raise RunError(f"the file of keys: {problem}") from None
    require_own(path, secret=True)
    import tomllib  # only for the few who keep keys in a file

    try:
        keys = tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise RunError(f"{path} is not valid TOML", hint=_KEY_LINE) from None
    for name, key in keys.items():
        if not (name.isascii() and name.isidentifier()) or not isinstance(key, str):
            raise RunError(f"{path}: `{name[:64]}` is not a variable with a key", hint=_KEY_LINE)
    return keys
