"""What the sections of a subject do, as values: each with the comparison of the subject with and without it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from prosa.evaluation.report import Compared


class SectionEffect(Struct, frozen=True):
    """A section. ``tokens`` is about what its text takes, ``measured`` how many more an attempt took with it, None
    where that is not known. ``compared`` has the subject first: *better* means better with the section."""

    title: str
    tokens: int
    measured: float | None
    compared: Compared

    @property
    def difference(self) -> float | None:
        """The pass rate with it minus that without it."""
        return self.compared.comparison.difference.value


class AblationResult(Struct, frozen=True):
    """An ablation of the file at ``path``, which takes about ``tokens``: sections by what their absence does."""

    path: str
    tokens: int
    sections: tuple[SectionEffect, ...]
    notes: tuple[str, ...] = ()


def ranked(effects: Sequence[SectionEffect]) -> tuple[SectionEffect, ...]:
    """Return sections by the loss that their absence makes, the greatest first; of equal ones the longest."""
    return tuple(sorted(effects, key=lambda effect: (-(effect.difference or 0.0), -effect.tokens)))
