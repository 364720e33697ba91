"""Markdown as parts of a page: written, cleaned, with the scripts that a reader may start between them.

In: a parsed document, or a text with the anchors of its headings. Out: parts and, apart, the heading that is a title.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from prosa.document import Document, Section
from prosa.render.page.excerpts import Quoting, with_quotes
from prosa.render.page.model import Page
from prosa.render.page.scripts import script_part
from prosa.render.page.state import Unseen
from prosa.render.page.templates import Html, html
from prosa.render.page.urls import fragment

Part: TypeAlias = dict[str, Any]
"""A part of an article: its ``kind``, which chooses the template, and what that needs."""

MAX_CONTENTS = 200
"""Entries of a table of contents."""

FEWEST_CONTENTS = 3
"""Fewer than these are found without one."""

_DEEPEST = 3


class Rendered(NamedTuple):
    """``title`` is the heading of level 1 that begins the text, empty without one; ``parts`` the rest."""

    title: Html
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a table of contents; ``depth`` is 1 or 2."""

    text: str
    href: str
    depth: int


def render_document(page: Page, document: Document, unseen: Unseen | None = None) -> Rendered:
    """The whole Markdown of a document."""
    anchors = [section.anchor for section in document.sections]
    return render_text(page, document.parsed.text, anchors, unseen=unseen)


def render_text(
    page: Page,
    text: str,
    anchors: Iterable[str],
    *,
    unseen: Unseen | None = None,
    scope: str = "",
    quoting: Quoting | None = None,
) -> Rendered:
    """A text whose headings have these ``anchors``; ``scope`` keeps its footnotes apart from others on the page, whose
    limits of what is quoted are in ``quoting``."""
    quoting = quoting or Quoting(page.view.path)
    written, cleaned = with_quotes(page, text, quoting, anchors=anchors, unseen=unseen, scope=scope)
    parts = [
        {"kind": "html", "html": html(piece)} if isinstance(piece, str) else script_part(page, piece)
        for piece in cleaned
    ]
    if written.titled:
        return Rendered(parts[0]["html"], tuple(parts[1:]))
    return Rendered("", tuple(parts))


def contents(sections: Iterable[Section]) -> tuple[Entry, ...]:
    """The table of contents; empty where there is too little to find."""
    own = [each for each in sections if each.anchor and not each.heading.nested and 1 < each.level <= _DEEPEST]
    if len(own) < FEWEST_CONTENTS:
        return ()
    top = min(each.level for each in own)
    return tuple(Entry(each.heading.plain, fragment(each.anchor), each.level - top + 1) for each in own[:MAX_CONTENTS])
