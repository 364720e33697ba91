"""What of a graph is shown, and what people read of it in a terminal."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from prosa.graph.graph import Graph
from prosa.graph.node import Edge, Node
from prosa.graph.reach import neighbourhood
from prosa.graph.selection import Ghost, GraphFilter, select
from prosa.render.graph.reports import REPORTS, overview, report_json, report_text, table, tree

A, B = Node("a", "a.md", "magi", "A"), Node("b", "b.md", "mdh", "B")
C, D = Node("c", "c.md", "plain", "C"), Node("d", "d.md", "plain", "D")
GRAPH = Graph.of(
    (A, B, C, D),
    (
        Edge("a", "b", "supports", "footnote", 1, "resolved", start=1),
        Edge("a", "b", None, "inline", 2, "resolved", start=2),
        Edge("b", "c", None, "wikilink", 3, "resolved", start=3),
        Edge("c", "b", "extends", "front-matter", 4, "resolved", start=4),
        Edge("a", "gone", "citation", "footnote", 5, "unresolved", start=5, kind="id"),
        Edge("b", "gone", None, "inline", 6, "unresolved", start=6),
        Edge("b", "http://x.example/", None, "inline", 7, "external", start=7, kind="url"),
    ),
)
ALL = (*GRAPH.edges, *GRAPH.derived)


@pytest.mark.parametrize(
    ("graph_filter", "lines"),
    [
        (GraphFilter(), [1, 2, 5, 3, 6, 7, 4, 1, 4]),
        (GraphFilter(derived=False), [1, 2, 5, 3, 6, 7, 4]),
        (GraphFilter(rels=("none",)), [2, 3, 6, 7]),
        (GraphFilter(rels=("supports", "extends")), [1, 4]),
        (GraphFilter(rels=("supported-by",)), [1]),
        (GraphFilter(origins=("inline", "wikilink")), [2, 3, 6, 7]),
        (GraphFilter(dialects=("magi", "mdh")), [1, 2, 5, 6, 7, 1]),
    ],
)
def test_a_wish_chooses_edges_and_keeps_their_order(graph_filter: GraphFilter, lines: list[int]):
    assert [edge.line for edge in select(GRAPH.nodes, ALL, graph_filter).edges] == lines


def test_an_edge_goes_with_the_node_at_either_end():
    chosen = select(GRAPH.nodes, ALL, GraphFilter(dialects=("plain",)))
    assert [node.id for node in chosen.nodes] == ["c", "d"]
    assert chosen.edges == ()


def test_x21_a_drawing_shows_a_derived_edge_only_where_the_written_one_is_missing():
    assert not any(edge.derived for edge in select(GRAPH.nodes, ALL, GraphFilter()).drawn)
    only = select(GRAPH.nodes, ALL, GraphFilter(rels=("supported-by",)))
    assert [(edge.source, edge.target) for edge in only.drawn] == [("b", "a")]


def test_ghosts_are_targets_by_what_they_were_meant_to_be():
    chosen = select(GRAPH.nodes, ALL, GraphFilter(), ghosts=True)
    assert chosen.ghosts == (Ghost("gone", "id"), Ghost("gone", "path"))
    assert [(edge.source, ghost) for edge, ghost in chosen.ghost_edges()] == [("a", 0), ("b", 1)]
    assert select(GRAPH.nodes, ALL, GraphFilter()).ghost_edges() == ()


def test_the_overview_counts_and_names_what_is_linked_most_and_what_is_missing():
    assert overview(select(GRAPH.nodes, ALL, GraphFilter())) == (
        "4 documents · 4 connections · 2 unresolved\n"
        "  documents    Markdown 2, MAGI 1, MDH 1\n"
        "  connections  link 2, supports 1, extends 1\n"
        "  derived      2, the other direction of what is written\n"
        "\n"
        "most linked\n"
        "  in  out  document\n"
        "   2    1  b.md      B\n"
        "   1    1  c.md      C\n"
        "\n"
        "unresolved\n"
        "  at      target  written as\n"
        "  a.md:5  gone    footnote, citation\n"
        "  b.md:6  gone    inline"
    )


def test_an_empty_corpus_has_an_overview_too():
    assert overview(select((), (), GraphFilter())) == "0 documents · 0 connections"


def test_the_tree_shows_rels_and_directions_and_every_document_once():
    chosen = select(GRAPH.nodes, ALL, GraphFilter())
    assert tree(A, neighbourhood(GRAPH, "a", 2), chosen) == (
        "a.md  A\n└─ supports, link → b.md  B\n   └─ link, extends ↔ c.md  C"
    )


def test_a_long_chain_is_a_tree_without_recursion():
    nodes = [Node(f"n{at:05}", f"n{at:05}.md", "plain") for at in range(3000)]
    graph = Graph.of(
        nodes,
        [Edge(one.id, other.id, None, "inline", 1, "resolved") for one, other in pairwise(nodes)],
    )
    drawn = tree(nodes[0], neighbourhood(graph, nodes[0].id, 1000), select(graph.nodes, graph.edges, GraphFilter()))
    assert drawn.count("\n") == 1000


def test_a_table_obeys_nothing_that_stands_in_it_and_keeps_the_end_of_paths():
    lines = list(table(("document", ""), [("deep/" * 30 + "name.md", "\x1b[31mred" + "x" * 90)]))
    assert lines[1].strip().startswith("…")
    assert "name.md" in lines[1]
    assert "\x1b" not in lines[1]
    assert lines[1].endswith("…")


REPORTED = {
    "orphans": ["a", "d"],
    "cycles": [["b", "c"]],
    "components": [["a", "b", "c"], ["d"]],
    "unresolved": ["gone", "gone"],
}


def test_reports_say_in_json_what_the_graph_knows():
    found = {name: json.loads(report_json(GRAPH, name))[name] for name in REPORTS}
    assert [each["id"] for each in found["orphans"]] == REPORTED["orphans"]
    assert [each["nodes"] for each in found["cycles"]] == REPORTED["cycles"]
    assert [[edge["target"] for edge in each["edges"]] for each in found["cycles"]] == [["c", "b"]]
    assert [each["nodes"] for each in found["components"]] == REPORTED["components"]
    assert [each["target"] for each in found["unresolved"]] == REPORTED["unresolved"]
    assert found["rank"][0]["id"] in ("b", "c")
    assert sum(each["rank"] for each in found["rank"]) == pytest.approx(1, abs=1e-4)
    assert found["contradictions"] == []


@pytest.mark.parametrize("name", REPORTS)
def test_reports_have_words_for_people_even_where_there_is_nothing(name: str):
    assert report_text(GRAPH, name)  # type: ignore[arg-type]
    assert report_text(Graph(), name).startswith("No ")  # type: ignore[arg-type]
