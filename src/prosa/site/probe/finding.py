"""Checks and their outcomes. In: `Evidence`. Out: an `Outcome` of marks; the report makes findings of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.site.probe.evidence import Evidence, Mark

Level: TypeAlias = Literal["MUST", "SHOULD", "MAY"]
Status: TypeAlias = Literal["passed", "failed", "not-applicable"]

FILES_ONLY = "files only: a running site shows it"


class Outcome(Struct, frozen=True):
    """``marks`` are the evidence: problems or observations. ``words`` say what was examined, or why nothing was."""

    status: Status
    marks: tuple[Mark, ...] = ()
    words: str = ""


Judge: TypeAlias = Callable[[Evidence], Outcome]


class Check(Struct, frozen=True):
    """One row of the table. ``source`` is the section and the requirement; ``headline`` states what should hold;
    ``advice`` says what to do if it does not. ``live`` checks need a running site."""

    id: str
    level: Level
    source: str
    headline: str
    advice: str
    judge: Judge
    live: bool = False

    def outcome(self, evidence: Evidence) -> Outcome:
        """Return the outcome of the check."""
        if self.live and evidence.site is None:
            return Outcome("not-applicable", words=FILES_ONLY)
        return self.judge(evidence)


def judged(
    wrong: Iterable[Mark], looked_at: int, one: str, many: str, *, noticed: Iterable[Mark] = (), none: str = ""
) -> Outcome:
    """Return failed if there are problems, not applicable if nothing was examined. ``noticed`` is reported if all is
    well; ``one`` and ``many`` name what was examined, ``none`` says that nothing was."""
    marks = tuple(dict.fromkeys(wrong))
    if marks:
        return Outcome("failed", marks, f"{looked_at} {one if looked_at == 1 else many} looked at")
    if not looked_at:
        return Outcome("not-applicable", words=none or f"no {many}")
    return Outcome("passed", tuple(dict.fromkeys(noticed)), f"{looked_at} {one if looked_at == 1 else many}")
