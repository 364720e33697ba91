"""Checks and new indexes of a generated corpus that doubles three times, in CPU time of all processes.

Each size is measured in turn with its peer. A row with a `series` and a `size` is a point of a picture on the page.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.bare_index import PROGRAM
from bench.checking import Contender, in_turn
from bench.measure import Process, Row, python
from bench.mixed_corpus import SEED, write_corpus
from bench.peers import find as peers

SIZES = (500, 1_000, 2_000, 4_000)
RUNS = 3
CHECK, INDEX = "prosa check, cold", "prosa index, cold"
BARE = "bare FTS5"


def rows(sizes: Sequence[int] = SIZES, runs: int = RUNS) -> Iterator[Row]:
    """Yield the table."""
    rumdl = peers.program("rumdl")
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
            folder = Path(name, "documents")
            write_corpus(folder, size, SEED, rare=True)
            (folder / "prosa.toml").touch()
            ran = in_turn(_contenders(Path(name), rumdl), folder, runs)
        yield _row(CHECK, size, ran["check"], rumdl.title, ran.get("rumdl"))
        yield _row(INDEX, size, ran["index"], BARE, ran["bare"])


def _contenders(place: Path, rumdl: peers.Peer) -> dict[str, Contender]:
    made = {
        "check": Contender(python("-m", "prosa", "check", ".", "--no-cache")),
        "index": Contender(python("-m", "prosa", "index", "."), place / "index", emptied=True, fine=(0,)),
        "bare": Contender(python(PROGRAM, ".", str(place / "bare" / "bare.sqlite")), place / "bare", emptied=True),
    }
    if rumdl.start:
        made["rumdl"] = Contender(peers.rumdl(rumdl, None), peer=rumdl.name)
    return made


def _row(series: str, size: int, own: Process, baseline: str, other: Process | None) -> Row:
    base = other.used / 1000 if other else None
    what = f"{series}, {size:,} documents, CPU"
    return Row(what, own.used / 1000, "s", baseline, base, series=series, size=size)
