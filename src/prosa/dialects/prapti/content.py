"""The text of a message as it is sent, and text that a model wrote as text of a message: nothing in it can become
structure, and the original can be restored.

In: the span of a message and the parts to remove. Out: text. The output of a command is data and is not processed again
(P10, PA10, PA13).

A backslash, which CommonMark does not show, is added before anything that would read as a message heading, a
configuration line, a comment, a block of HTML or a fence of doubtful extent. n backslashes become 2n + 1, so an odd
number marks an escape. Exact up to line ends, blank lines at both ends, and blank space at the very end.

Code in fences stays as it is. Which lines are code is decided line by line as the text arrives: a line is called code
only when the Markdown parser calls it so, whatever follows; if that cannot be decided within bounds, the result says
so.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from prosa.dialects.prapti.model import ChatMessage
from prosa.document import Document
from prosa.document.model import Cover
from prosa.document.walk import encodable, walk
from prosa.regex import regex
from prosa.source import Span

_LINE_BREAK = regex(r"\r\n|\n|\r")
_BLANK_LINES = regex(r"(?:[ \t]*(?:\r\n|\n|\r))*")
_MARKS = regex(r"[ \t]{0,3}(?:>[ \t]?)+")
_BLANKS = " \t"


class Cut(Struct, frozen=True):
    """A part that is not sent. ``lines`` is true if it covers whole lines, ``text`` is its replacement."""

    span: Span
    lines: bool = True
    text: str = ""


def without(text: str, body: Span, cuts: Iterable[Cut]) -> str:
    """Return the text of a body without its cuts, which are in order and apart. Where whole lines go, a blank line in
    front takes the place of those behind (PA10). Without blank lines at its ends."""
    pieces: list[str] = []
    at = body.start
    blank = True
    for cut in cuts:
        pieces.append(text[at : cut.span.start])
        blank = _ends_blank(pieces[-1]) if pieces[-1] else blank
        at = cut.span.end
        if cut.text:
            pieces.append(cut.text)
            blank = False
        elif cut.lines:
            at = after_line(text, at)
            if blank:
                at = _BLANK_LINES.match(text, at, body.end).end()  # type: ignore[union-attr]
    content = "".join((*pieces, text[min(at, body.end) : body.end]))
    return content[_BLANK_LINES.match(content).end() :].rstrip()  # type: ignore[union-attr]


def sent_text(message: ChatMessage, document: Document, outputs: Mapping[int, str]) -> str:
    """Return the text of a message for a model, lines ending with a line feed.

    ``outputs`` are the outputs of commands, by the offset of their line; a line in a quotation gives a quotation
    (PA10). Comments outside code are left out with the lines that hold nothing else (PA13), and so are the backslashes
    that keep a line from being structure, in front of `%` or `### @` say (PA6).
    """
    text = document.source.text
    cuts = [Cut(span, True, _quoted(text, span, outputs.get(span.start, ""))) for span in message.removed]
    cuts += _comments(message, document)
    gone = Cover(cut.span for cut in cuts)
    lines = (line for line in _lines(text, message.body) if line[0] not in gone)
    cuts += [Cut(span, lines=False) for span in marks(lines) if span.start not in gone]
    cuts.sort(key=lambda cut: cut.span.start)
    return _LINE_BREAK.sub("\n", without(text, message.body, cuts))


def after_line(text: str, at: int) -> int:
    """Return the offset behind the line end that stands at ``at``."""
    match = _LINE_BREAK.match(text, at)
    return match.end() if match else at


def _lines(text: str, body: Span) -> Iterator[tuple[int, str]]:
    """Yield the lines of a body without their ends, each with its offset."""
    at = body.start
    while at < body.end:
        match = _LINE_BREAK.search(text, at, body.end)
        yield at, text[at : match.start() if match else body.end]
        at = match.end() if match else body.end


def _comments(message: ChatMessage, document: Document) -> Iterator[Cut]:
    """Yield the comments of a message; those at the end of a configuration line go with it."""
    text, body = document.source.text, message.body
    gone = Cover(message.removed)
    first = bisect_left(document.comments, body.start, key=lambda span: span.start)
    last = bisect_left(document.comments, body.end, key=lambda span: span.start)
    for comment in document.comments[first:last]:
        if comment.start not in gone:
            whole = _whole_lines(text, comment, body)
            yield Cut(whole) if whole else Cut(Span(comment.start, min(comment.end, body.end)), lines=False)


def _whole_lines(text: str, span: Span, body: Span) -> Span | None:
    """Return the lines of a comment, where nothing else stands on them."""
    start = span.start
    while start > body.start and text[start - 1] in _BLANKS:
        start -= 1
    if start > body.start and text[start - 1] not in "\r\n":
        return None
    end = min(span.end, body.end)
    while end < body.end and text[end] in _BLANKS:
        end += 1
    return Span(start, end) if end >= body.end or text[end] in "\r\n" else None


def _quoted(text: str, span: Span, output: str) -> str:
    """Return the output with the marks of quotation that its line has, on every line."""
    marks = _MARKS.match(text, span.start, span.end)
    if not output or marks is None:
        return output
    return "\n".join(f"{marks.group()}{line}".rstrip(_BLANKS) for line in _LINE_BREAK.split(output))


def _ends_blank(piece: str) -> bool:
    """Return whether a text that ends a line ends with a blank one."""
    lines = _LINE_BREAK.split(piece)
    return len(lines) < 2 or not lines[-2].strip()


# Text that a model wrote, as text of a message: nothing in it can become structure, and the original can be restored
# (PA1, PA6, X19).

MAX_PROBED = 1024 * 1024
"""Characters that may be parsed again for one message to place its indented fences: far more than a reply that a person
reads needs, and still a moment's work."""

