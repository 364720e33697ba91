"""The agreement that gates running markdownlang programs: its phrases and the record of accepting one (L38–L41).

In: what a user typed, the text of a record. Out: whether that accepts, the record as data or the reason why it is
invalid. It reads no files and never prompts.
"""

from __future__ import annotations

import json
from datetime import datetime

from msgspec import Struct

from prosa.data import Value

TITLE = "markdownlang Trans Rights Agreement"
INTRODUCTION = "Before using markdownlang, you must agree to the following:"
PROMPT = "Type the above phrase exactly to accept: "
ACCEPTED = "Agreement accepted. You can now use markdownlang."
HOW_TO_ACCEPT = "To accept the agreement, run: {command}"
COMMAND = "prosa agree"
COMMAND_OF_THE_SPECIFICATION = "markdownlang agree"

# The order is part of the file format: a record names a phrase by its index (L38). Never reorder, never remove.
PHRASES: tuple[str, ...] = (
    "Trans rights are human rights",
    "Trans women are women",
    "Trans men are men",
    "I support transgender people",
    "Trans rights are human rights. I will not harm transgender people.",
    "Nonbinary people are who they say they are",
    "Transgender people deserve safety and respect",
    "I will not harm transgender people",
    "I will not use this software to harm transgender people",
    "Every trans person has the right to live openly",
    "Trans people belong everywhere people belong",
    "I will use the names and pronouns that people ask for",
    "Trans children deserve care and protection",
    "Health care for trans people is health care",
    "I stand with my transgender neighbors and colleagues",
    "Nobody needs permission to be transgender",
)

# A record has two short fields; anything longer is some other file.
MAX_RECORD_CHARACTERS = 4096


class AgreementRecord(Struct, frozen=True):
    """The record of an acceptance. ``agreed_at`` is ISO 8601 in UTC, empty in the original format; the index
    counts from 0."""

    agreed_at: str
    phrase_index: int


def accepts(shown_index: int, typed: str) -> bool:
    """Return whether what was typed is exactly the phrase that was shown; no other one counts (L39, LW12)."""
    return typed == PHRASES[shown_index]


def index_of(phrase: str) -> int | None:
    """Return the index of a phrase typed without being shown one (LA29); None for anything else."""
    return PHRASES.index(phrase) if phrase in PHRASES else None


def parse_record(text: str) -> AgreementRecord | str:
    """Return the record in a text, or the reason why there is none, which stands alone after the file's name.

    Reads ``{agreed_at, phrase_index}`` (L38) and the origin's ``{agreed, version, required_phrase_index}`` (LA29).
    """
    try:
        data = json.loads(text) if len(text) <= MAX_RECORD_CHARACTERS else None
    except (ValueError, RecursionError):
        return "is not valid JSON"
    if not isinstance(data, dict):
        return "holds no record of the agreement"
    if "agreed_at" in data:
        return _own_form(data)
    if data.get("agreed") is True and _is_index(data.get("required_phrase_index")):
        return AgreementRecord("", data["required_phrase_index"])
    return "holds no record of the agreement"


def write_record(record: AgreementRecord) -> str:
    """Return the text to store (L38)."""
    return json.dumps({"agreed_at": record.agreed_at, "phrase_index": record.phrase_index}, indent=2) + "\n"


def _own_form(data: dict[str, object]) -> AgreementRecord | str:
    """Return the form of the specification: a date that is one, an index that exists."""
    agreed_at, index = data["agreed_at"], data.get("phrase_index")
    try:
        datetime.fromisoformat(agreed_at if isinstance(agreed_at, str) else "")
    except ValueError:
        return "has no date in agreed_at"
    if not isinstance(index, int) or not _is_index(index) or index >= len(PHRASES):
        return f"has no phrase_index from 0 to {len(PHRASES) - 1}"
    return AgreementRecord(str(agreed_at), index)


def _is_index(value: Value) -> bool:
    """Accept a whole number from 0, without an upper bound: the origin knew one phrase more than we do."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
