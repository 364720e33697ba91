"""`prosa check` of a folder, cold and warm, against other checkers in the same run, in turn with them.

Two corpora: a book (`--corpus PATH`, or the Rust Book where the shared folder is beside the repository), and seven
thousand generated documents of all dialects. Every program checks the same files with its defaults and prints what it
finds into nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from bench.measure import Failed, Process, Row, middle, process, python
from bench.mixed_corpus import COUNT, write_corpus
from bench.peers import find as peers

CORPUS_VARIABLE = "PROSA_BENCH_CORPUS"
SHARED_BOOK = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "rust-book.tar.gz"
FALLBACK_COUNT = 478

RUNS = 5
PATIENCE = 15_000.0
"""Milliseconds that one contender may take in all: a slow one runs less often, at least once."""
SLOW = 5_000.0
"""A first run that takes longer than this counts; others are for warming up."""

FINDINGS = (0, 1)
"""Exit statuses of a checker that checked."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder of documents, and what the table calls it."""

    title: str
    folder: Path

    @property
    def documents(self) -> list[Path]:
        """Its files, below its folder."""
        found = (path for path in sorted(self.folder.rglob("*")) if path.suffix[1:] in peers.SUFFIXES)
        return [path.relative_to(self.folder) for path in found]


@dataclass(frozen=True, slots=True)
class Contender:
    """A command, where it keeps what it has found, whether that is thrown away before each run, and which exit
    statuses say that it worked. The program of a ``peer`` is left out when it fails; all others must work."""

    command: Sequence[str]
    cache: Path | None = None
    emptied: bool = False
    fine: Container[int] = FINDINGS
    peer: str = ""

    def run(self, folder: Path) -> Process:
        """Run it in ``folder``."""
        environ = dict(os.environ)
        if self.cache is not None:
            environ["PROSA_CACHE_DIR"] = str(self.cache)
            if self.emptied:
                shutil.rmtree(self.cache, ignore_errors=True)
                self.cache.mkdir(mode=0o700, parents=True)
        return process(self.command, environ, folder=folder, fine=self.fine)


def rows(count: int = COUNT, runs: int = RUNS) -> Iterator[Row]:
    """Yield the table."""
    with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
        found = _that_work(peers.find(), Path(name))
        for large, corpus in ((False, book(Path(name))), (True, _mixed(Path(name), count))):
            measured = _measure(corpus, found, Path(name) / "caches", runs)
            yield from _table(corpus, measured, found, large=large)


FAULTY = "faulty.md"


def _that_work(found: Mapping[str, peers.Peer], temporary: Path) -> dict[str, peers.Peer]:
    """Return the peers, without commands those that do not name a faulty file: what checks nothing is quick."""
    corpus = Corpus("", temporary / "faulty")
    corpus.folder.mkdir()
    (corpus.folder / FAULTY).write_text("# One\n\n### Three\n\n* a\n- b\n\n\n\nEnd  \n", encoding="utf-8")
    works = dict(found)
    for each in _others(corpus, found, temporary).values():
        try:
            ran = subprocess.run(
                each.command, cwd=corpus.folder, capture_output=True, check=False, timeout=peers.ASKED_SECONDS
            )
            named = FAULTY.encode() in ran.stdout + ran.stderr
            reason = "" if named else f"finds nothing in a faulty file (status {ran.returncode})"
        except subprocess.TimeoutExpired:
            reason = f"took longer than {peers.ASKED_SECONDS} s for one file"
        if reason:
            peers.leave_out(each.peer, reason)
            works[each.peer] = peers.Peer(each.peer, version=found[each.peer].version, reason=reason)
    return works


def book(temporary: Path) -> Corpus:
    """Return the corpus the user named, else the book, else a generated one of the same number of files."""
    named = os.environ.get(CORPUS_VARIABLE)
    if named and Path(named).is_dir():
        return _counted(Path(named).name, Path(named).resolve())
    archive = Path(named) if named else SHARED_BOOK
    folder = temporary / "book"
    if archive.is_file():
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        return _counted(archive.name.partition(".")[0], folder)
    if named:
        raise SystemExit(f"{named}: no such folder or archive")
    write_corpus(folder, FALLBACK_COUNT)
    return _counted("generated", folder)


