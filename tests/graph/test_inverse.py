"""Derived edges (X21): the other direction of what is written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.graph.graph import INVERSES, SYMMETRIC, derived_edges
from prosa.graph.node import Edge
from tests.depth import examples
from tests.graph.corpora import edge


@pytest.mark.parametrize(
    ("rel", "inverse"),
    [
        *(("parent", "child"), ("extends", "extended-by"), ("supports", "supported-by"), ("citation", "cited-by")),
        *(("related", "related"), ("contradicts", "contradicts")),
    ],
)
def test_x21_every_type_has_its_inverse(rel: str, inverse: str):
    """X21. In both directions, and the place is that of the edge that is written."""
    (back,) = derived_edges([edge("a", "b", rel, start=7)])
    assert (back.source, back.target, back.rel, back.start, back.derived) == ("b", "a", inverse, 7, True)
    (again,) = derived_edges([edge("b", "a", inverse)])
    assert again.rel == rel
    assert (rel in SYMMETRIC) == (rel == inverse)


def test_x21_a_type_of_ones_own_has_an_untyped_inverse_only_when_it_is_two_way():
    """X21, M48."""
    assert derived_edges([edge("a", "b", "reviews"), edge("a", "c")]) == ()
    assert [each.rel for each in derived_edges([edge("a", "b", "reviews", two_way=True)])] == [None]
    assert [each.rel for each in derived_edges([edge("a", "b", "parent", two_way=True)])] == ["child"]


@pytest.mark.parametrize("origin", ["inline", "wikilink", "import", "include"])
def test_x21_links_and_imports_say_nothing_about_their_target(origin: str):
    """X21, L29."""
    assert derived_edges([Edge("a", "b", "parent", origin, 1, "resolved", bidirectional=True)]) == ()


@pytest.mark.parametrize("state", ["unresolved", "ambiguous", "external", "file"])
def test_x21_what_leads_nowhere_has_no_inverse(state: str):
    """X21."""
    assert derived_edges([Edge("a", "b", "parent", "footnote", 1, state)]) == ()


def test_x21_nothing_is_derived_that_is_written():
    """X21. Nor twice, nor from a document to itself, nor without type where both sides use the same one."""
    both = [edge("a", "b", "parent"), edge("b", "a", "child")]
    assert derived_edges(both) == ()
    assert len(derived_edges([edge("a", "b", "parent"), edge("a", "b", "parent", start=9)])) == 1
    assert derived_edges([edge("a", "a", "related")]) == ()
    peers = [edge("a", "b", "peer", two_way=True), edge("b", "a", "peer", two_way=True)]
    assert derived_edges(peers) == ()
    mixed = [edge("a", "b", "peer", two_way=True), Edge("b", "a", None, "wikilink", 1, "resolved")]
    assert derived_edges(mixed) == ()


NAMES = st.sampled_from("abc")
RELS = st.sampled_from([*INVERSES, "reviews", None])
EDGES = st.lists(st.builds(lambda a, b, rel, both: edge(a, b, rel, two_way=both), NAMES, NAMES, RELS, st.booleans()))


@settings(max_examples=examples(150), deadline=None)
@given(EDGES)
def test_x21_deriving_is_an_involution_and_adds_nothing_written(edges: list[Edge]):
    """X21. The inverse of a typed inverse is the edge itself; whoever writes the derived edges down derives no more."""
    derived = derived_edges(edges)
    written = {(each.source, each.target, each.rel) for each in edges}
    made = {(each.source, each.target, each.rel) for each in derived}
    assert len(made) == len(derived) and not made & written
    assert derived_edges(derived) == ()
    for each in derived:
        assert (each.target, each.source) in {(source, target) for source, target, _ in written}
        if each.rel is not None:
            assert (each.target, each.source, INVERSES[each.rel]) in written
            assert INVERSES[INVERSES[each.rel]] == each.rel
    kept = [edge(each.source, each.target, each.rel) for each in derived]
    assert derived_edges([*edges, *kept]) == ()
