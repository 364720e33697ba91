"""What an audit found in the cases of a subject: whether they can fail at all, and what they notice.

In: how often cases passed with a subject, without it, and with parts of it missing. Out: which case notices which
mutant, sections whose absence no case notices, and findings. A finding is something vacuous; a note is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from prosa.evaluation.statistics import Counted, is_enough

NOTICED: Final = Fraction(1, 2)
"""The least loss in pass rate by which a case notices a mutant: with one repeat, a pass that became a failure."""

Kind: TypeAlias = Literal[
    "expects-nothing",
    "empty-passes",
    "refusal-passes",
    "any-case-passes",
    "one-answer-passes",
    "echo-passes",
    "assertion-never-fails",
    "gate-never-closes",
    "no-negative-trigger",
    "no-positive-trigger",
    "grader-passes-everything",
    "passes-without",
    "empty-subject-passes",
]
"""What is vacuous."""


class AuditFinding(Struct, frozen=True):
    """Something vacuous, at the file of a suite. ``case`` is the name of the case, empty where it is the suite;
    ``place`` is its path with the line, where it is known."""

    kind: Kind
    message: str
    path: str
    case: str = ""
    place: str = ""


class CaseAudit(Struct, frozen=True):
    """A case. ``passes_without`` is None where that is not known; ``reason`` says why it cannot fail, or where what is
    known of it comes from."""

    id: str
    path: str
    cannot_fail: bool = False
    passes_without: bool | None = None
    reason: str = ""


class MutantAudit(Struct, frozen=True):
    """The subject without a section, or without all of its text. ``noticed_by`` are the cases that lost at least half
    of their pass rate; ``tried`` those that could notice it: they passed with the subject and were measured on both
    sides. ``why`` says why it was not tried."""

    section: str
    noticed_by: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    tokens: int = 0
    is_empty: bool = False
    why: str = ""

    @property
    def unnoticed(self) -> bool:
        """Whether no case noticed it, although some could have."""
        return bool(self.tried) and not self.noticed_by


class Audit(Struct, frozen=True):
    """What was found. ``notes`` are no findings; ``untried`` says what was not tried, and why."""

    cases: tuple[CaseAudit, ...]
    mutants: tuple[MutantAudit, ...] = ()
    findings: tuple[AuditFinding, ...] = ()
    notes: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()
    cost: float | None = 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing vacuous was found."""
        return not self.findings

    @property
    def unnoticed(self) -> tuple[str, ...]:
        """The sections whose absence no case notices."""
        return tuple(mutant.section for mutant in self.mutants if mutant.unnoticed and not mutant.is_empty)


def mutant_of(
    section: str,
    subject: Mapping[str, Counted],
    without: Mapping[str, Counted],
    *,
    tokens: int = 0,
    is_empty: bool = False,
) -> MutantAudit:
    """Return which cases notice a mutant."""
    sides = [(name, counted, without[name]) for name, counted in subject.items() if name in without]
    known = [side for side in sides if _is_known(side[1]) and _is_known(side[2])]
    could = [side for side in known if side[1].share >= NOTICED]
    noticed = tuple(name for name, first, second in could if first.share - second.share >= NOTICED)
    why = "" if known else "it could not be measured"
    return MutantAudit(section, noticed, tuple(name for name, _, _ in could), tokens, is_empty, why)


def _is_known(counted: Counted) -> bool:
    return counted.repeats > 0 and is_enough(counted.repeats, counted.planned)


def passes(counted: Counted) -> bool | None:
    """Return whether every measured attempt passed; None where too few were measured."""
    return counted.passed == counted.repeats if _is_known(counted) else None


def passing_without(path: str, known: Mapping[str, bool | None]) -> list[AuditFinding]:
    """Return the finding about a suite of which at least half of the cases pass without its subject."""
    measured = [name for name, passed in known.items() if passed is not None]
    passing = [name for name in measured if known[name]]
    if len(passing) < 2 or 2 * len(passing) < len(measured):
        return []
    message = f"{len(passing)} of {len(measured)} cases pass without the subject: they say nothing about it"
    return [AuditFinding("passes-without", message, path)]


def unnoticed_subject(path: str, mutants: Sequence[MutantAudit]) -> list[AuditFinding]:
    """Return the finding about a subject of whose whole text no case notices the absence."""
    if not any(mutant.is_empty and mutant.unnoticed for mutant in mutants):
        return []
    return [AuditFinding("empty-subject-passes", "no case notices that the whole text of the subject is missing", path)]
