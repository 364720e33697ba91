"""Where references lead (X21): ids, paths, stems, titles, addresses; nothing is guessed."""

from __future__ import annotations

import posixpath
from itertools import product
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.table import DIALECTS
from prosa.graph.build import build
from prosa.graph.names import joined
from prosa.graph.record import Definition, Record, Reference
from prosa.graph.resolve import MAX_ALIKE, MAX_CANDIDATES
from tests.depth import examples
from tests.graph.corpora import bare, found, graph_of, link, wikilink
from tests.work import is_linear

ROOM, DESK = bare("a/Reading Room.md", titles=["The room"]), bare("b/desk.ymj", "ymj", titles=["Front desk"])
NOTES = bare("a/my-notes.md", ids=["n-1"])


@pytest.mark.parametrize(
    ("target", "path", "exact"),
    [
        ("Reading Room", "a/Reading Room.md", True),
        ("reading room", "a/Reading Room.md", False),
        ("Reading Room.md", "a/Reading Room.md", True),
        ("a/Reading Room", "a/Reading Room.md", True),
        ("A/Reading Room", "a/Reading Room.md", True),
        ("b/Reading Room", None, True),
        ("my notes", "a/my-notes.md", True),
        ("My Notes", "a/my-notes.md", True),
        ("the  ROOM", "a/Reading Room.md", True),
        ("n-1", "a/my-notes.md", True),
        ("N-1", None, True),
        ("front desk", "b/desk.ymj", True),
        ("Nowhere", None, True),
    ],
)
def test_y21_a_wikilink_leads_to_a_stem_else_to_a_title_or_an_id(target: str, path: str | None, exact: bool):
    """Y21, YA21. The case of the stem may differ, and then it is said so."""
    made = found(bare("x.md"), wikilink(target), ROOM, DESK, NOTES)
    assert ([each.path for each in made.targets], made.exact) == ([path] if path else [], exact)
    assert made.state == ("resolved" if path else "unresolved")


def test_y21_in_a_record_double_brackets_name_a_stem_and_nothing_else():
    """Y21. YMJ knows no titles and no other names."""
    record = bare("x.ymj", "ymj")
    assert found(record, wikilink("desk"), ROOM, DESK).state == "resolved"
    assert found(record, wikilink("Front desk"), ROOM, DESK).state == "unresolved"
    assert found(record, wikilink("2024"), ROOM, DESK).state == "unresolved"


@pytest.mark.parametrize(
    ("source", "nearest"),
    [
        ("en/Plugins/x.md", ["part.md"]),
        ("de/Grundlagen/x.md", ["de/Grundlagen/part.md"]),
        ("de/x.md", ["part.md"]),
        ("three/x/y/z/x.md", ["three/x/part.md"]),
        ("three/x/y/x.md", ["three/x/part.md"]),
        ("fr/x.md", ["part.md"]),
        ("fr/deep/er/x.md", ["part.md"]),
        ("en/Basics/in/x.md", ["en/Basics/part.md"]),
        ("x.md", ["part.md"]),
        ("two/x.md", ["part.md"]),
        ("three/w/x.md", ["part.md"]),
        ("two/deep/c/x.md", ["two/deep/a/part.md", "two/deep/b/part.md"]),
    ],
)
def test_ya21_of_several_the_nearest_is_meant(source: str, nearest: list[str]):
    """YA21. The same folder, then the fewest folders up and down, then the shortest path; equal ones are ambiguous."""
    paths = ["part.md", "en/Basics/part.md", "de/Grundlagen/part.md", "three/x/part.md"]
    paths += ["two/deep/a/part.md", "two/deep/b/part.md"]
    made = found(bare(source), wikilink("part"), *map(bare, paths))
    assert [each.path for each in made.targets] == nearest


FOLDERS = st.sampled_from(["/".join(parts) for depth in range(4) for parts in product("ab", repeat=depth)])


