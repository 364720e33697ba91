"""A site that is stopped while its index is made: nobody waits for the rest, and the index stays whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prosa.app.site.keeper import SiteOptions
from prosa.app.site.live import LiveSite
from prosa.settings import Settings

DOCUMENTS = 400
SECONDS = 60.0
"""How long a thread may take to end."""


class Mistake(BaseException):
    """An error of a test, raised in a thread of the site. The thread ends with it instead of telling it as a complaint,
    and the test fails."""


@dataclass
class Shared:
    """Workers that do everything here, one share after the other. The site is stopped after the first, if at all."""

    stops: Callable[[], None]
    count: int = 2
    shares: list[int] = field(default_factory=list)

    def map(self, function: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[Any]:
        for job in jobs:
            self.shares.append(len(jobs))
            result = function(job)
            try:
                self.stops()
            except Exception as error:
                raise Mistake from error
            yield result


def site_of(root: Path, cache: Path, notices: list[str], workers: Shared) -> LiveSite:
    environ = dict(os.environ) | {"PROSA_CACHE_DIR": str(cache)}
    return LiveSite(root, SiteOptions("Stopped"), environ, Settings(), 10_000, workers, notices.append)


def test_x9_a_site_that_ends_does_not_read_the_rest_and_the_next_one_does(tmp_path: Path):
    """X9. After the first share the thread ends, says nothing, and leaves an index that the next start fills."""
    root, notices = tmp_path / "site", list[str]()
    root.mkdir()
    for number in range(DOCUMENTS):
        (root / f"{number}.md").write_text(f"# Page {number}\n", encoding="utf-8")
    workers = Shared(lambda: stopped.index._pace.stop.set() or stopped.index._pace.wake.set())
    stopped = site_of(root, tmp_path / "cache", notices, workers)
    stopped.start()
    thread = stopped.index._pace.thread
    assert thread is not None
    thread.join(SECONDS)
    assert not thread.is_alive()
    assert workers.shares[0] > 1 and len(workers.shares) == 1
    assert not stopped.index.is_ready and not notices and not stopped.index.complaint
    stopped.close()
    again = site_of(root, tmp_path / "cache", notices, Shared(lambda: None))
    again.start()
    assert again.index.wait_ready(SECONDS) and len(again.index.catalogue.rows) == DOCUMENTS
    again.close()
    assert not notices
