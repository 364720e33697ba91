"""The agreement of a user, in a file outside every tree (L38, L41, LA29). An unreadable one counts as none and is never
overwritten silently."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from prosa.adapters.files.places import home
from prosa.adapters.files.read import decode, read_bytes
from prosa.dialects.markdownlang.agreement import (
    COMMAND,
    HOW_TO_ACCEPT,
    MAX_RECORD_CHARACTERS,
    PHRASES,
    AgreementRecord,
    index_of,
    parse_record,
    write_record,
)
from prosa.runtime.errors import AgreementRequired
from prosa.source import FileProblem

AGREEMENT_FILE = ".markdownlang-agreement.json"
# Holds one of the sixteen phrases for use without a terminal (LA29).
AGREEMENT_VARIABLE = "MARKDOWNLANG_AGREE"


def agreement_path(environ: Mapping[str, str]) -> Path:
    """Return `~/.markdownlang-agreement.json`, with ``HOME`` honoured (L38)."""
    return home(environ) / AGREEMENT_FILE


def load_agreement(environ: Mapping[str, str]) -> AgreementRecord | str:
    """Return the stored record, or why there is none: an empty text when there is no file, else a sentence with its
    path."""
    path = agreement_path(environ)
    try:
        record = parse_record(decode(path, read_bytes(path, path, MAX_RECORD_CHARACTERS)))
    except FileProblem as problem:
        return "" if problem.kind == "missing" else f"{problem}, so the agreement counts as not accepted."
    return (
        record if isinstance(record, AgreementRecord) else f"{path} {record}, so the agreement counts as not accepted."
    )


def save_agreement(environ: Mapping[str, str], phrase_index: int) -> Path:
    """Store that this phrase was accepted now, and return the path. Raises `OSError` where home is not writable."""
    path = agreement_path(environ)
    from prosa.adapters.files.write import replace_file  # only here: a user agrees once

    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    replace_file(path, write_record(AgreementRecord(now, phrase_index)))
    return path


def check_agreement(environ: Mapping[str, str]) -> None:
    """Require the agreement before a markdownlang program runs. Raises `AgreementRequired` (L41).

    Passes with a stored record, or with a phrase in ``MARKDOWNLANG_AGREE``, which stores nothing.
    """
    record = load_agreement(environ)
    if isinstance(record, AgreementRecord) or index_of(environ.get(AGREEMENT_VARIABLE, "")) is not None:
        return
    lines = ["The markdownlang agreement has not been accepted yet. It gates running markdownlang programs."]
    if record:
        lines.append(record)
    if environ.get(AGREEMENT_VARIABLE):
        lines.append(f"{AGREEMENT_VARIABLE} is set, but holds none of the {len(PHRASES)} phrases.")
    raise AgreementRequired("\n".join(lines), hint=HOW_TO_ACCEPT.format(command=COMMAND))