@given(FOLDERS, st.sets(FOLDERS, min_size=1, max_size=6))
def test_ya21_nothing_is_nearer_than_what_a_wikilink_means(here: str, folders: set[str]):
    """YA21. Held against the words of the decision: steps are counted by walking up from both sides."""

    def steps(there: str) -> tuple[int, int]:
        one, two = (PurePosixPath("/", each) for each in (here, there))
        shared = len({one, *one.parents} & {two, *two.parents})
        return len(one.parts) + len(two.parts) - 2 * shared, len(two.parts)

    made = found(
        bare(posixpath.join(here, "x.md")),
        wikilink("part"),
        *(bare(posixpath.join(each, "part.md")) for each in folders),
    )
    least = min(map(steps, folders))
    assert [posixpath.dirname(each.path) for each in made.targets] == sorted(
        (each for each in folders if steps(each) == least), key=lambda each: posixpath.join(each, "part.md")
    )


def test_ya21_several_stems_are_ambiguous_and_all_named():
    """YA21. A document in the same folder is meant before all others, but not one of two."""
    one, two, three = bare("a/part.md"), bare("b/part.md"), bare("b/part.mda", "magi")
    made = found(bare("x.md"), wikilink("part"), one, two, three)
    assert (made.state, [each.path for each in made.targets]) == ("ambiguous", ["a/part.md", "b/part.md", "b/part.mda"])
    assert found(bare("a/x.md"), wikilink("part"), one, two, three).targets == (one,)
    assert found(bare("b/x.md"), wikilink("part"), one, two, three).state == "ambiguous"
    assert found(bare("x.md"), wikilink("a/part"), one, two, three).targets == (one,)


@pytest.mark.parametrize(
    ("target", "state"), [("0", "file"), ("-f x", "file"), ("photo.png", "file"), ("Idea", "unresolved")]
)
def test_ya21_outside_records_double_brackets_may_be_no_link(target: str, state: str):
    """YA21."""
    assert found(bare("x.md"), wikilink(target)).state == state


@pytest.mark.parametrize(
    ("source", "target", "path", "state"),
    [
        ("a/x.md", "../b/y.md", "b/y.md", "resolved"),
        ("a/x.md", "./../b/./y.md", "b/y.md", "resolved"),
        ("x.md", "/b/y.md", "b/y.md", "resolved"),
        ("x.md", "b/y", "b/y.md", "resolved"),
        ("x.md", "b/y.html", "b/y.md", "resolved"),
        ("x.md", "b/", "b/index.md", "resolved"),
        ("b/y.md", ".", "b/index.md", "resolved"),
        ("b/y.md", "./", "b/index.md", "resolved"),
        ("b/y.md", "..", "README.md", "resolved"),
        ("x.md", "b/index.html", "b/index.md", "resolved"),
        ("x.md", "b/z.md", None, "unresolved"),
        ("x.md", "b/Y.md", None, "unresolved"),
        ("x.md", "b/z.html", None, "file"),
        ("x.md", "b/z/", None, "file"),
        ("x.md", "data.csv", None, "file"),
        ("x.md", "v1.2", None, "file"),
        ("x.md", "../../y.md", None, "external"),
        ("x.md", "..", None, "external"),
        ("x.md", "~/y.md", None, "external"),
        ("x.md", "?q=1", None, "external"),
        ("x.md", "/z.md", None, "external"),
    ],
)
def test_x21_a_relative_link_leads_to_a_path_or_to_the_source_of_a_page(
    source: str, target: str, path: str | None, state: str
):
    """X21. What lies outside the root is nobody's mistake, and neither is a file that is no document."""
    made = found(
        bare(source), link(target), *(bare(each) for each in ("b/y.md", "b/index.md", "README.md") if each != source)
    )
    assert (made.state, [each.path for each in made.targets]) == (state, [path] if path else [])


