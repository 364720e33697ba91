"""Pages to look at in tests: a few documents of a ferry line."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from prosa.dialects import DialectName
from prosa.dialects.dialect import Hints
from prosa.dialects.reading import open_document
from prosa.document.links import wikilink_target
from prosa.render.page.model import Frame, Page
from prosa.render.page.node import node_page
from prosa.site.layout import Neighbourhood, NodeView
from prosa.site.wikilinks import AS_WRITTEN, MISSING, Wiki, fragment_of
from prosa.source import SourceText
from tests.render.page.elements import Tree, tree

FRAME = Frame("Northern Ferries")


def link(destination: str) -> str:
    """`gone…` leads nowhere, everything else where it says."""
    return "" if destination.lstrip("/").startswith("gone") else destination


def embed(destination: str) -> str:
    """Pictures of other sites are not loaded."""
    return "" if destination.startswith("http") else destination


def wiki(written: str) -> Wiki:
    """Wikilinks lead to a lower-case path, pictures to their name, `gone…` nowhere; a number is no wikilink."""
    target, part = wikilink_target(written)
    if target.startswith("gone"):
        return MISSING
    if target.endswith(".png"):
        return Wiki("picture", f"/{target}")
    if target[:1].isdecimal() or not written.strip():
        return AS_WRITTEN
    return Wiki("node", (f"/{quote(target.lower().replace(' ', '-'))}" if target else "") + fragment_of(part))


def view(text: str, dialect: DialectName = "plain", **more: Any) -> NodeView:
    """A node of a document."""
    reading = open_document(SourceText(text, "doc.md"), Hints(dialect))
    fields = reading.front_matter or {}
    values: dict[str, Any] = {
        "path": "doc.md",
        "url": "/doc",
        "dialect": dialect,
        "id": "doc",
        "type": "page",
        "title": str(fields.get("title", "A title")),
        "summary": str(fields.get("summary", "")),
        "markdown": text.encode("utf-8", "replace"),
        "body": reading.front.source.slice(reading.front.body),
        "fields": fields,
        "reading": reading,
    }
    return NodeView(**{**values, **more})


def page_of(
    text: str,
    dialect: DialectName = "plain",
    *,
    frame: Frame = FRAME,
    neighbourhood: Neighbourhood | None = None,
    vault: bool = False,
    **more: Any,
) -> Page:
    """The page of a document."""
    return Page(
        frame, view(text, dialect, **more), link, embed, neighbourhood or Neighbourhood(), wiki=wiki, vault=vault
    )


def html_of(
    text: str,
    dialect: DialectName = "plain",
    *,
    frame: Frame = FRAME,
    neighbourhood: Neighbourhood | None = None,
    **more: Any,
) -> str:
    """The page of a document as HTML."""
    return node_page(page_of(text, dialect, frame=frame, neighbourhood=neighbourhood, **more))


def seen(
    text: str,
    dialect: DialectName = "plain",
    *,
    frame: Frame = FRAME,
    neighbourhood: Neighbourhood | None = None,
    **more: Any,
) -> Tree:
    """The page of a document as elements."""
    return tree(html_of(text, dialect, frame=frame, neighbourhood=neighbourhood, **more))
