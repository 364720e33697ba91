"""The piece of a section that shows why it was found: one line of plain text with the places that matched.

In: the source text of a section and the offsets of what matched in it. Out: a `Snippet`. Markup is left out for the eye
only: no meaning is drawn from it, so it is found by its look and not by parsing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

MAX_SNIPPET = 180
"""Characters of a snippet: two lines of a terminal."""

_BEFORE = 40
"""Characters shown in front of the first match."""

_REACH_BEFORE, _REACH = MAX_SNIPPET, 3 * MAX_SNIPPET
"""Characters of source looked at on either side: links and fences may leave little of them."""

MAX_MARKS = 500
"""Matches of one section that are considered; the best piece is near the first ones."""

_LEFT_OUT = re.compile(
    r"""<!--.*?(?:-->|\Z)                                  # comments
      | ^[ \t]{0,3}(?:`{3,}|~{3,})[^\n]*$                  # fences
      | ^[ \t]*\[\^[^\]\n]+\]:[ \t]*                       # what opens a footnote
      | ^[ \t|:-]{3,}+$ | ^[ ]{0,3}=+[ \t]*$              # rules, the second line of tables and of headings
      | ^[ \t]*(?:>[ \t]?)+ | ^[ \t]*\#{1,6}(?=[ \t])      # quotations, headings
      | ^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t])?   # items of lists
      | \[\^[^\]\n]+\]                                     # footnotes
      | !?\[(?=[^\[\]]{0,200}\][(\[]) | \]\[[^\[\]\n]*\]                              # links
      | \]\((?:<[^<>\n]*>|(?:[^()<\s]|\([^()\s]*\))*)(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'))?(?:\)|\Z)
      | \[\[(?:[^\]|\n]*\|)? | \]\]                        # wikilinks
      | </?[A-Za-z][^<>\n]{0,200}>                         # HTML
      | (?<!\w)[*_]{1,3}(?=\S) | (?<=\S)[*_]{1,3}(?!\w) | \*{2,} | `+   # emphasis, code
      | (?P<blank>[^\S\n]*\n+ | [^\S\n]{2,} | [^\S\n ] | \|)   # blanks but a single space, what parts cells
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)

_BLANK = re.compile(r"\s")
_HIDDEN = re.compile(r"(?:\]\((?:<[^<>\n]*|[^()\s]*)|</?[A-Za-z][^<>\n]*|<!--[^>]*)\Z")
_URL = 200
"""Characters in front of a match in which a destination or a tag would begin."""

Mark = tuple[int, int]


class Snippet(NamedTuple):
    """``text`` has no line end; ``marks`` are offsets in it; ``at`` is the offset in the section of its first mark, or
    of the section itself where nothing in its text matched."""

    text: str
    marks: tuple[Mark, ...]
    at: int


def snippet(text: str, marks: Sequence[Mark] = (), *, heading: bool = True) -> Snippet:
    """The densest piece of ``text`` around ``marks``, which are in order and apart.

    ``heading`` says that the first line is the heading of the section, which people see elsewhere: it is left out where
    the rest has something to show.
    """
    body = _end_of_first_line(text) if heading else 0
    below = _seen(text, [mark for mark in marks[:MAX_MARKS] if mark[0] >= body])
    if below:
        return _piece(text, body, below[_densest(text, below)][0], below)
    shown = _piece(text, body, body, ())
    if not shown.text:
        shown = _piece(text, 0, marks[0][0] if marks else 0, marks)
    return shown._replace(at=marks[0][0] if marks else 0)


def _end_of_first_line(text: str) -> int:
    found = re.search(r"\r\n|\n|\r", text)
    return found.end() if found else len(text)


def _seen(text: str, marks: Sequence[Mark]) -> Sequence[Mark]:
    """The matches outside of destinations and tags, all of them where there are no others: a URL says little."""
    return [mark for mark in marks if not _HIDDEN.search(text, max(0, mark[0] - _URL), mark[0])] or marks


