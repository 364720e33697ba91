"""What the user accepted for good: documents that may run automatically (X7), and the agreement in front of
markdownlang programs (L38–L41, LA29).

Trusting runs nothing, and there are no prompts here. Functions raise `RunError` for a record that is not the user's own
or cannot be understood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files import config_dir
from prosa.adapters.files.agreement_store import (
    AGREEMENT_VARIABLE,
    agreement_path,
    check_agreement,
    load_agreement,
    save_agreement,
)
from prosa.adapters.files.read import digest_bytes, real_path
from prosa.adapters.files.trust_store import MAX_TRUSTED_BYTES, Trusted, TrustStore
from prosa.dialects.markdownlang.agreement import AgreementRecord
from prosa.source import FileProblem

__all__ = ["AGREEMENT_VARIABLE", "Agreement", "accept_agreement", "check_agreement", "stored_agreement"]


class TrustedDocument(Struct, frozen=True):
    """A document of the record. ``change`` says why it is not trusted any more; it is empty for one that is."""

    path: Path
    change: str = ""


def trust(paths: Sequence[Path], environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Trust documents, and every document below a folder, in their present state, and return their real paths. Raises
    `FileProblem`."""
    store = TrustStore(config_dir(environ))
    return tuple(document.path for path in paths for document in store.add(path))


def distrust(paths: Sequence[Path], environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Trusts documents, and everything below a folder, no more, whether or not they are still there, and return those
    that were trusted."""
    store = TrustStore(config_dir(environ))
    return tuple(document.path for path in paths for document in store.remove(path))


def trusted(paths: Sequence[Path], environ: Mapping[str, str]) -> tuple[TrustedDocument, ...]:
    """Return every document of the record by path, and how it stands; below ``paths`` only, where some are named."""
    below = [real_path(path) for path in paths]
    return tuple(
        TrustedDocument(document.path, _change(document))
        for document in TrustStore(config_dir(environ)).listed()
        if not below or any(document.path == path or document.path.is_relative_to(path) for path in below)
    )


def _change(document: Trusted) -> str:
    """Return what happened to a document since; nothing for one that still counts."""
    try:
        same = digest_bytes(document.path, document.path, MAX_TRUSTED_BYTES) == document.digest
    except FileProblem as problem:
        return problem.reason
    return "" if same else "changed since: no longer trusted"


class Agreement(Struct, frozen=True):
    """The agreement stored at ``path``: the ``record``, or None if it does not count as accepted. ``problem`` says why
    an existing file does not count."""

    path: Path
    record: AgreementRecord | None
    problem: str = ""


def stored_agreement(environ: Mapping[str, str]) -> Agreement:
    """Return the agreement in the user's home."""
    record = load_agreement(environ)
    if isinstance(record, AgreementRecord):
        return Agreement(agreement_path(environ), record)
    return Agreement(agreement_path(environ), None, record)


def accept_agreement(environ: Mapping[str, str], phrase_index: int) -> Path:
    """Store that this phrase was accepted now, and return the path. Raises `OSError` where home is not writable."""
    return save_agreement(environ, phrase_index)
