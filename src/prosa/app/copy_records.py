"""What is known of each page of a copied site, over several runs of the copy. In and out: a `CopyStore`.

A round is one walk over the whole site. A walk that was ended in between goes on in its round; after a whole one the
next begins a round, in which every page is asked for again, with what the site gave to recognise it by.

What is read is not believed: the folder may have come from anywhere. A record is passed over that is of another site,
or names a file in which its page could not be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from prosa.adapters.files.copy_store import CopyStore
from prosa.runtime.errors import RunError
from prosa.site.copy_path import copy_path, other_path, place_key
from prosa.site.origin import origin_of
from prosa.site.page_link import same_site

VERSION = 1
KEPT = ("new", "changed", "unchanged")
"""The statuses of a URL that gave a page."""

STATUSES = frozenset({*KEPT, "same", "moved", "skipped", "failed", "foreign"})
"""All statuses of a record."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A URL that was asked for. ``file`` is empty where it gave no page; ``sha256`` is that of the file, ``before`` of
    what was there, for a walk that ends while it writes. ``etag`` and ``modified`` recognise the page at its site,
    ``base`` is the URL that its links begin from, ``to`` where the URL leads instead."""

    url: str
    round: int
    status: str
    file: str = ""
    sha256: str = ""
    before: str = ""
    etag: str = ""
    modified: str = ""
    base: str = ""
    to: str = ""
    note: str = ""


_NAMES = tuple(each.name for each in fields(PageRecord))


@dataclass(slots=True)
class CopyRecords:
    """The records of a copy. ``resumed`` says that an earlier walk of this round was ended in between."""

    store: CopyStore
    start: str
    round: int = 1
    resumed: bool = False
    pages: dict[str, PageRecord] = field(default_factory=dict)
    _owners: dict[str, str] = field(default_factory=dict)

    @classmethod
    def opened(cls, store: CopyStore, start: str, *, anew: bool = False) -> CopyRecords:
        """What earlier walks left. With ``anew`` a round begins in any case.

        Raises `RunError` for the copy of another site, `FileProblem` for a state that cannot be read.
        """
        state, lines = store.load()
        found = cls(store, start)
        if state and state.get("version") != VERSION:
            raise RunError(f"{store.folder} holds a copy that another version made", hint="choose another folder")
        if state and state.get("origin") != str(origin_of(start)):
            raise RunError(f"{store.folder} holds a copy of {state.get('origin')}", hint="choose another folder")
        written = state.get("pages")
        for each in (*(written if isinstance(written, list) else ()), *lines):
            found._take(each)
        was = state.get("round")
        found.round = was if isinstance(was, int) and 0 < was < 2**31 else 1
        ended = bool(state.get("complete"))
        found.resumed = bool(found.pages) and not ended
        if ended or (anew and found.pages):
            found.round, found.resumed = found.round + 1, False
        return found

    def save(self, *, complete: bool) -> None:
        """Writes everything in one step. Raises `OSError`."""
        state = {
            "version": VERSION,
            "origin": str(origin_of(self.start)),
            "start": self.start,
            "round": self.round,
            "complete": complete,
            "pages": [{name: value for name, value in asdict(each).items() if value} for each in self.pages.values()],
        }
        self.store.save(state)

    def keep(self, record: PageRecord) -> None:
        """Keeps a record, in the journal too. Raises `OSError`."""
        self._put(record)
        self.store.note({name: value for name, value in asdict(record).items() if value})

    def done(self, url: str) -> PageRecord | None:
        """The record of a URL that this round has asked for already, its file as it was written."""
        record = self.pages.get(url)
        if record is None or record.round != self.round or record.status == "failed":
            return None
        return record if record.status not in KEPT or self.is_as_left(record) else None

    def is_as_left(self, record: PageRecord) -> bool:
        """Whether the file of a record is what was written. Raises `FileProblem`."""
        return bool(record.sha256) and self.store.digest(record.file) == record.sha256

    def place(self, url: str, wanted: str) -> tuple[str, PageRecord | None]:
        """The file for the page at ``url``, which belongs at the URL ``wanted``; and the record of who has that."""
        known = self.pages.get(url)
        if known is not None and known.file and known.file in _places(url, wanted):
            return known.file, None
        path = copy_path(wanted)
        owner = self._owners.get(place_key(path))
        if owner is None or owner == url:
            return path, None
        return other_path(url), self.pages[owner]

    def _take(self, each: Any) -> None:
        if isinstance(each, Mapping) and isinstance(each.get("url"), str) and isinstance(each.get("round"), int):
            texts = {name: str(each.get(name, "")) for name in _NAMES if name != "round"}
            record = PageRecord(round=each["round"], **texts)
            if _could_be(record, self.start):
                self._put(record)

    def _put(self, record: PageRecord) -> None:
        self.pages[record.url] = record
        if record.file:
            self._owners[place_key(record.file)] = record.url


def _could_be(record: PageRecord, start: str) -> bool:
    """Whether a copy that began at ``start`` could have left this record."""
    base = record.base or record.url
    if record.status not in STATUSES or not same_site(record.url, start) or not same_site(base, start):
        return False
    return not record.file or record.file in _places(record.url, base)


def _places(url: str, wanted: str) -> tuple[str, ...]:
    """The files that may hold the page at ``url``, which belongs at the URL ``wanted``."""
    return copy_path(wanted), copy_path(url), other_path(url)
