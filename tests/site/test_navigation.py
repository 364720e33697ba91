"""The order of a site: what a `nav` means, what it names in vain, and what stands beside each page."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.site.layout import NodeRow
from prosa.site.navigation import MAX_SHOWN, Entry, Navigation, Nodes, navigation_of
from tests.depth import examples

PATHS = ("index.md", "start.md", "guide/README.md", "guide/a.md", "guide/b.md", "guide/deep/c.md", "loose.md")


def row(path: str) -> NodeRow:
    stem = path.removesuffix(".md")
    url = f"/{stem.removesuffix('README').removesuffix('index')}"
    return NodeRow(path, "page", f"Title of {path}", url, path, "plain")


def nodes(paths: tuple[str, ...] = PATHS) -> Nodes:
    rows = {path: row(path) for path in paths}

    def index_of(folder: str) -> NodeRow | None:
        return rows.get(f"{folder}index.md") or rows.get(f"{folder}README.md")

    def nodes_in(folder: str) -> list[NodeRow]:
        return [each for path, each in rows.items() if path.rpartition("/")[0] == folder.rstrip("/")]

    def folders_in(folder: str) -> list[str]:
        below = (path[len(folder) :] for path in rows if path.startswith(folder))
        return [f"{folder}{name}/" for name in dict.fromkeys(each.split("/")[0] for each in below if "/" in each)]

    return Nodes(rows, index_of, nodes_in, folders_in, lambda folder: f"/{folder}")


def read(value: Any, paths: tuple[str, ...] = PATHS) -> Navigation:
    return navigation_of(value, nodes(paths))


def test_entries_have_their_own_title_or_that_of_their_page():
    found = read(["start.md", {"Loose ends": "./loose.md"}, {"Elsewhere": "https://example.org/x"}])
    assert found.entries == (
        Entry("Title of start.md", "/start"),
        Entry("Loose ends", "/loose"),
        Entry("Elsewhere", "https://example.org/x"),
    )
    assert found.missing == ()


def test_what_leads_nowhere_is_left_out_and_named():
    found = read(["gone.md", {"Also": "../outside.md"}, 7, {"Bad": "javascript://alert(1)"}, {"Empty": []}, "start.md"])
    assert [each.title for each in found.entries] == ["Title of start.md"]
    assert found.missing == ("gone.md", "../outside.md", "7", "javascript://alert(1)")


def test_a_folder_has_everything_in_it_and_opens_on_its_own_pages():
    found = read(["start.md", {"Guides": "guide/"}])
    guide = found.entries[1]
    assert (guide.title, guide.url, guide.folder) == ("Guides", "/guide/", True)
    assert [each.url for each in guide.inside] == ["/guide/a", "/guide/b", "/guide/deep/"]
    assert found.beside("/start")[1].inside == ()
    shown = found.beside("/guide/deep/c")[1]
    assert shown.around and [each.around for each in shown.inside] == [False, False, True]
    assert [each.here for each in shown.inside[2].inside] == [True]


def test_the_whole_site_in_one_word():
    found = read(["."])
    assert found.entries[0].url == "/"
    assert {each.url for each in found.entries[0].inside} == {"/start", "/loose", "/guide/"}


def test_pages_have_a_way_to_them_and_neighbours():
    found = read(["start.md", {"Guides": [{"More": ["guide/b.md", {"Out": "https://example.org"}]}]}, "loose.md"])
    assert [each.title for each in found.above("/guide/b")] == ["Guides", "More"]
    before, behind = found.neighbours("/guide/b")
    assert (before and before.url, behind and behind.url) == ("/start", "/loose")
    assert found.neighbours("/start")[0] is None
    assert found.neighbours("/nowhere") == (None, None)
    first = found.neighbours("/")[1]
    assert first is not None and first.url == "/start"


def test_a_large_folder_is_listed_on_its_own_page_only():
    paths = ("index.md", "big/README.md", *(f"big/{number:03}.md" for number in range(MAX_SHOWN + 1)))
    found = read(["big/"], paths)
    assert len(found.entries[0].inside) == MAX_SHOWN + 1
    assert found.beside("/big/000")[0].inside == ()
    behind = found.neighbours("/big/000")[1]
    assert behind is not None and behind.url == "/big/001"


VALUES = st.recursive(
    st.none() | st.integers() | st.sampled_from([*PATHS, "guide/", ".", "../x", "", "a://b", "\x00", "/start.md"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=examples(100))
@given(VALUES)
def test_x23_whatever_nav_says_leads_to_published_pages_alone(value: Any):
    found = read(value)
    published = {row(path).url for path in PATHS} | {"/guide/deep/"}
    assert {url for url in found.ways if url.startswith("/")} <= published
    assert all(url.startswith(("/", "http://", "https://")) for url in found.ways)
    for url in (*found.ways, "/"):
        assert sum(1 for each in _all(found.beside(url)) if each.here) <= 1


def _all(shown: Any) -> Any:
    for each in shown:
        yield each
        yield from _all(each.inside)
