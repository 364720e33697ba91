"""Orphans, parts that hang together, cycles, and how important a document is (L29, LA15, Y31)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.graph.graph import Graph
from prosa.graph.node import Edge, Node
from prosa.graph.parts import components, cycles, orphans
from prosa.graph.rank import DAMPING, ranks
from prosa.graph.reach import neighbourhood
from tests.depth import examples
from tests.graph.corpora import graph
from tests.work import is_linear

NODES = "abcdef"
PAIRS = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=14)
MADE = graph(NODES, [("a", "b"), ("b", "c"), ("c", "a"), ("d", "d"), ("e", "f")])


def test_y31_an_orphan_is_a_node_that_no_other_points_at():
    """Y31. Pointing at oneself does not count."""
    assert orphans(MADE) == ("d", "e")


def test_y31_components_are_what_hangs_together():
    """Y31. The largest first, the others in the order of the nodes."""
    assert components(MADE) == (("a", "b", "c"), ("e", "f"), ("d",))
    assert components(Graph()) == ()


def test_la15_cycles_are_found_of_all_edges_or_of_some():
    """LA15, L29. A cycle of imports is one of the edges `import`; a page that links to itself is none."""
    nodes = [Node(name, name, "markdownlang") for name in "abc"]
    edges = [
        Edge("a", "b", "import", "import", 1, "resolved"),
        Edge("b", "a", "import", "import", 1, "resolved"),
        Edge("b", "c", None, "inline", 2, "resolved", start=5),
        Edge("c", "a", None, "inline", 2, "resolved"),
        Edge("c", "c", "import", "import", 3, "resolved", start=9),
    ]
    made = Graph.of(nodes, edges)
    assert cycles(made) == (("a", "b"),)
    assert cycles(made, ["import"]) == (("a", "b"), ("c",))
    assert cycles(MADE) == (("a", "b", "c"),)


@settings(max_examples=examples(60), deadline=None)
@given(PAIRS)
def test_y31_components_equal_what_can_be_walked_to(pairs: list[tuple[str, str]]):
    """Y31."""
    made = graph(NODES, pairs)
    parts = components(made)
    assert sorted(name for part in parts for name in part) == list(NODES)
    for part in parts:
        for name in part:
            assert {name, *(each.node for each in neighbourhood(made, name, 99))} == set(part)


def _slowly(pairs: list[tuple[str, str]]) -> dict[str, float]:
    """Rank by multiplying a whole matrix until nothing moves."""
    targets = {name: {b for a, b in pairs if a == name and b != name} or set(NODES) for name in NODES}
    rank = dict.fromkeys(NODES, 1 / len(NODES))
    for _ in range(400):
        rank = {
            name: (1 - DAMPING) / len(NODES)
            + DAMPING * sum(rank[each] / len(targets[each]) for each in NODES if name in targets[each])
            for name in NODES
        }
    return rank


@settings(max_examples=examples(80), deadline=None)
@given(PAIRS)
def test_y31_ranks_sum_to_one_and_equal_a_matrix(pairs: list[tuple[str, str]]):
    """Y31. Every number is positive, and the same as by the book."""
    found, wanted = ranks(graph(NODES, pairs)), _slowly(pairs)
    assert abs(sum(found.values()) - 1) < 1e-9
    assert min(found.values()) > 0
    assert all(abs(found[name] - wanted[name]) < 1e-6 for name in NODES)


def test_what_much_points_at_ranks_high():
    found = ranks(graph(NODES, [(name, "f") for name in "abcd"] + [("a", "f"), ("f", "e")]))
    assert sorted(found, key=found.__getitem__)[-2:] == ["f", "e"]
    assert ranks(Graph()) == {}
    assert ranks(graph("a", [])) == {"a": 1.0}


def _grid(count: int) -> None:
    names = [str(at) for at in range(count)]
    made = graph(names, [(name, names[at * step % count]) for at, name in enumerate(names) for step in (2, 3, 7)])
    assert len(ranks(made)) == count
    components(made)
    cycles(made)
    orphans(made)


def test_y31_parts_and_ranks_cost_linear_work():
    """Y31."""
    assert is_linear(_grid, 2000, 8000)