def test_m50_a_doc_id_leads_to_the_document_that_has_it():
    """M50. One that no document has is unresolved; one that several have is ambiguous, with all of them named."""
    reference = Reference("footnote", "plan", "id", 0, 0, 1, "extends")
    source, one, two = bare("x.mda", "magi"), bare("a.mda", "magi", ids=["plan"]), bare("b.mda", "magi", ids=["plan"])
    assert found(source, reference).state == "unresolved"
    assert found(source, reference, one).targets == (one,)
    assert found(source, reference, one, two).targets == (one, two)


def test_m50_the_own_dialect_is_meant_before_others():
    """M50, X21. A program of that name does not make a doc-id ambiguous; where there is nothing else it is meant."""
    reference = Reference("footnote", "plan", "id", 0, 0, 1)
    source, own, program = (
        bare("x.mda", "magi"),
        bare("a.mda", "magi", ids=["plan"]),
        bare("p.md", "markdownlang", ids=["plan"]),
    )
    assert found(source, reference, own, program).targets == (own,)
    assert found(source, reference, program).targets == (program,)


@pytest.mark.parametrize(
    ("target", "resolved"),
    [
        ("https://example.org/fees", True),
        ("HTTPS://Example.org/fees/", True),
        ("//example.org/fees#top", True),
        ("http://example.org/fees", False),
        ("https://example.org/fees?page=2", False),
        ("mailto:desk@example.org", False),
    ],
)
def test_x21_an_absolute_url_leads_to_the_document_that_lives_there(target: str, resolved: bool):
    """X21, MA6. Any other address is external."""
    home = Record("fees.mda", "magi", canonical=("https://example.org/fees",))
    made = found(bare("x.md"), Reference("inline", target, "url", 0, 0, 1), home)
    assert made.state == ("resolved" if resolved else "external")


SITE = {
    "index.md": "---\nid: home\ntype: page\ntitle: Home\ncanonical_url: https://example.org/\n---\n"
    "[a](/hours) [b](hours.md#top) [c](branches/) [d](https://example.org/hours) [e](/api/find?q=1) [f](/nothing)"
    " [g](/map.png) [h](/node/desk) [i](/api/items/7) [j](https://example.com/hours)\n",
    "hours.md": "---\nid: hours\ntype: page\ntitle: Hours\n"
    "links: [{rel: next, target: desk}, {rel: up, target: 'url:/'}, {rel: x, target: gone}]\n---\n[up](./)\n",
    "branches/index.md": "---\nid: desk\ntype: page\ntitle: Desk\nactions:\n  - {id: f, method: GET, url: /api/find}\n"
    "  - {id: i, method: GET, url: '/api/items/{id}'}\n---\n[x](../hours)\n",
}


def test_h4_links_of_front_matter_and_body_make_the_graph_of_a_site():
    """H4, HA4, HA5, HA6. Links resolve against the URL of the node; ids are opaque; actions are no mistake."""
    edges = [(each.source, each.target, each.origin, each.state) for each in graph_of(SITE).edges]
    assert [each for each in edges if each[0] != "home"] == [
        ("desk", "hours", "inline", "resolved"),
        ("hours", "desk", "front-matter", "resolved"),
        ("hours", "home", "front-matter", "resolved"),
        ("hours", "gone", "front-matter", "unresolved"),
        ("hours", "home", "inline", "resolved"),
    ]
    assert [(target, state) for source, target, _, state in edges if source == "home"] == [
        ("hours", "resolved"),
        ("hours", "resolved"),
        ("desk", "resolved"),
        ("hours", "resolved"),
        ("/api/find", "file"),
        ("/nothing", "unresolved"),
        ("/map.png", "file"),
        ("desk", "resolved"),
        ("/api/items/7", "file"),
        ("https://example.com/hours", "external"),
    ]
    assert [node.url for node in graph_of(SITE).nodes] == ["/branches/", "/hours", "/"]


