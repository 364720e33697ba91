"""What the writing of a text needs to know: what a reader does not see, and where the writing stands.

Plain values; `writer` decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field

from prosa.dialects.magi.model import Script
from prosa.regex import regex
from prosa.render.page.model import Href
from prosa.site.wikilinks import WikiHref, as_written

if TYPE_CHECKING:
    from prosa.document.events import Detail, LinkTag

MAX_TAGS = 2_000
"""Tags of raw HTML that count as such in one text: a parser needs time in the square of how deep they nest."""

_TAG = regex(
    r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*+)"
    r"(?P<rest>(?:\s++[A-Za-z_:][\w:.-]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'=<>`]++))?)*+\s*+/?)>|<"
)
_PLAIN = """title textarea style xmp iframe noembed noframes script plaintext noscript select template svg math frameset
    object embed form"""
_PLAIN_TEXT = frozenset(_PLAIN.split())
_FORMATTING = frozenset({"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"})
"""A browser opens these again in every paragraph until they are closed, each with its attributes."""

_NO_ADDRESS = frozenset({"a", "code", "kbd", "pre", "samp"})


class RawHtml(Struct):
    """Reads the pieces of one text in order; ``left`` is the number of tags still allowed. ``links`` counts the open
    tags in which an address is no link, ``tables`` those of tables: the outermost one scrolls in a box of its own,
    whose attributes begin with the ``key``."""

    key: str = ""
    left: int = MAX_TAGS
    links: int = 0
    tables: int = 0

    def read(self, text: str) -> str:
        """Return a piece as it goes to the cleaner."""
        return _TAG.sub(self._tag, _without_comments(text))

    def _tag(self, match: re.Match[str]) -> str:
        name = (match["name"] or "").lower()
        self.left -= 1
        if not name or name in _PLAIN_TEXT or self.left < 0:
            return f"&lt;{match[0][1:]}"
        if name in _NO_ADDRESS:
            self.links = max(self.links + (-1 if match["close"] else 1), 0)
        if name == "table":
            return self._table(match)
        return f"<{match['close']}{name}>" if name in _FORMATTING else match[0]

    def _table(self, match: re.Match[str]) -> str:
        if not match["close"]:
            self.tables += 1
            return match[0] if self.tables > 1 else f'<div class="{self.key}scroll" tabindex="{self.key}0">{match[0]}'
        self.tables -= self.tables > 0
        return match[0] if self.tables else f"{match[0]}</div>"


def _without_comments(text: str) -> str:
    kept: list[str] = []
    done = 0
    while (start := text.find("<!--", done)) >= 0 and (end := text.find("-->", start + 2)) >= 0:
        kept.append(text[done:start])
        done = end + 3
    return "".join((*kept, text[done:]))


Quote: TypeAlias = Callable[[str], str]
"""From what an embed names to what stands for the quoted text in its place; empty where only a link may."""


def no_quote(_: str) -> str:
    """Nothing is quoted."""
    return ""


Coding: TypeAlias = Callable[[str, str], str]
"""From the text of a block of code and its language to the HTML between its tags."""


def uncoloured(text: str, _: str) -> str:
    """Return the text alone."""
    return escape(text, quote=False)


Piece: TypeAlias = "str | Script"
"""HTML, or a script in place of its block."""


class Unseen(Struct, frozen=True):
    """The parts of a text that a reader does not see. ``held`` are numbers of fenced blocks, each with the script that
    a reader may start there, or None; ``notes`` are numbers of footnote definitions, ``labels`` those whose references
    are hidden too."""

    held: Mapping[int, Script | None] = field(default_factory=dict)
    notes: frozenset[int] = frozenset()
    labels: frozenset[str] = frozenset()


class Written(Struct, frozen=True):
    """``pieces`` in order; ``titled`` is true if the first of them is just a heading of level 1."""

    key: str
    pieces: tuple[Piece, ...]
    titled: bool


class State(Struct):
    """The state of the writer. ``out`` is the open buffer, ``below`` those that it interrupts.

    ``vault`` enables Obsidian's notations. ``named`` are ids of blocks that others point at, ``blocks`` those so far;
    in a text that another one ``quoted`` they are no anchors. ``paragraph`` is where in ``out`` the open paragraph
    begins, -1 outside one; ``phrase`` counts open elements that can hold no block; ``split`` is true if the open
    paragraph has one. ``block`` is the text of an open block of code, None outside one, and ``code`` whether it is
    held, its language and its file. ``heading`` is the level of an open heading, its anchor, and whether it is the
    first of all. ``around`` are the details of open blocks around others, ``columns`` those of a table; ``linked`` are
    open links, of which only wikilinks are needed at their ends, ``pictured`` open images.
    """

    key: str
    embed: Href
    link: Href
    unseen: Unseen
    anchors: Iterator[str]
    scope: str
    wiki: WikiHref = as_written
    quote: Quote = no_quote
    coding: Coding = uncoloured
    vault: bool = False
    named: frozenset[str] = frozenset()
    quoted: bool = False
    blocks: set[str] = field(default_factory=set)
    paragraph: int = -1
    phrase: int = 0
    split: bool = False
    block: list[str] | None = None
    raw: RawHtml = field(default_factory=RawHtml)
    out: list[str] = field(default_factory=list)
    below: list[list[str]] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    waiting: list[Piece] = field(default_factory=list)
    heading: tuple[str, str, bool] = ("", "", False)
    code: tuple[bool, str, str] = (False, "", "")
    around: list[Detail] = field(default_factory=list)
    columns: tuple[str, ...] = ()
    linked: list[LinkTag | None] = field(default_factory=list)
    pictured: list[LinkTag] = field(default_factory=list)
    depth: int = 0
    fences: int = 0
    defined: int = 0
    headed: bool = False
    titled: bool = False
    in_head: bool = False
    cell: int = 0
    links: int = 0
    numbers: dict[str, int] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)

    def push(self) -> None:
        """Open a buffer of its own for what follows."""
        self.below.append(self.out)
        self.out = []

    def pop(self) -> str:
        """Return what that buffer holds; the one below is open again."""
        text = "".join(self.out)
        self.out = self.below.pop()
        return text

    def flush(self) -> None:
        """End a piece: between two outermost blocks, never inside one."""
        if self.out:
            self.pieces.append("".join(self.out))
            self.out = []
        self.pieces += self.waiting
        self.waiting = []
