"""Corpora in which a check found nothing. As long as all that it rests on is as it was, there is nothing to find (X10).

In: a group of documents, and how they are checked. Out: whether nothing can have changed. Findings are not kept, only
that there were none: stamps of all documents, and what else was looked at.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import MsgspecError, Struct, field
from msgspec.json import decode, encode

from prosa.adapters.files.result_store import ResultStore
from prosa.adapters.files.stamps import FileStamps
from prosa.app.check.gather import Group
from prosa.corpus.found import Stamp
from prosa.rules.files import Grounds, still_holds
from prosa.rules.policy import Profile


class Settled(Struct):
    """What is known of a group. It gives the stamps of its documents, each taken once: those of a check are older than
    what it reads."""

    group: Group
    profile: Profile
    stamps: FileStamps
    store: ResultStore
    _taken: dict[Path, Stamp | None] = field(default_factory=dict)

    def __call__(self, path: Path) -> Stamp | None:
        """Return the stamp of a document."""
        if path not in self._taken:
            self._taken[path] = self.stamps(path)
        return self._taken[path]

    def holds(self) -> bool:
        """Return whether nothing was found the last time, and nothing has changed since."""
        kept, _, record = self.store.get([self._key]).get(self._key, "").partition("\n")
        if not kept or kept != self._signed():
            return False
        try:
            return still_holds(decode(record, type=dict[str, str]), self.group.files)
        except (MsgspecError, ValueError):
            return False

    def keep(self, grounds: Grounds) -> None:
        """Keep that nothing was found."""
        signed = self._signed() if grounds.is_whole else None
        if signed is None:
            return
        try:
            record = encode({**grounds.record, **grounds.files.record}).decode()
        except ValueError:  # a name that is not UTF-8
            return
        self.store.put({self._key: f"{signed}\n{record}"})
        self.store.close()

    @property
    def _key(self) -> str:
        return f"settled:{self.group.root}"

    def _signed(self) -> str | None:
        """Return how the documents are checked, with the stamps of all; None where one of them tells nothing. The day
        is a part, so that rows that are in use are looked up each day, and kept (`ResultStore`)."""
        group = self.group
        taken = [(str(path), self(path)) for path in group.paths]
        if any(stamp is None for _, stamp in taken):
            return None
        how = (str(Path.cwd()), group.rooted, group.gitignore, group.given, group.agents, repr(self.profile))
        try:
            return encode((self.store.day, how, taken)).decode()
        except ValueError:  # a name that is not UTF-8
            return None
