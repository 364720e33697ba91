"""Dates of front matter (M12–M15, MA16): text in, a point in time or a normal form out.

ISO 8601 calendar dates, with or without a time and a zone, are read as they are. A few other notations leave no doubt
either (year first, unpadded, slashes, a space for the `T`); they have a normal form. Everything else is no date here:
`03/04/2024` is two dates, and month names belong to a language.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from msgspec import Struct

from prosa.regex import regex

_ISO = regex(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)"
    r"(?:T(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?)?)?",
    re.ASCII,
)
_LOOSE = regex(
    r"(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})"
    r"(?:(?:[Tt]|[ ]{1,4})(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<fraction>\.\d{1,9})?)?"
    r"[ ]{0,4}(?P<zone>[Zz]|UTC|GMT|utc|gmt|[+-]\d{1,2}(?::?\d\d)?)?)?",
    re.ASCII,
)
MAX_LENGTH = 64
"""Longer texts are no dates."""

WANTED = "must be an ISO 8601 date such as `2024-01-15` or `2024-01-15T09:00:00Z`"


class Moment(Struct, frozen=True):
    """A date as read. ``end`` is the first instant after everything it can mean: a day ends at midnight UTC, a time
    without a zone counts as UTC. ``timed`` and ``zoned`` say how much was written."""

    end: datetime
    timed: bool
    zoned: bool


@lru_cache(maxsize=1024)
def read_date(text: str) -> Moment | None:
    """Return the date that an ISO 8601 text names, or None. Years before 1 and after 9998 are none."""
    match = _ISO.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    try:
        return _moment(match)
    except (ValueError, OverflowError):
        return None


def normal_form(text: str) -> str | None:
    """Return the text itself when it is ISO 8601, its normal form when it can mean only one date, else None."""
    if read_date(text) is not None:
        return text
    match = _LOOSE.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    day = f"{match['year']}-{int(match['month']):02}-{int(match['day']):02}"
    written = day if match["hour"] is None else f"{day}T{_clock(match)}{_zone(match['zone'])}"
    return written if read_date(written) is not None else None


def date_form(text: str) -> str | None:
    """Return the complaint about a text that is no date."""
    return None if normal_form(text) is not None else WANTED


def _moment(match: re.Match[str]) -> Moment:
    year, month, day = (int(match[part]) if match[part] else None for part in ("year", "month", "day"))
    assert year is not None
    start = datetime(year, month or 1, day or 1, tzinfo=UTC)
    if match["hour"] is None:
        days = 1 if day else monthrange(year, month)[1] if month else 366 if monthrange(year, 2)[1] == 29 else 365
        return Moment(start + timedelta(days=days), timed=False, zoned=False)
    second = min(int(match["second"] or 0), 59) if match["second"] != "60" else 59
    clock = start.replace(hour=int(match["hour"]), minute=int(match["minute"]), second=second)
    if int(match["second"] or 0) > 60:
        raise ValueError("no such second")
    return Moment(clock - _offset(match["zone"]), timed=True, zoned=match["zone"] is not None)


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone == "Z":
        return timedelta()
    hours, minutes = int(zone[1:3]), int(zone[-2:]) if len(zone) > 3 else 0
    if hours > 23 or minutes > 59:
        raise ValueError("no such zone")
    return (1 if zone[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes)


def _clock(match: re.Match[str]) -> str:
    seconds = f":{match['second']}{match['fraction'] or ''}" if match["second"] else ""
    return f"{int(match['hour']):02}:{match['minute']}{seconds}"


def _zone(zone: str | None) -> str:
    if zone is None:
        return ""
    if zone[0] not in "+-":
        return "Z"
    hours, _, minutes = zone[1:].partition(":")
    if not minutes and len(hours) > 2:
        hours, minutes = hours[:-2], hours[-2:]
    return f"{zone[0]}{int(hours):02}:{minutes or '00'}"
