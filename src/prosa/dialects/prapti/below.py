"""What is written below a chat: how it joins the text above, and where it stands after others edited the file (P3).

In: texts. Out: what has to stand between a chat and a heading below it, the line end of a file, and the place of lines
that were written before. Compared are lines without blank space at their ends, as editors take that away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prosa.dialects.front import read_front
from prosa.dialects.prapti.content import sent_text
from prosa.dialects.prapti.open_end import closing
from prosa.dialects.prapti.read import read
from prosa.document import parse
from prosa.source import SourceText, Span

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_BLANKS = " \t"
_MARK = "\ufeff"


def lead(text: str) -> str:
    """What to write behind a text so that a message heading below it is one, with a blank line between, lines ending
    with a line feed: the end of an open line, the mark that closes an open fence, a blank line."""
    if not text.removeprefix(_MARK).strip():
        return "" if text in ("", _MARK) or text.endswith(("\n", "\r")) else "\n"
    source = SourceText(text)
    mark = closing(parse(source, body=read_front(source).body))
    last, before = _ending(text)
    if mark:
        return f"\n{mark}\n\n" if last else f"{mark}\n\n"
    if last:
        return "\n\n" if last.strip(_BLANKS) else "\n"
    return "" if not before.strip(_BLANKS) else "\n"


def line_end(text: str) -> str:
    """The line end that a text has; of several the most frequent one, and a line feed where there is none."""
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=lambda each: counts[each])


def find_lines_below(lines: Sequence[str], text: str) -> Span | None:
    """Where these lines stand in a text, one below the other, the last place of several. The span ends in front of the
    last line end."""
    wanted = [line.rstrip() for line in lines]
    while wanted and not wanted[-1]:
        wanted.pop()
    if not wanted:
        return None
    places = [match.span(1) for match in _LINE.finditer(text)]
    if text.startswith(_MARK):
        places[0] = (len(_MARK), places[0][1])
    stripped = [text[start:end].rstrip() for start, end in places]
    for at in range(len(stripped) - len(wanted), -1, -1):
        if all(stripped[at + number] == line for number, line in enumerate(wanted)):
            return Span(places[at][0], places[at + len(wanted) - 1][1])
    return None


def says_the_same(one: str, other: str) -> bool:
    """Whether two chats are made of the same messages with the same configuration; comments and blank space aside."""
    return _said(one) == _said(other)


def _said(text: str) -> list[tuple[str, str | None, str, list[str]]]:
    source = SourceText(text)
    front = read_front(source)
    document = parse(source, body=front.body)
    messages = (each for each in read(front, document)[0].messages if not each.disabled)
    rows = ((each, sent_text(each, document, {}), [line.raw.strip() for line in each.in_effect()]) for each in messages)
    return [(each.role, each.name, text, lines) for each, text, lines in rows if text or lines]


def _ending(text: str) -> tuple[str, str]:
    """The last line, empty where the text ends with a line end, and the one before it."""
    tail = re.split(r"\r\n|\n|\r", text)
    return tail[-1], tail[-2] if len(tail) > 1 else ""
