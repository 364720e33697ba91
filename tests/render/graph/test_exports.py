"""Exchange formats: what they say is read back by a reader of the format, whatever the documents call themselves."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings

from prosa.graph.graph import Graph
from prosa.graph.node import Edge, Node
from prosa.graph.selection import GraphFilter, Selection, select
from prosa.render.graph import formats
from prosa.render.graph.formats import EDGE_KEYS, NODE_KEYS, dot, graphml, jsonld, mermaid
from prosa.render.graph.objects import edge_object, graph_json, node_object
from prosa.render.graph.style import name_of, one_line
from tests.depth import examples
from tests.render.graph.hostile import graphs

ML = "{http://graphml.graphdrawing.org/xmlns}"
DOT_STRING = r'"(?:[^"\\]|\\.)*"'
DOT_ATTRIBUTE = rf"[a-z]+={DOT_STRING}"
DOT_LINE = re.compile(rf"  (?:(?:graph|node|edge)|[ng]\d+(?: -> [ng]\d+)?) \[{DOT_ATTRIBUTE}(?:, {DOT_ATTRIBUTE})*\];")
MERMAID_LABEL = r'"(?:[^"#%;`<>&\\]|#\d+;)*"'
MERMAID_LINE = re.compile(
    rf"  [ng]\d+[\[\](){{}}/\\]+{MERMAID_LABEL}[\[\](){{}}/\\]+:::\w+"
    rf"|  [ng]\d+ [-=.>x]+(?:\|{MERMAID_LABEL}\|)? [ng]\d+"
    r"|  classDef \w+ stroke:#[0-9a-f]{6},stroke-width:2px(?:,stroke-dasharray:4 3)?"
)

A, B = Node("doc-a", "a.md", "magi", "A", "", ""), Node("b.md", "b/b.md", "mdh", "B", "page", "/b")
WRITTEN = Edge("doc-a", "b.md", "supports", "footnote", 4, "resolved", strength=0.5, bidirectional=True)
LOST = Edge("doc-a", "gone", None, "wikilink", 5, "ambiguous", exact=False, fragment="x", candidates=("p", "q"))
GRAPH = Graph.of((A, B), (WRITTEN, LOST))


def everything(*, ghosts: bool = False) -> Selection:
    return select(GRAPH.nodes, (*GRAPH.edges, *GRAPH.derived), GraphFilter(), ghosts=ghosts)


def test_a_node_has_the_keys_of_the_interface_in_their_order():
    assert list(node_object(B).items()) == [
        ("id", "b.md"),
        ("path", "b/b.md"),
        ("dialect", "mdh"),
        ("title", "B"),
        ("type", "page"),
        ("url", "/b"),
    ]


def test_an_edge_has_the_keys_of_the_interface_first_and_others_where_they_say_something():
    plain = Edge("a", "b", None, "inline", 1, "resolved")
    assert list(edge_object(plain)) == ["source", "target", "rel", "origin", "line", "resolved"]
    assert list(edge_object(LOST))[6:] == ["state", "fragment", "exact", "candidates"]
    assert list(edge_object(WRITTEN))[6:] == ["strength", "bidirectional"]


def test_x21_derived_edges_are_in_the_json_and_marked():
    found = json.loads(graph_json(GRAPH.nodes, (*GRAPH.edges, *GRAPH.derived)))
    assert list(found) == ["nodes", "edges"]
    assert [edge["rel"] for edge in found["edges"] if edge.get("derived")] == ["supported-by"]
    assert [edge["target"] for edge in found["edges"] if not edge["resolved"]] == ["gone"]


def test_an_empty_graph_is_valid_everywhere():
    nothing = Selection((), ())
    assert json.loads(graph_json((), ())) == {"nodes": [], "edges": []}
    assert ET.fromstring(graphml(nothing)).tag == f"{ML}graphml"
    assert json.loads(jsonld(nothing))["@graph"] == []
    assert dot(nothing).startswith("digraph prosa {")
    assert mermaid(nothing) == "flowchart LR\n"


def test_graphml_has_typed_attributes_and_says_what_is_derived_and_missing():
    root = ET.fromstring(graphml(everything(ghosts=True)))
    types = {key.get("attr.name"): key.get("attr.type") for key in root.iter(f"{ML}key")}
    assert types["line"] == "int"
    assert types["strength"] == "double"
    assert types["derived"] == "boolean"
    assert len(list(root.iter(f"{ML}node"))) == 3
    edges = [{each.get("key"): each.text for each in edge} for edge in root.iter(f"{ML}edge")]
    assert [edge.get("e-derived") for edge in edges] == [None, "true", None]
    assert edges[0]["e-strength"] == "0.5"


def test_drawings_show_a_connection_once_though_both_directions_are_known():
    assert dot(everything()).count("->") == 1
    assert mermaid(everything()).count("n0 ") == 1


def test_json_ld_gives_typed_links_and_every_reference():
    first, second = json.loads(jsonld(everything()))["@graph"]
    assert first["@id"] == "./a.md"
    assert first["supports"] == ["./b/b.md"]
    assert [each["origin"] for each in first["references"]] == ["footnote", "wikilink"]
    assert second["supported-by"] == ["./a.md"]


@pytest.mark.parametrize("path", ["javascript:alert(1)", "a b#c?d.md", "//host/x", "%2e%2e/x"])
def test_an_iri_is_a_path_and_nothing_else(path: str):
    found = json.loads(jsonld(select((Node("x", path, "plain"),), (), GraphFilter())))["@graph"][0]["@id"]
    assert found.startswith("./")
    assert not set(found) & set("?#:")


@settings(max_examples=examples(40), deadline=None)
@given(graphs())
def test_hostile_texts_stay_inside_their_quotes_in_dot(chosen: Selection):
    lines = dot(chosen).splitlines()
    assert lines[0] == "digraph prosa {"
    assert lines[-1] == "}"
    assert all(DOT_LINE.fullmatch(line) for line in lines[1:-1])


@settings(max_examples=examples(40), deadline=None)
@given(graphs())
def test_hostile_texts_stay_inside_their_quotes_in_mermaid(chosen: Selection):
    lines = mermaid(chosen).splitlines()
    assert lines[0] == "flowchart LR"
    assert all(MERMAID_LINE.fullmatch(line) for line in lines[1:])


@settings(max_examples=examples(40), deadline=None)
@given(graphs())
def test_labels_are_read_back_as_they_were(chosen: Selection):
    for node in chosen.nodes:
        name = name_of(node)
        assert _from_dot(formats.dot_quoted(name)) == name
        assert _from_mermaid(formats.mermaid_quoted(name)) == name


@settings(max_examples=examples(40), deadline=None)
@given(graphs())
def test_graphml_is_xml_that_says_the_same(chosen: Selection):
    root = ET.fromstring(graphml(chosen).encode("utf-8"))
    nodes = list(root.iter(f"{ML}node"))
    paths = [next((each.text or "" for each in node if each.get("key") == "n-path"), None) for node in nodes]
    assert paths == [*(one_line(node.path) for node in chosen.nodes), *(None for _ in chosen.ghosts)]
    assert len(list(root.iter(f"{ML}edge"))) == len(chosen.resolved) + len(chosen.ghost_edges())
    known = {f"n-{name}" for name, _ in NODE_KEYS} | {f"e-{name}" for name, _ in EDGE_KEYS}
    assert {each.get("key") for each in root.iter(f"{ML}data")} <= known


@settings(max_examples=examples(40), deadline=None)
@given(graphs())
def test_json_and_json_ld_are_json_that_says_the_same(chosen: Selection):
    assert json.loads(graph_json(chosen.nodes, chosen.edges)) == {
        "nodes": [node_object(each) for each in chosen.nodes],
        "edges": [edge_object(each) for each in chosen.edges],
    }
    assert [each["path"] for each in json.loads(jsonld(chosen))["@graph"]] == [node.path for node in chosen.nodes]


def _from_dot(text: str) -> str:
    """What Graphviz shows: escapes first, then entities."""
    assert re.fullmatch(DOT_STRING, text)
    return re.sub(r"\\(.)", r"\1", text[1:-1]).replace("&amp;", "&")


def _from_mermaid(text: str) -> str:
    assert re.fullmatch(MERMAID_LABEL, text)
    return re.sub(r"#(\d+);", lambda match: chr(int(match[1])), text[1:-1])
