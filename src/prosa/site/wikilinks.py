"""Wikilinks for readers (Y21, YA21, HA22): the target, the label and the part of the document of each, and ordinary
Markdown links in their place.

In: a parsed document, and a function that resolves its wikilinks. Out: texts and spans. Nothing is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from prosa.document import Document, Wikilink
from prosa.document.anchors import heading_named, slug
from prosa.document.document import NAMED_BLOCK
from prosa.document.links import wikilink_target
from prosa.regex import regex
from prosa.source import Span
from prosa.source.text import Edit, apply_edits

Kind: TypeAlias = Literal["node", "picture", "file", "missing", "text"]
"""`missing` has no target that may be shown, for any reason (X23); `text` is no wikilink, or one that cannot be
resolved yet, and stays unchanged."""


class Wiki(NamedTuple):
    """The target of a wikilink; ``url`` is the link for a page or an agent, empty for the last two kinds."""

    kind: Kind
    url: str = ""


WikiHref = Callable[[str], Wiki]
"""From what stands between the brackets, without a label, to where it leads."""

AS_WRITTEN = Wiki("text")
MISSING = Wiki("missing")

_SIZE = regex(r"([1-9][0-9]{0,3})(?:x([1-9][0-9]{0,3}))?")
_BRACKET = regex(r"\\.|[\[\]]", re.DOTALL)
_MARKS = str.maketrans({char: f"\\{char}" for char in "\\[]`<"})
_PARENTHESES = str.maketrans({"(": "%28", ")": "%29"})


def as_written(_: str) -> Wiki:
    """Return every wikilink as its author wrote it."""
    return AS_WRITTEN


def fragment_of(part: str | None, anchor_of: Callable[[str], str | None] = lambda _: None) -> str:
    """Return the fragment of a URL that leads to a heading, of `a#b` to the last one, or to a block `^id`.
    ``anchor_of`` gives the anchor of a heading of the target by any of its names."""
    if not part:
        return ""
    name = part.rpartition("#")[2].strip()
    if name.startswith("^"):
        return f"#{quote(name)}"
    written = slug(" ".join(name.split()))
    anchor = anchor_of(written) or written
    return f"#{quote(anchor, safe=':_-.~')}" if anchor else ""


def name_of(written: str) -> str:
    """Return what a wikilink without a label is called: `a#b` is `a > b`, `#b` is `b`."""
    target, part = wikilink_target(written)
    return " > ".join(heading for heading in (target, *(name.strip() for name in (part or "").split("#"))) if heading)


def size_of(label: str) -> tuple[str, str] | None:
    """Return the width and height of `300` or `300x200`, the height empty if absent; None for another label."""
    match = _SIZE.fullmatch(label.strip())
    return (match[1], match[2] or "") if match else None


def block_names(text: str) -> Iterator[re.Match[str]]:
    """Return where lines of a text end with the name of a block, ` ^id`; group 1 is the id."""
    return NAMED_BLOCK.finditer(text)


def part_of(document: Document, part: str) -> Span | None:
    """Return what a fragment means: a heading with what stands under it, or a block; None where there is none of that
    name."""
    name = part.rpartition("#")[2].strip()
    if name.startswith("^"):
        return _block(document, name[1:])
    number = heading_named(document.heading_names, slug(" ".join(name.split())))
    section = document.sections[number] if number is not None else None
    return section.span if section is not None and not section.heading.nested else None


def _block(document: Document, name: str) -> Span | None:
    """Return the block that ends with the name: the quotation around it, else the smallest item or paragraph; a name
    alone belongs to what stands above it."""
    text = document.source.text
    paragraphs = [paragraph.span for paragraph in document.paragraphs]
    for match in block_names(text):
        if match[1].casefold() != name.casefold() or document.in_code(match.start()):
            continue
        at = match.end() - 1
        spans = [item for item in (*document.items, *paragraphs) if at in item]
        block = next((span for span in document.quotes if at in span), min(spans, key=len, default=None))
        if block is None or text[block.start : block.end].strip() != match[0].strip():
            return block
        above = (*document.lists, *document.quotes, *paragraphs)
        return max((span for span in above if span.end <= block.start), key=lambda span: span.end, default=None)
    return None


def as_markdown(document: Document, wiki: WikiHref, *, vault: bool) -> list[Edit]:
    """Ordinary links in the place of wikilinks (HA22): `[[Beta|the page]]` is `[the page](/Beta)`, a picture is shown,
    another embed is a link. In a vault what leads nowhere becomes its label; elsewhere it stays as written, since
    brackets may be anything there."""
    edits: list[Edit] = []
    done = 0
    for link in document.wikilinks:
        if link.span.start >= done and (text := _markdown(link, wiki(_written(link)), vault=vault)) is not None:
            edits.append(Edit(link.span, text))
            done = link.span.end
    return edits


def _written(link: Wikilink) -> str:
    return link.target if link.fragment is None else f"{link.target}#{link.fragment}"


def _markdown(link: Wikilink, wiki: Wiki, *, vault: bool) -> str | None:
    name = name_of(_written(link))
    if wiki.kind == "text" or (wiki.kind == "missing" and not vault):
        return None
    label = (link.label or "").strip()
    if wiki.kind == "missing":
        return label if label and not (link.embed and size_of(label)) else name.translate(_MARKS)
    url = wiki.url.translate(_PARENTHESES)
    if link.embed and wiki.kind == "picture":
        alt = "" if size_of(label) else label
        return f"![{_bracketed(alt) or name.translate(_MARKS)}]({url})"
    return f"[{_bracketed(label) or name.translate(_MARKS)}]({url})"


def _bracketed(label: str) -> str:
    """Return a label that no bracket in it can end."""
    one_line = " ".join(label.split())
    shown = _BRACKET.sub(lambda match: match[0] if match[0].startswith("\\") else f"\\{match[0]}", one_line)
    return shown if (len(shown) - len(shown.rstrip("\\"))) % 2 == 0 else f"{shown}\\"


def with_links(document: Document, wiki: WikiHref, *, vault: bool) -> str:
    """Return the whole text of a document with ordinary links."""
    return apply_edits(document.source.text, as_markdown(document, wiki, vault=vault))
