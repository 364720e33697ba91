"""The fields of a document as rows: dotted paths, one row for each value (Y31, MA18).

In: the tree of a front matter or of a footer. Out: `FieldRow`s. Only the type of a value is interpreted;
`corpus.facets` defines the meaning of fields for a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prosa.corpus.extracted import FieldRow
from prosa.data import Mapping, Node, Scalar, Sequence

MAX_FIELDS = 5_000
"""Rows of one document: no author writes so many fields; data in a front matter is found in the full text too."""

MAX_KEY = 300
"""Characters of a dotted path; a longer one is left out."""

TAG = "tag"
"""The key under which the tags of every dialect are found."""

FOOTER = "footer"

_VECTOR = "footer.index.embedding"

_TAG_KEYS = ("tag", "tags", "footer.index.tags")


def field_rows(
    front: Mapping | None, footer: Mapping | None = None, inline: Iterable[str] = ()
) -> tuple[tuple[FieldRow, ...], tuple[str, ...]]:
    """Return the rows of a document, and its tags. ``footer`` is that of a YMJ record: its keys stand below `footer`;
    ``inline`` are the tags in its text."""
    found: dict[str, list[Scalar | Sequence | Mapping]] = {}
    values: list[tuple[str, Node]] = []
    if front is not None:
        _collect("", front, values)
    for entry in footer or ():
        if entry.key.text in ("index", "ops"):
            _collect(f"{FOOTER}.{entry.key.text}", entry.value, values)
    for key, value in values[:MAX_FIELDS]:
        found.setdefault(key, []).append(value)
    tags = tuple(dict.fromkeys((*(tag for key in _TAG_KEYS for tag in _tags(found.get(key, ()))), *inline)))
    found.pop(TAG, None)
    rows = (_row(key, n, value) for key, some in found.items() for n, value in enumerate(some))
    return (*rows, *(FieldRow(TAG, n, "text", tag) for n, tag in enumerate(tags))), tags


def by_name(rows: Iterable[FieldRow]) -> dict[str, list[FieldRow] | None]:
    """Return rows by the first part of their keys; None for a field that is null, which is a gap (MA18)."""
    found: dict[str, list[FieldRow]] = {}
    for row in rows:
        found.setdefault(row.key.partition(".")[0], []).append(row)
    return {name: None if all(each.kind == "null" for each in rows) else rows for name, rows in found.items()}


def _collect(key: str, node: Node, values: list[tuple[str, Node]]) -> None:
    """Add every value below a node, including empty ones. Depth is bounded by the readers."""
    if len(key) > MAX_KEY or key == _VECTOR:
        return
    if isinstance(node, Mapping) and node.entries:
        for entry in node.entries:
            _collect(f"{key}.{entry.key.text}" if key else entry.key.text, entry.value, values)
    elif isinstance(node, Sequence) and node.items:
        for item in node.items:
            _collect(key, item, values)
    elif key:
        values.append((key, node))


def _row(key: str, n: int, node: Node) -> FieldRow:
    if not isinstance(node, Scalar):
        return FieldRow(key, n, "list" if isinstance(node, Sequence) else "mapping", "")
    value = node.value
    if value is None:
        return FieldRow(key, n, "null", "")
    if isinstance(value, bool):
        return FieldRow(key, n, "boolean", "true" if value else "false")
    if isinstance(value, int | float):
        return FieldRow(key, n, "number", node.text, _number(value))
    return FieldRow(key, n, "text", node.text)


def _number(value: float) -> float | None:
    """Return a number as the index can hold it; a whole number that is too large for that is a text only."""
    try:
        return float(value)
    except OverflowError:
        return None


def _tags(values: Iterable[Node]) -> Iterator[str]:
    """Tag as people type them: with or without `#`, in a list or separated by commas."""
    for value in values:
        if isinstance(value, Scalar) and value.value is not None:
            yield from (tag for part in value.text.split(",") if (tag := part.strip().lstrip("#").strip()))
