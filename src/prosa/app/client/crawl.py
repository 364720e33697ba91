"""Walks over a site to copy it into a folder, from one page over its links to the others (X8). In: a start, limits, a
folder. Out: one `Copied` for each URL, as it is written, and a summary.

Only GET, only one origin, no credential, nothing that `robots.txt` forbids. Redirects are queued instead of followed,
so that each target is checked like any other URL. An interrupted walk continues when it is started again. A site
without `robots.txt` allows everything; one whose file cannot be fetched forbids everything (RFC 9309), which is an
error, since there is nothing to walk.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files.copy_store import CopyStore
from prosa.adapters.files.lock import Locked, lock_of
from prosa.adapters.http.exchange import Bounds
from prosa.app.client.copy_writer import KEPT, CopyRecords, CopyWriter, Outcome
from prosa.app.client.requests import SiteClient
from prosa.runtime.errors import RunError
from prosa.site.answer import json_of
from prosa.site.follow import Frontier, index_of, index_urls
from prosa.site.node import led, same_site
from prosa.site.page import NoNode
from prosa.site.problems import HttpProblem
from prosa.site.robots import ALL, Robots, read_robots
from prosa.source import FileProblem
from prosa.source.url import normal_url, path_of

CONNECTIONS = 4
BATCH = 16
"""Number of URLs that are requested ahead of writing their answers in order."""

MAX_PAGES = 200
MOST_PAGES = 100_000
MAX_DEPTH = 10
ASKED_FOR_EACH = 4
"""Maximum number of requested URLs for each allowed page: links may lead to other things than pages."""


class CrawlLimits(Struct, frozen=True):
    """``delay`` None is 0 on this machine and half a second elsewhere. ``refresh`` requests everything again."""

    pages: int = MAX_PAGES
    depth: int = MAX_DEPTH
    delay: float | None = None
    refresh: bool = False


class Copied(Struct, frozen=True):
    """What became of a URL: new, changed, unchanged, same (as another page), moved, skipped, failed or foreign (a file
    that is not of the copy). ``file`` is empty where there is none; ``note`` says why."""

    url: str
    status: str
    file: str = ""
    note: str = ""


class CrawlSummary(Struct):
    """How often each status was, whether a limit ended the walk, and whether it went on with an earlier one."""

    counts: Counter[str] = field(default_factory=Counter)
    cut: str = ""
    resumed: bool = False
    delay: float = 0.0

    @property
    def pages(self) -> int:
        """The pages of the copy that this walk has seen."""
        return sum(self.counts[status] for status in KEPT)


class FolderBusy(Exception):
    """Another copy is at work in the folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder}: another copy is at work there")


def copy_site(
    start: str,
    folder: Path,
    bounds: Bounds,
    limits: CrawlLimits,
    listener: Callable[[Copied], None],
    *,
    environ: Mapping[str, str],
    dry_run: bool = False,
) -> CrawlSummary:
    """Copy the site at ``start`` into a folder, alone: raises `FolderBusy` if another copy is running there, and what
    `Crawl.run` raises. ``listener`` is called with each URL; with ``dry_run`` pages are read and nothing is written."""
    store = CopyStore(folder, dry_run=dry_run)
    with _alone(folder, environ), closing(store):
        return Crawl(start, bounds, limits, store, listener).run()


@contextmanager
def _alone(folder: Path, environ: Mapping[str, str]) -> Iterator[None]:
    """Keep a second copy out of the folder. Raises `FolderBusy`."""
    try:
        with lock_of(folder, environ):
            yield
    except Locked:
        raise FolderBusy(folder) from None


