"""Forms of single values in a YMJ record: each looks at a text and gives the rest of a sentence, or None when it is
well-formed. Nothing is converted here."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_DATE = re.compile(
    r"(\d{4})-(\d\d)(?:-(\d\d))?"
    r"(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:[.,]\d{1,9})?)?(?:Z|z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?",
    re.ASCII,
)
_ZONE = re.compile(r"([+-])(\d\d):?(\d\d)?\Z")
_LANGUAGE = re.compile(r"(?:[A-Za-z]{2,8}|[xi](?=-))(?:-[A-Za-z0-9]{1,8}){0,8}", re.ASCII)
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S*")
_MIME = re.compile(r"[\w!#$&^.+-]{1,127}/[\w!#$&^.+-]{1,127}(?:\s*;.*)?", re.ASCII)


def is_sha256(text: str) -> bool:
    """Whether a text is a SHA-256 in hex, either case."""
    return _SHA256.fullmatch(text) is not None


def date_form(text: str) -> str | None:
    """ISO 8601 as records use it: a date, or a date with a time (Y8)."""
    match = _DATE.fullmatch(text.strip())
    if match is None or (match[4] and not match[3]) or not _exists(match[1], match[2], match[3] or "01"):
        return f"is not an ISO 8601 date: `{text[:40]}`; write it as 2026-03-31 or 2026-03-31T14:05:00Z"
    return None


def end_of(text: str) -> datetime | None:
    """The moment at which a date, a month or a time of `date_form` is over, or None; without a zone it is UTC."""
    match = _DATE.fullmatch(text.strip())
    if match is None or not _exists(match[1], match[2], match[3] or "01"):
        return None
    if match[4] is None:
        return _day_after(int(match[1]), int(match[2]), int(match[3]) if match[3] else None)
    zone = _ZONE.search(text.strip())
    written = f"{match[1]}-{match[2]}-{match[3]}T{match[4]}:{match[5]}:{min(int(match[6] or 0), 59):02}"
    moment = datetime.fromisoformat(written).replace(tzinfo=UTC)
    if zone is None:
        return moment
    ahead = timedelta(hours=int(zone[2]), minutes=int(zone[3] or 0))
    try:
        return moment - ahead if zone[1] == "+" else moment + ahead
    except OverflowError:
        return None


def _day_after(year: int, month: int, day: int | None) -> datetime | None:
    """The beginning of the day after a day, or of the month after a month."""
    try:
        if day is None:
            return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        return datetime(year, month, day, tzinfo=UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def _exists(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def language_form(text: str) -> str | None:
    """The shape of a BCP 47 tag (Y8); whether the subtags are registered is not looked up."""
    if _LANGUAGE.fullmatch(text):
        return None
    return f"is not a language tag (BCP 47): `{text[:40]}`; write it as `en` or `en-US`"


def uri_form(text: str) -> str | None:
    """A URI with its scheme (RFC 3986)."""
    return None if _SCHEME.fullmatch(text) else f"is not a URI: `{text[:40]}`; it begins with a scheme such as `https:`"


def mime_form(text: str) -> str | None:
    """A media type (RFC 6838)."""
    return None if _MIME.fullmatch(text) else f"is not a media type: `{text[:40]}`; write it as `text/csv`"


def not_empty(text: str) -> str | None:
    """Something visible."""
    return None if text.strip() else "is empty"