_TAB = 4
_OPENER = regex(
    r"(?P<before>[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*)(?:(?P<ticks>`{3,})[^`]*|(?P<tildes>~{3,}).*)", re.DOTALL
)
_CLOSER = regex(r"[ \t]*(?P<mark>`{3,}|~{3,}) *")
_BLANK = regex(r"[ \t]*")
_INDENT = regex(r"[ \t]*")


class OpenFence(Struct, frozen=True):
    """``mark`` closes it; lines with less than ``column`` columns of indentation end it with the list around it."""

    mark: str
    column: int


Opened: TypeAlias = "OpenFence | Literal['unsure'] | None"
"""What a line opens; ``unsure`` if it cannot be decided within bounds."""


def column_of(text: str) -> int:
    """Return the column after a text at the start of a line, tabs expanded (CommonMark 2.2)."""
    return len(text.expandtabs(_TAB))


def indentation(line: str) -> int:
    """Return columns of blank space in front of a line."""
    return column_of(_INDENT.match(line).group())  # type: ignore[union-attr]


class Fences(Struct):
    """The state after the lines read so far. ``fence`` is the open fence."""

    fence: OpenFence | None = None
    _since: list[str] = field(default_factory=list)
    """The lines since the last one at which nothing else was open."""
    _size: int = 0
    _after_blank: bool = True
    _left: int = MAX_PROBED

    def covers(self, line: str) -> bool:
        """Return whether the next line belongs to the open fence, as code or as its end."""
        if self.fence is None:
            return False
        return _BLANK.fullmatch(line) is not None or indentation(line) >= self.fence.column

    def opens(self, line: str) -> Opened:
        """Return what the next line opens, where the open fence does not cover it."""
        match = _OPENER.fullmatch(line)
        if match is None:
            return None
        mark = match["ticks"] or match["tildes"]
        if not match["before"]:  # whatever else is open ends here
            return OpenFence(mark, 0)
        return self._probed(line, mark, column_of(match["before"]))

    def take(self, line: str, opened: OpenFence | None = None) -> None:
        """Read the next line as in the file; ``opened`` is what it opens."""
        blank = _BLANK.fullmatch(line) is not None
        if self.covers(line):
            if self.fence is not None and _closes(line, self.fence):
                self.fence = None
        else:
            self.fence = opened
            if self._after_blank and not blank and line[0] not in _BLANKS:
                self._since, self._size = [], 0  # after a blank line nothing continues without indentation
        self._since.append(line)
        self._size += len(line) + 1
        self._after_blank = blank

    def _probed(self, line: str, mark: str, column: int) -> Opened:
        """Return what an indented line opens. A list around it may start at any of the last four columns."""
        columns = range(0 if column < _TAB else column - _TAB + 1, column + 1)
        size = self._size + len(line) + 1
        if self._left < size * len(columns):
            return "unsure"
        text = "\n".join((*self._since, line)) + "\n"
        for at in columns:
            self._left -= size
            if _is_code(f"{text}{' ' * at}x\n"):
                return OpenFence(mark, at)
        return None


def _closes(line: str, fence: OpenFence) -> bool:
    match = _CLOSER.fullmatch(line)
    if match is None or not match["mark"].startswith(fence.mark):
        return False
    return indentation(line) < fence.column + _TAB


def _is_code(text: str) -> bool:
    """Return whether the last line of a text is code in a fence."""
    blocks = walk(encodable(text)).code_blocks
    if not blocks or blocks[-1].info is None or not blocks[-1].pieces:
        return False
    return blocks[-1].pieces[-1][2]["end"] >= len(encodable(text).encode()) - 1


MAX_INDENT = 3
"""Maximum indentation of a block; lines indented more do not matter here."""

_COMMENT = regex(r"<(\\*)!--")
_CONFIG = regex(r"(?P<indent>[ \t]*)(?:>[ \t]{0,4})*(?P<slashes>\\*)(?=(?://)?%)")
_HEADING = r"#{3}\s*(?://\s*)?@"
_HTML = r"<(?:\?|!(?!\\*--)|/?[A-Za-z][A-Za-z0-9-]*(?:[\s/>]|\Z))"
_BLOCK = regex(rf"(?P<indent>[ \t]*)(?P<slashes>\\*)(?={_HEADING}|{_HTML})")
_FENCE = regex(r"(?P<indent>[ \t]*)(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?P<slashes>\\*)(?=`{3}|~{3})")
_SURROGATE = regex("[\ud800-\udfff]")