class Crawl(Struct):
    """One walk. ``listener`` is called with each URL as it is written; ``wait`` sleeps for seconds."""

    start: str
    bounds: Bounds
    limits: CrawlLimits
    store: CopyStore
    listener: Callable[[Copied], None]
    wait: Callable[[float], None] = time.sleep
    summary: CrawlSummary = field(default_factory=CrawlSummary)
    _robots: Robots = field(default_factory=Robots)
    _asked: int = 0

    def run(self) -> CrawlSummary:
        """Walk to the end, or to a limit. Raises `RunError`, `HttpProblem`, `FileProblem` and `OSError`; in any case
        finished pages are kept, and the next run continues from there."""
        self.start = normal_url(self.start)
        records = CopyRecords.opened(self.store, self.start, anew=self.limits.refresh)
        self.summary.resumed = records.resumed
        # No tokens: only public pages are copied (X8).
        with SiteClient(replace(self.bounds, follow=False)) as client:
            self._robots = robots_of(client, self.start)
            self.summary.delay = max(self._robots.delay, self._own_delay())
            records.save(complete=False)
            complete = False
            try:
                self._walk(client, records)
                complete = True
            finally:
                records.save(complete=complete)
        return self.summary

    def _walk(self, client: SiteClient, records: CopyRecords) -> None:
        frontier = Frontier(self.start, self.limits.depth)
        frontier.add([self.start], 0)
        frontier.add(self._indexed(client), 1)
        writer, pool = CopyWriter(records), ThreadPoolExecutor(CONNECTIONS)
        try:
            for urls in self._batches(frontier):
                asking = pool.map(lambda pair: self._ask(client, writer, pair[0]), urls)
                for (url, depth), outcome in zip(urls, asking, strict=True):
                    self._write(writer, frontier, url, depth, outcome)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _batches(self, frontier: Frontier) -> Iterator[list[tuple[str, int]]]:
        most = self.limits.pages * ASKED_FOR_EACH
        while frontier.waiting:
            left = min(self.limits.pages - self.summary.pages, most - self._asked)
            if left <= 0:
                self.summary.cut = f"the limit of {self.limits.pages:,} pages was reached"
                return
            urls = frontier.take(min(left, 1 if self.summary.delay else BATCH))
            self._asked += len(urls)
            yield urls
        if frontier.full:
            self.summary.cut = "the site names more URLs than can be remembered"

    def _own_delay(self) -> float:
        if self.limits.delay is not None:
            return self.limits.delay
        return 0.0 if self.bounds.named is not None else 0.5

    def _indexed(self, client: SiteClient) -> Sequence[str]:
        """Return the pages that the index of the site names, where it has one (HA1)."""
        for url in index_urls(self.start):
            if not self._robots.allows(path_of(url)):
                continue
            try:
                answer = client.get(url, "application/json")
            except HttpProblem:
                return ()
            if answer.is_success and (index := index_of(json_of(answer), url)):
                return tuple(index.values())
        return ()

    def _ask(self, client: SiteClient, writer: CopyWriter, url: str) -> Outcome:
        """Return the answer of the site, or a known result without a request. Runs concurrently, so it changes
        nothing."""
        try:
            if (done := writer.records.done(url)) is not None:
                return done
            if not self._robots.allows(path_of(url)):
                return NoNode("is not for robots (robots.txt)")
            if self.summary.delay:
                self.wait(self.summary.delay)
            return client.get(url, headers=writer.validators(url))
        except (HttpProblem, FileProblem, OSError) as problem:
            return problem

    def _write(self, writer: CopyWriter, frontier: Frontier, url: str, depth: int, outcome: Outcome) -> None:
        """Write the result of a URL, report it, and queue its links; a redirect does not count as a step."""
        record, node = writer.write(url, outcome)
        if record.to:
            frontier.add([record.to], depth)
        else:
            frontier.add(writer.leads(record, node), depth + 1)
        self.summary.counts[record.status] += 1
        self.listener(Copied(url, record.status, record.file if record.status in KEPT else "", record.note))
        if depth == 0 and record.status in ("failed", "skipped") and not self.summary.pages:
            raise RunError(f"{url} {record.note}")


PATH = "/robots.txt"
MAX_MOVES = 5
"""The least number of redirects that RFC 9309 asks to follow."""


def robots_of(client: SiteClient, start: str) -> Robots:
    """Return the rules for us. Raises `HttpProblem` where the site does not give its file for a fault of its own."""
    url = led(start, PATH)
    for _ in range(MAX_MOVES + 1):
        answer = client.get(url, "text/plain, */*;q=0.1")
        to = led(url, answer.moved_to) if answer.moved_to else ""
        if to and same_site(to, start):
            url = to
            continue
        if answer.is_success:
            return read_robots(answer.body.decode("utf-8", "replace"))
        if answer.status >= 500:
            message = f"{url} answers {answer.status} {answer.reason}".rstrip()
            raise HttpProblem(f"{message}, so no page of the site may be requested", "try again later")
        return ALL
    return ALL
