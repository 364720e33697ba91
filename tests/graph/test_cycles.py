"""Cycles and depth of a graph: found, shortest, once for each group, linear."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.graph import find_cycles
from prosa.graph.closure import chain_depths
from prosa.graph.cycles import components
from tests.depth import examples

EDGES = st.dictionaries(st.integers(0, 7), st.lists(st.integers(0, 9), max_size=5), max_size=8)


@pytest.mark.parametrize(
    ("edges", "cycles"),
    [
        ({}, ()),
        ({"a": ["b"], "b": []}, ()),
        ({"a": ["a"]}, (("a",),)),
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, (("a", "b", "c"),)),
        ({"x": ["b"], "a": ["b"], "b": ["c"], "c": ["b"]}, (("b", "c"),)),
        ({"a": ["b", "c"], "b": ["c"], "c": []}, ()),
        ({"a": ["b"], "b": ["c", "a"], "c": ["a"]}, (("a", "b"),)),
        ({"a": ["b"], "b": ["a"], "c": ["d"], "d": ["c"]}, (("a", "b"), ("c", "d"))),
        ({"a": ["elsewhere"]}, ()),
    ],
)
def test_cycles(edges, cycles):
    assert find_cycles(edges) == cycles


@settings(max_examples=examples(200), deadline=None)
@given(EDGES)
def test_a_cycle_is_a_way_back_and_there_is_one_where_a_node_reaches_itself(edges):
    cycles = find_cycles(edges)
    for cycle in cycles:
        assert len(set(cycle)) == len(cycle)
        assert all(after in edges[node] for node, after in zip(cycle, (*cycle[1:], cycle[0]), strict=True))
    groups = {node: group for group in components(edges) for node in group}
    looping = {groups[node] for node in edges if node in reached(node, edges)}
    assert {groups[cycle[0]] for cycle in cycles} == looping
    assert len(cycles) == len(looping)


@settings(max_examples=examples(200), deadline=None)
@given(EDGES)
def test_components_come_after_what_they_point_at(edges):
    place = {node: number for number, group in enumerate(components(edges)) for node in group}
    assert set(place) == set(edges)
    assert all(place[target] <= place[node] for node in edges for target in edges[node] if target in edges)


def test_depth_is_the_longest_chain():
    assert chain_depths({"a": ["b", "c"], "b": ["c"], "c": ["d"], "d": []}) == {"a": 0, "b": 1, "c": 2, "d": 3}


def test_the_nodes_of_a_cycle_share_their_depth():
    assert chain_depths({"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": []}) == {"a": 0, "b": 1, "c": 1, "d": 2}


def test_a_long_chain_needs_no_recursion():
    edges = {node: [node + 1] for node in range(20_000)} | {20_000: [0]}
    assert len(find_cycles(edges)[0]) == 20_001
    assert chain_depths({node: [node + 1] for node in range(20_000)})[19_999] == 19_999


def reached(node, edges):
    seen, waiting = set(), list(edges[node])
    while waiting:
        target = waiting.pop()
        if target not in seen:
            seen.add(target)
            waiting += edges.get(target, ())
    return seen
