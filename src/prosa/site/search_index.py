"""The search index of a static site, for a script that finds pages by words, small enough to be loaded at once.

In: the pages with their sections, as plain text. Out: plain data. Words lead to pages, headings to places in them.
Words on many pages are not distinctive: the most common ones are left out until the index is small enough.

    pages   [[title, path], …]
    heads   for each page [heading, …], or [heading, anchor] where the anchor is not the heading in small letters
    words   sorted, each as how much of the one before it repeats (base 36) and the rest
    places  for each word the numbers of its pages: differences in base 36 with commas
    common  words that were left out
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import commonprefix
from string import ascii_lowercase, digits

from msgspec import Struct

from prosa.data import Value
from prosa.regex import regex

MOST = 150_000
"""Maximum bytes of an index, unless a site has so many pages that each of them has fewer than `EACH`."""

EACH = 330
_SHARES = (0.25, 0.12, 0.06, 0.03, 0.015, 0.008)
"""Words that more than such a share of the pages has are left out, the first that is small enough."""

_FEW = 8
"""Maximum number of pages for a word, whatever their share."""

_COMMON_HEADING = 20
"""Pages that a heading may be on: one that is on more leads nowhere in particular."""

_LONGEST = 24
_WORD = regex(r"[^\W_]+")
_CJK = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_NOT_IN_ANCHOR = regex(r"[^a-z0-9_ -]")
_DIGITS = digits + ascii_lowercase


class IndexedSection(Struct, frozen=True):
    """A part of a page as plain text; the heading and the anchor of what stands above the first heading are empty."""

    heading: str
    anchor: str
    text: str


class IndexedPage(Struct, frozen=True):
    """A page: its title, its path below the root, its sections."""

    title: str
    path: str
    sections: tuple[IndexedSection, ...]


def search_index(pages: Sequence[IndexedPage]) -> Value:
    """Return the index as data; what makes it too large is left out."""
    most = max(MOST, EACH * len(pages))
    heads = _heads(pages)
    base: dict[str, Value] = {"pages": [[page.title, page.path] for page in pages], "heads": heads}
    room = most - len(json.dumps(base, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    where = _places(pages)
    for share in _SHARES:
        kept = {word: on for word, on in where.items() if len(on) <= max(share * len(pages), _FEW)}
        words, places = _coded(kept)
        common = " ".join(sorted(where.keys() - kept.keys()))
        if len(words.encode()) + len(places) + len(common.encode()) <= room:
            return {**base, "words": words, "places": places, "common": common}
    return {**base, "words": "", "places": "", "common": ""}


def words_of(text: str) -> Iterator[str]:
    """Yield the words that a text is found by, each once, in small letters without accents; where no spaces are
    written, pairs of letters."""
    for word in dict.fromkeys(_WORD.findall((text if text.isascii() else _folded(text)).lower())):
        run = None if word.isascii() else _CJK.search(word)
        if run is not None:
            yield from (run[0][at : at + 2] for at in range(max(len(run[0]) - 1, 1)))
        elif 1 < len(word) <= _LONGEST and not word.isdigit():
            yield word


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text)
    marks = {ord(char): None for char in set(plain) if char > "\u02ff" and unicodedata.category(char).startswith("M")}
    return unicodedata.normalize("NFC", plain.translate(marks) if marks else plain)


def _places(pages: Sequence[IndexedPage]) -> Mapping[str, list[int]]:
    """Return the pages that each word is on."""
    by_word: dict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        texts = (page.title, *(text for section in page.sections for text in (section.heading, section.text)))
        for word in set(words_of("\n".join(texts))):
            by_word[word].append(number)
    return by_word


def _heads(pages: Sequence[IndexedPage]) -> list[Value]:
    """Return the headings of each page that distinguish it from others, without its title."""
    common = Counter(heading for page in pages for heading in {section.heading for section in page.sections})
    return [
        [
            _head(section)
            for section in page.sections
            if _leads(section, page.title) and common[section.heading] <= _COMMON_HEADING
        ]
        for page in pages
    ]


def _leads(section: IndexedSection, title: str) -> bool:
    return bool(section.heading and section.anchor) and section.heading != title


def _head(section: IndexedSection) -> Value:
    plain = _NOT_IN_ANCHOR.sub("", section.heading.lower()).replace(" ", "-")
    is_plain = section.heading.isascii() and plain == section.anchor
    return section.heading if is_plain else [section.heading, section.anchor]


def _coded(where: Mapping[str, Iterable[int]]) -> tuple[str, str]:
    """Return the words and their pages as two texts."""
    words: list[str] = []
    places: list[str] = []
    before = ""
    for word in sorted(where):
        same = len(commonprefix((word, before)))
        words.append(f"{_DIGITS[same]}{word[same:]}")
        places.append(",".join(_steps(where[word])))
        before = word
    return " ".join(words), " ".join(places)


def _steps(numbers: Iterable[int]) -> Iterator[str]:
    last = 0
    for number in numbers:
        yield _base36(number - last)
        last = number


def _base36(number: int) -> str:
    text = _DIGITS[number % 36]
    while number >= 36:
        number //= 36
        text = _DIGITS[number % 36] + text
    return text
