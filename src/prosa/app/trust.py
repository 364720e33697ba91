"""Which documents may run automatically: the user decides, outside the tree (X7).

In: documents, folders, an environment. Out: the newly trusted ones, those no longer trusted, and the state of each.
Trusting runs nothing. All raise `RunError` for a record that is not the user's own or cannot be understood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files import config_dir
from prosa.adapters.files.read import digest_bytes, real_path
from prosa.adapters.files.trust_store import MAX_TRUSTED_BYTES, Trusted, TrustStore
from prosa.source import FileProblem


class TrustedDocument(Struct, frozen=True):
    """A document of the record. ``change`` says why it is not trusted any more; it is empty for one that is."""

    path: Path
    change: str = ""


def trust(paths: Sequence[Path], environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Trust documents, and every document below a folder, in their present state, and return their real paths. Raises
    `FileProblem`."""
    store = TrustStore(config_dir(environ))
    return tuple(each.path for path in paths for each in store.add(path))


def distrust(paths: Sequence[Path], environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Trusts documents, and everything below a folder, no more, whether or not they are still there, and return those
    that were trusted."""
    store = TrustStore(config_dir(environ))
    return tuple(each.path for path in paths for each in store.remove(path))


def trusted(paths: Sequence[Path], environ: Mapping[str, str]) -> tuple[TrustedDocument, ...]:
    """Return every document of the record by path, and how it stands; below ``paths`` only, where some are named."""
    below = [real_path(path) for path in paths]
    return tuple(
        TrustedDocument(each.path, _change(each))
        for each in TrustStore(config_dir(environ)).listed()
        if not below or any(each.path == path or each.path.is_relative_to(path) for path in below)
    )


def _change(each: Trusted) -> str:
    """Return what happened to a document since; nothing for one that still counts."""
    try:
        same = digest_bytes(each.path, each.path, MAX_TRUSTED_BYTES) == each.digest
    except FileProblem as problem:
        return problem.reason
    return "" if same else "changed since: no longer trusted"
