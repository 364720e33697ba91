"""What a search for a better text may see, and what its one candidate has to show on the rest (X41).

In: the names of cases, and what was held out of them before. Out: a split, and verdicts. Nothing is asked here: a
`Searcher` looks for candidates in a `SearchWorld`, which shows it the search cases alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Final, Protocol

from msgspec import Struct

from prosa.evaluation.comparison import ALPHA, MIN_CASES, Comparison

MIN_SPLIT: Final = 2 * MIN_CASES
"""Cases that it takes to accept anything: half of fewer give no verdict."""

FEW_LOOKS: Final = 16
"""Cases below which the looks that are left are few enough to be named."""

_SALT = "prosa improve 1"


class Split(Struct, frozen=True):
    """The names of the cases that a search sees, and of those that its candidate is tried on, in their own order."""

    search: tuple[str, ...]
    held_out: tuple[str, ...]


def split_cases(names: Sequence[str], before: Mapping[str, bool] | None = None) -> Split:
    """Return half of the cases as held out, by the digests of their names or ids. ``before`` says which of them were
    held out in earlier searches: a case never changes its side, so that none is held out that a search has seen."""
    before = before or {}
    new = sorted((name for name in names if name not in before), key=_place)
    held = {name for name in names if before.get(name)}
    held.update(new[: max(0, len(names) // 2 - len(held))])
    search = tuple(name for name in names if name not in held)
    return Split(search, tuple(name for name in names if name in held))


def _place(name: str) -> str:
    return sha256(f"{_SALT}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()


def looks_left(held_out: int, earlier: int) -> int:
    """Return how many further looks at so many held-out cases could accept anything: the smallest p of the test is
    2 / 2 ** cases, and the k-th look needs ALPHA / k."""
    if held_out < MIN_CASES:
        return 0
    return max(0, int(ALPHA * 2 ** (held_out - 1)) - earlier)


def is_accepted(comparison: Comparison, look: int) -> bool:
    """Return whether the held-out cases show that a candidate is better, at the level of the ``look``, counted from
    1: also with every unmeasured attempt counted against it (X34)."""
    if comparison.verdict != "better" or comparison.p_worst is None:
        return False
    return Fraction(comparison.p_worst) * look <= ALPHA


class SearchEnded(BaseException):
    """A search has to end now: what it may take is used up, or its caller was cancelled. It derives from BaseException
    because libraries retry what raises an Exception."""


class SearchWorld(Protocol):
    """What a searcher may ask, from its own thread. Each question may raise `SearchEnded`."""

    def scores(self, text: str, cases: Sequence[str]) -> list[float]:
        """Return the share of passed attempts of each case with a text; 0 for a text that is refused."""
        ...

    def propose(self, text: str, cases: Sequence[str]) -> str:
        """Return another text, written by a model that sees how the cases went with this one."""
        ...

    def is_over(self) -> bool:
        """Return whether nothing further is to be tried."""
        ...


class Searcher(Protocol):
    """A search for a text with better scores; its calls all go through the world, which knows every candidate."""

    def search(self, start: str, cases: Sequence[str], seed: int, world: SearchWorld) -> None:
        """Search until the world is over, always in the same way for the same answers and seed."""
        ...