def _densest(text: str, marks: Sequence[Mark]) -> int:
    """The mark after which most different matches follow within a snippet; the first one of equals."""
    best, most = 0, 0
    for first, (start, _) in enumerate(marks):
        near = set()
        for low, high in marks[first : first + 12]:
            if high - start > MAX_SNIPPET - _BEFORE:
                break
            near.add(text[low:high].casefold())
        if len(near) > most:
            best, most = first, len(near)
    return best


def _piece(text: str, floor: int, at: int, marks: Sequence[Mark]) -> Snippet:
    """Plain text from a little before ``at``, not before ``floor``, at most `MAX_SNIPPET` characters."""
    low, high = max(floor, at - _REACH_BEFORE), min(len(text), at + _REACH)
    inside = [(start, min(end, high)) for start, end in marks if low <= start < high]
    kept = _plain(text[low:high], [(start - low, end - low) for start, end in inside])
    plain = "".join(kept.parts).rstrip()
    begin = _cut_before(plain, min(kept.place(at - low), max(0, len(plain) - MAX_SNIPPET + 2 + _BEFORE)))
    lead = "…" if plain and (begin or low > floor) else ""
    shown = plain[begin : begin + MAX_SNIPPET - len(lead) - 1]
    if begin + len(shown) < len(plain):
        shown = _cut_after(shown, kept.place(at - low) - begin)
    tail = "…" if shown and (begin + len(shown) < len(plain) or high < len(text)) else ""
    found: list[Mark] = []
    for start, end in inside:
        first, last = kept.place(start - low) - begin, min(kept.place(end - low) - begin, len(shown))
        if 0 <= first < last:
            at = at if found else start
            found.append((first + len(lead), last + len(lead)))
    return Snippet(f"{lead}{shown}{tail}", tuple(found), at)


def _plain(window: str, marks: Sequence[Mark]) -> _Kept:
    """A text without markup, blanks as one space. Markup that was matched stays, unless it is an address or a tag."""
    window = window.replace("\r", "\n")
    kept = _Kept()
    at = 0
    for match in _LEFT_OUT.finditer(window):
        start, end = match.span()
        if match["blank"] is not None:
            kept.add(at, window[at:start])
            kept.blank(start)
            at = end
        elif _is_address(match[0]) or not any(first < end and start < last for first, last in marks):
            kept.add(at, window[at:start])
            at = end
    kept.add(at, window[at:])
    return kept


def _is_address(markup: str) -> bool:
    return markup.startswith(("](", "][")) or (markup.startswith("<") and not markup.startswith("<!"))


class _Kept:
    """What is left of a text, and where each piece of it came from."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._from: list[int] = []
        self._to: list[int] = []
        self._length = 0

    def add(self, at: int, piece: str) -> None:
        """Keeps a piece that stood at an offset, without a space at its begin where there is one, or nothing."""
        if piece.startswith(" ") and not (self.parts and not self.parts[-1].endswith(" ")):
            at, piece = at + 1, piece[1:]
        if piece:
            # Blanks stand in a piece only where it is markup that matched.
            self.parts.append(_BLANK.sub(" ", piece))
            self._from.append(at)
            self._to.append(self._length)
            self._length += len(piece)

    def blank(self, at: int) -> None:
        """Keeps a space, unless one is there or nothing is."""
        self.add(at, " ")

    def place(self, offset: int) -> int:
        """Where a character has come to; one that was left out, where the next one has."""
        index = bisect_right(self._from, offset) - 1
        if index < 0:
            return 0
        return self._to[index] + min(offset - self._from[index], len(self.parts[index]))


def _cut_before(plain: str, at: int) -> int:
    """Where a snippet begins that shows what is at ``at``: after a blank if one is near."""
    start = max(at - _BEFORE, 0)
    blank = plain.find(" ", start, at)
    return start if start == 0 or blank < 0 else blank + 1


def _cut_after(shown: str, keep: int) -> str:
    """A text that goes on, cut behind a word if one ends after ``keep``."""
    blank = shown.rfind(" ")
    return shown[:blank] if blank >= max(keep, len(shown) - 30) else shown
