"""The manifest against the tests, in both directions: in come requirements and tests, out come sentences about gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.requirements.ledger import Requirement, families
from tests.requirements.scan import NamedTest


def untested(requirements: Mapping[str, Requirement], tests: Sequence[NamedTest]) -> list[Requirement]:
    """Requirements said to be done that no asserting test names."""
    named = set().union(*(test.ids for test in tests if test.asserts))
    return [requirement for requirement in requirements.values() if requirement.done and requirement.id not in named]


def misnamed(requirements: Mapping[str, Requirement], tests: Sequence[NamedTest]) -> Iterator[str]:
    """Tests that name a requirement nobody wrote down, or one that is said to come later.

    A family that the manifest has not taken up yet is left alone.
    """
    taken_up = families(requirements)
    for test in tests:
        for name in sorted(test.ids):
            if name not in requirements and families([name]) <= taken_up:
                yield f"{test} names {name}, which is not in the manifest"
            elif name in requirements and not requirements[name].done:
                yield f"{test} names {name}, which is planned: {requirements[name].waits_for}"


def count(requirements: Mapping[str, Requirement]) -> str:
    """One line: how many are done and how many wait."""
    done = sum(requirement.done for requirement in requirements.values())
    return f"requirements: {done} done, {len(requirements) - done} planned"
