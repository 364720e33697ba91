"""What a suite is, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple


class Outcome(NamedTuple):
    """``version`` of the suite, how many of its cases there are, and those that went another way than it expects."""

    version: str
    total: int
    differing: tuple[str, ...]


class Suite(NamedTuple):
    """``where`` below the folder of all suites it is looked for (``origin`` says what to unpack or install there), and
    ``reasons`` say of cases, by the beginning of their names, why they differ."""

    name: str
    where: str
    origin: str
    run: Callable[[Path], Outcome]
    reasons: Mapping[str, str]

    def reason(self, case: str) -> str:
        """Return why a case differs, empty where that is not known."""
        return next((reason for start, reason in self.reasons.items() if case.startswith(start)), "")


def stated_version(place: Path) -> str:
    """Return what the file VERSION of an unpacked suite says, such as its commit."""
    stated = place / "VERSION"
    return stated.read_text(encoding="utf-8").strip() if stated.is_file() else "unknown"