def test_ha4_an_id_means_a_node_of_the_own_site_first():
    """HA4, HA20. Two sites in one repository may use the same ids."""
    node = "---\nid: {}\ntype: page\ntitle: T\nlinks: [{{rel: next, target: next}}]\n---\n"
    texts = {f"{site}/{name}.md": node.format(name) for site in ("one", "two") for name in ("index", "next")}
    targets = {(each.source, each.target) for each in graph_of(texts).edges}
    assert targets == {
        (f"{site}/{name}.md", f"{site}/next.md") for site in ("one", "two") for name in ("index", "next")
    }


def test_l28_an_import_leads_to_the_program_at_that_path():
    """L28, L29. Relative to the program that names it; an import is an edge of its own, cycles included."""
    program = (
        "---\nname: {}\ndescription: d\ninput: {{type: object}}\noutput: {{type: object}}\nimports: [{}]\n---\nGo.\n"
    )
    texts = {
        "a.md": program.format("first", "./lib/b.md"),
        "lib/b.md": program.format("second", "../a.md, c.md, ../../out.md, stdlib:math, ./c"),
    }
    edges = graph_of(texts).edges
    assert {each.rel for each in edges} == {"import"}
    assert [(each.source, each.target, each.state) for each in edges] == [
        ("first", "second", "resolved"),
        ("second", "first", "resolved"),
        ("second", "c.md", "unresolved"),
        ("second", "../../out.md", "external"),
        ("second", "stdlib:math", "external"),
        ("second", "./c", "unresolved"),
    ]


def test_y31_edges_of_the_footer_and_wikilinks_both_feed_the_graph():
    """Y31. A path in a footer starts at the record, else at the root; an attachment is a file."""
    record = (
        "---\ndoc_summary: s\nkind: card\nversion: 1.0.0\nsubject: S\nattachments: [{uri: data.bin}]\n---\n[[desk]]\n\n"
        '```json\n{"schema": "1", "ops": {"graph": {"edges": [{"to": "[[desk]]", "type": "supports"},'
        ' {"to": "a/desk.ymj", "type": "cites"}, {"to": "https://example.org/x", "type": "related"}]}}}\n```\n'
    )
    edges = graph_of({"b/x.ymj": record, "a/desk.ymj": "---\nkind: card\n---\n"}).edges
    assert [(each.origin, each.target, each.rel, each.state) for each in edges] == [
        ("front-matter", "data.bin", "attachment", "file"),
        ("wikilink", "a/desk.ymj", None, "resolved"),
        ("ops.graph", "a/desk.ymj", "supports", "resolved"),
        ("ops.graph", "a/desk.ymj", "citation", "resolved"),
        ("ops.graph", "https://example.org/x", "related", "external"),
    ]


TEXT = st.text(st.sampled_from("aA/. \\:#?%[]|~@\0é{}0-*"), max_size=12)
PATHS = st.lists(st.sampled_from(["a", "b", "A", "index", "..", "x.y"]), min_size=1, max_size=3).map("/".join)
DIALECT = st.sampled_from([each.name for each in DIALECTS])
REFERENCES = st.builds(
    lambda origin, target, kind: Reference(origin, target, kind, 0, 0, 1),
    st.sampled_from(["footnote", "front-matter", "inline", "wikilink", "ops.graph", "import", "include"]),
    st.one_of(TEXT, PATHS, PATHS.map(lambda path: f"{path}.md")),
    st.sampled_from(["id", "path", "url", "stem"]),
)
RECORDS = st.builds(
    lambda path, suffix, dialect, names, references, urls, actions: Record(
        f"{path}{suffix}",
        dialect,
        definitions=tuple(Definition(kind, name, 0, 0, 1) for kind, name in names),
        references=tuple(references),
        canonical=tuple(urls),
        actions=tuple(actions),
    ),
    PATHS.filter(lambda path: ".." not in path),
    st.sampled_from([".md", ".markdown", ".mda", ".ymj", ""]),
    DIALECT,
    st.lists(st.tuples(st.sampled_from(["id", "title", "alias"]), TEXT), max_size=2),
    st.lists(REFERENCES, max_size=4),
    st.lists(TEXT.map(lambda text: f"https://x.org/{text}"), max_size=1),
    st.lists(TEXT, max_size=1),
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(RECORDS, max_size=6))
def test_x21_resolving_never_fails_and_says_what_it_found(records: list[Record]):
    """X21. Whatever the texts hold: every reference is one edge, a resolved one leads to a node, an ambiguous one lists
    two or more nodes, and no other lists any."""
    made = build(records)
    ids = set(made.by_id)
    by_path = {each.path: each for each in records}
    assert len(made.by_id) == len(made.by_path) == len(made.nodes) == len(by_path)
    assert len(made.edges) == sum(len(each.references) for each in by_path.values())
    for each in made.edges:
        assert each.source in ids
        assert each.target in ids or not each.resolved
        assert len(set(each.candidates)) == len(each.candidates) and ids.issuperset(each.candidates)
        assert (len(each.candidates) > 1) == (each.state == "ambiguous")
        assert each.candidates or each.state != "ambiguous"
    assert build(reversed(list(by_path.values()))) == made


