"""Any text as Markdown without structure that documents give a meaning (X19).

In: the result of a script. Out: the same Markdown with a backslash before every character that starts such structure:
an HTML comment, the language of an ai-script fence, a footnote, a message heading, a configuration line, a heading
that would end the author's section; and an open fence closed. The places are stored, so that `unescaped` restores the
text. A text that cannot be made harmless in a few rounds gives None: it belongs in a fence.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msgspec import Struct

from prosa.dialects.magi.regions import END, MAX_MARKS
from prosa.dialects.magi.scripts import LANGUAGE
from prosa.document import Document, Fence, Heading, parse
from prosa.document.model import Cover
from prosa.regex import regex
from prosa.source import SourceText, Span

MAX_ROUNDS = 8
"""How often a text is read again after an escape has uncovered what it hid. Real texts need two rounds."""

_BEFORE = "<!-- ai-result -->\n\n"
_COMMENT = "<!--"
_MESSAGE = regex(r"(?://\s*)?@")
_CONFIGURATION = regex(r"^ {0,3}(?:>[ \t]{0,4})*(?://)?(?=%)", re.MULTILINE)
_FRONT_MATTER = regex(r"^(?=---$)", re.MULTILINE)
_MARKS = regex(r"[ \t>]*")
_LINE_END = regex(r"\r\n|\n|\r")
_SURROGATE = regex("[\ud800-\udfff]")


class Escaped(Struct, frozen=True):
    """The escaped ``text``. ``places`` are the offsets in the original before which a backslash was added; ``closed``
    is true if a last line was added to close a fence."""

    text: str
    places: tuple[int, ...] = ()
    closed: bool = False


def normal_text(text: str) -> str:
    """Return what of a text is kept when it is written: line ends become line feeds, blank lines at its end go, and
    half characters, which no file can hold, become U+FFFD."""
    lines = _LINE_END.split(_SURROGATE.sub("\ufffd", text))
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    return "\n".join(lines)


def escaped(text: str, *, level: int = 0, strict: bool = False) -> Escaped | None:
    """Return a normal text, harmless below a heading of ``level``; 0 where headings end nothing.

    ``strict`` leaves no heading, no link definition and no line of three hyphens.
    """
    places: list[int] = []
    closing = ""
    for _ in range(MAX_ROUNDS):
        shown = _with_backslashes(text, places)
        probe = _Probe(shown + closing)
        offences = {probe.original(at, places) for at in probe.offences(level, strict)}
        if not offences and probe.ends_well:
            return Escaped(shown + closing, tuple(places), bool(closing))
        if not offences:
            if closing or (fence := probe.swallowing) is None:
                return None
            closing = f"\n{fence.open_fence}"
        elif offences <= set(places) or len(offences.union(places)) > MAX_MARKS:
            return None
        places = sorted(offences.union(places))
    return None


def unescaped(shown: str, places: Sequence[int], *, closed: bool) -> str:
    """Return the original text. If the escaped one was changed since, characters other than backslashes stay."""
    text = shown.rpartition("\n")[0] if closed else shown
    pieces: list[str] = []
    done = 0
    for at in (place + number for number, place in enumerate(places)):
        if text.startswith("\\", at) and at >= done:
            pieces.append(text[done:at])
            done = at + 1
    return "".join((*pieces, text[done:]))


class _Probe:
    """A text as it would be inside a region, read by the parser for documents."""

    def __init__(self, shown: str) -> None:
        self.span = Span(len(_BEFORE), len(_BEFORE) + len(shown))
        self.end = self.span.end + 2
        self.document: Document = parse(SourceText(f"{_BEFORE}{shown}\n\n{END}\n"))

    @property
    def ends_well(self) -> bool:
        """Whether the marker behind the text is one."""
        marker = Span(self.end, self.end + len(END))
        return any(html.block and html.span == marker for html in self.document.html)

    @property
    def swallowing(self) -> Fence | None:
        """The open fence that takes the marker behind the text."""
        return next((each for each in self.document.fences if self.end in each.span and not each.nested), None)

    def original(self, at: int, places: Sequence[int]) -> int:
        """Return the offset in the original of a place in the text read."""
        at -= self.span.start
        shown = [place + number for number, place in enumerate(places)]
        return at - bisect_left(shown, at)

    def offences(self, level: int, strict: bool) -> Iterator[int]:
        """Yield the places in front of which a backslash belongs."""
        yield from (at for at in self._all_offences(level, strict) if at in self.span)

    def _all_offences(self, level: int, strict: bool) -> Iterator[int]:
        document, text = self.document, self.document.source.text
        yield from self._html()
        for fence in document.fences:
            if fence.language.lower() == LANGUAGE:
                yield _info_of(text, fence)
        for note in document.footnote_definitions:
            yield text.find("[", note.span.start)
        for heading in document.headings:
            if _counts(heading, level) or strict:
                yield _mark_of(text, heading)
        yield from self._lines(_CONFIGURATION)
        if strict:
            yield from (each.span.start for each in document.definitions)
            yield from self._lines(_FRONT_MATTER)

    def _html(self) -> Iterator[int]:
        """Comments, and blocks that take the marker behind the text."""
        text = self.document.source.text
        for html in self.document.html:
            if html.span.start in self.span and (_COMMENT in html.span.of(text) or self.end in html.span):
                yield text.find("<", html.span.start)
                at = text.find(_COMMENT, html.span.start, html.span.end)
                while at >= 0:
                    yield at
                    at = text.find(_COMMENT, at + 1, html.span.end)

    def _lines(self, pattern: re.Pattern[str]) -> Iterator[int]:
        """Return the lines of a form, but those in blocks of code."""
        code = Cover((*(fence.span for fence in self.document.fences), *self.document.indented_code))
        text = self.document.source.text
        found = (match.end() for match in pattern.finditer(text, self.span.start, self.span.end))
        return (at for at in found if at not in code)


def _counts(heading: Heading, level: int) -> bool:
    """Return whether a heading ends its section or starts a message."""
    if heading.nested:
        return False
    return heading.level <= level or (heading.level == 3 and _MESSAGE.match(heading.text) is not None)


def _mark_of(text: str, heading: Heading) -> int:
    """Return the first `#`, or the first character of the underline."""
    start, end = heading.span.start, heading.span.end
    if text.startswith("#", start):
        return start
    line = text.rfind("\n", start, end) + 1
    match = _MARKS.match(text, line, end)
    return match.end() if match else line


def _info_of(text: str, fence: Fence) -> int:
    at = fence.span.start + len(fence.open_fence)
    while text[at] in " \t":
        at += 1
    return at


def _with_backslashes(text: str, places: Sequence[int]) -> str:
    pieces: list[str] = []
    done = 0
    for place in places:
        pieces.append(text[done:place])
        done = place
    return "\\".join((*pieces, text[done:])) if pieces else text
