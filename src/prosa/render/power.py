"""What the comparisons of a test can find, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prosa.data import Value
from prosa.evaluation.power import Power


def power_lines(powers: Sequence[Power]) -> Iterator[str]:
    """Yield what true differences would be found, in sentences."""
    for power in powers:
        if power.chance is None:
            of = "a comparison needs" if power.comparisons == 1 else f"{power.comparisons} comparisons need"
            yield f"power: none: {of} {power.least_cases} cases, and there are {power.cases}"
            return
        of = f"{power.cases} cases × {power.repeats}" + (f", {power.comparisons} comparisons" * (power.comparisons > 1))
        about = f"a true difference of {power.difference:g} in pass rate"
        yield f"power: {about} is found with a chance of {power.chance:.2f} ({of})"


def power_json(powers: Sequence[Power]) -> list[dict[str, Value]]:
    """Return the same as data."""
    return [
        {
            "difference": power.difference,
            "chance": power.chance,
            "cases": power.cases,
            "repeats": power.repeats,
            "comparisons": power.comparisons,
            "least_cases": power.least_cases,
        }
        for power in powers
    ]