def _crowd(count: int) -> None:
    """Documents that all have one name and all point at it."""
    folders = [f"f{at}" for at in range(count)]
    reference = wikilink("note")
    made = build(Record(f"{folder}/note.md", "plain", references=(reference,)) for folder in folders)
    assert {each.state for each in made.edges} == {"resolved"}


def test_x21_a_crowd_of_equal_names_costs_linear_work():
    """X21. Beyond a limit only whole paths tell documents of one name apart, and a message names the first."""
    crowd = [bare(f"f{at}/note.md") for at in range(MAX_ALIKE + 1)]
    made = found(bare("x.md"), wikilink("note"), *crowd)
    assert (made.state, len(made.targets)) == ("ambiguous", MAX_CANDIDATES)
    assert found(bare("x.md"), wikilink("f7/note"), *crowd).targets == (crowd[7],)
    assert found(bare("f7/x.md"), wikilink("note"), *crowd).targets == (crowd[7],)
    assert found(bare("x.md"), wikilink("other/note"), *crowd).state == "unresolved"
    assert is_linear(_crowd, 2000, 8000)


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("C Pointers", "C\u00a0Pointers"),
        ("C\u00a0Pointers", "C Pointers"),
        ("C\u202fPointers", "c\u00a0pointers"),
        ("Caf\u00e9", "Cafe\u0301"),
        ("Cafe\u0301 au lait", "Caf\u00e9\u202fau lait"),
        ("a>b", "a>b"),
        ("a<b", "a<b"),
        ("Limiti-->0", "Limiti-->0"),
        ("vector<int>", "vector<int>"),
    ],
)
def test_ya21_a_wikilink_names_a_file_as_obsidian_compares_them(name: str, target: str):
    """YA21: a no-break space is a space, a letter with its accent is one letter, and an angle bracket is a sign."""
    made = graph_of({f"in/{name}.md": "", "a.md": f"[[{target}]] and [[in/{target}|x]]\n"})
    assert [(each.target, each.state) for each in made.edges] == [(f"in/{name}.md", "resolved")] * 2


def test_ya21_a_broken_wikilink_with_an_angle_bracket_is_one_and_a_placeholder_is_none():
    made = graph_of({"a.md": "[[nix>da]] [[x<y]] [[{{title}}]] [[<name>]] [[a`b]]\n"})
    assert [(each.target, each.state) for each in made.edges] == [
        ("nix>da", "unresolved"),
        ("x<y", "unresolved"),
        ("<name>", "file"),
    ]


PATHS = st.lists(st.sampled_from(("a", "b.md", ".", "..", ".c", "d.", "/", "//", "")), max_size=7)


@given(PATHS.map("".join), st.one_of(PATHS.map("".join), PATHS.map("/".join)))
def test_a_path_is_joined_as_the_system_does(folder: str, target: str):
    """Most targets need no look at their parts; they mean what a look finds."""
    path = posixpath.normpath(posixpath.join(folder, target))
    assert joined(folder, target) == (f"{path}/" if target.endswith("/") else path)
