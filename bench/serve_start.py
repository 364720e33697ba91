"""How soon a server over a large corpus answers, with an index and without one, how slow pages are meanwhile, and what
it holds of memory then.

In: a corpus that has no index yet. Out: rows; the index is there afterwards. The bare server knows one page.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bench.measure import Row, middle, process, python
from bench.serve_child import Child, serving
from bench.serve_http import ACCEPT, answered, connected, request_of

RUNS_COLD, RUNS_WARM = 3, 7
DIFFERENT = 2_000
"""Pages that are asked for before memory is looked at again."""
STEP = 0.1
"""Seconds between two questions whether the server is ready."""
READY_SECONDS = 120.0
BARE = "bare starlette, one page"


@dataclass(frozen=True, slots=True)
class Start:
    """One start: seconds from the start of the process to the first page, and those of processors until then; seconds
    to the graph, the milliseconds of each page in between, the most MiB that it held until then. Where no page is asked
    for, ``used`` are those of all its processes until the graph."""

    page: float
    used: float | None
    ready: float = 0.0
    meanwhile: tuple[float, ...] = ()
    memory: float | None = None


def start_rows(place: Path, command: Sequence[str], environ: Mapping[str, str], count: int) -> Iterator[Row]:
    """Cold, then warm, then memory."""
    title, paths = f"serve, {count:,} documents", page_paths(place / "documents")
    file = place / "one.json"
    file.write_text(json.dumps([[paths[0], ACCEPT, [["etag", '"0"']], "one page\n"]]), encoding="utf-8")
    bare_command = python("-m", "bench.serve_bare", str(file))
    cold, alone, built = [], [], []
    for _ in range(RUNS_COLD):
        shutil.rmtree(place / "cache", ignore_errors=True)
        built.append(process(python("-m", "prosa", "index", str(place / "documents")), environ))
        shutil.rmtree(place / "cache", ignore_errors=True)
        cold.append(_start(command, environ, paths))
        shutil.rmtree(place / "cache", ignore_errors=True)
        alone.append(_alone(command, environ))
    warm, bare = [], []
    for _ in range(RUNS_WARM):
        warm.append(_start(command, environ, paths))
        bare.append(_first(bare_command, paths[0]))
    base = _middle(bare, "page")
    yield Row(f"{title}, warm: first page after", _middle(warm, "page"), "s", BARE, base, "≤ 1 s")
    if bare[0].used is not None:
        both = _middle(warm, "used"), _middle(bare, "used")
        yield Row(f"{title}, warm: CPU until the first page", both[0], "s", BARE, both[1])
    yield Row(f"{title}, warm: graph ready after", _middle(warm, "ready"), "s", BARE, base)
    yield Row(f"{title}, cold: first page after", _middle(cold, "page"), "s", BARE, base, "before the graph")
    index = middle(built)
    yield Row(f"{title}, cold: graph ready after", _middle(cold, "ready"), "s", "prosa index", index.wall / 1000)
    what = f"{title}, cold, no page asked for"
    yield Row(f"{what}: graph ready after", _middle(alone, "ready"), "s", "prosa index", index.wall / 1000, "≤ 1.3x")
    if alone[0].used is not None:
        yield Row(f"{what}: CPU until then", _middle(alone, "used"), "s", "prosa index", index.used / 1000, "≤ 1.3x")
    yield from _meanwhile(title, cold, warm)
    yield from _memory(title, command, bare_command, environ, paths, [each.memory for each in cold])


def page_paths(folder: Path) -> list[str]:
    """Return the URL paths of Markdown pages, those of all folders mixed."""
    files = sorted((folder / "pages").rglob("*.md"), key=lambda each: (each.name, each))
    return [quote(f"/{each.relative_to(folder).with_suffix('').as_posix()}") for each in files]


def _start(command: Sequence[str], environ: Mapping[str, str], paths: Sequence[str]) -> Start:
    with serving(command, environ) as child, connected(child.port) as line:
        answered(line, request_of(paths[0], ACCEPT, child.port))
        page, used = time.perf_counter() - child.began, child.used()
        times = tuple(_until_ready(child, line, paths[1:]))
        return Start(page, used, time.perf_counter() - child.began, times, child.memory("VmHWM"))


def _alone(command: Sequence[str], environ: Mapping[str, str]) -> Start:
    """Return an undisturbed start: the only requests ask whether the graph is ready."""
    with serving(command, environ) as child, connected(child.port) as line:
        while time.perf_counter() - child.began < READY_SECONDS:
            _, health = answered(line, request_of("/healthz", ACCEPT, child.port))
            if json.loads(health)["ready"]:
                return Start(0.0, child.used(children=True), time.perf_counter() - child.began)
            time.sleep(STEP)
    raise SystemExit("the graph was not there in time")


def _first(command: Sequence[str], path: str) -> Start:
    """Return the first answer of the bare server."""
    with serving(command, os.environ) as child, connected(child.port) as line:
        answered(line, request_of(path, ACCEPT, child.port))
        return Start(time.perf_counter() - child.began, child.used())


def _until_ready(child: Child, line: socket.socket, paths: Sequence[str]) -> Iterator[float]:
    """Ask for one page after the other until the graph is there; the milliseconds of each."""
    looked = at = 0
    while time.perf_counter() - child.began < READY_SECONDS:
        if time.perf_counter() - child.began >= looked:
            _, health = answered(line, request_of("/healthz", ACCEPT, child.port))
            if json.loads(health)["ready"]:
                return
            looked = time.perf_counter() - child.began + STEP
        started = time.perf_counter()
        answered(line, request_of(paths[at % len(paths)], ACCEPT, child.port))
        yield (time.perf_counter() - started) * 1000
        at += 1
    raise SystemExit("the graph was not there in time")


def _middle(starts: Sequence[Start], name: str) -> float:
    return statistics.median(getattr(each, name) for each in starts)


def _meanwhile(title: str, cold: Sequence[Start], warm: Sequence[Start]) -> Iterator[Row]:
    """Pages that were made while the index was built, beside ones while a warm one was looked at."""
    both = [sorted(each for start in starts for each in start.meanwhile) for starts in (cold, warm)]
    if not all(both):
        return
    own, base = both
    name = "while it looks at files, warm"
    yield Row(f"{title}, new page while it is indexed, median", own[len(own) // 2], "ms", name, base[len(base) // 2])
    yield Row(f"{title}, new page while it is indexed, slowest", own[-1], "ms", name, base[-1])


def _memory(
    title: str,
    command: Sequence[str],
    bare: Sequence[str],
    environ: Mapping[str, str],
    paths: Sequence[str],
    built: Sequence[float | None],
) -> Iterator[Row]:
    """Of the server alone: processes that read documents for it end with the work."""
    with serving(bare, os.environ) as child:
        base = child.memory()
    with serving(command, environ) as child, connected(child.port) as line:
        list(_until_ready(child, line, paths))
        ready = child.memory()
        for path in paths[:DIFFERENT]:
            answered(line, request_of(path, "text/html", child.port))
        after = child.memory()
    if ready is not None and after is not None:
        yield Row(f"{title}, resident when the graph is ready", ready, "MiB", BARE, base, "≤ 300 MB")
        number = min(DIFFERENT, len(paths))
        yield Row(f"{title}, resident after {number:,} pages of HTML", after, "MiB", BARE, base, "≤ 300 MB")
    peaks = [each for each in built if each is not None]
    if peaks:
        yield Row(f"{title}, peak of a cold start", max(peaks), "MiB", BARE, base, "≤ 300 MB")
