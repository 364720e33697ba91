"""Runs inside the environment of the peers, never in that of Prosa: `link FOLDER` links a folder with obsidiantools;
`arrange` reads pairs of nodes from stdin and prints the milliseconds in which networkx arranges them."""

from __future__ import annotations

import json
import statistics
import sys
import time
from importlib import import_module
from pathlib import Path

ROUNDS = 5


def link(folder: Path) -> None:
    """Make the graph of all pages of a folder."""
    import_module("obsidiantools.api").Vault(folder).connect()


def arrange() -> float:
    """Return the median time of an arrangement by springs, in milliseconds."""
    networkx = import_module("networkx")
    graph = networkx.Graph([tuple(pair) for pair in json.load(sys.stdin)])
    times: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        networkx.spring_layout(graph, seed=1)
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


if __name__ == "__main__":
    if sys.argv[1] == "link":
        link(Path(sys.argv[2]))
    else:
        print(arrange())
