"""The agent-readiness score: one number from 0 to 100 out of all findings that apply.

Each check has a weight by its level; the six points of §11 weigh twice as much as others of their level, because they
are what the specification calls conformance. The score is the share of the weight that passed. Where a MUST failed it
stays below 50, however much else is right: an agent cannot rely on the site.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prosa.site.probe.finding import Check, Level, Status

WEIGHTS: Mapping[Level, int] = {"MUST": 10, "SHOULD": 3, "MAY": 1}
CONFORMANCE = "§11"
FACTOR = 2
"""For the points of §11."""

CAP = 49
"""The most that a site can reach of which a MUST failed."""


def weight_of(check: Check) -> int:
    """What a check weighs."""
    return WEIGHTS[check.level] * (FACTOR if check.source.startswith(CONFORMANCE) else 1)


def score_of(found: Iterable[tuple[Check, Status]]) -> int:
    """The score. Checks that do not apply count neither way; where none applies it is 0."""
    applying = [(check, status) for check, status in found if status != "not-applicable"]
    whole = sum(weight_of(check) for check, _ in applying)
    passed = sum(weight_of(check) for check, status in applying if status == "passed")
    score = passed * 100 // whole if whole else 0
    broken = any(check.level == "MUST" and status == "failed" for check, status in applying)
    return min(score, CAP) if broken else score
