"""The filters of a search, under any dialect's names: kind, language, dates, visibility (X23, MA18, MA20).

In: the fields of a document, own and inherited. Out: `Facets`. A malformed field counts as absent, except for
visibility, which then counts as the most restrictive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC

from prosa.corpus.extracted import Facets, FieldRow
from prosa.dialects.magi.dates import normal_form, read_date

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
    found: dict[str, str] = {}
    for field in fields:
        key = field.key.lower().replace("_", "-")
        if field.n == 0 and field.kind != "null":
            found.setdefault(key, field.text.strip())
    return Facets(
        _first(found, _KIND),
        _lowered(_first(found, _CLASSIFICATION)),
        _visibility(found),
        _first(found, _LANGUAGE),
        *(_date(found, keys) for keys in (_UPDATED, _PUBLISHED, _EXPIRED)),
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


def _first(found: Mapping[str, str], keys: Iterable[str]) -> str | None:
    return next((text for key in keys if (text := found.get(key))), None)


def _lowered(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _visibility(found: Mapping[str, str]) -> str | None:
    """Return `public`, `private`, or any other written value: all but the first are not public (Y12, YA20)."""
    written = [text for key in _VISIBILITY if (text := found.get(key))]
    if written:
        worst = next((text for text in written if text.lower() != "public"), "public")
        return worst.lower() if worst.lower() == "private" else worst
    limited = any(key.startswith(f"{name}.") for key in found for name in _VISIBILITY)
    return "private" if limited else None


def _date(found: Mapping[str, str], keys: Iterable[str]) -> str | None:
    return next((date for key in keys if key in found and (date := iso_moment(found[key]))), None)
