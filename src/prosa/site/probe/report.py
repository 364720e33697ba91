"""Evidence to a report: every check judged, the score, and what the reader has to know besides.

The agent-readiness score is one number from 0 to 100 out of all findings that apply.

Each check has a weight by its level; the six points of §11 weigh twice as much as others of their level, because they
are what the specification calls conformance. The score is the share of the weight that passed. Where a MUST failed it
stays below 50, however much else is right: an agent cannot rely on the site.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from prosa.site.probe.checks import CHECKS
from prosa.site.probe.evidence import Evidence, Mark
from prosa.site.probe.finding import Check, Level, Status

WEIGHTS: Mapping[Level, int] = {"MUST": 10, "SHOULD": 3, "MAY": 1}
CONFORMANCE = "§11"
FACTOR = 2
"""For the points of §11."""

CAP = 49
"""The most that a site can reach of which a MUST failed."""


def weight_of(check: Check) -> int:
    """Return what a check weighs."""
    return WEIGHTS[check.level] * (FACTOR if check.source.startswith(CONFORMANCE) else 1)


def score_of(found: Iterable[tuple[Check, Status]]) -> int:
    """Return the score. Checks that do not apply count neither way; where none applies it is 0."""
    applying = [(check, status) for check, status in found if status != "not-applicable"]
    whole = sum(weight_of(check) for check, _ in applying)
    passed = sum(weight_of(check) for check, status in applying if status == "passed")
    score = passed * 100 // whole if whole else 0
    broken = any(check.level == "MUST" and status == "failed" for check, status in applying)
    return min(score, CAP) if broken else score


MOST_MARKS = 10
"""Lines of evidence that a finding shows; the rest are counted."""


class Finding(Struct, frozen=True):
    """What a check found. ``evidence`` are the first marks, ``more`` is how many there are beyond them."""

    check: Check
    status: Status
    words: str
    evidence: tuple[Mark, ...]
    more: int


class Report(Struct, frozen=True):
    """``target`` is the URL or the folder as the user named it; ``pages`` counts the examined documents. ``notes`` are
    sentences about omissions."""

    target: str
    is_site: bool
    findings: tuple[Finding, ...]
    pages: int
    score: int
    notes: tuple[str, ...]

    def failed(self, *levels: Level) -> tuple[Finding, ...]:
        """Return the findings of these levels that failed."""
        return tuple(each for each in self.findings if each.status == "failed" and each.check.level in levels)

    @property
    def conformant(self) -> bool:
        """Whether every MUST holds."""
        return not self.failed("MUST")


def report_on(evidence: Evidence) -> Report:
    """Judge everything, in the order of the table."""
    findings = tuple(_finding(check, evidence) for check in CHECKS)
    score = score_of((each.check, each.status) for each in findings)
    site = evidence.site
    pages = len(evidence.nodes) + len(evidence.unreadable) if site is None else len(site.pages)
    return Report(evidence.target, site is not None, findings, pages, score, tuple(_notes(evidence)))


def _finding(check: Check, evidence: Evidence) -> Finding:
    outcome = check.outcome(evidence)
    shown = outcome.marks[:MOST_MARKS]
    return Finding(check, outcome.status, outcome.words, shown, len(outcome.marks) - len(shown))


def _notes(evidence: Evidence) -> Iterator[str]:
    site = evidence.site
    if evidence.passed_over:
        counted = ", ".join(f"{number} {title}" for title, number in sorted(evidence.passed_over.items()))
        yield f"passed over, because they are no nodes in a folder: {counted}"
    if site is None:
        return
    unasked = sum(kind == "unasked" for kind in site.targets.values())
    if unasked:
        yield f"{unasked} more paths were not asked for, so nothing is said of them; see --max-pages"
    if 0 < len(site.sampled) < len(site.nodes):
        yield f"{len(site.sampled)} of {len(site.nodes)} nodes were asked in every form"
