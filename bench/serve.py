"""`prosa serve` over a large corpus: requests per second beside the bare framework, start-up, memory, crawling.

In: a generated corpus. Out: the rows. Server, bare server and the program that asks are processes of their own; the two
servers are asked in turn. The bare server gives the very bytes that `prosa serve` gave, with the same headers.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Row, python
from bench.mixed_corpus import SEED, write_corpus
from bench.serve_child import Child, serving
from bench.serve_crawl import crawl_rows
from bench.serve_http import ACCEPT, Pairs, answered, connected, request_of
from bench.serve_start import start_rows

COUNT = 14_000
PAGES = 200
"""Different pages that are asked for in turn."""
ROUNDS, SECONDS = 5, 1.0
FORMS = {
    "Markdown": ACCEPT,
    "JSON": "application/json",
    "HTML": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
}
BARE = "bare starlette, same bytes"
AIM = "≥ 0.75x"

Answers = dict[tuple[str, str], tuple[Pairs, bytes]]
"""Headers and body by path and `Accept`."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Answers in a second, and the microseconds of processors that the server used for each, where that is known."""

    per_second: float
    used: float | None


def rows(count: int = COUNT, pages: int = PAGES, rounds: int = ROUNDS, seconds: float = SECONDS) -> Iterator[Row]:
    """Yield the table."""
    with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
        place = Path(name)
        write_corpus(place / "documents", count, SEED, rare=True)
        environ = dict(os.environ) | {"PROSA_CACHE_DIR": str(place / "cache"), "HOME": name}
        yield from start_rows(place, serve_command(place), environ, count)
        with serving(serve_command(place), environ) as child:
            paths = listed(child)
            answers = taken(child, spread(paths, pages))
            yield from _rates(child, answers, place, rounds, seconds)
            yield from crawl_rows(child, place, environ, paths)


def serve_command(place: Path) -> list[str]:
    """Return the server over the documents, with its access log, as it is meant to run."""
    log = str(place / "access.jsonl")
    return python("-m", "prosa", "serve", str(place / "documents"), "--port", "0", "--access-log", log)


def listed(child: Child) -> list[str]:
    """Return the paths of all nodes, from the index of the site."""
    with connected(child.port) as line:
        _, index = answered(line, request_of("/mdh/nodes.json", "application/json", child.port))
    return [each["md_url"] for each in json.loads(index)["nodes"]]


def taken(child: Child, paths: Sequence[str]) -> Answers:
    """Return what the server answers for its pages, in each form, when all is there."""
    with connected(child.port) as line:
        return {
            (path, accept): answered(line, request_of(path, accept, child.port))
            for path in paths
            for accept in FORMS.values()
        }


def spread(paths: Sequence[str], count: int) -> list[str]:
    """So many of them, from everywhere."""
    return [paths[at * len(paths) // count] for at in range(min(count, len(paths)))]


def _rates(child: Child, answers: Answers, place: Path, rounds: int, seconds: float) -> Iterator[Row]:
    """Yield each form, and what has not changed, from both servers in turn."""
    file = place / "answers.json"
    held = [(path, accept, pairs, body.decode()) for (path, accept), (pairs, body) in answers.items()]
    file.write_text(json.dumps(held), encoding="utf-8")
    with serving(python("-m", "bench.serve_bare", str(file)), os.environ) as bare:
        _require_same(answers, bare)
        for name, accept in FORMS.items():
            yield from _compared(name, _questions(answers, accept, tagged=False), (child, bare), place, rounds, seconds)
        same = _questions(answers, FORMS["Markdown"], tagged=True)
        yield from _compared("304", same, (child, bare), place, rounds, seconds)


def _questions(answers: Answers, accept: str, *, tagged: bool) -> list[tuple[str, str, str]]:
    """Path, `Accept` and tag of the requests for one form."""
    found = []
    for (path, said), (pairs, _) in answers.items():
        if said == accept:
            found.append((path, said, dict(pairs)["etag"] if tagged else ""))
    return found


def _require_same(answers: Answers, bare: Child) -> None:
    """End it all where the bare server answers with other bytes or headers."""
    with connected(bare.port) as line:
        for (path, accept), (pairs, body) in answers.items():
            got, same = answered(line, request_of(path, accept, bare.port))
            if same != body or sorted(got) != sorted(pairs):
                raise SystemExit(f"the bare server answers {path} otherwise")


def _compared(
    name: str,
    questions: list[tuple[str, str, str]],
    servers: tuple[Child, Child],
    place: Path,
    rounds: int,
    seconds: float,
) -> Iterator[Row]:
    found: Mapping[int, list[Rate]] = {each.port: [] for each in servers}
    for turn in range(rounds + 1):
        for each in servers:
            rate = _asked(each, questions, place, seconds if turn else seconds / 4)
            if turn:
                found[each.port].append(rate)
    own, base = (middle(found[each.port]) for each in servers)
    yield Row(f"serve, {name}, requests a second", own.per_second, "/s", BARE, base.per_second, AIM)
    if own.used is not None:
        yield Row(f"serve, {name}, CPU of one request", own.used, "µs", BARE, base.used)


def middle(rates: Sequence[Rate]) -> Rate:
    """Return the medians."""
    used = [each.used for each in rates if each.used is not None]
    return Rate(statistics.median(each.per_second for each in rates), statistics.median(used) if used else None)


def _asked(server: Child, questions: list[tuple[str, str, str]], place: Path, seconds: float) -> Rate:
    file = place / "requests.json"
    texts = [request_of(path, accept, server.port, tag).decode("latin-1") for path, accept, tag in questions]
    file.write_text(json.dumps(texts), encoding="utf-8")
    before = server.used()
    command = python("-m", "bench.serve_load", str(server.port), str(seconds), str(file))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    answered, taken_seconds = json.loads(done.stdout)
    after = server.used()
    used = None if before is None or after is None else (after - before) * 1e6 / (answered + len(questions))
    return Rate(answered / taken_seconds, used)
