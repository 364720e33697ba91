"""The text of a message as it is sent: without configuration lines and comments, commands replaced by their output.

In: the span of a message and the parts to remove. Out: text. The output of a command is data and is not processed
again (P10, PA10, PA13).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from prosa.dialects.prapti.escape import marks
from prosa.dialects.prapti.model import ChatMessage
from prosa.document import Document
from prosa.document.model import Cover
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
    found = _LINE_BREAK.match(text, at)
    return found.end() if found else at


def _lines(text: str, body: Span) -> Iterator[tuple[int, str]]:
    """Yield the lines of a body without their ends, each with its offset."""
    at = body.start
    while at < body.end:
        found = _LINE_BREAK.search(text, at, body.end)
        yield at, text[at : found.start() if found else body.end]
        at = found.end() if found else body.end


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
