"""One line of the report: a figure of ours beside that of a baseline, and whether an aim is met.

A section yields rows, and nothing else is needed for a row to stand on the page. Rows with the same ``series`` and
different ``size`` are drawn as growth.
"""

from __future__ import annotations

import re

from msgspec import Struct

HEAD = "| what | figure | baseline | its figure | ratio | aim |\n|---|--:|---|--:|--:|---|"

_AIM = re.compile(r"(?P<sign>[≤≥=]) (?P<number>[\d,.]+)(?: ?(?P<unit>x|[a-zA-Zµ/%]+))?(?: (?P<how>.+))?")
_SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}
_BYTES = {"MB": 1e6, "MiB": 1024.0 * 1024}
_RATES = frozenset(("/s", "1/s", "MB/s"))


class Row(Struct, frozen=True, omit_defaults=True):
    """``value`` beside ``base``, which ``baseline`` has, both in ``unit``; ``aim`` is what was asked for.

    A ``baseline`` without a figure was not measured. ``size`` is how many documents, rows, … a row of a
    ``series`` is of.
    """

    what: str
    value: float
    unit: str
    baseline: str = ""
    base: float | None = None
    aim: str = ""
    series: str = ""
    size: float = 0

    def text(self) -> str:
        """Return the row for the table of the terminal."""
        absent = "not measured" if self.baseline else ""
        compared = f"{self.base:,.2f} {self.unit}" if self.base is not None else absent
        ratio = f"{self.ratio:.2f}x" if self.ratio is not None else ""
        cells = [self.what, f"{self.value:,.2f} {self.unit}", self.baseline, compared, ratio, self.aim]
        return f"| {' | '.join(cells)} |"

    @property
    def ratio(self) -> float | None:
        """How many times the figure of the baseline."""
        return self.value / self.base if self.base else None

    @property
    def more_is_better(self) -> bool:
        """Whether it is a rate."""
        return self.unit in _RATES

    def met(self) -> bool | None:
        """Return whether every part of the aim is met; None where one is none, or cannot be judged by the figures."""
        parts = [_AIM.fullmatch(each) for each in self.aim.split(", ")] if self.aim else []
        judged = [self._judged(part["sign"], part) for part in parts if part is not None]
        if not judged or len(judged) < len(parts) or None in judged:
            return None
        return all(judged)

    def _judged(self, sign: str, part: re.Match[str]) -> bool | None:
        value = self._measured(part["unit"] or "", part["how"] or "")
        limit = float(part["number"].replace(",", ""))
        if value is None:
            return None
        return value <= limit if sign == "≤" else value >= limit if sign == "≥" else value == limit

    def _measured(self, unit: str, how: str) -> float | None:
        """Return what an aim in a unit speaks of, in that unit."""
        if unit == "x" or unit == "of":
            return self.ratio
        own = self.value
        if how == "more":
            if self.base is None:
                return None
            own -= self.base
        for units in (_SECONDS, _BYTES):
            if unit in units and self.unit in units:
                many = 1e6 if how == "for a million" else 1
                return own * many * units[self.unit] / units[unit] if how in ("", "more", "for a million") else None
        return own if unit in ("", self.unit) and how in ("", "more") else None
