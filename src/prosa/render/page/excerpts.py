"""Embedded documents, quoted on the page that embeds them; and texts without the comments of Obsidian.

In: a text and what it may quote. Out: pieces of clean HTML. Each quoted text is rendered and cleaned separately, with
its own key, and replaces a placeholder that no author can write; so is highlighted code. Depth, number and size are
bounded, and a document is not quoted inside itself: beyond the limits there is a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from msgspec import Struct, field

from prosa.document import Document, parse
from prosa.document.walk import encodable
from prosa.render.page.clean import cleaner
from prosa.render.page.highlight import MAX_PAGE as MAX_COLOURED
from prosa.render.page.highlight import can_be_coloured, highlighted
from prosa.render.page.model import Excerpt, Page, link_url
from prosa.render.page.state import Piece, Unseen, Written, uncoloured
from prosa.render.page.writer import key_of, write
from prosa.source import SourceText

MAX_DEPTH = 4
"""Quotations inside quotations."""

MAX_QUOTES = 100
"""Maximum number of quoted documents on one page, inner ones counted."""

MAX_LOOKS = 200
"""Maximum number of embeds on one page that are tried."""

MAX_QUOTED = 512 * 1024
"""Characters that one page quotes."""

_COMMENT = "%%"


class Budget(Struct):
    """What a page may still quote, and how many characters of its code may still be coloured."""

    quotes: int = MAX_QUOTES
    looks: int = MAX_LOOKS
    characters: int = MAX_QUOTED
    code: int = MAX_COLOURED


class Quoting(Struct):
    """The quotations of one text. ``path`` is its document, ``above`` those that it is quoted in."""

    path: str
    above: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)
    done: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)

    def coloured(self, text: str, language: str) -> int:
        """Return the number of a block in ``code``; -1 where it has no colours, or the page has no more of them."""
        if len(text) > self.budget.code or not can_be_coloured(text, language):
            return -1
        self.budget.code -= len(text)
        self.code.append(highlighted(text, language))
        return len(self.code) - 1

    def html_of(self, page: Page, written: str) -> str:
        """Return the quotation of what an embed names; empty where a link must do."""
        budget = self.budget
        if len(self.above) >= MAX_DEPTH or budget.quotes <= 0 or budget.looks <= 0:
            return ""
        budget.looks -= 1
        excerpt = page.excerpt(written)
        if excerpt is None or excerpt.path in (*self.above, self.path) or len(excerpt.span) > budget.characters:
            return ""
        budget.quotes -= 1
        budget.characters -= len(excerpt.span)
        inner = Quoting(excerpt.path, (*self.above, self.path), budget)
        scope = f"{len(self.above)}.{budget.quotes}:"
        _, cleaned = with_quotes(excerpt.page, text_of(excerpt), inner, scope=scope)
        return _quotation(excerpt, "".join(piece for piece in cleaned if isinstance(piece, str)))


def with_quotes(
    page: Page,
    text: str,
    quoting: Quoting,
    *,
    anchors: Iterable[str] = (),
    unseen: Unseen | None = None,
    scope: str = "",
) -> tuple[Written, Iterator[Piece]]:
    """Return a text as written, and its pieces clean, with its quotations."""
    mark, code_mark = f"{key_of(text)}quote:", f"{key_of(text)}code:"

    def quote(written: str) -> str:
        made = quoting.html_of(page, written)
        if not made:
            return ""
        quoting.done.append(made)
        return f"{mark}{len(quoting.done) - 1};"

    def coding(text: str, language: str) -> str:
        number = quoting.coloured(text, language)
        return uncoloured(text, language) if number < 0 else f"{code_mark}{number};"

    written = write(
        text,
        link=page.link,
        embed=page.embed,
        wiki=page.wiki,
        quote=quote,
        coding=coding,
        vault=page.vault,
        blocks=page.blocks,
        quoted=bool(quoting.above),
        anchors=anchors,
        unseen=unseen,
        scope=scope,
    )
    clean = cleaner(written.key, page.link, page.embed)

    def cleaned(piece: Piece) -> Piece:
        if not isinstance(piece, str):
            return piece
        made = clean(piece)
        if code_mark in made:
            made = re.sub(rf"{code_mark}(\d+);", lambda match: quoting.code[int(match[1])], made)
        return _filled(made, mark, quoting.done) if mark in made else made

    return written, map(cleaned, written.pieces)


def _filled(html: str, mark: str, quotations: Sequence[str]) -> str:
    """Clean HTML with the quotations in the place of their marks."""
    return re.sub(rf"^{mark}(\d+);$", lambda match: quotations[int(match[1])], html, flags=re.MULTILINE)


def _quotation(excerpt: Excerpt, inside: str) -> str:
    title, url = escape(excerpt.title), escape(link_url(excerpt.url))
    return (
        f'<blockquote class="embed"><p class="from"><a href="{url}">{title}</a></p>\n'
        f'<div class="quoted">{inside}</div></blockquote>'
    )


def text_of(excerpt: Excerpt) -> str:
    """Return the text of an excerpt, with the link definitions of its document where it is a part of it."""
    document, span = excerpt.document, excerpt.span
    whole = span == document.body
    if excerpt.page.vault and _COMMENT in document.source.text:
        text = _uncommented(document)[span.start : span.end].replace("\0", "")
    else:
        text = document.source.slice(span)
    if whole:
        return text
    return "\n".join((text, "", *(document.source.slice(definition.span) for definition in document.definitions)))


def without_comments(document: Document) -> Document:
    """Return the document without what stands between `%%` and `%%` outside of code; itself where there is nothing."""
    if _COMMENT not in document.source.text:
        return document
    text = _uncommented(document)[document.body.start : document.body.end].replace("\0", "")
    return parse(SourceText(encodable(text), document.source.path))


def _uncommented(document: Document) -> str:
    """Return the source with NUL for every character of a comment, so that spans stay good."""
    text = document.source.text
    marks = [at for at in _marks(text, document.body.start) if not document.in_code(at)]
    pieces: list[str] = []
    done = 0
    for start, end in zip(marks[::2], marks[1::2], strict=False):
        pieces += (text[done:start], "\0" * (end + len(_COMMENT) - start))
        done = end + len(_COMMENT)
    return "".join((*pieces, text[done:]))


def _marks(text: str, at: int) -> Iterator[int]:
    while (at := text.find(_COMMENT, at)) >= 0:
        yield at
        at += len(_COMMENT)
