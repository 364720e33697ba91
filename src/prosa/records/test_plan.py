"""What a test would take, as values: attempts, calls, tokens and US dollars, at least and at most (X26, X36).

In: the sides of a test. Out: their sums. A bound that is not known is None.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Generic, TypeVar

from msgspec import Struct

from prosa.data import Value
from prosa.evaluation.power import Power

N = TypeVar("N", int, float)


class Bounds(Struct, Generic[N], frozen=True):
    """What something takes at least and at most; None where nothing is known."""

    least: N | None
    most: N | None

    def as_list(self) -> list[Value]:
        """Return both."""
        return [self.least, self.most]


class SidePlan(Struct, frozen=True):
    """One side of a suite: its label, and what its attempts take together."""

    path: str
    label: str
    attempts: int
    calls: Bounds[int]
    tokens: Bounds[int]
    cost: Bounds[float]


class TestPlan(Struct, frozen=True):
    """A test before it runs. ``asks`` says whether a person is asked before it begins; ``notes`` are for people.
    ``powers`` are the chances that its comparisons find a true difference, for the suite with the fewest cases."""

    sides: tuple[SidePlan, ...]
    cap: Decimal | None
    asks: bool
    notes: tuple[str, ...] = ()
    powers: tuple[Power, ...] = ()

    __test__ = False

    @property
    def attempts(self) -> int:
        """All attempts."""
        return sum(side.attempts for side in self.sides)

    @property
    def calls(self) -> Bounds[int]:
        """Model calls, those of graders among the most."""
        return _together(side.calls for side in self.sides)

    @property
    def tokens(self) -> Bounds[int]:
        """Tokens in and out."""
        return _together(side.tokens for side in self.sides)

    @property
    def cost(self) -> Bounds[float]:
        """US dollars; at most the cap, where there is one."""
        whole = _together(side.cost for side in self.sides)
        if self.cap is None:
            return whole
        cap = float(self.cap)
        return Bounds(whole.least, cap if whole.most is None else min(whole.most, cap))


def _together(spreads: Iterable[Bounds[N]]) -> Bounds[N]:
    known = list(spreads)
    least = [bounds.least for bounds in known if bounds.least is not None]
    most = [bounds.most for bounds in known if bounds.most is not None]
    return Bounds(sum(least) if least else None, sum(most) if len(most) == len(known) else None)
