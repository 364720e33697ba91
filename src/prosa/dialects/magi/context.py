"""The part of a document that is sent with the prompt of one of its blocks (MA11, X19), and the hash of everything
that produces its result. A model in; a text, or SHA-256, out; pure.

The visible text is sent, and the section of the block up to the block. Never sent: other ai-script blocks,
relationships, managed regions, comments, front matter. A heading inside a region starts no section, so the output of
one model does not decide what the next one sees.

The hash covers the inputs in the document: prompt, system prompt, provider, model, parameters, output format and
schema, and the context that is sent, without results. Line ends, blank lines and white space at the end of a line make
no difference, so that writing a result below a block, or a checkout with other line ends, makes no result stale.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from prosa.dialects.magi.clean import left_out, not_for_readers
from prosa.dialects.magi.model import MagiModel, Script
from prosa.dialects.magi.regions import inside
from prosa.regex import regex
from prosa.source import SourceText, Span

if TYPE_CHECKING:
    from hashlib import _Hash

ContextMode: TypeAlias = Literal["section", "document", "none"]

DOCUMENT = "The document:"
SECTION = "The section of the document in which this instruction stands, up to it:"

_CR = regex(r"\r\n?")
_BLANK_LINES = regex(r"(?:[ \t]*\n)*")
_RUN = regex(r"`{3,}")


class Visible(Struct, frozen=True):
    """The visible part of a body. ``hidden`` are the spans left out, in order and disjoint; ``headings`` the places at
    which a section starts; ``text`` the whole, with plain line feeds and no blank lines around it."""

    source: SourceText
    body: Span
    hidden: tuple[Span, ...]
    headings: tuple[int, ...]
    text: str

    def between(self, start: int, end: int) -> str:
        """Return the visible part of a range of the body."""
        first = bisect_left(self.hidden, start, key=lambda span: span.end)
        last = bisect_left(self.hidden, end, key=lambda span: span.start)
        clipped = (Span(max(span.start, start), min(span.end, end)) for span in self.hidden[first:last])
        return _plain(left_out(self.source, Span(start, end), clipped).text)


def visible(model: MagiModel) -> Visible:
    """Return what people see of a document, made once for all of its blocks."""
    body, hidden, within = model.front.body, not_for_readers(model), inside(model.regions)
    headings = (each.span.start for each in model.document.headings if not each.nested)
    text = _plain(left_out(model.source, body, hidden).text)
    return Visible(model.source, body, hidden, tuple(at for at in headings if not within(at)), text)


def context_of(
    model: MagiModel, script: Script | None, mode: ContextMode = "document", *, seen: Visible | None = None
) -> str:
    """Return the text to send; empty for ``none`` and where nothing is seen.

    ``document`` is the whole and then the section up to the block, ``section`` the latter alone. Without a script, as
    for instructions that came beside the document (M41), both are the whole. ``seen`` saves making it again.
    """
    if mode == "none":
        return ""
    seen = seen or visible(model)
    section = seen.text if script is None else _section(seen, script)
    if mode == "section" and script is not None:
        return _framed(SECTION, section)
    parts = [_framed(DOCUMENT, seen.text), "" if section == seen.text else _framed(SECTION, section)]
    return "\n".join(part for part in parts if part)


def document_text(text: str) -> str:
    """Return a text that is sent as the document in place of the script's own."""
    return _framed(DOCUMENT, _plain(text))


def section_up_to(seen: Visible, script: Script) -> Span:
    """From the last heading in front of a block up to it."""
    end = script.hint.start if script.hint else script.fence.span.start
    index = bisect_right(seen.headings, end) - 1
    start = seen.headings[index] if index >= 0 else seen.body.start
    return Span(min(start, end), end)


def _section(seen: Visible, script: Script) -> str:
    span = section_up_to(seen, script)
    return seen.between(span.start, span.end)


def _start(span: Span) -> int:
    return span.start


def _end(span: Span) -> int:
    return span.end


def _framed(words: str, text: str) -> str:
    """Return the text in a fence that is longer than any in it, so that where it ends is beyond doubt."""
    if not text:
        return ""
    fence = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(text)), default=2))
    return f"{words}\n\n{fence}markdown\n{text}\n{fence}\n"


def _plain(text: str) -> str:
    """Line feeds, and neither blank lines around it nor spaces behind it. The indentation of the first line stays."""
    lines = _CR.sub("\n", text).removeprefix("\ufeff").rstrip()
    blank = _BLANK_LINES.match(lines)
    return lines[blank.end() :] if blank else lines


DEFAULT_CONTEXT: ContextMode = "document"
"""The context mode of a run that names none, and of a marker that records none (MA11)."""

_MODES: Mapping[str, ContextMode] = {"section": "section", "document": "document", "none": "none"}
_FIELDS = ("prompt", "system-prompt", "provider", "parameters", "output-schema")
_LINE_END = regex(r"\r\n|\n|\r")


class Contexts(Struct, frozen=True, dict=True):
    """The contexts of all scripts of a document as hashes, made in one pass: a document with many results, each made
    from all the text above it, is checked in linear time."""

    model: MagiModel

    def of(self, script: Script, mode: ContextMode) -> list[str]:
        """Return the hashes of the parts that are sent."""
        if mode == "none":
            return []
        section = self._sections.get(script.fence.span.start, "")
        return [section] if mode == "section" else [self._whole, section]

    @cached_property
    def _seen(self) -> Visible:
        return visible(self.model)

    @cached_property
    def _whole(self) -> str:
        text = hashlib.sha256()
        _add(text, self._seen.text)
        return text.hexdigest()

    @cached_property
    def _sections(self) -> dict[int, str]:
        """The section by the place of its block: each is read once, even if it has many blocks."""
        digests: dict[int, str] = {}
        begin = done = -1
        text = hashlib.sha256()
        for script in self.model.scripts:
            span = section_up_to(self._seen, script)
            if span.start != begin or span.end < done:
                begin = done = span.start
                text = hashlib.sha256()
            _add(text, self._seen.between(done, span.end))
            done = span.end
            digests[script.fence.span.start] = text.hexdigest()
        return digests


def script_hash(
    model: MagiModel, script: Script, context: str, model_name: str, *, contexts: Contexts | None = None
) -> str:
    """64 hex digits. ``context`` is the mode: section, document or none; any other word is the default.

    ``model_name`` is the model that answers. It counts only where the block names none: `--model` for one run makes no
    result stale for those who run without it, and a result is compared with the model that its own marker records.
    ``contexts`` saves making them again.
    """
    said = {name: script.fields.value(name) for name in _FIELDS if name in script.fields}
    said["model-name"] = script.fields.text("model-name") or model_name
    said["output-format"] = script.output_format
    mode = context_mode(context)
    said["context"] = [mode, *(contexts or Contexts(model)).of(script, mode)]
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def context_mode(word: str) -> ContextMode:
    """Return the context mode of a word."""
    return _MODES.get(word, DEFAULT_CONTEXT)


def _add(digest: _Hash, text: str) -> None:
    """Add the lines with content. Quotation markers alone do not count, since they may be left over around a block; a
    byte-order mark counts only at the very start."""
    for line in _LINE_END.split(text.replace("\ufeff", "")):
        if line.replace(">", "").strip():
            digest.update(line.rstrip().encode("utf-8", "surrogatepass") + b"\n")
