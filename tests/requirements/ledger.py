"""The manifest as values: in come the TOML files of `manifest/`, out come requirements by id.

Refuses a requirement without its three fields, an id listed twice, and a state that is neither `done` nor
`planned: TITLE` with a title known here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MANIFEST = Path(__file__).parent / "manifest"

LATER = (
    "Five formats, read without loss, checked and put right",
    "The corpus: one graph, one index, one search",
    "Documents that act: ai-scripts and conversations",
    "A site for agents and people, and the client that walks it",
    "Conversion from one dialect to another",
    "Mailboxes between programs",
)
"""Titles of the pieces of work that a planned requirement may wait for."""

FAMILIES = {
    "X": 23,
    "L": 47,
    "LA": 33,
    "LW": 14,
    "M": 51,
    "MA": 22,
    "MW": 7,
    "Y": 31,
    "YA": 26,
    "YW": 8,
    "H": 23,
    "HA": 22,
    "HW": 9,
    "P": 15,
    "PA": 18,
    "PW": 10,
}
"""How many requirements each family has. A family of which one is in the manifest is there as a whole."""

ID = re.compile(rf"({'|'.join(sorted(FAMILIES, reverse=True))})(\d+)([a-z]?)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One sentence that the product keeps. ``waits_for`` is a title of `LATER`, or None when it is done."""

    id: str
    says: str
    source: str
    waits_for: str | None

    @property
    def done(self) -> bool:
        """Whether a test must name it."""
        return self.waits_for is None


def load(folder: Path = MANIFEST) -> Mapping[str, Requirement]:
    """All requirements, in the order of their files. Raises ValueError for a manifest that is not sound."""
    found: dict[str, Requirement] = {}
    for file in sorted(folder.glob("*.toml")):
        for requirement in _of_file(file):
            if requirement.id in found:
                raise ValueError(f"{file.name}: {requirement.id} is listed twice")
            found[requirement.id] = requirement
    return found


def missing(requirements: Mapping[str, Requirement]) -> list[str]:
    """Ids that nobody wrote down, of the families taken up; a lettered part does not stand for the whole."""
    taken_up = families(requirements)
    every = (f"{family}{n}" for family, count in FAMILIES.items() if family in taken_up for n in range(1, count + 1))
    return [name for name in every if name not in requirements]


def families(requirements: Iterable[str]) -> set[str]:
    """The families that ids belong to."""
    return {match[1] for name in requirements if (match := ID.fullmatch(name))}


def _of_file(file: Path) -> Iterator[Requirement]:
    for name, fields in tomllib.loads(file.read_text(encoding="utf-8")).items():
        place = f"{file.name}: {name}"
        if not ID.fullmatch(name):
            raise ValueError(f"{place} is not the id of a requirement")
        if set(fields) != {"says", "source", "state"} or not all(fields.values()):
            raise ValueError(f"{place} needs exactly says, source and state")
        yield Requirement(name, fields["says"], fields["source"], _waits_for(place, fields["state"]))


def _waits_for(place: str, state: str) -> str | None:
    if state == "done":
        return None
    title = state.removeprefix("planned: ")
    if title == state or title not in LATER:
        raise ValueError(f"{place} has the state {state!r}; expected 'done' or 'planned: ' and a known title")
    return title
