"""Edits of header lines: `doc_summary` to the second line, a deprecated entry out (Y4, Y25, YA5).

In: a record. Out: edits of whole lines of the header, or none where a line holds more than its entry or the value
cannot be written on one line without changing it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from prosa.data import Entry, Scalar
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.yaml_text import yaml_string
from prosa.source import Edit, Span

_BETWEEN = re.compile(r"[ \t]*:[ \t]*(?:\r\n|\n|\r)?[ \t]*")
_KEY = re.compile(r"(?:doc_summary|\"doc_summary\"|'doc_summary')[ \t]*:")
_REST = re.compile(r"[ \t]*(#[^\r\n]*)?(\r\n|\n|\r|\Z)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLOCK_COMMENT = re.compile(r"[>|][-+0-9]*[ \t]+#")
SUMMARY = "doc_summary:"


@dataclass(frozen=True, slots=True)
class _Lines:
    """The whole lines of an entry, line end included; ``comment`` is what its last line says after the value."""

    span: Span
    comment: str


def summary_edits(model: YmjModel) -> tuple[Edit, ...]:
    """What brings `doc_summary` to the second line, in one piece. Nothing where it is there, or cannot be."""
    entry = model.fields.get("doc_summary")
    lines = _lines(model, entry) if entry is not None else None
    if entry is None or lines is None or not isinstance(entry.value, Scalar):
        return ()
    line = _summary_line(model, entry, entry.value, lines)
    start = first_line(model)
    if line is None or (lines.span.start == start and _same(line, model.source.slice(lines.span))):
        return ()
    if lines.span.start == start:
        return (Edit(lines.span, line),)
    return (Edit(Span(start, start), line), Edit(lines.span, ""))


def _same(line: str, written: str) -> bool:
    return line.rstrip("\r\n") == written.rstrip("\r\n")


def removal_edit(model: YmjModel, entry: Entry) -> Edit | None:
    """What takes an entry out with its lines; None where a comment or another entry would go with it."""
    lines = _lines(model, entry)
    return Edit(lines.span, "") if lines is not None and not lines.comment else None


def first_line(model: YmjModel) -> int:
    """Where the second line of the file begins, that is the first of the header."""
    match = _LINE_END.match(model.source.text, model.front.anchor.end)
    return match.end() if match else model.front.anchor.end


def raw_second_line(model: YmjModel) -> Span:
    """The second line as written, without its line end."""
    start = first_line(model)
    end = _LINE_END.search(model.source.text, start)
    return Span(start, end.start() if end else len(model.source.text))


def _lines(model: YmjModel, entry: Entry) -> _Lines | None:
    """None unless the entry begins in the first column and nothing but a comment follows it on its last line."""
    text, start, end = model.source.text, entry.key.span.start, entry.span.end
    if start > 0 and text[start - 1] not in "\r\n":
        return None
    if end > start and text[end - 1] in "\r\n":
        return _Lines(Span(start, end), "")
    rest = _REST.match(text, end)
    return _Lines(Span(start, rest.end()), rest[1] or "") if rest else None


def _summary_line(model: YmjModel, entry: Entry, value: Scalar, lines: _Lines) -> str | None:
    """The line as it belongs: as written where it is one line, else with the value in one piece. None where that would
    change the value or lose a comment."""
    raw = model.source.slice(lines.span)
    written = raw.rstrip("\r\n")
    if not _LINE_END.search(written) and value.style not in ("literal", "folded"):
        return _KEY.sub(SUMMARY, written, count=1) + _line_end(model) if _KEY.match(written) else None
    before = model.source.slice(Span(entry.key.span.end, value.span.start))
    shown = model.source.slice(value.span)
    text = value.text.strip()
    if lines.comment or not _BETWEEN.fullmatch(before) or _BLOCK_COMMENT.match(shown) or "\n" in text or not text:
        return None
    return f"{SUMMARY} {yaml_string(text)}{_line_end(model)}"


def _line_end(model: YmjModel) -> str:
    """The line end of the first line, which the author uses."""
    return model.source.text[model.front.anchor.end : first_line(model)] or "\n"
