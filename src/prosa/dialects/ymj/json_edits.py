"""Edits inside a JSON object: entries taken out, put in, changed, in the layout that the author chose.

In: the text, a mapping of its tree, what to do. Out: edits that leave every other character alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from prosa.data import Entry, Mapping, Value
from prosa.source import Edit, Span


def removed(mapping: Mapping, keys: Collection[str]) -> Iterator[Edit]:
    """The edits that take entries out, each with the comma that it no longer needs."""
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
    """The span of neighbouring entries, with a comma on one side where there is a neighbour."""
    if first > 0:
        return Span(entries[first - 1].span.end, entries[end - 1].span.end)
    if end < len(entries):
        return Span(entries[0].key.span.start, entries[end].key.span.start)
    return Span(entries[0].key.span.start, entries[end - 1].span.end)


def inserted(text: str, mapping: Mapping, key: str, value: Value, *, after: str | None = None) -> Edit:
    """The edit that adds ``key`` with a value, behind the entry ``after`` or in front of all."""
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
    """The edit that puts another value in place of a value."""
    return Edit(entry.value.span, json.dumps(value, ensure_ascii=False))


def _gap(text: str, mapping: Mapping) -> str:
    """What stands between a comma and the next key: as between the first two entries, else as in front of the first."""
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
