"""The names by which links reach headings, and how they are derived.

In: what a reader sees of headings. Out: the anchors that GitHub gives them. No document is needed for it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from prosa.regex import regex

if TYPE_CHECKING:
    from prosa.document.model import Section

T = TypeVar("T")

_DIGITS = "0123456789"
_SILENT = regex(r"[\W_]+")
_WORD = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Pc"})


def anchors(texts: Sequence[str]) -> list[str]:
    """Return the anchors of headings in order; the second of two equal ones gets `-1`, and so on."""
    return [*anchors_of(tuple(texts))]


@lru_cache(maxsize=4)
def anchors_of(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the same. Those of the last texts are kept: few changes in an editor touch a heading."""
    used: dict[str, int] = {}
    return tuple([_unique(slug(text), used) for text in texts])


def slug(text: str) -> str:
    """Lower case, without punctuation and symbols, a hyphen for every space."""
    low = text.strip().lower()
    if (joined := low.replace(" ", "")).isalnum() and joined.isascii():  # as most
        return low.replace(" ", "-")
    return low.translate(_ANCHORED)


def sounding(anchor: str) -> str:
    """Return the letters and digits of an anchor or a heading, without accents: generators differ in all the rest."""
    return _SILENT.sub("", unicodedata.normalize("NFKD", anchor.casefold()))


def heading_names(headings: Iterable[tuple[str, str, str]]) -> dict[str, int]:
    """Return the number of the heading that a fragment means, by its anchor with `#` in front, and by its letters and
    digits as rules compare them, also without the number that some generators leave out. ``headings`` are anchor, text
    as it is seen, and text as it is written: Obsidian names a heading with the target of a wikilink in it."""
    numbers: dict[str, int] = {}
    for number, (anchor, plain, written) in enumerate(headings):
        sound = sounding(anchor)
        own = [sound, sound.lstrip(_DIGITS), sounding(plain), *([sounding(written)] if "[[" in written else [])]
        for name in (f"#{anchor}", *own):
            numbers.setdefault(name, number)
    for name in ("#", ""):
        numbers.pop(name, None)
    return numbers


def heading_named(names: Mapping[str, T], fragment: str) -> T | None:
    """Return the heading that a fragment means among some `heading_names`; None where there is none."""
    wanted = fragment.removeprefix("user-content-")
    number = names.get(f"#{wanted}")
    return number if number is not None or wanted.startswith("^") else names.get(sounding(wanted))


def section_number(sections: Sequence[Section], fragment: str) -> int | None:
    """Return the number of the section that a fragment means; None where there is none."""
    wanted = fragment.removeprefix("user-content-")
    for number, section in enumerate(sections):
        if section.anchor and section.anchor == wanted:
            return number
    written = ((section.anchor, section.heading.plain, section.heading.text) for section in sections)
    return None if wanted.startswith("^") else heading_named(heading_names(written), wanted)


class _Anchored(dict[int, str]):
    """The replacement of each character. Outside ASCII, letters, marks, decimal digits and connecting punctuation
    stay, everything else is removed; each character is looked up once."""

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
