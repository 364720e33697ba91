"""Files beside documents, and the files of the pages themselves, as answers."""

from __future__ import annotations

from functools import partial

from prosa.app.site.assets import Asset
from prosa.app.site.live import LiveSite
from prosa.site.negotiate import entity_tag
from prosa.source import FileProblem
from prosa.web.answer import PIECE, PRIVATE, PUBLIC, Answer, answer, large_answer

MAX_ASSET = 64 * 1024 * 1024
"""Bytes of a file beside documents; a larger one belongs on a server for large files."""

WHOLE = 1024 * 1024
"""Bytes up to which a file is read at once, and kept."""

INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""The permissions of a file opened by itself: none. A drawing may have colours."""

FOREVER = "public, max-age=31536000, immutable"
"""Files of the pages have a digest in their address, so they never change."""


def asset_answer(site: LiveSite, asset: Asset, *, private: bool) -> Answer | None:
    """Return a file of the site, a large one as pieces; None where it cannot be read."""
    cache, headers = PRIVATE if private else PUBLIC, [("content-security-policy", INERT), ("accept-ranges", "bytes")]
    size = asset.stamp.size
    if WHOLE < size <= MAX_ASSET:
        tag = entity_tag(repr(tuple(asset.stamp)).encode(), "s")
        piece = partial(site.assets.piece, asset, most=PIECE)
        return large_answer(piece, size, tag, asset.media_type, cache=cache, headers=headers)
    content = asset_bytes(site, asset.path)
    if content is None:
        return None
    return answer(content, asset.media_type, cache=cache, form="a", headers=headers)


def asset_bytes(site: LiveSite, path: str) -> bytes | None:
    """Return the whole of a file of the site; None where it cannot be read."""
    try:
        return site.assets.read(path, MAX_ASSET)
    except FileProblem:
        return None


def page_asset(name: str) -> Answer | None:
    """Return a style or a script of the pages; None where there is none of that name."""
    from prosa.render.page.templates import ASSETS

    entry = ASSETS.get(name)
    if entry is None:
        return None
    media_type, content = entry
    return answer(content, media_type, cache=FOREVER)