def _mixed(temporary: Path, count: int) -> Corpus:
    folder = temporary / "mixed"
    write_corpus(folder, count)
    return _counted("mixed", folder)


def _counted(title: str, folder: Path) -> Corpus:
    documents = Corpus("", folder).documents
    size = sum((folder / path).stat().st_size for path in documents)
    return Corpus(f"{title} ({len(documents):,} files, {size / 1e6:.1f} MB)", folder)


def _measure(corpus: Corpus, found: Mapping[str, peers.Peer], caches: Path, runs: int) -> dict[str, Process]:
    """Medians of every contender."""
    shutil.rmtree(caches, ignore_errors=True)
    return in_turn({**_own(caches), **_others(corpus, found, caches)}, corpus.folder, runs)


def in_turn(contenders: Mapping[str, Contender], folder: Path, runs: int) -> dict[str, Process]:
    """Medians of every contender in a folder, run in turn; of several runs one more comes first, to warm up.

    A peer that fails is not among them.
    """
    done: dict[str, list[Process]] = {name: [] for name in contenders}
    for turn in range(0 if runs > 1 else 1, runs + 1):
        for name, each in contenders.items():
            if name in done and sum(run.wall for run in done[name]) < PATIENCE:
                try:
                    ran = each.run(folder)
                except Failed as problem:
                    if not each.peer:
                        raise
                    peers.leave_out(each.peer, problem.reason)
                    del done[name]
                    continue
                done[name] += [ran] if turn or ran.wall > SLOW else []
    return {name: middle(ran) for name, ran in done.items()}


def _own(caches: Path) -> dict[str, Contender]:
    check = python("-m", "prosa", "check", ".")
    return {
        "prosa none": Contender([*check, "--no-cache"]),
        "prosa empty": Contender(check, caches / "prosa-empty", emptied=True),
        "prosa warm": Contender(check, caches / "prosa-warm"),
    }


def _others(corpus: Corpus, found: Mapping[str, peers.Peer], caches: Path) -> dict[str, Contender]:
    rumdl, markdownlint, mdformat = found.values()
    made: dict[str, Contender] = {}
    if rumdl.start:
        empty, warm = caches / "rumdl-empty", caches / "rumdl-warm"
        made["rumdl none"] = Contender(peers.rumdl(rumdl, None), peer=rumdl.name)
        made["rumdl empty"] = Contender(peers.rumdl(rumdl, empty), empty, emptied=True, peer=rumdl.name)
        made["rumdl warm"] = Contender(peers.rumdl(rumdl, warm), warm, peer=rumdl.name)
    if markdownlint.start:
        made["markdownlint-cli2 none"] = Contender(peers.markdownlint(markdownlint), peer=markdownlint.name)
    if mdformat.start:
        made["mdformat none"] = Contender(peers.mdformat(mdformat, corpus.documents), peer=mdformat.name)
    return made


def _table(
    corpus: Corpus, measured: Mapping[str, Process], found: Mapping[str, peers.Peer], *, large: bool
) -> Iterator[Row]:
    def row(what: str, state: str, peer: str, aim: str = "", *, cpu: bool = False) -> Row:
        own, theirs = measured[f"prosa {state}"], measured.get(f"{peer} {state}")
        time = attrgetter("used" if cpu else "wall")
        title = f"check {corpus.title}, {what}{', CPU' if cpu else ''}"
        return Row(title, time(own), "ms", found[peer].title, time(theirs) if theirs else None, aim)

    for peer in found:
        yield row("cold, --no-cache", "none", peer)
    yield row("cold, --no-cache", "none", "rumdl", "≤ 1.8x" if large else "≤ 1.4x", cpu=True)
    yield row("cold, cache written", "empty", "rumdl")
    yield row("cold, cache written", "empty", "rumdl", cpu=True)
    yield row("warm", "warm", "rumdl", "" if large else "≤ 70 ms")
    memory = max(measured["prosa none"].memory, measured["prosa empty"].memory)
    what = f"check {corpus.title}, peak of the largest process"
    for peer in found:
        theirs = measured.get(f"{peer} none")
        aim = "≤ 200 MB" if large and peer == "rumdl" else ""
        yield Row(what, memory, "MiB", found[peer].title, theirs.memory if theirs else None, aim)
