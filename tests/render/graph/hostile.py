"""Graphs whose texts try to break out of whatever they are written into."""

from __future__ import annotations

from hypothesis import strategies as st

from prosa.graph.node import Edge, Node
from prosa.graph.selection import GraphFilter, Selection, select

NASTY = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]></data><node id='x'/>",
    'a"] ; b [label="c',
    "ends with \\",
    "\\N \\G \\l %%{init: {}}%% #quot; &lt; &amp;",
    "`code` `end",
    "end\nsubgraph x",
    "\x00\x1b[31m\x7f\u2028\u202etxt",
    "\ud800 lone",
    "<!--",
    "-->",
    "--!>",
    "<![CDATA[",
    "javascript:alert(1)",
    "図面 🏳️‍🌈 e\u0301",
    "",
    " ",
)

TEXTS = st.one_of(st.sampled_from(NASTY), st.text(st.characters(codec=None), max_size=30))
PATHS = TEXTS.map(lambda text: text.replace("/", "_") or "x")


@st.composite
def graphs(draw: st.DrawFn) -> Selection:
    """Up to five documents that point at each other and at nothing."""
    paths = draw(st.lists(PATHS, min_size=1, max_size=5, unique=True))
    nodes = [Node(draw(TEXTS) + path, path, "magi", draw(TEXTS), draw(TEXTS), draw(TEXTS)) for path in paths]
    edges = []
    for source in nodes:
        target = draw(st.sampled_from(nodes)).id
        rel = draw(st.one_of(st.none(), TEXTS))
        edges.append(Edge(source.id, target, rel, "inline", 1, "resolved", fragment=draw(TEXTS)))
        edges.append(Edge(source.id, draw(TEXTS), rel, "footnote", 2, "unresolved"))
    return select(nodes, edges, GraphFilter(), ghosts=True)
