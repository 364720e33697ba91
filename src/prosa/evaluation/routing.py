"""Which skill a model loads for a request, out of several that it knows by name and description (X32).

In: the expected and the loaded skills, for each repeat of each request. Out: a confusion table. No judgement is
needed: a skill was loaded or it was not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from prosa.evaluation.expectations import Failure

NONE = "none"
SEVERAL = "several"
FAILED = "failed"
NOT_MEASURED = "not measured"
"""Columns besides the names; the last two are for requests without a reply: the run failed, or could not be judged."""


class Routing(Struct, frozen=True):
    """The skills offered for the requests of one skill: ``own`` is its name, ``offered`` are the names of all.
    ``belongs`` maps the name of a case to the skill of its request; empty if the author names none."""

    own: str
    offered: tuple[str, ...]
    belongs: Mapping[str, str]

    @property
    def otherwise(self) -> str:
        """The expectation of a request that belongs to no named skill."""
        return f"not {self.own}"

    def missed(self, case: str, loaded: Sequence[str]) -> Failure | None:
        """Return what a repeat lacks that loaded some skills: the one that its request belongs to; and a request that
        is not for the skill must not load it."""
        belongs = self.belongs.get(case, "")
        wrong = belongs != self.own and self.own in loaded
        if not wrong and (not belongs or belongs in loaded):
            return None
        return Failure("loaded", belongs or self.otherwise, ", ".join(dict.fromkeys(loaded)) or NONE)

    def expected(self, case: str) -> str:
        """Return the name of the row that a case counts in."""
        return self.belongs.get(case) or self.otherwise


class ConfusionRow(Struct, frozen=True):
    """How often which skill was loaded for the requests that belong to one: by name, with `none`, `several`, `failed`
    and `not measured`."""

    expected: str
    loaded: Mapping[str, int]

    @property
    def total(self) -> int:
        """All repeats of its requests."""
        return sum(self.loaded.values())


class Confusion(Struct, frozen=True):
    """Rows by what was expected: the skill itself first, then those beside it, then requests that belong to none."""

    own: str
    offered: tuple[str, ...]
    rows: tuple[ConfusionRow, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return everything that was loaded, the skill itself first, `none` and `several` last."""
        seen = {name for row in self.rows for name in row.loaded}
        names = [self.own, *(name for name in self.offered if name in seen and name != self.own), NONE]
        return (*names, *(name for name in (SEVERAL, FAILED, NOT_MEASURED) if name in seen))


def confusion(routing: Routing, loads: Iterable[tuple[str, Sequence[Sequence[str] | None]]]) -> Confusion:
    """Return the table of requests: the name of each case with the skills that each of its repeats loaded; None for a
    repeat that failed, and `NOT_MEASURED` alone for one that could not be judged."""
    counted: dict[str, dict[str, int]] = {}
    for case, repeats in loads:
        row = counted.setdefault(routing.expected(case), {})
        for loaded in repeats:
            names = dict.fromkeys((FAILED,) if loaded is None else loaded)
            name = SEVERAL if len(names) > 1 else next(iter(names), NONE)
            row[name] = row.get(name, 0) + 1
    order = (routing.own, *(skill for skill in routing.offered if skill != routing.own), routing.otherwise)
    rows = tuple(ConfusionRow(name, counted[name]) for name in order if name in counted)
    return Confusion(routing.own, routing.offered, rows)
