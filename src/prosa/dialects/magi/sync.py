"""`fmt --sync` (MA19b): the list `relationships` of the front matter written anew from the footnotes.

In: a model. Out: one edit, or none where the list says the same already, where it holds more than sentences, and where
something else would change with it: a comment, an anchor that another field uses.
"""

from __future__ import annotations

import re

from prosa.data import Entry, Scalar, Value
from prosa.data.yaml_write import write_yaml
from prosa.dialects.front import FrontReading
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.sentences import FIELD, items_of, listed, sentences
from prosa.source import Edit, SourceText, Span, apply_edits

_FENCE = re.compile(r"---[ \t]*(?:\r\n|\n|\r)?\Z")
_AFTER = re.compile(r"[ \t]*(?:\r\n|\n|\r|\Z)")


def sync_edits(model: MagiModel) -> tuple[Edit, ...]:
    """The edit that makes the list agree with the footnotes. A list that is not there is added where there is anything
    to say and a front matter to say it in."""
    wanted = list(sentences(model))
    entry = listed(model)
    edit = _replaced(model.source, entry, wanted) if entry is not None else _added(model, wanted)
    return (edit,) if edit is not None and _says(model.front, edit, entry, wanted) else ()


def _replaced(source: SourceText, entry: Entry, wanted: list[str]) -> Edit | None:
    """The lines of the entry; None where it agrees, where it holds no plain sentences, or a comment would go."""
    items = items_of(entry.value)
    if items is None or [item.text for item in items] == wanted:
        return None
    start, end = entry.key.span.start, _end(source, entry)
    written = source.text[start:end]
    if "#" in _without(written, start, items) or not _AFTER.match(source.text, end):
        return None
    key = source.slice(entry.key.span)
    return Edit(Span(start, end), key + write_yaml({FIELD: wanted}).removeprefix(FIELD).rstrip("\n"))


def _end(source: SourceText, entry: Entry) -> int:
    """Where the last line of the value ends, without its line end."""
    end = max(entry.value.span.end, entry.key.span.end)
    end = entry.key.span.start + len(source.text[entry.key.span.start : end].rstrip())
    colon = re.compile(r"[ \t]*:").match(source.text, end) if end == entry.key.span.end else None
    return colon.end() if colon else end


def _without(written: str, start: int, items: tuple[Scalar, ...]) -> str:
    """The text of the entry between its sentences."""
    between: list[str] = []
    at = 0
    for item in items:
        between.append(written[at : max(at, item.span.start - start)])
        at = max(at, item.span.end - start)
    return "".join((*between, written[at:]))


def _added(model: MagiModel, wanted: list[str]) -> Edit | None:
    """A line above the closing fence; None where there is nothing to say."""
    if not wanted:
        return None
    text, end = model.source.text, model.front.body.start
    fence = _FENCE.search(text, model.front.anchor.end, end) if model.front.fields is not None else None
    if fence is None or text[fence.start() - 1] not in "\r\n":
        return None
    return Edit(Span(fence.start(), fence.start()), write_yaml({FIELD: wanted}))


def _says(front: FrontReading, edit: Edit, entry: Entry | None, wanted: list[str]) -> bool:
    """Whether the edited front matter reads as before, but for the list."""
    name = entry.key.text if entry is not None else FIELD
    after = front.reread(apply_edits(front.source.text, (edit,)))
    return not after.problems and _fields(after) == {**_fields(front), name: wanted}


def _fields(front: FrontReading) -> dict[str, Value]:
    return front.value or {}
