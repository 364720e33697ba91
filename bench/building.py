"""The Rust Book as a static site: `prosa build` beside `mkdocs build`, whole processes in turn, each into a new folder.

Both read the same Markdown. MkDocs has its default theme and its search; what it warns of is thrown away.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.checking import Contender, book, in_turn
from bench.measure import Process, Row, python
from bench.peers import find as peers

RUNS = 3
MKDOCS = "site_name: Book\ndocs_dir: {folder}\nsite_dir: {out}\ntheme: mkdocs\n"


def rows(runs: int = RUNS) -> Iterator[Row]:
    """Yield the table."""
    mkdocs = peers.program("mkdocs")
    with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
        place = Path(name)
        corpus = book(place)
        outs = {"prosa": place / "out-prosa", "mkdocs": place / "out-mkdocs"}
        ran = in_turn(_contenders(corpus.folder, outs, mkdocs), corpus.folder, runs)
        yield from _table(corpus.title, ran, outs, mkdocs)


def _contenders(folder: Path, outs: Mapping[str, Path], mkdocs: peers.Peer) -> dict[str, Contender]:
    build = python("-m", "prosa", "build", str(folder), str(outs["prosa"]), "--name", "Book", "--quiet")
    made = {"prosa": Contender(build, outs["prosa"].with_name("cache"), emptied=True, fine=(0,))}
    if mkdocs.start:
        settings = folder.with_name("mkdocs.yml")
        settings.write_text(MKDOCS.format(folder=folder, out=outs["mkdocs"]), encoding="utf-8")
        command = [*mkdocs.start, "build", "--quiet", "--clean", "--config-file", str(settings)]
        made["mkdocs"] = Contender(command, fine=(0,), peer=mkdocs.name)
    return made


def _table(title: str, ran: Mapping[str, Process], outs: Mapping[str, Path], mkdocs: peers.Peer) -> Iterator[Row]:
    own, other = ran["prosa"], ran.get("mkdocs")
    pages = len(list(outs["prosa"].rglob("*.html")))
    theirs = len(list(outs["mkdocs"].rglob("*.html"))) if other else None
    what = f"build {title}"
    yield Row(f"{what}, wall", own.wall / 1000, "s", mkdocs.title, other.wall / 1000 if other else None)
    yield Row(f"{what}, CPU", own.used / 1000, "s", mkdocs.title, other.used / 1000 if other else None)
    yield Row(f"{what}, peak of the largest process", own.memory, "MiB", mkdocs.title, other.memory if other else None)
    yield Row("pages of HTML written", pages, "", mkdocs.title, theirs)
