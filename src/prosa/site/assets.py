"""Files of a site that are no documents and may be served beside them: pictures, sounds, papers, data (HA5).

In: a file name. Out: its media type, or nothing for a file that stays where it is. Code, archives and databases are
never sent, wherever they lie; data and texts only where a published document names them, since a key may be one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ASSET_TYPES: Mapping[str, str] = MappingProxyType(
    {
        ".avif": "image/avif",
        ".gif": "image/gif",
        ".ico": "image/x-icon",
        ".jpeg": "image/jpeg",
        ".jpg": "image/jpeg",
        ".png": "image/png",
        ".svg": "image/svg+xml",
        ".webp": "image/webp",
        ".mp3": "audio/mpeg",
        ".ogg": "audio/ogg",
        ".wav": "audio/wav",
        ".mp4": "video/mp4",
        ".webm": "video/webm",
        ".pdf": "application/pdf",
        ".csv": "text/csv; charset=utf-8",
        ".json": "application/json",
        ".txt": "text/plain; charset=utf-8",
        ".vtt": "text/vtt; charset=utf-8",
    }
)
"""Media types by suffix. Headers forbid browsers to sniff them, and to run anything inside."""

NAMED = frozenset((".csv", ".json", ".txt", ".vtt"))
"""Files that are only served if a published document links to them, or an action names them as a schema."""

PICTURES = frozenset(suffix for suffix, kind in ASSET_TYPES.items() if kind.startswith("image/"))
"""What a page may show."""


def asset_type(path: str) -> str | None:
    """Return the media type of a file that may be served; None for any other."""
    return ASSET_TYPES.get(suffix_of(path))


def suffix_of(path: str) -> str:
    """Return the suffix of a path in small letters, with its dot; empty where there is none."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""
