"""Evidence to a report: every check judged, the score, and what the reader has to know besides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prosa.site.probe.checks import CHECKS
from prosa.site.probe.evidence import Evidence, Mark
from prosa.site.probe.finding import Check, Level, Status
from prosa.site.probe.score import score_of

MOST_MARKS = 10
"""Lines of evidence that a finding shows; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found. ``evidence`` are the first marks, ``more`` is how many there are beyond them."""

    check: Check
    status: Status
    words: str
    evidence: tuple[Mark, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Report:
    """``target`` is the URL or the folder as the user named it; ``pages`` counts the documents that were looked at.
    ``notes`` are sentences about what was left out."""

    target: str
    is_site: bool
    findings: tuple[Finding, ...]
    pages: int
    score: int
    notes: tuple[str, ...]

    def failed(self, *levels: Level) -> tuple[Finding, ...]:
        """The findings of these levels that failed."""
        return tuple(each for each in self.findings if each.status == "failed" and each.check.level in levels)

    @property
    def conformant(self) -> bool:
        """Whether every MUST holds."""
        return not self.failed("MUST")


def report_on(evidence: Evidence) -> Report:
    """Judges everything, in the order of the table."""
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
