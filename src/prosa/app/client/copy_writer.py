"""The copy of a site: the result for each URL, and the data about its page over several runs of the copy.

In: the answer of the site, or why there is none. Out: its record, its file and its links. A page is written byte for
byte; one that came as JSON or HTML as the Markdown in it. A file changed since the copy is not overwritten.

A round is one walk over the whole site. An interrupted walk continues its round; after a complete one the next starts
a new round, in which every page is requested again with its validators. Data in the folder is not trusted: records of
another site, or with a file that does not fit their page, are skipped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from prosa.adapters.files.copy_store import CopyStore
from prosa.adapters.files.write import FileChanged
from prosa.data import Value
from prosa.runtime.errors import RunError
from prosa.site.answer import Answer
from prosa.site.copy_path import copy_path, other_path, place_key
from prosa.site.node import SiteNode, led, node_of_text, same_site
from prosa.site.page import Elsewhere, NoNode, is_only_text, read_page
from prosa.site.problems import HttpProblem
from prosa.source import FileProblem
from prosa.source.url import normal_url, origin_of

VERSION = 1
KEPT = ("new", "changed", "unchanged")
"""The statuses of a URL that gave a page."""

STATUSES = frozenset({*KEPT, "same", "moved", "skipped", "failed", "foreign"})
"""All statuses of a record."""


class PageRecord(Struct, frozen=True):
    """A requested URL. ``file`` is empty if it gave no page; ``sha256`` is that of the file, ``before`` of the
    previous content, for a walk that ends while it writes. ``etag`` and ``modified`` validate the page at its site,
    ``base`` is the URL that its links are relative to, ``to`` the target of a redirect."""

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


_NAMES = PageRecord.__struct_fields__


class CopyRecords(Struct):
    """The records of a copy. ``resumed`` says that an earlier walk of this round was ended in between."""

    store: CopyStore
    start: str
    round: int = 1
    resumed: bool = False
    pages: dict[str, PageRecord] = field(default_factory=dict)
    _owners: dict[str, str] = field(default_factory=dict)

    @classmethod
    def opened(cls, store: CopyStore, start: str, *, anew: bool = False) -> CopyRecords:
        """Return the state of earlier walks. ``anew`` starts a new round in any case.

        Raises `RunError` for the copy of another site, `FileProblem` for an unreadable state.
        """
        state, lines = store.load()
        records = cls(store, start)
        if state and state.get("version") != VERSION:
            raise RunError(f"{store.folder} holds a copy that another version made", hint="choose another folder")
        if state and state.get("origin") != str(origin_of(start)):
            raise RunError(f"{store.folder} holds a copy of {state.get('origin')}", hint="choose another folder")
        written = state.get("pages")
        for item in (*(written if isinstance(written, list) else ()), *lines):
            records._take(item)
        was = state.get("round")
        records.round = was if isinstance(was, int) and 0 < was < 2**31 else 1
        ended = bool(state.get("complete"))
        records.resumed = bool(records.pages) and not ended
        if ended or (anew and records.pages):
            records.round, records.resumed = records.round + 1, False
        return records

    def save(self, *, complete: bool) -> None:
        """Write everything in one step. Raises `OSError`."""
        state: dict[str, Value] = {
            "version": VERSION,
            "origin": str(origin_of(self.start)),
            "start": self.start,
            "round": self.round,
            "complete": complete,
            "pages": [{name: value for name, value in asdict(page).items() if value} for page in self.pages.values()],
        }
        self.store.save(state)

    def keep(self, record: PageRecord) -> None:
        """Keep a record, in the journal too. Raises `OSError`."""
        self._put(record)
        self.store.note({name: value for name, value in asdict(record).items() if value})

    def done(self, url: str) -> PageRecord | None:
        """Return the record of a URL that this round has requested already, with its file unchanged."""
        record = self.pages.get(url)
        if record is None or record.round != self.round or record.status == "failed":
            return None
        return record if record.status not in KEPT or self.is_as_left(record) else None

    def is_as_left(self, record: PageRecord) -> bool:
        """Return whether the file of a record is unchanged. Raises `FileProblem`."""
        return bool(record.sha256) and self.store.digest(record.file) == record.sha256

    def place(self, url: str, wanted: str) -> tuple[str, PageRecord | None]:
        """Return the file for the page at ``url``, which belongs at the URL ``wanted``; and the record of who has
        that."""
        known = self.pages.get(url)
        if known is not None and known.file and known.file in _places(url, wanted):
            return known.file, None
        path = copy_path(wanted)
        owner = self._owners.get(place_key(path))
        if owner is None or owner == url:
            return path, None
        return other_path(url), self.pages[owner]

    def _take(self, item: Value) -> None:
        if not isinstance(item, Mapping):
            return
        if isinstance(item.get("url"), str) and isinstance(number := item.get("round"), int):
            texts = {name: str(item.get(name, "")) for name in _NAMES if name != "round"}
            record = PageRecord(round=number, **texts)
            if _could_be(record, self.start):
                self._put(record)

    def _put(self, record: PageRecord) -> None:
        self.pages[record.url] = record
        if record.file:
            self._owners[place_key(record.file)] = record.url


def _could_be(record: PageRecord, start: str) -> bool:
    """Return whether a copy that began at ``start`` could have left this record."""
    base = record.base or record.url
    if record.status not in STATUSES or not same_site(record.url, start) or not same_site(base, start):
        return False
    return not record.file or record.file in _places(record.url, base)


def _places(url: str, wanted: str) -> tuple[str, ...]:
    """Return the files that may hold the page at ``url``, which belongs at the URL ``wanted``."""
    return copy_path(wanted), copy_path(url), other_path(url)


NOT_MODIFIED = 304
EMPTY = hashlib.sha256(b"").hexdigest()
"""The digest of an empty file, which a power cut may leave."""

MAX_VALIDATOR = 1_000
"""Characters of an `ETag` or a date that are kept."""

Outcome: TypeAlias = Answer | PageRecord | HttpProblem | FileProblem | OSError | NoNode
"""What came of asking: an answer, what this walk knows already, or why there is nothing."""


class CopyWriter(Struct, frozen=True):
    """Writes what comes of the URLs of one walk."""

    records: CopyRecords

    def write(self, url: str, outcome: Outcome) -> tuple[PageRecord, SiteNode | None]:
        """Store and return the record of a URL, and the page if it was read now. Raises `OSError` if writing fails."""
        if isinstance(outcome, PageRecord):
            return replace(outcome, status="unchanged" if outcome.status in KEPT else outcome.status), None
        if not isinstance(outcome, Answer):
            return self._without(url, outcome), None
        try:
            return self._read(url, outcome)
        except (NoNode, FileProblem) as problem:
            return self._without(url, problem), None

    def leads(self, record: PageRecord, node: SiteNode | None) -> Iterator[str]:
        """Yield where a page leads; one that was not read now is read from its file. Raises `FileProblem`."""
        if record.status not in KEPT:
            return
        if node is None:
            text = self.records.store.read(record.file)
            node = node_of_text(text, record.url, url=record.url, md_url=record.base)
        yield from (link.url for link in node.inline_links if link.same_site)
        yield from (url for link in node.links if (url := link.url(node.md_url)))

    def validators(self, url: str) -> dict[str, str]:
        """Headers that ask for a page only where it has changed; none where its file is not as it was left."""
        known = self.records.pages.get(url)
        if known is None or known.status not in KEPT or not self.records.is_as_left(known):
            return {}
        headers = {"If-None-Match": known.etag, "If-Modified-Since": known.modified}
        return {name: value for name, value in headers.items() if _header(value)}

    def _read(self, url: str, answer: Answer) -> tuple[PageRecord, SiteNode | None]:
        known = self.records.pages.get(url)
        if answer.status == NOT_MODIFIED and known is not None and known.file and self.records.is_as_left(known):
            record = replace(known, round=self.records.round, status="unchanged", note="")
            self.records.keep(record)
            return record, None
        if answer.moved_to:
            return self._moved(url, led(url, answer.moved_to)), None
        if not answer.is_success:
            return self._without(url, HttpProblem(f"answers {answer.status} {answer.reason}".rstrip())), None
        read = read_page(answer.body, answer.media_type, url, answer.headers)
        if isinstance(read, Elsewhere):
            return self._moved(url, normal_url(read.url)), None
        return self._write(url, answer, read), read

    def _moved(self, url: str, to: str) -> PageRecord:
        if not to or not same_site(to, url):
            raise NoNode(f"leads to {to or 'no web page'}, on another origin")
        return self._keep(PageRecord(url, self.records.round, "moved", to=to, note=f"to {to}"))

    def _write(self, url: str, answer: Answer, node: SiteNode) -> PageRecord:
        """Return the page in its file. Raises `NoNode`, `FileProblem` and `OSError`."""
        text = _text(node, answer)
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
        path, owner = self.records.place(url, node.md_url)
        if owner is not None and owner.sha256 == digest and owner.round == self.records.round:
            return self._keep(PageRecord(url, self.records.round, "same", note=f"as {owner.file}"))
        before = self._before(url, path, digest)
        status = "new" if not before else "unchanged" if before == digest else "changed"
        etag, modified = (_header(answer.headers.get(name, "")) for name in ("etag", "last-modified"))
        record = PageRecord(url, self.records.round, status, path, digest, before, etag, modified, node.md_url)
        self.records.keep(record)
        if status != "unchanged":
            self.records.store.write(path, text, before=before)
        return record

    def _before(self, url: str, path: str, digest: str) -> str:
        """Return the digest of the file in the place of a page, empty for none. Raises `FileChanged` unless the copy
        left it there or it equals the page."""
        there, known = self.records.store.digest(path), self.records.pages.get(url)
        ours = (known.sha256, known.before) if known is not None and known.file == path else ()
        if there and there not in (digest, EMPTY, *ours):
            raise FileChanged(self.records.store.folder / path)
        return there

    def _without(self, url: str, problem: Exception) -> PageRecord:
        """Return the record of a URL that gave no page."""
        status = "skipped" if isinstance(problem, NoNode) else "failed"
        if isinstance(problem, FileProblem):
            status = "foreign"
        reason = problem.message if isinstance(problem, HttpProblem) else str(problem)
        if isinstance(problem, FileChanged):
            reason = f"{problem.path} is not as the copy left it, and is not written to"
        return self._keep(PageRecord(url, self.records.round, status, note=reason))

    def _keep(self, record: PageRecord) -> PageRecord:
        """Keep a record without a page. A file that the URL gave before stays its own."""
        known = self.records.pages.get(record.url)
        if known is not None and known.file:
            record = replace(record, file=known.file, sha256=known.sha256, before=known.before, base=known.base)
        self.records.keep(record)
        return record


def _text(node: SiteNode, answer: Answer) -> str:
    """Return the Markdown as it goes into a file. Raises `NoNode` for what no index could read."""
    if is_only_text(node, answer.media_type):
        raise NoNode("is text, and does not say that it is Markdown")
    try:
        if node.form == "markdown":
            return answer.body.decode("utf-8")
        node.markdown.encode("utf-8")
    except UnicodeError:
        raise NoNode("is not UTF-8") from None
    return node.markdown


def _header(value: str) -> str:
    """Return a value that may be sent back as it came, else nothing."""
    return value if len(value) <= MAX_VALIDATOR and value.isascii() and value.isprintable() else ""
