"""The graph of a corpus: nodes, ids, edges, what can be asked of it (M51, X21, Y22)."""

from __future__ import annotations

from prosa.graph.build import build
from prosa.graph.contradictions import contradictions
from prosa.graph.graph import Graph
from prosa.graph.record import Record
from tests.graph.corpora import bare, graph_of, wikilink
from tests.work import is_linear

NOTE = '[^a]: `{{"rel-type": "{}", "doc-id": "{}", "rel-desc": "why", "bi-directional": {}}}`\n'


def document(name: str, rel: str, target: str, two_way: str = "false") -> str:
    return f"---\ndoc-id: {name}\ntitle: T {name}\n---\nText[^a].\n\n" + NOTE.format(rel, target, two_way)


def test_m51_types_of_relationships_make_a_graph():
    """M51, MA7, X21. Other words for a type are that type; a type of one's own stays as written."""
    graph = graph_of(
        {
            "a.mda": document("a", "cites", "b"),
            "b.mda": document("b", "reviewed-by", "a", "true"),
            "c.mda": document("c", "extends", "a"),
        }
    )
    assert [(each.source, each.target, each.rel) for each in graph.edges] == [
        ("a", "b", "citation"),
        ("b", "a", "reviewed-by"),
        ("c", "a", "extends"),
    ]
    assert [(each.source, each.target, each.rel, each.derived) for each in graph.derived] == [
        ("b", "a", "cited-by", True),
        ("a", "b", None, True),
        ("a", "c", "extended-by", True),
    ]


def test_x21_an_id_that_several_documents_have_gives_each_its_path():
    """X21. So does an id that is the path of another document, and a blank one."""
    records = [
        bare("a.mda", "magi", ids=["one"]),
        bare("b.mda", "magi", ids=["two"]),
        bare("c.md", "markdownlang", ids=["two"]),
        bare("d.md", "mdh", ids=["a.mda"]),
        bare("e.md", "mdh", ids=[" "]),
        bare("f.md"),
    ]
    assert [node.id for node in build(records).nodes] == ["one", "b.mda", "c.md", "d.md", "e.md", "f.md"]


def test_y22_backlinks_are_edges_seen_from_their_target():
    """Y22. Of every kind, in the order of their sources; what is unresolved points at nothing."""
    card = "---\nkind: card\n---\n[[c]] [[nowhere]]\n"
    graph = graph_of({"b.ymj": card, "c.ymj": "---\nkind: card\n---\n", "a.md": "[[c]] and [x](c.ymj#top)\n"})
    assert [(each.source, each.origin, each.line) for each in graph.back("c.ymj")] == [
        ("a.md", "wikilink", 1),
        ("a.md", "inline", 1),
        ("b.ymj", "wikilink", 4),
    ]
    assert [each.target for each in graph.out("b.ymj")] == ["c.ymj", "nowhere"]
    assert [each.target for each in graph.missing] == ["nowhere"]
    assert graph.back("nowhere") == graph.out("nobody") == ()


def test_x21_derived_edges_are_asked_for():
    """X21. They come last and never among the written ones."""
    graph = graph_of({"a.mda": document("a", "parent", "b"), "b.mda": document("b", "related", "c")})
    assert [each.rel for each in graph.out("b")] == ["related"]
    assert [each.rel for each in graph.out("b", derived=True)] == ["related", "child"]
    assert [each.rel for each in graph.back("a", derived=True)] == ["child"]
    assert graph.back("a") == ()


def test_x21_stored_nodes_and_edges_make_the_same_graph():
    """X21. The order in which they are kept does not matter."""
    graph = graph_of({"a.mda": document("a", "parent", "b"), "b.mda": document("b", "contradicts", "a")})
    assert Graph.of(reversed(graph.nodes), reversed(graph.edges)) == graph
    assert Graph.of((), ()) == Graph() == build(())


def test_x21_contradictions_are_pairs_with_every_place():
    """X21, M44. Both sides may say it; each pair stands once, however often it is said."""
    more = "\n[^b]: `" + '{"rel-type": "contradicts", "doc-id": "three", "rel-desc": "x"}`\n'
    graph = graph_of(
        {
            "b.mda": document("one", "contradicts", "two"),
            "a.mda": document("two", "contradicts", "one") + more,
            "c.mda": document("three", "contradicts", "gone"),
        }
    )
    found = contradictions(graph)
    pairs = [(each.one.path, each.other.path, len(each.edges)) for each in found]
    assert pairs == [("a.mda", "b.mda", 2), ("a.mda", "c.mda", 1)]
    assert [(each.source, each.line) for each in found[0].edges] == [("two", 7), ("one", 7)]


def _chain(count: int) -> None:
    """Every document points at the next and the first, and has the titles of all its neighbours."""
    build(
        Record(f"d/{at}.md", "plain", f"t{at}", references=(wikilink(f"{at + 1}"), wikilink("0"), wikilink("x y")))
        for at in range(count)
    )


def test_x21_building_costs_linear_work():
    """X21."""
    assert is_linear(_chain, 2000, 8000)


def test_y31_tickets_and_traces_are_connected_by_what_people_call_them():
    """Y31, Y12: `related_ids` and `parent_id` are edges as those of `ops.graph` are."""

    def record(kind: str, subject: str, ops: str, more: str = "") -> str:
        head = f"---\ndoc_summary: x\nkind: {kind}\nversion: '1'\nsubject: {subject}\nmaintained_by: d\n{more}---\n"
        return f'{head}Text.\n\n```json\n{{"schema": "1", "payload_hash": "x", "index": {{}}, "ops": {ops}}}\n```\n'

    graph = graph_of(
        {
            "a.ymj": record("ticket", "T-1", '{"ticket": {"severity": 1, "related_ids": ["T-2", "T-9"]}}'),
            "b.ymj": record("ticket", "T-2", '{"trace": {"parent_id": "run-1"}}'),
            "c.ymj": record("trace", "The run", "{}", "provenance: {run_id: run-1}\n"),
        }
    )
    found = [(each.source, each.target, each.origin, each.rel, each.state) for each in graph.edges if not each.derived]
    assert found == [
        ("a.ymj", "b.ymj", "ops.ticket", "related", "resolved"),
        ("a.ymj", "T-9", "ops.ticket", "related", "unresolved"),
        ("b.ymj", "c.ymj", "ops.trace", "parent", "resolved"),
    ]
