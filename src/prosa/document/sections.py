"""Sections: what stands under each heading, and the anchor GitHub gives it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prosa.document.model import Heading, Section
from prosa.regex import regex
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.document.parsed import Parsed

_LEVELS = 7
_SILENT = regex(r"[\W_]+")
_WORD = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Pc"})


def sections(parsed: Parsed, headings: Sequence[Heading], names: Sequence[str], body: Span) -> tuple[Section, ...]:
    """One section per heading, in document order, with its anchor."""
    made: list[Section] = []
    ends = _ends(parsed, headings, body.end)
    for heading, anchor, end in zip(headings, names, ends, strict=True):
        made.append(Section(heading, Span(heading.span.start, max(end, heading.span.end)), heading.level, anchor))
    return tuple(made)


def _ends(parsed: Parsed, headings: Sequence[Heading], end: int) -> list[int]:
    """Where each section ends, found from the last heading to the first.

    Headings of one outermost block, or of none, are a sequence of their own.
    """
    ends: list[int] = []
    top, inner = [end] * _LEVELS, [end] * _LEVELS
    block = None
    for heading, found in zip(reversed(headings), reversed(parsed.found.headings), strict=True):
        nexts = top
        if found.outer is not None:
            if found.outer["start"] != block:
                block = found.outer["start"]
                inner = [parsed.block(found.outer).end] * _LEVELS
            nexts = inner
        ends.append(nexts[heading.level])
        nexts[heading.level :] = [heading.span.start] * (_LEVELS - heading.level)
    return ends[::-1]


def anchors(texts: Sequence[str]) -> list[str]:
    """The anchors of headings in order; the second of two equal ones gets `-1`, and so on."""
    used: dict[str, int] = {}
    return [_unique(slug(text), used) for text in texts]


def slug(text: str) -> str:
    """Lower case, without punctuation and symbols, a hyphen for every space."""
    return text.strip().lower().translate(_ANCHORED)


def sounding(anchor: str) -> str:
    """The letters and digits of an anchor or a heading, without accents: generators differ in all the rest."""
    return _SILENT.sub("", unicodedata.normalize("NFKD", anchor.casefold()))


class _Anchored(dict[int, str]):
    """What becomes of each character. Outside ASCII letters, marks, decimal digits and what connects words stay,
    everything else goes; a character is looked up once."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = kept = char if not char.isascii() and unicodedata.category(char) in _WORD else ""
        return kept


_ANCHORED = _Anchored({ord(char): char for char in "abcdefghijklmnopqrstuvwxyz0123456789_-"} | {ord(" "): "-"})


def _unique(name: str, used: dict[str, int]) -> str:
    anchor = name
    while anchor in used:
        used[name] += 1
        anchor = f"{name}-{used[name]}"
    used[anchor] = 0
    return anchor
