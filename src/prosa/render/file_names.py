"""File names from names that people gave: safe on every system, and different from one another."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from prosa.regex import regex

MAX_CHARS = 60
MAX_BYTES = 180
"""Of a name; with what is put before and behind it, it has to fit into 255 bytes."""

_OTHERS = regex(r"[\W_]+")
_OTHERS_BUT_DOTS = regex(r"[^\w.]+|\.{2,}")
_DEVICE = regex(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)")
"""What Windows takes for a device."""


def file_names(names: Sequence[str], *, dots: bool = False) -> list[str]:
    """Return a file name for each name, in their order: letters and digits of any script in lower case, the rest as
    `-`. With ``dots`` they are file names already: their case, dots and `_` stay."""
    found: list[str] = []
    taken: set[str] = set()
    last: dict[str, int] = {}
    for name in names:
        safe = _safe(name, dots=dots)
        stem, suffix = _split(safe) if dots else (safe, "")
        chosen, number = safe, last.get(safe, 1)
        while chosen.casefold() in taken:
            number += 1
            chosen = f"{stem}-{number}{suffix}"
        last[safe] = number
        taken.add(chosen.casefold())
        found.append(chosen)
    return found


def _safe(name: str, *, dots: bool) -> str:
    text = unicodedata.normalize("NFC", name) if dots else unicodedata.normalize("NFKC", name).casefold()
    text = (_OTHERS_BUT_DOTS if dots else _OTHERS).sub("-", text)
    text = text[-MAX_CHARS:] if dots else text[:MAX_CHARS]
    text = text.encode("utf-8", "ignore")[:MAX_BYTES].decode("utf-8", "ignore").strip("-.") or "unnamed"
    return f"_{text}" if _DEVICE.match(text) else text


def _split(name: str) -> tuple[str, str]:
    stem, dot, suffix = name.rpartition(".")
    return (stem, f"{dot}{suffix}") if stem else (name, "")
