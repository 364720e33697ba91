"""What is kept of a search for a better text: its split, its seed, all candidates, the look at held-out cases (X41).

In: rows of a store. Out: values for reports. A look is kept as long as the store, so that the next one is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

PartName: TypeAlias = Literal["description", "body"]
"""What of a subject is changed: the description of a skill, or what follows the front matter."""

ImprovementState: TypeAlias = Literal["open", "done", "interrupted"]


class Candidate(Struct, frozen=True):
    """A text that was tried. Number 0 is the subject as it is; ``parent`` is the number of the one that it was made
    of. ``train`` is the mean rate of the search cases, None where not all were tried; ``held_out`` that of the
    held-out ones. ``refused`` says why nothing was asked with it."""

    id: int
    parent: int | None
    text: str
    train: float | None = None
    held_out: float | None = None
    refused: str = ""


class Improvement(Struct, frozen=True):
    """One search for a better part of a subject. Its ``id`` is that of the call, a dot, and the part.

    ``subject`` and ``file`` are the real paths of what is improved and of its cases; ``digest`` is the SHA-256 of the
    subject, ``about`` that of everything else that the answers depend on. ``cases`` maps the id of each case, or its
    name, to the digest of what it asks and expects, ``held_out`` are those that no search sees. ``look`` is the number
    of the look at these, None before one, and ``chosen`` the candidate that was tried on them. ``p`` has every
    unmeasured attempt counted against the candidate. ``ending`` says how it ended, in words. ``test`` is the stored
    test with all attempts.
    """

    id: str
    subject: str
    file: str
    part: PartName
    digest: str
    about: str
    seed: int
    cases: Mapping[str, str]
    held_out: tuple[str, ...]
    started: str
    state: ImprovementState = "open"
    ended: str | None = None
    look: int | None = None
    chosen: int | None = None
    p: float | None = None
    accepted: bool = False
    cost: float | None = None
    candidates: tuple[Candidate, ...] = ()
    ending: str = ""
    test: str = ""
    holder: str = ""
    host: str = ""

    @property
    def call(self) -> str:
        """What the searches of one command share."""
        return self.id.partition(".")[0]

    @property
    def search(self) -> tuple[str, ...]:
        """The cases that the search sees."""
        return tuple(case for case in self.cases if case not in self.held_out)

    @property
    def proposal(self) -> Candidate | None:
        """The candidate that was chosen."""
        return next((candidate for candidate in self.candidates if candidate.id == self.chosen), None)
