"""Files beside documents, and the files of the pages themselves, as answers."""

from __future__ import annotations

from prosa.app.site.live import LiveSite
from prosa.source import FileProblem
from prosa.web.answer import PRIVATE, PUBLIC, Answer, answer
from prosa.web.locate import Asset

MAX_ASSET = 64 * 1024 * 1024
"""Bytes of a file beside documents; a larger one belongs on a server for large files."""

INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""What a file may do that is opened by itself: nothing. A drawing may have colours."""

FOREVER = "public, max-age=31536000, immutable"
"""Files of the pages have a digest in their address, so they never change."""


def asset_answer(site: LiveSite, found: Asset, *, private: bool) -> Answer | None:
    """A file of the site; None where it cannot be read."""
    place = site.place(found.path)
    if place is None:
        return None
    try:
        _, content = site.files.read(found.path, MAX_ASSET)
    except FileProblem:
        return None
    headers = [("content-security-policy", INERT)]
    return answer(content, found.media_type, cache=PRIVATE if private else PUBLIC, form="a", headers=headers)


def page_asset(name: str) -> Answer | None:
    """A style or a script of the pages; None where there is none of that name."""
    from prosa.render.page.assets import ASSETS

    found = ASSETS.get(name)
    if found is None:
        return None
    media_type, content = found
    return answer(content, media_type, cache=FOREVER)
