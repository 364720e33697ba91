"""Ways through the graph: neighbourhoods, what a change reaches, shortest paths, against brute force (L29, Y22)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.graph.graph import Graph
from prosa.graph.node import Edge, Node
from prosa.graph.reach import impact, neighbourhood, shortest_path
from tests.depth import examples
from tests.graph.corpora import edge, graph
from tests.work import is_linear

CHAIN = graph("abcde", [("a", "b"), ("b", "c"), ("d", "c"), ("e", "e")])


def test_y22_the_neighbourhood_grows_with_its_depth():
    """Y22. In both directions, the nearest first, without the node itself."""
    assert [each.node for each in neighbourhood(CHAIN, "b")] == ["c", "a"]
    assert [(each.node, each.distance, each.via, each.forwards) for each in neighbourhood(CHAIN, "a", 3)] == [
        ("b", 1, "a", True),
        ("c", 2, "b", True),
        ("d", 3, "c", False),
    ]
    assert neighbourhood(CHAIN, "a", 0) == neighbourhood(CHAIN, "e", 5) == neighbourhood(CHAIN, "nobody") == ()


def test_l29_an_impact_is_everything_that_reaches_a_node():
    """L29. A change of a program reaches those that import it, and those that import them."""
    assert [(each.node, each.distance) for each in impact(CHAIN, "c")] == [("b", 1), ("d", 1), ("a", 2)]
    assert [each.node for each in impact(CHAIN, "c", depth=1)] == ["b", "d"]
    assert impact(CHAIN, "a") == ()


def test_x21_types_limit_an_impact_and_count_derived_edges():
    """X21. Who asks for `extended-by` asks for what nobody writes."""
    made = Graph.of(
        [Node(name, name, "magi") for name in "abc"], [edge("a", "b", "extends"), edge("c", "b", "related", start=1)]
    )
    assert [each.node for each in impact(made, "b")] == ["a", "c"]
    assert [each.node for each in impact(made, "b", rels=["extends"])] == ["a"]
    assert [each.node for each in impact(made, "a", rels=["extended-by"])] == ["b"]
    assert [each.node for each in neighbourhood(made, "b", 1, rels=["related"])] == ["c"]


def test_a_way_has_its_steps():
    steps = shortest_path(CHAIN, "a", "d")
    assert steps is not None
    assert [(each.via, each.node, each.forwards) for each in steps] == [
        ("a", "b", True),
        ("b", "c", True),
        ("c", "d", False),
    ]
    assert shortest_path(CHAIN, "a", "d", directed=True) is None
    assert shortest_path(CHAIN, "a", "a") == ()
    assert shortest_path(CHAIN, "a", "e") is None


NODES = "abcdef"
PAIRS = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=12)


def _lengths(pairs: list[tuple[str, str]], *, directed: bool) -> dict[tuple[str, str], int]:
    """All distances, by trying every middle."""
    far = 99
    known = {(a, b): 0 if a == b else far for a in NODES for b in NODES}
    for a, b in pairs:
        known[a, b] = min(known[a, b], 1)
        if not directed:
            known[b, a] = min(known[b, a], 1)
    for middle in NODES:
        for a in NODES:
            for b in NODES:
                known[a, b] = min(known[a, b], known[a, middle] + known[middle, b])
    return {pair: length for pair, length in known.items() if length < far}


@settings(max_examples=examples(80), deadline=None)
@given(PAIRS, st.booleans())
def test_x21_shortest_paths_equal_brute_force(pairs: list[tuple[str, str]], directed: bool):
    """X21. Each step is an edge, and the steps join."""
    made, lengths = graph(NODES, pairs), _lengths(pairs, directed=directed)
    for a in NODES:
        for b in NODES:
            steps = shortest_path(made, a, b, directed=directed)
            assert (None if steps is None else len(steps)) == lengths.get((a, b))
            at = a
            for step in steps or ():
                ends = (step.edge.source, step.edge.target)
                assert (at, step.node) == (ends if step.forwards else ends[::-1])
                assert step.forwards or not directed
                at = step.node
            assert at == b or not steps


@settings(max_examples=examples(80), deadline=None)
@given(PAIRS, st.integers(0, 4))
def test_x21_neighbourhoods_and_impacts_equal_brute_force(pairs: list[tuple[str, str]], depth: int):
    """X21. Distances and members, each node once."""
    made = graph(NODES, pairs)
    around, into = _lengths(pairs, directed=False), _lengths(pairs, directed=True)
    for node in NODES:
        near = {each.node: each.distance for each in neighbourhood(made, node, depth)}
        assert near == {b: far for (a, b), far in around.items() if a == node and 0 < far <= depth}
        reached = {each.node: each.distance for each in impact(made, node, depth=depth)}
        assert reached == {a: far for (a, b), far in into.items() if b == node and 0 < far <= depth}


def _ring(count: int) -> None:
    names = [str(at) for at in range(count)]
    made = graph(names, [(name, names[at - 1]) for at, name in enumerate(names)])
    assert len(impact(made, "0")) == len(neighbourhood(made, "0", count)) == count - 1
    steps = shortest_path(made, "0", names[count // 2])
    assert steps is not None and len(steps) == count // 2


def test_x21_walks_are_linear_and_need_no_recursion():
    """X21, X9."""
    assert is_linear(_ring, 3000, 12000)


def test_what_is_not_resolved_is_no_way():
    unclear = Edge("a", "b", None, "wikilink", 1, "ambiguous", candidates=("a", "b"))
    made = Graph.of([Node(name, name, "plain") for name in "ab"], [unclear])
    assert shortest_path(made, "a", "b") is None
    assert impact(made, "b") == neighbourhood(made, "a") == ()
