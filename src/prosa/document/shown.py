"""What a reader sees of a Markdown text: its words without markup, each piece with its place in the source.

In: a text, perhaps a part of a document. Out: runs in order, each an offset and how many characters are shown as
written, or the replacement shown: an entity, or a space for a break between blocks. A link shows its text without its
address, a wikilink its label, an image its description; comments and tags show nothing. One parse decides, so no link
is split (X2).

A search passes every section that it shows through this loop, so it counts bytes, as the parser does, and joins runs
where it can.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias, cast

import pyromark
from msgspec import Struct, field

from prosa.document.walk import OPTIONS, encodable
from prosa.regex import regex

if TYPE_CHECKING:
    from pyromark.event import Range

    from prosa.document.events import Event

Runs: TypeAlias = list[int | str]
"""The offset of the first run, its content, the offset of the second, and so on. A content is a number of characters
shown as written, or the text shown instead (X2)."""

_LONE_CR = regex(r"\r(?!\n)")
_MARKUP = regex(rb"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*(?:>|\Z)", re.DOTALL)
_LABEL = regex(r"\]\[([^\[\]\n]{1,200})\]|\[([^\[\]\n]{1,200})\]\[\]|\[(\^[^\[\]\s]{1,200})\]")
_ALTERED = regex(rb"[&\0\t\r]")
"""What a text must contain for the parser to change any piece of it."""

_INLINE = frozenset({"Emphasis", "Strong", "Strikethrough", "Link", "Image", "Superscript", "Subscript"})


def shown_runs(text: str) -> Runs:
    """Return the runs of ``text``. Blank space between two runs of literal text joins them into one. References count
    as such even if they have no definition."""
    parsed = encodable(_LONE_CR.sub("\n", text) if "\r" in text else text)
    whole = f"{parsed}\n\n{_definitions(parsed)}" if "]" in parsed else parsed
    raw = parsed.encode()
    runs = _runs(raw, whole)
    return runs if len(raw) == len(text) else _in_characters(raw, runs)


def _definitions(text: str) -> str:
    """Return definitions of everything that a text may refer to; they often stand at the end of the document."""
    labels = dict.fromkeys(match[1] or match[2] or match[3] for match in _LABEL.finditer(text))
    return "".join(f"[{label}]: {'x' if label.startswith('^') else '<#>'}\n\n" for label in labels)


class _Runs(Struct):
    """The runs so far, in bytes of ``raw``: the last one starts at ``begin`` and may continue after ``end``, or there
    is none (-1); ``blank`` is where a break after it starts."""

    raw: bytes
    found: Runs = field(default_factory=list)
    begin: int = -1
    end: int = -1
    blank: int = -1

    def see(self, at: int, until: int, instead: str | None = None) -> None:
        """Add the visible text from ``at`` to ``until``."""
        if self.begin >= 0:
            if instead is None and (at == self.end if self.blank < 0 else self.raw[self.end : at].isspace()):
                self.end, self.blank = until, -1
                return
            self.found += (self.begin, self.end - self.begin)
        if self.blank >= 0 and self.found:
            self.found += (self.blank, " ")
        self.begin, self.end, self.blank = at, until, -1
        if instead is not None:
            self.found += (at, instead)
            self.begin = -1

    def part(self, at: int) -> None:
        """Note a break at ``at``."""
        if self.blank < 0:
            self.blank = at

    def all(self) -> Runs:
        """Return the runs, the last one ended."""
        return [*self.found, self.begin, self.end - self.begin] if self.begin >= 0 else self.found


def _runs(raw: bytes, whole: str) -> Runs:
    """Return the runs of ``raw``, the start of the parsed text, in bytes."""
    runs, size, html = _Runs(raw), len(raw), False
    as_written = _ALTERED.search(raw) is None
    events = cast("Iterator[tuple[Event, Range]]", pyromark.events_with_range(whole, options=OPTIONS))
    for event, where in events:
        start = where["start"]
        if start >= size:
            break
        if type(event) is str:
            runs.part(start)
            continue
        kind, value = event.popitem()
        if kind == "Text":
            if not html:
                stop = where["end"]
                runs.see(start, stop, None if as_written or _is_written(value, raw, start, stop) else value)
        elif kind == "Code":
            runs.see(*_code(value, raw, start, where["end"]))
        elif kind == "Start" or kind == "End":
            name = value if type(value) is str else next(iter(value))
            if name not in _INLINE:
                runs.part(start if kind == "Start" else where["end"])
            if name == "HtmlBlock":
                html = kind == "Start"
                for low, high in _between_tags(raw, start, where["end"]) if html else ():
                    runs.see(low, high)
    return runs.all()


def _is_written(value: str, raw: bytes, start: int, stop: int) -> bool:
    """Return whether the parser's text equals the source; its end may lie after that of ``raw``."""
    if value.isascii():
        return stop - start == len(value)
    return raw[start:stop] == value.encode()[: len(raw) - start]


def _code(value: str, raw: bytes, start: int, stop: int) -> tuple[int, int, str | None]:
    """Return the visible text of a code span."""
    code = value.encode()
    at = raw.find(code, start, stop)
    return (at, at + len(code), None) if at >= 0 else (start, start, value)


def _between_tags(raw: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what stands between the tags of a block of HTML."""
    done = start
    for match in _MARKUP.finditer(raw, start, end):
        if match.start() > done:
            yield done, match.start()
        done = match.end()
    if end > done:
        yield done, end


def _in_characters(raw: bytes, runs: Runs) -> Runs:
    """Return the runs with offsets and numbers of characters in place of those of bytes."""
    characters: Runs = []
    at = done = 0
    for start, shown in paired(runs):
        at += len(raw[done:start].decode("utf-8", "replace"))
        done = start
        characters += at, len(raw[start : start + shown].decode("utf-8", "replace")) if type(shown) is int else shown
    return characters


def paired(runs: Runs) -> Iterator[tuple[int, int | str]]:
    """Return the runs, each as its offset and its content."""
    numbers = iter(runs)
    return cast("Iterator[tuple[int, int | str]]", zip(numbers, numbers, strict=True))
