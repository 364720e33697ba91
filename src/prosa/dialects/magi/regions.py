"""Managed regions: results that a run has written into a document (X19). A parsed document in, regions out.

A region stands between two HTML comments, `<!-- ai-result {"script-id": …, "sha256": …} -->` and
`<!-- /ai-result -->`, each a block of its own. What is inside is data: no fence in it is a script and no footnote in it
a relationship. A marker without its partner makes no region.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prosa.data import JsonError, parse_json
from prosa.document import Document
from prosa.source import Span

_MARKER = re.compile(r"<!--[ \t]*(?:ai-result[ \t]+(?P<about>\{[^\r\n]*\})|(?P<end>/ai-result))[ \t]*-->")


@dataclass(frozen=True, slots=True)
class Region:
    """The result of one script. ``span`` covers both markers, ``content`` what is between them; ``sha256`` is the hash
    of everything that produced it, as written."""

    script_id: str
    sha256: str
    span: Span
    content: Span


def read_regions(document: Document) -> tuple[tuple[Region, ...], tuple[Span, ...]]:
    """The regions in order, and the markers that belong to none."""
    regions: list[Region] = []
    stray: list[Span] = []
    opened: tuple[Span, str, str] | None = None
    for html in document.html:
        match = _MARKER.fullmatch(html.text.strip()) if html.block and html.comment else None
        if match is None:
            continue
        if match["end"] is None:
            about = _about(match["about"])
            if about is None or opened is not None:
                stray.append(html.span)
            else:
                opened = (html.span, *about)
        elif opened is None:
            stray.append(html.span)
        else:
            start, script_id, sha256 = opened
            span = Span(start.start, html.span.end)
            regions.append(Region(script_id, sha256, span, Span(start.end, html.span.start)))
            opened = None
    return tuple(regions), tuple(sorted((*stray, *((opened[0],) if opened else ()))))


def inside(regions: Sequence[Region]) -> Callable[[int], bool]:
    """A function that says whether a place lies inside one of the regions, which are in order."""
    starts = [region.span.start for region in regions]

    def within(offset: int) -> bool:
        index = bisect_right(starts, offset) - 1
        return index >= 0 and offset in regions[index].span

    return within


def _about(text: str) -> tuple[str, str] | None:
    try:
        about = parse_json(text)
    except JsonError:
        return None
    script_id, sha256 = (about.get("script-id"), about.get("sha256")) if isinstance(about, dict) else (None, None)
    return (script_id, sha256) if isinstance(script_id, str) and isinstance(sha256, str) else None
