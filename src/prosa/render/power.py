"""What the comparisons of a test can find, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prosa.data import Value
from prosa.evaluation.power import Power


def power_lines(powers: Sequence[Power]) -> Iterator[str]:
    """Yield what true differences would be found, in sentences."""
    for each in powers:
        if each.chance is None:
            of = "a comparison needs" if each.comparisons == 1 else f"{each.comparisons} comparisons need"
            yield f"power: none: {of} {each.least_cases} cases, and there are {each.cases}"
            return
        of = f"{each.cases} cases × {each.repeats}" + (f", {each.comparisons} comparisons" * (each.comparisons > 1))
        about = f"a true difference of {each.difference:g} in pass rate"
        yield f"power: {about} is found with a chance of {each.chance:.2f} ({of})"


def power_json(powers: Sequence[Power]) -> list[dict[str, Value]]:
    """Return the same as data."""
    return [
        {
            "difference": each.difference,
            "chance": each.chance,
            "cases": each.cases,
            "repeats": each.repeats,
            "comparisons": each.comparisons,
            "least_cases": each.least_cases,
        }
        for each in powers
    ]
