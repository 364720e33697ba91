"""Pages to look at in tests: a few documents of a ferry line."""

from __future__ import annotations

from typing import Any

from prosa.dialects.dialect import DialectName
from prosa.dialects.front import read_front
from prosa.dialects.reading import read_as
from prosa.render.page.model import Frame, Page
from prosa.render.page.node import node_page
from prosa.site.view import Around, NodeView
from prosa.source import SourceText
from tests.pages.elements import Tree, tree

FRAME = Frame("Northern Ferries")


def link(destination: str) -> str:
    """Wikilinks lead to a lower-case path, `gone…` nowhere, everything else where it says."""
    if destination.startswith("[["):
        destination = f"/{destination[2:-2].lower().replace(' ', '-')}"
    return "" if destination.lstrip("/").startswith("gone") else destination


def embed(destination: str) -> str:
    """Pictures of other sites are not loaded."""
    return "" if destination.startswith("http") else destination


def view(text: str, dialect: DialectName = "plain", **more: Any) -> NodeView:
    """A node of a document."""
    reading = read_as(read_front(SourceText(text, "doc.md")), dialect)
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
    text: str, dialect: DialectName = "plain", *, frame: Frame = FRAME, around: Around | None = None, **more: Any
) -> Page:
    """The page of a document."""
    return Page(frame, view(text, dialect, **more), link, embed, around or Around())


def html_of(
    text: str, dialect: DialectName = "plain", *, frame: Frame = FRAME, around: Around | None = None, **more: Any
) -> str:
    """The page of a document as HTML."""
    return node_page(page_of(text, dialect, frame=frame, around=around, **more))


def seen(
    text: str, dialect: DialectName = "plain", *, frame: Frame = FRAME, around: Around | None = None, **more: Any
) -> Tree:
    """The page of a document as elements."""
    return tree(html_of(text, dialect, frame=frame, around=around, **more))
