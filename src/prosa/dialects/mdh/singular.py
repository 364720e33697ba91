"""`action` for one action, as the first site wrote it, becomes `actions` with a list (HA9).

In: a node with the field. Out: the edits, or none where reading the new text would not give exactly the old data under
the new name.
"""

from __future__ import annotations

import re

from prosa.data import Entry, Mapping, Sequence, read_yaml, to_value
from prosa.dialects.mdh.model import NodeModel
from prosa.source import Edit, SourceText, Span, apply_edits

_LINE_START = re.compile(r"(?:\r\n|\n|\r)(?=[^\r\n])")
_INDENT = "  "


def plural_edits(model: NodeModel, entry: Entry) -> tuple[Edit, ...]:
    """The edits that make a list under `actions` of the entry `action`; none where that is not certain."""
    if model.fields is None or model.fields.entry("actions"):
        return ()
    edits = (Edit(entry.key.span, "actions"), *_as_list(model.source, entry))
    return edits if _same_data(model, entry, edits) else ()


def _as_list(source: SourceText, entry: Entry) -> tuple[Edit, ...]:
    span = entry.value.span
    if not isinstance(entry.value, Mapping):
        return ()
    if source.slice(span).startswith("{"):
        return Edit(Span(span.start, span.start), "["), Edit(Span(span.end, span.end), "]")
    inner = source.slice(span).rstrip()
    starts = [span.start + match.end() for match in _LINE_START.finditer(inner)]
    shift = (Edit(Span(start, start), _INDENT) for start in starts)
    return Edit(Span(span.start, span.start), "- "), *shift


def _same_data(model: NodeModel, entry: Entry, edits: tuple[Edit, ...]) -> bool:
    """Whether the new front matter reads as the old one with the action in a list."""
    if model.fields is None or not isinstance(entry.value, Mapping | Sequence):
        return False
    start, end = model.anchor.end, model.body.start
    old = model.source.text[start:end].rstrip("\r\n").removesuffix("---")
    reading = read_yaml(apply_edits(old, [Edit(edit.span.shift(-start), edit.replacement) for edit in edits]))
    if reading.problems or not isinstance(reading.node, Mapping):
        return False
    value = to_value(entry.value)
    expected = {each.key.text: to_value(each.value) for each in model.fields if each is not entry}
    expected["actions"] = value if isinstance(value, list) else [value]
    return bool(to_value(reading.node) == expected)
