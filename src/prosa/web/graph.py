"""The graph over HTTP: `/mdh/graph` as a page that zooms, `/mdh/graph.svg` as a drawing, `/mdh/graph.json` as data.

`?around=/url` shows the neighbourhood of a node, `&depth=N` more of it; `&small=1` is the drawing beside a page.
"""

from __future__ import annotations

from msgspec import Struct, field

from prosa.app.site import picture
from prosa.dialects.mdh.url import decoded
from prosa.graph.selection import Selection
from prosa.render.graph.html import html, page_policy
from prosa.render.graph.objects import graph_json
from prosa.render.graph.reports import drawn_line
from prosa.render.graph.scene import scene
from prosa.render.graph.svg import Caption, small_svg, svg
from prosa.web.answer import PRIVATE, PUBLIC, Answer, Scope, answer
from prosa.web.assets import INERT
from prosa.web.context import Web
from prosa.web.locate import document_at
from prosa.web.search import fields_of

MAX_KEPT = 200
"""Drawings that are kept; each takes some ten kilobytes."""


class Graphs(Struct):
    """The drawings of a site, each made once for every state of its graph."""

    web: Web
    _made: dict[tuple[str, str, int], tuple[int, Answer]] = field(default_factory=dict)

    def answer(self, kind: str, scope: Scope) -> Answer | None:
        """Return the answer for `html`, `svg` or `json`; None where there is no such node, or no graph yet. May take
        seconds: it belongs into a thread."""
        site = self.web.site
        around, depth, small = _asked(scope)
        kind = "small" if small and kind == "svg" else kind
        path = document_at(site, around) if around else ""
        if path is None or not site.index.is_ready:
            return None
        key, generation = (kind, path, depth), site.index.catalogue.generation
        known = self._made.get(key)
        if known is None or known[0] != generation:
            if len(self._made) >= MAX_KEPT:
                self._made.clear()
            known = self._made[key] = (generation, self._drawn(kind, path, depth))
        return known[1]

    def _drawn(self, kind: str, path: str, depth: int) -> Answer:
        site, left = self.web.site, 0
        rows = site.index.catalogue.by_path
        if path:
            shown = picture.around(site, path, depth, most=picture.MAX_SMALL if kind == "small" else picture.MAX_AROUND)
            title = f"Around {rows[path].title}" if path in rows else "Around"
        else:
            shown, left = picture.whole(site)
            title = site.options.name
        cache = PRIVATE if self.web.closed else PUBLIC
        if kind == "json":
            return answer(graph_json(shown.nodes, shown.edges) + "\n", "application/json; charset=utf-8", cache=cache)
        prefix = self.web.prefix
        home = f"{prefix}{rows[path].url}" if path in rows else f"{prefix}/"
        return _picture(kind, shown, (title, left), prefix, home, cache)


def _picture(kind: str, shown: Selection, named: tuple[str, int], prefix: str, home: str, cache: str) -> Answer:
    """Return the drawing under its title, with the number of omitted documents."""
    (title, left), drawn = named, scene(shown)
    counts = drawn_line(shown, len(drawn.lines)) + (f", {left:,} less linked documents left out" if left else "")
    caption = Caption(title, counts)
    if kind != "html":
        drawing = (small_svg if kind == "small" else svg)(drawn, caption)
        headers = [("content-security-policy", INERT)]
        return answer(drawing, "image/svg+xml", cache=cache, headers=headers)
    urls = {node.path: f"{prefix}{node.url}" for node in shown.nodes}
    page = html(drawn, caption, lambda path: urls.get(path, ""), home=home)
    headers = [("content-security-policy", page_policy())]
    return answer(page, "text/html; charset=utf-8", cache=cache, headers=headers)


def _asked(scope: Scope) -> tuple[str, int, bool]:
    """Return the decoded URL path around which is drawn, empty for the whole; how far; and whether it is a small
    one."""
    pairs = fields_of(scope)
    around = decoded(pairs.get("around", [""])[0].encode("utf-8", "replace")) or ""
    depth = pairs.get("depth", ["1"])[0]
    return around, int(depth) if depth in ("1", "2", "3") else 1, pairs.get("small") == ["1"]
