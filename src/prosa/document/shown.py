"""What a reader sees of a Markdown text: its words without markup, each piece with the place it came from.

In: a text, perhaps a part of a document. Out: runs in order. A link shows its text and no address, a wikilink its
label, an image its description; comments and tags show nothing. One parse decides, so nothing is ever half a link (X2).
Every section of an index passes through this loop, so it counts bytes, as the parser does, and joins what it can.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

import pyromark

from prosa.data import Value
from prosa.document.mask import encodable
from prosa.document.walk import OPTIONS

_LONE_CR = re.compile(r"\r(?!\n)")
_MARKUP = re.compile(rb"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*(?:>|\Z)", re.DOTALL)
_LABEL = re.compile(r"\]\[([^\[\]\n]{1,200})\]|\[([^\[\]\n]{1,200})\]\[\]|\[(\^[^\[\]\s]{1,200})\]")
_INLINE = frozenset({"Emphasis", "Strong", "Strikethrough", "Link", "Image", "Superscript", "Subscript"})

Run: TypeAlias = "tuple[int, int | str]"
"""An offset, and how many characters are seen there as they are written, or the text that is seen instead: an entity,
or a space for a break between blocks."""


def shown_runs(text: str) -> list[Run]:
    """The runs of ``text``, in order; blank space between two that are seen as written belongs to one run of both.
    References count as such whether or not what they name is defined in it."""
    parsed = encodable(_LONE_CR.sub("\n", text))
    raw = parsed.encode()
    whole = f"{parsed}\n\n{_definitions(parsed)}" if "]" in parsed else parsed
    runs = _runs(raw, whole)
    return runs if len(raw) == len(text) else list(_in_characters(raw, runs))


def _definitions(text: str) -> str:
    """Definitions of everything that a text may refer to; they often stand at the end of the document."""
    labels = dict.fromkeys(match[1] or match[2] or match[3] for match in _LABEL.finditer(text))
    return "".join(f"[{label}]: {'x' if label.startswith('^') else '<#>'}\n\n" for label in labels)


def _runs(raw: bytes, whole: str) -> list[Run]:
    """The runs of ``raw``, the beginning of what is parsed, in bytes."""
    found: list[Run] = []
    begin, end, blank, html = 0, -1, -1, False  # the run that may go on, the break after it, whether a block is HTML

    def see(at: int, until: int, instead: str | None = None) -> None:
        nonlocal begin, end, blank
        if instead is None and end >= 0 and (at == end if blank < 0 else raw[end:at].isspace()):
            found[-1] = (begin, until - begin)
        else:
            if blank >= 0 and found:
                found.append((blank, " "))
            found.append((at, until - at if instead is None else instead))
            begin = at
        end, blank = until if instead is None else -1, -1

    events: Iterator[tuple[Value, Value]] = pyromark.events_with_range(whole, options=OPTIONS)
    size = len(raw)
    for event, where in events:
        start = where["start"]
        if start >= size:
            break
        if type(event) is str:
            blank = start if blank < 0 else blank
            continue
        kind, value = event.popitem()
        if kind == "Text":
            if not html:
                stop = where["end"]
                written = stop - start == len(value) if value.isascii() else raw[start:stop] == value.encode()
                see(start, stop, None if written else value)
        elif kind in ("Start", "End"):
            name = value if type(value) is str else next(iter(value))
            if name not in _INLINE:
                at = start if kind == "Start" else where["end"]
                blank = at if blank < 0 else blank
            if name == "HtmlBlock":
                html = kind == "Start"
                for low, high in _between_tags(raw, start, where["end"]) if html else ():
                    see(low, high)
        elif kind == "Code":
            code = value.encode()
            at = raw.find(code, start, where["end"])
            see(*((at, at + len(code)) if at >= 0 else (start, start, value)))
    return found


def _between_tags(raw: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What stands between the tags of a block of HTML."""
    done = start
    for match in _MARKUP.finditer(raw, start, end):
        if match.start() > done:
            yield done, match.start()
        done = match.end()
    if end > done:
        yield done, end


def _in_characters(raw: bytes, runs: list[Run]) -> Iterator[Run]:
    """The runs with their offsets in characters."""
    at = done = 0
    for start, shown in runs:
        at, done = at + len(raw[done:start].decode("utf-8", "replace")), start
        yield at, shown if isinstance(shown, str) else len(raw[start : start + shown].decode("utf-8", "replace"))
