"""Which documents may be shown to others (X23). In: rows and facets of a document, own and inherited. Out: yes or no.

Unclear cases may not be shown. Git-ignored files and files outside the root never come this far; hidden ones are
recognised by their path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prosa.corpus.embedding import SECRET, head_of, looks_classified
from prosa.corpus.extracted import Facets, FieldRow
from prosa.regex import regex

CLASSIFICATION = "classification"
WORST = "secret"

_MAYBE_CLASSIFIED = b"cla"
"""Prefix of `classification` in any case, including the characters other than ASCII that fold to `i` and `s`."""

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
    found = rows
    lower = text.encode("utf-8", "surrogatepass").lower()  # ASCII alone: a tenth of the time of all letters
    if _is_unclear(rows) or (_MAYBE_CLASSIFIED in lower and not _is_secret(rows) and looks_classified(text)):
        found = _with(found, CLASSIFICATION, WORST)
    if VISIBILITY.encode() in lower and looks_limited(text, has_footer=has_footer):
        found = _with(found, VISIBILITY, LIMITED)
    return tuple(found)


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
    some = [row for row in rows if row.key.partition(".")[0].lower() == CLASSIFICATION]
    return any(row.kind not in ("text", "null") or row.n > 0 or "." in row.key for row in some)


def _with(rows: Sequence[FieldRow], key: str, text: str) -> tuple[FieldRow, ...]:
    """Return the rows with another value for a key."""
    return (*(row for row in rows if (row.key, row.n) != (key, 0)), FieldRow(key, 0, "text", text))
