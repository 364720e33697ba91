"""Time zones from a table made at build time: the sandbox has no /usr/share/zoneinfo and no `tzdata` package."""

from __future__ import annotations

import io
import zoneinfo
import zoneinfo._common
import zoneinfo._tzpath

from prosa_zones import ZONES


def load(key: str) -> io.BytesIO:
    """The compiled zone ``key``, such as ``Europe/Zurich``."""
    data = ZONES.get(key)
    if data is None:
        raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
    return io.BytesIO(data)


def names() -> set[str]:
    """All zones in the table."""
    return set(ZONES)


def install() -> None:
    """Makes `zoneinfo` read the table."""
    zoneinfo.reset_tzpath(to=())
    zoneinfo._common.load_tzdata = load
    zoneinfo.available_timezones = zoneinfo._tzpath.available_timezones = names
