"""Edits of a record that leave every other character alone: lines of the header, entries of a JSON object in the layout
that the author chose, strings as YAML scalars on one line (Y4, Y25, YA5, YW2).

A header line is edited only where it holds no more than its entry, and where the value can be written on one line
without changing it. A string is plain where that is safe, else in double quotes, and never folded.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from msgspec import Struct

from prosa.data import Entry, Mapping, Scalar, Value, read_yaml
from prosa.dialects.ymj.model import YmjModel
from prosa.regex import regex
from prosa.source import Edit, Span

_ESCAPED = regex("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_UNSAFE = regex(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\A\s|\s\Z|\A\Z")


def yaml_string(text: str) -> str:
    """Return a scalar that every YAML 1.2 reader takes for this string. Line ends are escaped, not folded."""
    return text if _is_plain(text) else quoted(text)


def quoted(text: str) -> str:
    """Return the string in double quotes."""
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _is_plain(text: str) -> bool:
    if _UNSAFE.search(text):
        return False
    reading = read_yaml(f"key: {text}\n")
    node = reading.node.get("key") if isinstance(reading.node, Mapping) and not reading.problems else None
    return isinstance(node, Scalar) and node.style == "plain" and node.value == text


def removed(mapping: Mapping, keys: Collection[str]) -> Iterator[Edit]:
    """Yield the edits that take entries out, each with the comma that it no longer needs."""
    entries = mapping.entries
    at = 0
    while at < len(entries):
        end = at
        while end < len(entries) and entries[end].key.text in keys:
            end += 1
        if end > at:
            yield Edit(_run(entries, at, end), "")
        at = max(end, at + 1)


def _run(entries: tuple[Entry, ...], first: int, end: int) -> Span:
    """Return the span of neighbouring entries, with a comma on one side where there is a neighbour."""
    if first > 0:
        return Span(entries[first - 1].span.end, entries[end - 1].span.end)
    if end < len(entries):
        return Span(entries[0].key.span.start, entries[end].key.span.start)
    return Span(entries[0].key.span.start, entries[end - 1].span.end)


def inserted(text: str, mapping: Mapping, key: str, value: Value, *, after: str | None = None) -> Edit:
    """Return the edit that adds ``key`` with a value, behind the entry ``after`` or in front of all."""
    entries = mapping.entries
    if not entries:
        start = mapping.span.start + 1
        return Edit(Span(start, start), f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    colon = text[entries[0].key.span.end : entries[0].value.span.start]
    written = json.dumps(key) + _on_one_line(colon) + json.dumps(value, ensure_ascii=False)
    gap = _gap(text, mapping)
    previous = mapping.entry(after) if after else None
    if previous is None:
        start = entries[0].key.span.start
        return Edit(Span(start, start), f"{written},{gap}")
    return Edit(Span(previous.span.end, previous.span.end), f",{gap}{written}")


def replaced(entry: Entry, value: Value) -> Edit:
    """Return the edit that puts another value in place of a value."""
    return Edit(entry.value.span, json.dumps(value, ensure_ascii=False))


def _gap(text: str, mapping: Mapping) -> str:
    """Return what stands between a comma and the next key: as between the first two entries, else as in front of the
    first."""
    first = mapping.entries[0]
    if len(mapping.entries) > 1:
        between = text[first.span.end : mapping.entries[1].key.span.start]
        before, comma, gap = between.partition(",")
        if comma and not before.strip() and not gap.strip():
            return gap
    gap = text[mapping.span.start + 1 : first.key.span.start]
    return gap if "\n" in gap or "\r" in gap else " " * (first.value.span.start - first.key.span.end > 1)


def _on_one_line(colon: str) -> str:
    return colon if colon.strip() == ":" and not set("\r\n") & set(colon) else ": "


_BETWEEN = regex(r"[ \t]*+:[ \t]*+(?:\r\n|\n|\r)?[ \t]*+")
_KEY = regex(r"(?:doc_summary|\"doc_summary\"|'doc_summary')[ \t]*:")
_REST = regex(r"[ \t]*(#[^\r\n]*)?(\r\n|\n|\r|\Z)")
_LINE_END = regex(r"\r\n|\n|\r")
_BLOCK_COMMENT = regex(r"[>|][-+0-9]*[ \t]+#")
SUMMARY = "doc_summary:"


class _Lines(Struct, frozen=True):
    """The whole lines of an entry, line end included; ``comment`` is the comment on its last line."""

    span: Span
    comment: str


def summary_edits(model: YmjModel) -> tuple[Edit, ...]:
    """Return what brings `doc_summary` to the second line, in one piece. Nothing where it is there, or cannot be."""
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
    """Return what takes an entry out with its lines; None where a comment or another entry would go with it."""
    lines = _lines(model, entry)
    return Edit(lines.span, "") if lines is not None and not lines.comment else None


def first_line(model: YmjModel) -> int:
    """Return where the second line of the file starts, the first of the header."""
    match = _LINE_END.match(model.source.text, model.front.anchor.end)
    return match.end() if match else model.front.anchor.end


def raw_second_line(model: YmjModel) -> Span:
    """Return the second line as written, without its line end."""
    start = first_line(model)
    end = _LINE_END.search(model.source.text, start)
    return Span(start, end.start() if end else len(model.source.text))


def _lines(model: YmjModel, entry: Entry) -> _Lines | None:
    """Return the lines of an entry, or None unless it starts in the first column and is followed by no more than a
    comment."""
    text, start, end = model.source.text, entry.key.span.start, entry.span.end
    if start > 0 and text[start - 1] not in "\r\n":
        return None
    if end > start and text[end - 1] in "\r\n":
        return _Lines(Span(start, end), "")
    rest = _REST.match(text, end)
    return _Lines(Span(start, rest.end()), rest[1] or "") if rest else None


def _summary_line(model: YmjModel, entry: Entry, value: Scalar, lines: _Lines) -> str | None:
    """Return the line as it belongs: as written where it is one line, else with the value in one piece. None where that
    would change the value or lose a comment."""
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
    """Return the line end of the first line, which the author uses."""
    return model.source.text[model.front.anchor.end : first_line(model)] or "\n"
