"""The probe of a site or of a folder, with its network and its files. In: a URL or a folder. Out: the report.

A site is probed by GET and HEAD only, without credentials, on the origin that the user named, with a few connections
at once. `robots.txt` is ignored: the user is responsible for the probed site. Time and bytes of a whole probe are
bounded (X9).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.http.exchange import MAX_REDIRECTS, Exchange, redirected
from prosa.app.check.gather import gather as gather_documents
from prosa.dialects.dialect import Hints
from prosa.dialects.front import LOOSE
from prosa.dialects.mdh.url import md_url, standing_readmes
from prosa.dialects.reading import dialect_of, open_document
from prosa.dialects.table import dialect
from prosa.rules.policy import Profile
from prosa.site.identity import view_of
from prosa.site.probe.evidence import Evidence, Reply, read_nodes
from prosa.site.probe.gather import gather, gather_discovery
from prosa.site.probe.questions import Ask
from prosa.site.probe.report import DISCOVERY, report_on
from prosa.site.problems import HttpProblem
from prosa.site.request import Request
from prosa.source import FileProblem
from prosa.source.url import origin_of, quoted_path

if TYPE_CHECKING:
    from prosa.adapters.http.exchange import Bounds
    from prosa.site.answer import Answer
    from prosa.site.probe.report import Report
    from prosa.source import Files

CONNECTIONS = 4
"""Questions at once: quick on a large site, and no burden for a small one."""

MAX_SECONDS = 900.0
"""Time limit of a whole probe; remaining requests are not sent."""

MAX_HELD = 128 * 1024 * 1024
"""Bytes of all answers together."""


CountListener = Callable[[int], None]
"""Called with the number of answered requests."""


def probe_url(
    url: str, bounds: Bounds, *, most: int, call_reads: bool = False, progress: CountListener | None = None
) -> Report:
    """Return the report on a running site. Raises `NoSite` if there is none, ValueError for an invalid URL."""
    with _asking(replace(bounds, follow=False, attempts=2), str(origin_of(url)), progress) as asking:
        return report_on(gather(url, asking.all, most=most, call_reads=call_reads))


def probe_discovery(url: str, bounds: Bounds, *, progress: CountListener | None = None) -> Report:
    """Return the report on what agents look for on any site, whether its pages are nodes or not. Raises `NoSite`."""
    with _asking(replace(bounds, follow=False, attempts=2), str(origin_of(url)), progress) as asking:
        return report_on(gather_discovery(url, asking.all), DISCOVERY)


def probe_folder(named: str, *, max_size: int | None = None) -> Report | None:
    """Return the report on a folder as the root of a site; None where it holds no documents. Those that say that they
    are of another dialect are passed over (X3), and plain ones have the fields that a site derives for them (H9).
    Raises `FileProblem`."""
    folder = Path(named)
    groups = gather_documents([folder], root=folder if folder.is_dir() else None, max_size=max_size)
    if not any(group.paths for group in groups):
        return None
    (group,) = groups
    hints = Profile(settings=group.project.settings, root=group.root).hints
    files, paths = group.files, group.paths
    root = files.real(folder)
    own = {path: _dialect(path, files, hints) for path in paths}
    names = {
        path: files.real(path).relative_to(root).as_posix()
        for path, dialect_name in own.items()
        if dialect_name in ("mdh", *LOOSE) and files.real(path).is_relative_to(root)
    }
    readmes = standing_readmes(set(names.values()))
    nodes = {path: md_url(name, stands=name in readmes) for path, name in names.items()}
    others = [path for path in paths if path not in nodes]
    derived = {path: _derived(path, names[path], files) for path in nodes if own[path] in LOOSE}
    read = read_nodes(nodes, files, folder, others=others, derived=derived, own=hints)
    passed_over = Counter(dialect(own[path]).title for path in others)
    return report_on(Evidence(named, read.nodes, read.remarks, None, read.unreadable, dict(passed_over)))


def _dialect(path: Path, files: Files, hints: Callable[[Path], Hints]) -> str:
    """Return the dialect of a document by name, settings or shape; `plain` if it cannot be read, which the
    checks then report."""
    try:
        return dialect_of(files.read(path), hints(files.real(path)))
    except FileProblem:
        return "plain"


def _derived(path: Path, name: str, files: Files) -> frozenset[str]:
    """Return the fields that a site adds to a plain document when serving it."""
    try:
        return frozenset(view_of(open_document(files.read(path), Hints("plain")), name, url="").derived)
    except FileProblem:
        return frozenset()


class _Asking(Struct):
    """Requests to one origin. The first is sent alone, so that the exchange has its pool of connections before several
    threads share it."""

    origin: str
    exchange: Exchange
    pool: ThreadPoolExecutor
    progress: CountListener | None
    deadline: float
    held: int = 0
    done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def all(self, asks: Sequence[Ask]) -> list[Reply]:
        """Return the answers, in the order of the questions."""
        return list(self.pool.map(self.one, asks))

    def one(self, ask: Ask) -> Reply:
        """One answer, or why there is none."""
        url = ask.exact or f"{self.origin}{quoted_path(ask.path)}"
        if time.monotonic() > self.deadline or self.held > MAX_HELD:
            return Reply(url, problem="it was not requested: the probe had reached its limit", asked=False)
        try:
            reply = _reply(_followed(self.exchange, _request(ask, url)), whole=ask.whole)
        except HttpProblem as problem:
            reply = Reply(url, problem=problem.message, hint=problem.hint, again=problem.again)
        with self.lock:
            self.held += reply.size
            self.done += 1
            if self.progress is not None:
                self.progress(self.done)
        return reply


@contextmanager
def _asking(bounds: Bounds, origin: str, progress: CountListener | None) -> Iterator[_Asking]:
    pool = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="prosa-probe")
    with Exchange(bounds) as exchange, pool:
        try:
            yield _Asking(origin, exchange, pool, progress, time.monotonic() + MAX_SECONDS)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _request(ask: Ask, url: str) -> Request:
    where, _, query = url.partition("?")
    pairs = tuple(parse_qsl(query, keep_blank_values=True))
    return Request(ask.method, where, pairs, {"Accept": ask.accept, **ask.headers})


def _followed(exchange: Exchange, request: Request) -> Answer:
    """Return the answer after redirects within the origin; one that leaves it is itself the answer. Raises
    `HttpProblem`."""
    for _ in range(MAX_REDIRECTS):
        answer = exchange.send(request)
        if not answer.moved_to:
            return answer
        moved = redirected(replace(request, method="GET"), answer.status, answer.moved_to)
        if moved.origin != request.origin:
            return answer
        request = replace(moved, method=request.method)
    raise HttpProblem(f"{request.origin} redirects more than {MAX_REDIRECTS} times")


def _reply(answer: Answer, *, whole: bool = False) -> Reply:
    try:
        text = answer.body.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = None
    data = answer.body if whole else b""
    return Reply(answer.url, answer.status, answer.headers, text, len(answer.body), data=data)