def escaped(reply: str) -> str:
    """Return a reply as it is written below its message heading, with a closing mark if a fence is left open.

    Lines end with a line feed, the last one without. Lone surrogates, which no file can hold, become U+FFFD.
    """
    stream = Escaping()
    return (stream.feed(reply) + stream.finish()).removesuffix("\n")


def restored(text: str) -> str:
    """Return the reply that `escaped` wrote, from the text of a message. Lines end with a line feed."""
    fences = Fences()
    lines: list[str] = []
    for line in _LINE_BREAK.split(text):
        if fences.covers(line):
            fences.take(line)
            lines.append(line)
        else:
            opened = fences.opens(line)
            fences.take(line, None if opened == "unsure" else opened)
            lines.append(_restored(line))
    return "\n".join(lines)


def marks(lines: Iterable[tuple[int, str]]) -> Iterator[Span]:
    """Yield the spans of the backslashes that `restored` removes; each line comes with its offset."""
    fences = Fences()
    for start, line in lines:
        if fences.covers(line):
            fences.take(line)
            continue
        opened = fences.opens(line)
        fences.take(line, None if opened == "unsure" else opened)
        sign = _sign(line)
        places = [sign.span("slashes")] if sign else []
        places += [match.span(1) for match in _COMMENT.finditer(line)]
        for at, end in sorted(places):
            if (end - at) % 2:
                yield Span(start + at, start + at + (end - at + 1) // 2)


class Escaping(Struct):
    """A reply that arrives in pieces. `feed` and `finish` together return the result of `escaped`, and a line feed."""

    _fences: Fences = field(default_factory=Fences)
    _rest: str = ""
    _blank: list[str] = field(default_factory=list)
    _begun: bool = False

    def feed(self, piece: str) -> str:
        """Return the whole lines that are ready. A line is held back until it is complete, and blank ones until
        another follows."""
        text = self._rest + piece
        cut = len(text) - 1 if text.endswith("\r") else len(text)  # a line feed may follow
        last = max(text.rfind("\n", 0, cut), text.rfind("\r", 0, cut)) + 1
        self._rest = text[last:]
        return "".join(self._line(line) for line in _LINE_BREAK.split(text[:last])[:-1])

    def finish(self) -> str:
        """Return the last line, and the mark that closes an open fence."""
        rest, self._rest = self._rest.removesuffix("\r"), ""
        text = self._line(rest)
        fence = self._fences.fence
        return text if fence is None or fence.column else f"{text}{fence.mark}\n"

    def _line(self, line: str) -> str:
        line = _SURROGATE.sub("\ufffd", line)
        if not line.strip(_BLANKS):
            if self._begun:
                self._blank.append(line)
            return ""
        self._begun = True
        blank, self._blank = self._blank, []
        for blank_line in blank:
            self._fences.take(blank_line)
        return "".join(f"{blank_line}\n" for blank_line in (*blank, self._written(line)))

    def _written(self, line: str) -> str:
        """Return the line as it is written."""
        if self._fences.covers(line):
            self._fences.take(line)
            return line
        opened = self._fences.opens(line)
        written = _escaped(line, fence=opened == "unsure")
        self._fences.take(written, None if opened == "unsure" else opened)
        return written


def _escaped(line: str, *, fence: bool) -> str:
    """Return a line outside of code. With ``fence`` it must not open a fence."""
    line = _COMMENT.sub(lambda comment: f"<{_more(comment[1])}!--", line)
    match = _sign(line)
    if match is None or (match.re.pattern == _FENCE.pattern and not fence and not match["slashes"]):
        return line
    at, end = match.span("slashes")
    return line[:at] + _more(line[at:end]) + line[end:]


def _restored(line: str) -> str:
    match = _sign(line)
    if match is not None:
        at, end = match.span("slashes")
        line = line[:at] + _fewer(line[at:end]) + line[end:]
    return _COMMENT.sub(lambda comment: f"<{_fewer(comment[1])}!--", line)


def _sign(line: str) -> re.Match[str] | None:
    """Return the start of a line that would be structure, with or without backslashes before it."""
    for pattern in (_CONFIG, _BLOCK, _FENCE):
        match = pattern.match(line)
        if match is not None and (pattern is _FENCE or column_of(match["indent"]) <= MAX_INDENT):
            return match
    return None


def _more(slashes: str) -> str:
    return "\\" * (2 * len(slashes) + 1)


def _fewer(slashes: str) -> str:
    """Return half of an odd number of backslashes. Leave an even number unchanged: Prosa never writes one."""
    return "\\" * (len(slashes) // 2) if len(slashes) % 2 else slashes
