"""Names of skills: 1–64 lower-case letters, digits and hyphens, no hyphen at either end and no two in a row."""

from __future__ import annotations

import re
import unicodedata

MAX_NAME = 64

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_OTHER = re.compile(r"[^a-z0-9]+")


def is_name(text: str) -> bool:
    """Whether a text is a name by the specification."""
    return len(text) <= MAX_NAME and _NAME.fullmatch(text) is not None


def as_name(text: str) -> str | None:
    """The name that a text comes closest to, or None where nothing of it can stay."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _OTHER.sub("-", plain).strip("-")[:MAX_NAME].rstrip("-") or None
