"""The agreement in front of markdownlang programs: whether it was accepted, and accepting it (L38–L41, LA29).

In: an environment that says where home is. Out: what is stored there. Nobody is asked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files.agreement_store import (
    VARIABLE,
    agreement_path,
    check_agreement,
    load_agreement,
    save_agreement,
)
from prosa.dialects.markdownlang.agreement import AgreementRecord

__all__ = ["VARIABLE", "Agreement", "accept_agreement", "check_agreement", "stored_agreement"]


class Agreement(Struct, frozen=True):
    """What is stored at ``path``: the ``record``, or None where the agreement counts as not accepted. ``problem`` says
    why a file that is there does not count; it is empty where there is none."""

    path: Path
    record: AgreementRecord | None
    problem: str = ""


def stored_agreement(environ: Mapping[str, str]) -> Agreement:
    """Return what the user's home says."""
    found = load_agreement(environ)
    if isinstance(found, AgreementRecord):
        return Agreement(agreement_path(environ), found)
    return Agreement(agreement_path(environ), None, found)


def accept_agreement(environ: Mapping[str, str], phrase_index: int) -> Path:
    """Store that this phrase was accepted now, and return the path. Raises `OSError` where home is not writable."""
    return save_agreement(environ, phrase_index)
