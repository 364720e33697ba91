"""The path of a page of a site in a folder (HA2, HW4). In: the URL of a page. Out: a relative path that is safe on
every system: it stays in the folder, is not hidden, has no reserved name, and is not too long.

A part of a URL that is no safe name becomes its digest. The query of a page is a digest too.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from urllib.parse import unquote_to_bytes, urlsplit

from prosa.dialects.mdh.url import SUFFIXES, without_suffix
from prosa.regex import regex

MAX_PART = 100
"""Bytes of one part: file systems take 255, and some count other units."""

MAX_PATH = 200
MAX_PARTS = 24

SUFFIX = ".md"
_FORBIDDEN = regex(r'[\\/:*?"<>|]')
_OURS = regex(r"~[0-9a-f]{12}\Z")
_DEVICE = "[0-9\u00b9\u00b2\u00b3]"
_RESERVED = regex(rf"(?:con|prn|aux|nul|com{_DEVICE}|lpt{_DEVICE}|conin\$|conout\$)(?:\..*)?", re.IGNORECASE)


def copy_path(url: str) -> str:
    """`/` is `index.md`, `/hours` and `/hours.md` are `hours.md`, `/a/` is `a/index.md`."""
    parts = urlsplit(url)
    *folders, name = parts.path.lstrip("/").split("/")
    stem = without_suffix(name) if name else "index"
    if parts.query:
        stem = f"{stem}~{_digest(parts.query)}"
    names = [*(_folder(folder) for folder in folders), f"{_safe(stem)}{SUFFIX}"]
    path = "/".join(names)
    return path if len(names) <= MAX_PARTS and len(path.encode()) <= MAX_PATH else other_path(url)


def other_path(url: str) -> str:
    """Return the path of a page whose own path is taken: next to it if that is short enough, with a digest."""
    path = "/".join(_folder(part) for part in urlsplit(url).path.lstrip("/").split("/")[:-1])
    name = f"page~{_digest(url)}{SUFFIX}"
    inside = f"{path}/{name}" if path else name
    return inside if inside.count("/") < MAX_PARTS and len(inside.encode()) <= MAX_PATH else name


def place_key(path: str) -> str:
    """Return the same key for two paths that are one file on a system that ignores case or Unicode composition."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).casefold())


def _folder(part: str) -> str:
    """Return the name of a folder; one with the suffix of a file could stand where a file must."""
    name = _safe(part)
    return _named(part) if name.lower().endswith(SUFFIXES) else name


def _safe(part: str) -> str:
    try:
        name = unquote_to_bytes(part).decode("utf-8")
    except UnicodeDecodeError:
        return _named(part)
    return name if _is_safe(name) else _named(part)


def _is_safe(name: str) -> bool:
    if not name or len(name.encode("utf-8", "replace")) > MAX_PART or name != unicodedata.normalize("NFC", name):
        return False
    if (
        name.startswith((".", " ", "-", "~"))
        or name.endswith((".", " "))
        or _FORBIDDEN.search(name)
        or _OURS.search(name)
    ):
        return False
    return all(unicodedata.category(char)[0] != "C" for char in name) and not _RESERVED.fullmatch(name)


def _named(part: str) -> str:
    return f"part~{_digest(part)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
