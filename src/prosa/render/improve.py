"""What came of a search for a better text, for people and as JSON (X41).

In: records of searches. Out: text, or plain data. Texts that a model wrote are shown as quotations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prosa.data import Value
from prosa.evaluation.comparison import ALPHA, Comparison
from prosa.records.improvement import Candidate, Improvement
from prosa.render.plain import safe
from prosa.render.tests import count_words, difference_words, dollars


def improvement_lines(record: Improvement, comparison: Comparison | None = None) -> Iterator[str]:
    """Yield a search for people: its split, its candidates, the look and what it decided."""
    held = len(record.held_out)
    yield f"{safe(record.subject)}: {record.part}, search {record.id} with seed {record.seed}"
    looked = "not looked at" if record.look is None else f"look {record.look} at these"
    yield f"  {len(record.search)} search cases, {held} held out: {looked}"
    yield from (f"  {_mark(record, candidate)} {candidate_words(candidate)}" for candidate in record.candidates)
    if record.look is not None:
        difference = "" if comparison is None else f"{difference_words(comparison)}, "
        yield f"  held out: {difference}{level_words(record)}"
    cost = "at an unknown cost" if record.cost is None else f"for {dollars(record.cost)}"
    yield f"  {decision_words(record)}, {cost}"


def decision_words(record: Improvement) -> str:
    """Return what was decided, and why nothing was accepted."""
    if record.accepted:
        return f"accepted: candidate {record.chosen}"
    if record.state != "done":
        return f"{record.state}: {safe(record.ending)}" if record.ending else record.state
    return "not accepted" if record.look is not None else f"not accepted: {safe(record.ending)}"


def candidate_words(candidate: Candidate) -> str:
    """Return the figures of a candidate."""
    name = f"candidate {candidate.id} of {candidate.parent}" if candidate.id else "as it is"
    if candidate.refused:
        return f"{name}: refused, {safe(candidate.refused)}"
    held = "" if candidate.held_out is None else f", held out {candidate.held_out:.2f}"
    train = "not tried on all search cases" if candidate.train is None else f"search {candidate.train:.2f}"
    return f"{name}: {train}{held}, {count_words(len(candidate.text), 'character')}"


def p_words(p: float | None) -> str:
    """Return a p value, or that there is none."""
    return "unknown" if p is None else f"{p:.2g}" if p >= 0.0001 else "0.0001 or less"


def level_words(record: Improvement) -> str:
    """Return the p of a look and the level that it needs."""
    if record.look is None:
        return "the held-out cases were not looked at"
    return f"p = {p_words(record.p)}; look {record.look} needs p ≤ {float(ALPHA) / record.look:.2g}"


def _mark(record: Improvement, candidate: Candidate) -> str:
    if candidate.id != record.chosen or not candidate.id:
        return " "
    return "▲" if record.accepted else "≈"


# ---- JSON ----


def improvements_json(
    records: Sequence[Improvement], *, subject: str, proposal: str, cost: float | None
) -> dict[str, Value]:
    """Return the searches of a subject as data: what was accepted first, else what was tried last."""
    record = next((improvement for improvement in reversed(records) if improvement.accepted), records[-1])
    return {
        "accepted": record.accepted,
        "p": record.p,
        "look": record.look,
        "candidates": [_candidate_object(record, candidate) for record in records for candidate in record.candidates],
        "cost": cost,
        "subject": subject,
        "parts": [improvement_object(improvement) for improvement in records],
        "proposal": proposal,
    }


def improvement_object(record: Improvement) -> dict[str, Value]:
    """Return a search as data, without its candidates."""
    return {
        "id": record.id,
        "part": record.part,
        "accepted": record.accepted,
        "chosen": record.chosen,
        "p": record.p,
        "look": record.look,
        "seed": record.seed,
        "search": list(record.search),
        "held_out": list(record.held_out),
        "ending": record.ending,
        "cost": record.cost,
        "test": record.test or None,
    }


def _candidate_object(record: Improvement, candidate: Candidate) -> dict[str, Value]:
    return {
        "id": candidate.id,
        "parent": candidate.parent,
        "train": candidate.train,
        "held_out": candidate.held_out,
        "part": record.part,
        "refused": candidate.refused or None,
        "text": candidate.text,
    }
