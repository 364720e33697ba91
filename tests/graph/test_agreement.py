"""One resolution: what `check` calls unresolved or ambiguous is what the graph calls so (M50, Y21, YA21, HA4, HA5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prosa.graph.node import Edge, Node
from prosa.rules.analyzer import Analyzer
from prosa.rules.engine import CorpusScope, check
from prosa.rules.policy import Profile
from tests.depth import examples
from tests.graph.corpora import graph_of
from tests.rules.literate import NOW, ROOT, MemoryFiles

RULES = {
    "unresolved-wikilink": ("wikilink", "unresolved"),
    "ambiguous-wikilink": ("wikilink", "ambiguous"),
    "unresolved-inline-link": ("inline", "unresolved"),
    "unresolved-link": ("inline", "unresolved"),
    "unknown-doc-id": ("footnote", "unresolved"),
    "unresolved-link-target": ("front-matter", "unresolved"),
}


def by_check(texts: Mapping[str, str]) -> list[tuple[str, int, str, str]]:
    """Path, offset, origin and state of everything that a check says about references."""
    files = MemoryFiles({str(ROOT / name): text for name, text in texts.items()})
    paths = [Path(ROOT / name) for name in texts]
    checked = check(
        paths, Analyzer(files, Profile().hints, now=NOW), Profile(), CorpusScope(Path(ROOT), rooted="project")
    )
    return sorted(
        (Path(each.path).relative_to(ROOT).as_posix(), each.span.start, *RULES[each.rule])
        for each in checked.diagnostics
        if each.rule in RULES
    )


def by_graph(texts: Mapping[str, str]) -> list[tuple[str, int, str, str]]:
    """The same as the graph sees it."""
    made = graph_of(texts)
    paths = {node.id: node for node in made.nodes}
    shown = [each for each in made.missing if not _is_silent(each, paths[each.source], made.edges)]
    return sorted((paths[each.source].path, each.start, each.origin, each.state) for each in shown)


def _is_silent(edge: Edge, source: Node, edges: tuple[Edge, ...]) -> bool:
    """What `check` leaves to other rules: `duplicate-id` names every id that is ambiguous, `wikilink-in-node` every
    wikilink of a node, and double brackets outside records are links only where one of a document leads somewhere."""
    if edge.origin not in ("wikilink", "inline", "footnote", "front-matter"):
        return True
    if edge.state == "ambiguous" and edge.origin != "wikilink":
        return True
    if source.dialect == "mdh" and (edge.origin == "wikilink" or not source.url):
        return True
    own = [each for each in edges if each.source == edge.source and each.origin == "wikilink"]
    return (
        edge.origin == "wikilink"
        and source.dialect != "ymj"
        and not any(each.resolved or each.candidates for each in own)
    )


STEMS = ["alpha", "Alpha", "beta-two", "index", "README"]
PATHS = st.builds(
    lambda folder, stem, suffix: f"{folder}{stem}{suffix}",
    st.sampled_from(["", "a/", "a/b/"]),
    st.sampled_from(STEMS),
    st.sampled_from([".md", ".md", ".mda", ".ymj"]),
)
TARGETS = st.one_of(
    PATHS,
    PATHS.map(lambda path: f"../{path}"),
    PATHS.map(lambda path: path.rpartition(".")[0]),
    PATHS.map(lambda path: f"{path.rpartition('.')[0]}.html"),
    st.sampled_from(["..", "./", "a/", "gone.md", "https://example.org/x", "mailto:x@example.org", "{{ url }}.md"]),
)
WIKILINKS = st.one_of(
    st.sampled_from([*STEMS, "beta two", "ALPHA", "0", "gone", "x.png", "The title", "a/alpha", "b/Alpha.md"]), PATHS
)
IDS = st.sampled_from(["one", "two", "three"])
NOTE = '\n\nText[^n].\n\n[^n]: `{"rel-type": "parent", "doc-id": "%s", "rel-desc": "x"}`\n'


@st.composite
def documents(draw: st.DrawFn) -> dict[str, str]:
    """A few documents of all dialects that point at one another, and miss."""
    texts = {}
    for path in draw(st.lists(PATHS, min_size=1, max_size=6, unique=True)):
        links = [f"[t]({target})" for target in draw(st.lists(TARGETS, max_size=3))]
        brackets = [f"[[{target}]]" for target in draw(st.lists(WIKILINKS, max_size=3))]
        body = "# The title\n\n" + "\n\n".join((*links, *brackets)) + "\n"
        kind = path.rpartition(".")[2] if not path.endswith(".md") else draw(st.sampled_from(["md", "node"]))
        if kind == "mda":
            body = f"---\ndoc-id: {draw(IDS)}\n---\n{body}{NOTE % draw(IDS)}"
        elif kind == "ymj":
            body = f"---\nkind: card\nsubject: Card\n---\n{body}"
        elif kind == "node":
            links_of = f"links: [{{rel: next, target: {draw(st.sampled_from(['n1', 'n2', 'n3']))}}}]"
            name = draw(st.sampled_from(["n1", "n2"]))
            body = f"---\nid: {name}\ntype: page\ntitle: T\n{links_of}\n---\n{body}"
        texts[path] = body
    return texts


@settings(max_examples=examples(150), deadline=None)
@given(documents())
def test_x21_check_and_graph_resolve_alike(texts: dict[str, str]):
    """X21, M50, Y21, YA21, HA4, HA5: for any corpus the same references are missing, at the same places.

    Nodes are those of one site: a check says nothing of a node outside every site, and knows no ids of other sites.
    """
    assume(all(node.url for node in graph_of(texts).nodes if node.dialect == "mdh"))
    assert by_check(texts) == by_graph(texts)
