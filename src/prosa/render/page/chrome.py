"""What stands around the content of every page. In: a frame and a title. Out: values for `layout.html`."""

from __future__ import annotations

from prosa.data import Value
from prosa.render.page.assets import asset_url
from prosa.render.page.model import Frame
from prosa.render.page.policy import META_POLICY
from prosa.render.page.urls import in_query


def chrome(
    frame: Frame, title: str, *, lang: str = "en", query: str = "", back: str = "/", scripts: tuple[str, ...] = ()
) -> dict[str, Value]:
    """Return the values. ``scripts`` are names of scripts that this page needs beside `page.js`; ``back`` is the path,
    without the prefix, to which signing in and out return."""
    names = ("page.js", *scripts) if frame.live else ("search.js", "page.js", *scripts)
    return {
        "site": frame.name,
        "prefix": frame.prefix,
        "live": frame.live,
        "find": f"{frame.prefix}/mdh/search{'' if frame.live else '.html'}",
        "policy": "" if frame.live else META_POLICY,
        "notices": frame.more,
        "head_title": title if title == frame.name else f"{title} · {frame.name}",
        "lang": lang,
        "query": query,
        "csrf": frame.csrf,
        "signed_in": frame.signed_in,
        "back": f"{frame.prefix}{back}",
        "sign_in": f"{frame.prefix}/mdh/sign-in?back={in_query(frame.prefix + back)}" if frame.can_run else "",
        "css": asset_url(frame, "page.css"),
        "scripts": [asset_url(frame, name) for name in names],
    }
