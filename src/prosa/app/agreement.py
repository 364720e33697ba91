"""The agreement in front of markdownlang programs: whether it was accepted, and accepting it (L38–L41, LA29).

In: an environment with the home folder. Out: the stored record. There are no prompts here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files.trust_store import (
    AGREEMENT_VARIABLE,
    agreement_path,
    check_agreement,
    load_agreement,
    save_agreement,
)
from prosa.dialects.markdownlang.agreement import AgreementRecord

__all__ = ["AGREEMENT_VARIABLE", "Agreement", "accept_agreement", "check_agreement", "stored_agreement"]


class Agreement(Struct, frozen=True):
    """The agreement stored at ``path``: the ``record``, or None if it does not count as accepted. ``problem`` says why
    an existing file does not count."""

    path: Path
    record: AgreementRecord | None
    problem: str = ""


def stored_agreement(environ: Mapping[str, str]) -> Agreement:
    """Return the agreement in the user's home."""
    found = load_agreement(environ)
    if isinstance(found, AgreementRecord):
        return Agreement(agreement_path(environ), found)
    return Agreement(agreement_path(environ), None, found)


def accept_agreement(environ: Mapping[str, str], phrase_index: int) -> Path:
    """Store that this phrase was accepted now, and return the path. Raises `OSError` where home is not writable."""
    return save_agreement(environ, phrase_index)
