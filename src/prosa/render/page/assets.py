"""The style and the scripts of the pages. In: a name. Out: its media type and bytes, or where a page finds it.

The address changes with the content, so that a browser may keep the file for good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256

from prosa.render.page.model import Frame
from prosa.render.page.templates import text_of

_MEDIA_TYPES = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "actions.js": "text/javascript; charset=utf-8",
    "search.js": "text/javascript; charset=utf-8",
    "scripts.js": "text/javascript; charset=utf-8",
}
_MARK = 10
"""Hexadecimal digits of the hash in an address."""


class _Assets(Mapping[str, tuple[str, bytes]]):
    """The files by name, each read on first access."""

    def __getitem__(self, name: str) -> tuple[str, bytes]:
        return _MEDIA_TYPES[name], _read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_MEDIA_TYPES)

    def __len__(self) -> int:
        return len(_MEDIA_TYPES)


ASSETS: Mapping[str, tuple[str, bytes]] = _Assets()
"""Name → media type and bytes."""


def asset_url(frame: Frame, name: str) -> str:
    """Return where a page finds the file ``name``. Raises `KeyError` for one that is not there."""
    return f"{frame.prefix}/mdh/assets/{name}?v={_digest(name)}"


@cache
def _read(name: str) -> bytes:
    return text_of(name).encode("utf-8")


@cache
def _digest(name: str) -> str:
    return sha256(ASSETS[name][1]).hexdigest()[:_MARK]
