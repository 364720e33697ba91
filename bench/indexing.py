"""The corpus: its index built, refreshed, brought up to date and asked, for generated corpora of growing size.

Whole processes here, in turn with their baselines; what happens inside one is measured by `bench.index_answers`, in a
process of its own, so that its memory shows nowhere else. 50,000 and 100,000 documents only where they are asked for
(`--large`), and real notes where `PROSA_BENCH_VAULT` names their folder.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import run

from bench.bare_index import PROGRAM, looks
from bench.checking import RUNS, Contender, in_turn
from bench.index_answers import AIMED, MIDDLE, PAGE, RARE, SECONDS
from bench.measure import Process, Row, python
from bench.memory import peak_of_all
from bench.mixed_corpus import SEED, write_corpus
from bench.peers import corpora
from bench.peers.find import Peer

LARGE_VARIABLE = "PROSA_BENCH_LARGE"
VAULT_VARIABLE = "PROSA_BENCH_VAULT"
"""Names a folder of real notes, which is read and not written."""
SIZES, LARGE = (1_000, 7_000, 14_000), (50_000, 100_000)
RATIO_AIM = "≤ 8x"
MOST_OF_VAULT, MOST_OF_LINKS = 14_000, 1_000
"""Documents up to which peers take minutes at most."""

WELL, FOUND = (0,), (0, 1)
"""Exit statuses of what must work, and of a search that may find nothing."""

NEW = "pages/part-00/another-page.md"
NAME = Path(PAGE).name


@dataclass(frozen=True, slots=True)
class Corpus:
    """A generated corpus, with places for the indexes of it."""

    count: int
    size: int
    place: Path
    vault: Path | None = None

    @property
    def folder(self) -> Path:
        """The documents."""
        return self.vault or self.place / "documents"

    @property
    def title(self) -> str:
        """What rows of it begin with."""
        return f"{self.vault.name}, {self.count:,} notes" if self.vault else f"{self.count:,} documents"

    def bare(self, state: str) -> Path:
        """Return the file of the bare index."""
        return self.place / f"bare-{state}" / "bare.sqlite"

    def cache(self, state: str) -> Path:
        """Return the cache of Prosa."""
        return self.place / f"prosa-{state}"

    def peer(self, state: str) -> Path:
        """Return the file of the index of markdown-vault-mcp."""
        return self.place / f"vault-{state}" / "vault.sqlite"


def rows(sizes: Sequence[int] = (), runs: int = RUNS, seconds: float = SECONDS) -> Iterator[Row]:
    """Yield the table."""
    found = corpora.find()
    built: dict[int, float] = {}
    for count in sizes or (*SIZES, *(LARGE if os.environ.get(LARGE_VARIABLE) else ())):
        with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
            corpus = _generated(count, Path(name))
            few = 1 if count >= LARGE[0] else min(runs, 3) if count > MOST_OF_LINKS else runs
            yield from _built(corpus, found, few, built)
            yield from _again(corpus, found, few)
            yield from _answers(corpus, seconds)
    if vault := os.environ.get(VAULT_VARIABLE):
        with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
            yield from _built(_real(Path(vault).resolve(), Path(name)), found, runs, {})
    least, *others = built.items()
    for count, taken in others:
        what = f"{count:,} documents, cold, CPU of one document"
        yield Row(what, taken / count, "ms", f"of {least[0]:,} documents", least[1] / least[0], "about 1x")


def _generated(count: int, place: Path) -> Corpus:
    corpus = Corpus(count, 0, place)
    written = write_corpus(corpus.folder, count, SEED, rare=True)
    (corpus.folder / "prosa.toml").touch()  # the folder is a project, so that `prosa links FILE` knows its corpus
    return Corpus(count, written.size, place)


def _real(folder: Path, place: Path) -> Corpus:
    sizes = [found.st_size for _, found in looks(str(folder))]
    return Corpus(len(sizes), sum(sizes), place, folder)


def _built(corpus: Corpus, found: Mapping[str, Peer], runs: int, built: dict[int, float]) -> Iterator[Row]:
    """Yield a new index."""
    bare = corpus.bare("cold")
    contenders = {
        "prosa": Contender(_PROSA_INDEX, corpus.cache("cold"), emptied=True, fine=WELL),
        "bare": Contender(python(PROGRAM, ".", str(bare)), bare.parent, emptied=True, fine=WELL),
    }
    vault, links = found["markdown-vault-mcp"], found["obsidiantools"]
    if vault.start and corpus.count <= MOST_OF_VAULT:
        file = corpus.peer("cold")
        contenders["vault"] = Contender(
            corpora.vault_index(vault, corpus.folder, file), file.parent, emptied=True, fine=WELL, peer=vault.name
        )
    if links.start and corpus.count <= MOST_OF_LINKS:
        contenders["links"] = Contender(corpora.link_folder(links, corpus.folder), fine=WELL, peer=links.name)
    ran = in_turn(contenders, corpus.folder, runs)
    built[corpus.count] = ran["prosa"].used
    yield from _times(
        corpus, ran, {"bare": _BARE, "vault": f"{vault.title} index", "links": f"{links.title}, links only"}
    )
    yield from _memory(corpus, ran, contenders)


def _times(corpus: Corpus, ran: Mapping[str, Process], titles: Mapping[str, str]) -> Iterator[Row]:
    what = f"{corpus.title} ({corpus.size / 1e6:,.1f} MB), cold"
    own, aim = ran["prosa"], "≤ 5 s" if corpus.count == AIMED else ""
    for name, title in titles.items():
        theirs = ran.get(name)
        if theirs or corpus.count <= {"vault": MOST_OF_VAULT, "links": MOST_OF_LINKS}.get(name, LARGE[-1]):
            yield Row(f"{what}, wall", own.wall / 1000, "s", title, theirs.wall / 1000 if theirs else None, aim)
    of_cpu = RATIO_AIM if corpus.vault or corpus.count == MIDDLE else ""
    yield Row(f"{what}, CPU of all processes", own.used / 1000, "s", _BARE, ran["bare"].used / 1000, of_cpu)


def _memory(corpus: Corpus, ran: Mapping[str, Process], contenders: Mapping[str, Contender]) -> Iterator[Row]:
    """Of the largest process, and of all together, for which they run once more."""
    what, aim = f"{corpus.title}, cold, peak of", "≤ 600 MB"
    yield Row(f"{what} the largest process", ran["prosa"].memory, "MiB", _BARE, ran["bare"].memory, aim)
    peaks = {name: _peak(contenders[name], corpus.folder) for name in ("prosa", "bare")}
    if peaks["prosa"] is not None:
        series, size = ("", 0) if corpus.vault else ("prosa index, most memory of all processes", corpus.count)
        all_of = f"{what} all processes"
        yield Row(all_of, peaks["prosa"], "MiB", _BARE, peaks["bare"], aim, series=series, size=size)


def _peak(contender: Contender, folder: Path) -> float | None:
    assert contender.cache is not None
    shutil.rmtree(contender.cache, ignore_errors=True)
    return peak_of_all(contender.command, dict(os.environ) | {"PROSA_CACHE_DIR": str(contender.cache)}, folder)


def _again(corpus: Corpus, found: Mapping[str, Peer], runs: int) -> Iterator[Row]:
    """Whole processes over an index that is up to date."""
    cache, vault = corpus.cache("cold"), found["markdown-vault-mcp"]
    own = {
        "refresh, nothing changed": _PROSA_INDEX,
        "links FILE": [*_PROSA, "links", PAGE],
        "search WORD": [*_PROSA, "search", RARE],
        "rename FILE, dry run": [*_PROSA, "rename", PAGE, NEW, "--dry-run"],
    }
    contenders = {name: Contender(command, cache, fine=FOUND) for name, command in own.items()}
    contenders["walk"] = Contender(python(PROGRAM, "."), fine=WELL)
    contenders["grep name"] = Contender(["grep", "-rFl", NAME.removesuffix(".md"), "."], fine=FOUND)
    contenders["grep word"] = Contender(["grep", "-rwl", RARE, "."], fine=FOUND)
    if vault.start and corpus.count <= MOST_OF_VAULT:
        file = corpus.peer("cold")
        refresh, search = corpora.vault_refresh(vault, corpus.folder, file), corpora.vault_search
        contenders["vault"] = Contender(refresh, fine=WELL, peer=vault.name)
        contenders["vault search"] = Contender(search(vault, corpus.folder, file, RARE), fine=WELL, peer=vault.name)
    ran = in_turn(contenders, corpus.folder, runs)
    yield from _whole_processes(corpus, ran, vault)


def _whole_processes(corpus: Corpus, ran: Mapping[str, Process], vault: Peer) -> Iterator[Row]:
    pairs = (
        ("refresh, nothing changed", "walk", "walk and stat"),
        ("refresh, nothing changed", "vault", f"{vault.title} reindex"),
        ("links FILE", "grep name", "grep -rF"),
        ("search WORD", "grep word", "grep -rw"),
        ("search WORD", "vault search", f"{vault.title} search"),
        ("rename FILE, dry run", "grep name", "grep -rF"),
    )
    for what, peer, title in pairs:
        theirs = ran.get(peer)
        if theirs or corpus.count <= MOST_OF_VAULT:
            base = theirs.wall if theirs else None
            yield Row(f"{corpus.title}, {what}, wall", ran[what].wall, "ms", title, base)
    asked = {what: ran[what].memory for what, _, _ in pairs}
    most = max(asked, key=lambda what: asked[what])
    base = ran["walk"].memory
    yield Row(f"{corpus.title}, peak of all these ({most})", asked[most], "MiB", "walk and stat", base, "≤ 600 MB")


def _answers(corpus: Corpus, seconds: float) -> Iterator[Row]:
    """Yield what happens inside a process."""
    environ = dict(os.environ) | {"PROSA_CACHE_DIR": str(corpus.cache("cold"))}
    command = python("-m", "bench.index_answers", str(corpus.folder), str(corpus.bare("cold")), str(seconds))
    done = run(command, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    yield from (Row(**json.loads(line)) for line in done.stdout.splitlines())


_PROSA = python("-m", "prosa")
_PROSA_INDEX = [*_PROSA, "index", "."]
_BARE = "bare FTS5, texts only"
