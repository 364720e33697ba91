"""The sections of a record in its text: where the footer is (Y9, YA8–YA10), the bytes of the body (YA3, Y18), and the
card catalog, the summary in the first two lines (Y4, YA5, YA6, Y26).

The footer is the last block, if that is a JSON fence. The scan runs backwards: the last line with anything on it must
close the fence, and the nearest line above it that looks like a fence must open it. A line of JSON never begins with
three backticks, so no example in the body can be mistaken for the footer, whatever fences it holds. The JSON is not
parsed here.

The body is hashed with LF for every line end, and nothing trimmed. Other tools hash the stripped form; a hash of that
form keeps it when updated, and a new hash never uses it.

The catalog reads no further than it must, so it does not know whether the rest of the record is well-formed. A summary
is compared with the words of the body, without a model: it diverges only if its topic differs altogether.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from prosa.data import Mapping, Scalar, read_yaml
from prosa.dialects.words import words
from prosa.regex import regex
from prosa.source import Span
from prosa.source.files import sha256

_FENCE = regex(r" {0,3}(`{3,}+|~{3,}+)[^\r\n]*+")
_OPEN = regex(r" {0,3}(?P<run>`{3,}|~{3,})[ \t]*json[ \t]*", re.IGNORECASE)
_CLOSE = regex(r" {0,3}(?P<run>`{3,}|~{3,})[ \t]*")
_LINE = regex(r"[^\r\n]*")
_RUNS = ("```", "~~~")
_BLANK = " \t\r\n"

CANONICAL_OPEN = "```json"
CANONICAL_CLOSE = "```"


class FooterPlace(Struct, frozen=True):
    """A JSON fence. ``open`` and ``close`` cover the fence lines without their line ends, ``content`` the text between
    them. ``closed`` is False if the text ends first; ``tail`` is the text after it, blank for a valid footer."""

    open: Span
    content: Span
    close: Span
    tail: Span
    closed: bool = True

    def is_canonical(self, text: str) -> bool:
        """Return whether both fence lines are exactly as Strict form requires."""
        return self.open.of(text) == CANONICAL_OPEN and self.close.of(text) == CANONICAL_CLOSE


def find_footer(text: str, after: Span) -> FooterPlace | None:
    """Return the last JSON fence of the record when no other fence and no closing line follows it, else None.

    It is a valid footer if ``closed`` is true and ``tail`` is blank.
    """
    lines = _fence_lines(text, after)
    last = next(lines, None)
    if last is None:
        return None
    if _OPEN.fullmatch(last.of(text)):
        end = Span(after.end, after.end)
        return FooterPlace(last, Span(_next_line(text, last.end), after.end), end, end, closed=False)
    before = next(lines, None)
    if before is None or not _pair(before.of(text), last.of(text)):
        return None
    content = Span(_next_line(text, before.end), last.start)
    return FooterPlace(before, content, last, Span(last.end, after.end))


def _pair(opening: str, closing: str) -> bool:
    """Return whether two lines open and close one JSON fence; a run that closes may be shorter than the one that
    opens."""
    first, last = _OPEN.fullmatch(opening), _CLOSE.fullmatch(closing)
    return first is not None and last is not None and first["run"][0] == last["run"][0]


def _fence_lines(text: str, within: Span) -> Iterator[Span]:
    """Yield the lines that look like a fence, the last one first. Each kind of run is searched once per place."""
    at = {run: text.rfind(run, within.start, within.end) for run in _RUNS}
    while (place := max(at.values())) >= 0:
        start = _line_start(text, place, within.start)
        line = _LINE.match(text, start, within.end)
        end = line.end() if line else within.end
        if _FENCE.fullmatch(text, start, end):
            yield Span(start, end)
        for run, position in at.items():
            if position >= start:
                at[run] = text.rfind(run, within.start, start)


def _line_start(text: str, offset: int, least: int) -> int:
    return max(text.rfind("\n", least, offset), text.rfind("\r", least, offset), least - 1) + 1


def _next_line(text: str, offset: int) -> int:
    if text.startswith("\r\n", offset):
        return offset + 2
    return min(offset + 1, len(text))


def is_blank(text: str) -> bool:
    """Return whether there is nothing but spaces, tabs and line ends."""
    return not text.strip(_BLANK)


_LINE_END = regex(r"\r\n?")

EMPTY_SHA256 = sha256(b"").hexdigest()
"""The hash of an empty text, found in records whose tool hashed the wrong thing."""


def normalised(text: str) -> str:
    """Return the text with every line end as LF (X2: CRLF and a lone CR are line ends)."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def sha256_of(text: str) -> str:
    """SHA-256 of the UTF-8 bytes, in lower-case hex."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def legacy_hashes(body: str) -> tuple[str, ...]:
    """Return the hashes that other tools write for a normalised body: stripped, and stripped with its final line
    end."""
    stripped = body.strip()
    return sha256_of(stripped), sha256_of(stripped + "\n")


HEAD_CHARACTERS = 4_096
"""Enough for two lines: a summary has at most 120 characters, and one ten times as long is still catalogued."""

MAX_SUMMARY = 120
"""Code points of `doc_summary` (Y4)."""

_HEAD = regex(r"\ufeff?---(?:\r\n|\n|\r)(doc_summary:[^\r\n]*)(?:(?:\r\n|\n|\r)([ \t]*[^ \t\r\n])?|\Z)")
_BLOCK = ("literal", "folded")


def read_catalog(head: str, *, whole: bool = False) -> str | None:
    """Return `doc_summary` from the second line. None if the first line is not `---`, the second does not begin with
    `doc_summary:`, it cannot be parsed alone, or its value continues in the next line.

    ``whole`` is true if ``head`` is the whole text; otherwise a second line without its end counts as cut off.
    """
    match = _HEAD.match(head)
    if match is None or (match.end(1) == len(head) and not whole):
        return None
    if match[2] and match[2][0] in " \t" and not match[2].lstrip().startswith("#"):
        return None  # an indented third line continues the value
    return summary_of_line(match[1])


def summary_of_line(line: str) -> str | None:
    """Return the summary in the second line parsed alone, or None."""
    reading = read_yaml(line)
    if reading.problems or not isinstance(reading.node, Mapping):
        return None
    value = reading.node.get("doc_summary")
    if not isinstance(value, Scalar) or value.style in _BLOCK or value.value is None or len(reading.node.entries) != 1:
        return None
    return value.text


HANDLER = "validate_summary"
"""The name in `ops.handlers` that requests the comparison."""

LEAST_SHARE = 0.25
"""Below this a summary that its record wants compared is reported."""

MIN_WORDS = 2
"""A summary of fewer words is too short to compare."""

MIN_BODY_WORDS = 12
"""A shorter body may leave its subject to the header."""

MAX_BODY = 200_000
"""Characters of the body that are compared; its subject shows long before."""


def share_of_words(summary: str, body: str, enough: float = 1) -> float | None:
    """Return the share of the summary's words that are in the body, 0 to 1; None if either is too short to compare.
    Where the share is ``enough``, more of the body is not looked at."""
    wanted = frozenset(words(summary))
    if len(wanted) < MIN_WORDS:
        return None
    shared: set[str] = set()
    count = 0
    for count, word in enumerate(words(body[:MAX_BODY]), 1):
        if word in wanted:
            shared.add(word)
        if count >= MIN_BODY_WORDS and len(shared) >= enough * len(wanted):
            break
    return len(shared) / len(wanted) if count >= MIN_BODY_WORDS else None
