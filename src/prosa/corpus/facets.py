"""The fields of a document: as rows, as the filters of a search, and as what decides whether others may see it (X23,
Y31, MA18).

In: the tree of a front matter or of a footer. Out: `FieldRow`s and `Facets`. For a row only the type of a value is
interpreted. For a search a malformed field counts as absent, except for visibility, which then counts as the most
restrictive. Unclear cases may not be shown; git-ignored files and files outside the root never come this far; hidden
ones are recognised by their path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC

from prosa.corpus.embedding import SECRET, head_of, looks_classified
from prosa.corpus.extracted import Facets, FieldRow
from prosa.data import Mapping as NodeMapping
from prosa.data import Node, Scalar
from prosa.data import Sequence as NodeSequence
from prosa.dialects.magi.fields import normal_form, read_date
from prosa.regex import regex

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
    front: NodeMapping | None, footer: NodeMapping | None = None, inline: Iterable[str] = ()
) -> tuple[tuple[FieldRow, ...], tuple[str, ...]]:
    """Return the rows of a document, and its tags. ``footer`` is that of a YMJ record: its keys stand below `footer`;
    ``inline`` are the tags in its text."""
    by_key: dict[str, list[Scalar | NodeSequence | NodeMapping]] = {}
    values: list[tuple[str, Node]] = []
    if front is not None:
        _collect("", front, values)
    for entry in footer or ():
        if entry.key.text in ("index", "ops"):
            _collect(f"{FOOTER}.{entry.key.text}", entry.value, values)
    for key, value in values[:MAX_FIELDS]:
        by_key.setdefault(key, []).append(value)
    tags = tuple(dict.fromkeys((*(tag for key in _TAG_KEYS for tag in _tags(by_key.get(key, ()))), *inline)))
    by_key.pop(TAG, None)
    rows = (_row(key, n, value) for key, some in by_key.items() for n, value in enumerate(some))
    return (*rows, *(FieldRow(TAG, n, "text", tag) for n, tag in enumerate(tags))), tags


def by_name(rows: Iterable[FieldRow]) -> dict[str, list[FieldRow] | None]:
    """Return rows by the first part of their keys; None for a field that is null, which is a gap (MA18)."""
    by_field: dict[str, list[FieldRow]] = {}
    for row in rows:
        by_field.setdefault(row.key.partition(".")[0], []).append(row)
    return {name: None if all(row.kind == "null" for row in rows) else rows for name, rows in by_field.items()}


def _collect(key: str, node: Node, values: list[tuple[str, Node]]) -> None:
    """Add every value below a node, including empty ones. Depth is bounded by the readers."""
    if len(key) > MAX_KEY or key == _VECTOR:
        return
    if isinstance(node, NodeMapping) and node.entries:
        for entry in node.entries:
            _collect(f"{key}.{entry.key.text}" if key else entry.key.text, entry.value, values)
    elif isinstance(node, NodeSequence) and node.items:
        for item in node.items:
            _collect(key, item, values)
    elif key:
        values.append((key, node))


def _row(key: str, n: int, node: Node) -> FieldRow:
    if not isinstance(node, Scalar):
        return FieldRow(key, n, "list" if isinstance(node, NodeSequence) else "mapping", "")
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


# The filters of a search, under any dialect's names: kind, language, dates, visibility (X23, MA18, MA20).

_KIND = ("kind", "type")
_CLASSIFICATION = ("classification",)
_VISIBILITY = ("footer.ops.visibility", "visibility")
_LANGUAGE = ("language", "lang")
_UPDATED = ("updated-date", "updated", "modified", "updated-at", "last-updated")
_PUBLISHED = ("published-date", "published", "date", "created-date", "created")
_EXPIRED = ("expired-date", "expired", "expires", "footer.ops.retention.expiry")

FACET_KEYS = frozenset((*_KIND, *_CLASSIFICATION, *_VISIBILITY, *_LANGUAGE, *_UPDATED, *_PUBLISHED, *_EXPIRED))
"""Keys that have a say, with `-` for `_`."""


def facets_of(fields: Iterable[FieldRow]) -> Facets:
    """Return the facets of a document with these fields."""
    texts: dict[str, str] = {}
    for field in fields:
        key = field.key.lower().replace("_", "-")
        if field.n == 0 and field.kind != "null":
            texts.setdefault(key, field.text.strip())
    return Facets(
        _first(texts, _KIND),
        _lowered(_first(texts, _CLASSIFICATION)),
        _visibility(texts),
        _first(texts, _LANGUAGE),
        *(_date(texts, keys) for keys in (_UPDATED, _PUBLISHED, _EXPIRED)),
    )


def iso_moment(text: str) -> str | None:
    """Return a date in the form of the index: with the written precision, a time with a zone in UTC. None for
    an invalid date."""
    written = normal_form(text.strip())
    moment = read_date(written) if written is not None else None
    if written is None or moment is None:
        return None
    if not moment.timed:
        return written
    return moment.end.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _first(texts: Mapping[str, str], keys: Iterable[str]) -> str | None:
    return next((text for key in keys if (text := texts.get(key))), None)


def _lowered(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _visibility(texts: Mapping[str, str]) -> str | None:
    """Return `public`, `private`, or any other written value: all but the first are not public (Y12, YA20)."""
    written = [text for key in _VISIBILITY if (text := texts.get(key))]
    if written:
        worst = next((text for text in written if text.lower() != "public"), "public")
        return worst.lower() if worst.lower() == "private" else worst
    limited = any(key.startswith(f"{name}.") for key in texts for name in _VISIBILITY)
    return "private" if limited else None


def _date(texts: Mapping[str, str], keys: Iterable[str]) -> str | None:
    return next((date for key in keys if key in texts and (date := iso_moment(texts[key]))), None)


# Which documents may be shown to others (X23). In: rows and facets of a document, own and inherited. Out: yes or no.

CLASSIFICATION = "classification"
WORST = "secret"

_MAYBE_CLASSIFIED = b"cla"
_CLASSIFIED = regex(rb"cla(?:s|\xc5\xbf){2}(?:i|\xc4[\xb0\xb1])f")
"""Prefixes of `classification` in any case, including the characters other than ASCII that fold to `i` and `s`."""

VISIBILITY = "visibility"
LIMITED = "private"

_IN_HEAD = regex(
    r"""^(?:\{[ \t]*)?["']?visibility["']?[ \t]*:(?P<value>[^\n]*(?:\n(?:[ \t]+|-[ \t])[^\n]*)*)""",
    re.IGNORECASE | re.MULTILINE,
)
_IN_FOOTER = regex(r'"visibility"\s*:\s*(?P<value>"[^"\n]*"|[^\s,}]+|)', re.IGNORECASE)
_COMMENT = regex(r"(?:^|[ \t])#[^\n]*")
_FOOTER = "\n```json"
_OPEN = frozenset(("public", "", "null", "~"))


def guarded(rows: Sequence[FieldRow], text: str, *, has_footer: bool = False) -> tuple[FieldRow, ...]:
    """Return the rows of a document, made most restrictive if its text suggests a visibility that its front matter, or
    with ``has_footer`` its footer, does not state, perhaps because it is broken (X6, X23)."""
    guarded_rows = rows
    lower = text.encode("utf-8", "surrogatepass").lower()  # ASCII alone: a tenth of the time of all letters
    named = _MAYBE_CLASSIFIED in lower and _CLASSIFIED.search(lower) is not None
    if _is_unclear(rows) or (named and not _is_secret(rows) and looks_classified(text)):
        guarded_rows = _with(guarded_rows, CLASSIFICATION, WORST)
    if VISIBILITY.encode() in lower and looks_limited(text, has_footer=has_footer):
        guarded_rows = _with(guarded_rows, VISIBILITY, LIMITED)
    return tuple(guarded_rows)


def looks_limited(text: str, *, has_footer: bool) -> bool:
    """Return whether the text of a document suggests restricted visibility, even if its front matter is broken."""
    return any(value.strip(" \t\r\n\"',}").casefold() not in _OPEN for value in _said(text, has_footer=has_footer))


def is_published(facets: Facets, *, private: bool = False) -> bool:
    """Return whether a document may be shown; with ``private`` also to readers of non-public ones. A classified
    document is never shown."""
    if facets.classification is not None and facets.classification in SECRET:
        return False
    return private or facets.visibility in (None, "public")


def _said(text: str, *, has_footer: bool) -> Iterator[str]:
    """Yield what stands behind `visibility`, wherever it has a say."""
    for match in _IN_HEAD.finditer(head_of(text)):
        yield _COMMENT.sub("", match["value"])
    if has_footer:
        yield from (match["value"] for match in _IN_FOOTER.finditer(text, max(text.rfind(_FOOTER), 0)))


def _is_secret(rows: Sequence[FieldRow]) -> bool:
    known = next((row.text for row in rows if row.key == CLASSIFICATION and row.n == 0), "")
    return known.strip().lower() in SECRET


def _is_unclear(rows: Sequence[FieldRow]) -> bool:
    """Return whether a classification is anything but one text or a gap."""
    length = len(CLASSIFICATION)
    some = [row for row in rows if row.key[:length].lower() == CLASSIFICATION and row.key[length : length + 1] in "."]
    return any(row.kind not in ("text", "null") or row.n > 0 or "." in row.key for row in some)


def _with(rows: Sequence[FieldRow], key: str, text: str) -> tuple[FieldRow, ...]:
    """Return the rows with another value for a key."""
    return (*(row for row in rows if (row.key, row.n) != (key, 0)), FieldRow(key, 0, "text", text))
