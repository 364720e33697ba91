"""What a reader sees of a Markdown text: its words without markup, each piece with the place it came from.

In: a text, perhaps a part of a document. Out: pieces in order. A link shows its text and no address, a wikilink its
label, an image its description; comments and tags show nothing. One parse decides, so nothing is ever half a link (X2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyromark

from prosa.document.mask import encodable
from prosa.document.walk import OPTIONS
from prosa.source import LineIndex

_LONE_CR = re.compile(r"\r(?!\n)")
_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*(?:>|\Z)", re.DOTALL)
_LABEL = re.compile(r"\]\[([^\[\]\n]{1,200})\]|\[([^\[\]\n]{1,200})\]\[\]|\[(\^[^\[\]\s]{1,200})\]")
_INLINE = frozenset({"Emphasis", "Strong", "Strikethrough", "Link", "Image", "Superscript", "Subscript"})


class Shown(NamedTuple):
    """A piece of what is seen, and the offset where it begins. ``same`` says that the source has the very characters
    there; else they are an entity or an escape. A break between blocks or lines is one space."""

    at: int
    text: str
    same: bool = True


def shown_pieces(text: str) -> Iterator[Shown]:
    """The pieces of ``text``, in order. References count as such whether or not what they name is defined in it."""
    parsed = encodable(_LONE_CR.sub("\n", text))
    parsed = f"{parsed}\n\n{_definitions(parsed)}" if "]" in parsed else parsed
    return (each for each in _pieces(text, parsed) if each.at < len(text) or each.text == " ")


def _definitions(text: str) -> str:
    """Definitions of everything that a text may refer to; they often stand at the end of the document."""
    labels = dict.fromkeys(match[1] or match[2] or match[3] for match in _LABEL.finditer(text))
    return "".join(f"[{label}]: {'x' if label.startswith('^') else '<#>'}\n\n" for label in labels)


def _pieces(text: str, parsed: str) -> Iterator[Shown]:
    index = None if parsed.isascii() else LineIndex(parsed)
    block: int | None = None
    events: Iterator[tuple[Any, Any]] = pyromark.events_with_range(parsed, options=OPTIONS)
    for event, where in events:
        start, end = where["start"], where["end"]
        if index is not None:
            start, end = index.offset_of_byte(start), index.offset_of_byte(end)
        if type(event) is str:
            yield Shown(start, " ")
            continue
        kind, value = event.popitem()
        if kind in ("Start", "End"):
            name = value if type(value) is str else next(iter(value))
            if name == "HtmlBlock":
                block = start if kind == "Start" else None
                yield from _of_html(text, start, end) if kind == "Start" else ()
            elif name not in _INLINE:
                yield Shown(start if kind == "Start" else end, " ")
        elif kind in ("Text", "Code") and block is None:
            at = start if kind == "Text" else parsed.find(value, start, end)
            same = at >= 0 and text.startswith(value, at)
            yield Shown(at if same else start, value, same)


def _of_html(text: str, start: int, end: int) -> Iterator[Shown]:
    """What stands between the tags of a block of HTML."""
    done = start
    yield Shown(start, " ")
    for match in _MARKUP.finditer(text, start, end):
        yield Shown(done, text[done : match.start()])
        done = match.end()
    yield Shown(done, text[done:end])
    yield Shown(end, " ")
