"""Ranking: the weight of the references to a document, as PageRank (Page and Brin, 1998).

In: a graph. Out: a number for every node; their sum is 1. No library, no randomness. A round runs over all edges in
the loops of `map` and `accumulate`, which is what makes it fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import mul, sub

from msgspec import Struct

from prosa.graph.graph import Graph

DAMPING = 0.85
"""The share of readers who follow a link; the others start again at a random document."""

TOLERANCE = 1e-6
"""How much all numbers together may still change in the last round."""

MAX_ROUNDS = 100
"""Rounds after which the remaining change is less than 1e-6: 0.85 to the power of 100."""


class _Links(Struct, frozen=True):
    """The links by number. ``sources`` are those of the first target, of the second, …; ``ends`` is where those of
    each target end. ``share`` is one divided by the number of documents that a node points at, 0 for none."""

    sources: Sequence[int]
    ends: Sequence[int]
    share: Sequence[float]


def ranks(graph: Graph) -> dict[str, float]:
    """Return the rank of every node by id. Another document counts once, however often it points there; one that points
    at nothing counts for all alike."""
    if not graph.nodes:
        return {}
    links = _links(graph)
    rank = [1 / len(graph.nodes)] * len(graph.nodes)
    for _ in range(MAX_ROUNDS):
        before, rank = rank, _round(rank, links)
        if sum(map(abs, map(sub, rank, before))) < TOLERANCE:
            break
    return {node.id: value for node, value in zip(graph.nodes, rank, strict=True)}


def _round(rank: Sequence[float], links: _Links) -> list[float]:
    shares = list(map(mul, rank, links.share))
    sums = list(accumulate(map(shares.__getitem__, links.sources), initial=0.0))
    upto = [sums[end] for end in links.ends]
    received = map(sub, upto, [0.0, *upto])
    passed_on = [DAMPING * share for share in received]
    rest = (1 - sum(passed_on)) / len(rank)
    return [share + rest for share in passed_on]


def _links(graph: Graph) -> _Links:
    count = len(graph.nodes)
    number = {node.id: at for at, node in enumerate(graph.nodes)}
    pairs = sorted(
        {number[edge.target] * count + number[edge.source] for edge in graph.resolved}
    )  # whole numbers: fast
    received, sent, sources = [0] * count, [0] * count, []
    for pair in pairs:
        target, source = divmod(pair, count)
        if target != source:
            received[target] += 1
            sent[source] += 1
            sources.append(source)
    return _Links(sources, list(accumulate(received)), [1 / total if total else 0.0 for total in sent])
