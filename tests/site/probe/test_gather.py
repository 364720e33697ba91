"""What is asked, and that no answer of a site makes the probe fail: the pure part, with answers made up."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.render.probe import render_probe, render_probe_json, render_probe_junit, render_probe_sarif
from prosa.site.probe.evidence import Reply, path_on
from prosa.site.probe.gather import NoSite, gather
from prosa.site.probe.questions import Ask, file_of, twin
from prosa.site.probe.report import report_on
from tests.depth import examples

ROOT = "https://ferries.example/"

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from(["", "/", "/a", "GET", "a", "//b/c", "url:/x", "\x1b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "type", "title", "method", "url", "auth", "query", "rel", "target", "md_url", "page"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
_FIELDS = st.dictionaries(
    st.sampled_from(["id", "type", "title", "links", "actions", "action", "canonical_url", "nodes", "spec", "meta"]),
    _VALUES,
    max_size=6,
)
_LINKS = st.sampled_from(
    ["/a", "b", "../c/", "#x", "?q", "https://ferries.example/d", "//ferries.example/e", "mailto:x", "/%00", "//["]
)
_KINDS = st.sampled_from(
    ["text/markdown", "text/html", "application/json", "text/plain", "", "image/png", "application/x+json"]
)


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    fields = draw(_FIELDS)
    kind = draw(_KINDS)
    body = " ".join(f"[x]({each})" for each in draw(st.lists(_LINKS, max_size=4)))
    text = json.dumps(fields) if "json" in kind else f"---\n{json.dumps(fields)}\n---\n{body}\n"
    headers = {"content-type": kind} | draw(
        st.dictionaries(
            st.sampled_from(["etag", "vary", "cache-control", "location"]), st.sampled_from(["", "*", '"a"', "é", "/b"])
        )
    )
    status = draw(st.sampled_from([200, 200, 200, 200, 204, 302, 304, 404, 500]))
    return Reply("", status, headers, draw(st.sampled_from([text, text, text, None])), len(text))


def site(answers: Callable[[Ask], Reply], asked: list[Ask] | None = None) -> Callable[[Sequence[Ask]], list[Reply]]:
    """A function that asks, with answers by question."""

    def ask(asks: Sequence[Ask]) -> list[Reply]:
        if asked is not None:
            asked.extend(asks)
        return [answers(each) for each in asks]

    return ask


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(replies(), min_size=1, max_size=12))
def test_no_answer_makes_the_probe_fail(made: list[Reply]):
    home = Reply(
        ROOT, 200, {"content-type": "text/markdown"}, "---\nid: a\ntype: b\ntitle: c\n---\n[x](/a) [y](b) [z](/c/)\n"
    )
    seen: dict[str, int] = {}

    def answer(ask: Ask) -> Reply:
        if ask.path == "/" and ask.accept == "text/markdown":
            return home
        at = seen.setdefault(f"{ask.method} {ask.path} {ask.accept} {ask.exact}", len(seen))
        found = made[at % len(made)]
        return Reply(f"{ROOT}{ask.path.lstrip('/')}", found.status, found.headers, found.text, found.size)

    report = report_on(gather(ROOT, site(answer), most=15, call_reads=True))
    json.loads(render_probe_json(report))
    json.loads(render_probe_sarif(report, "1"))
    assert "\x1b" not in render_probe(report) + render_probe_junit(report, strict=True)
    assert 0 <= report.score <= 100


@given(replies())
def test_any_root_is_a_site_or_is_refused_in_words(reply: Reply):
    found: Any = None
    try:
        found = gather(ROOT, site(lambda ask: Reply(ROOT, reply.status, reply.headers, reply.text)), most=3)
    except NoSite as problem:
        assert problem.message
    else:
        assert found.site.pages["/"].kind == "node"


def test_h7_everything_is_found_from_the_root_by_every_kind_of_link():
    """H7, HA1: inline links, declared links and the index; each path once."""
    nodes = {
        "/": "---\nid: a\ntype: b\ntitle: c\nlinks: [{rel: r, target: url:/declared}]\n---\n[x](inline) [y](/inline#y)",
        "/inline": "---\nid: i\ntype: b\ntitle: c\n---\n[up](./) [over](other?q=1)\n",
    }
    index = {"spec": "mdh/1.0", "nodes": [{"id": "l", "md_url": "/listed"}]}
    asked: list[Ask] = []

    def answer(ask: Ask) -> Reply:
        url = f"{ROOT}{ask.path.lstrip('/')}"
        if ask.path == "/mdh/nodes.json":
            return Reply(url, 200, {"content-type": "application/json"}, json.dumps(index))
        text = nodes.get(ask.path)
        return Reply(url, 404 if text is None else 200, {"content-type": "text/markdown"}, text or "")

    found = gather(ROOT, site(answer, asked), most=50)
    assert found.site is not None
    assert list(found.site.pages) == ["/", "/inline", "/declared", "/listed", "/other"]
    plain = [each.path for each in asked if each == Ask(each.path)]
    assert plain.count("/inline") == 2  # the page, and asked again
    assert plain.count("/other") == 1


def test_ha1_a_site_below_others_has_its_indexes_beside_its_root():
    """HA1."""
    asked: list[Ask] = []
    text = "---\nid: a\ntype: b\ntitle: c\n---\n"

    def answer(ask: Ask) -> Reply:
        url = f"{ROOT}{ask.path.lstrip('/')}"
        if ask.path == "/docs/mdh/nodes.json":
            index = {"spec": "mdh/1.0", "nodes": [{"id": "a", "md_url": "/docs/"}]}
            return Reply(url, 200, {"content-type": "application/json"}, json.dumps(index))
        status = 200 if ask.path == "/docs/" else 404
        return Reply(url, status, {"content-type": "text/markdown"}, text)

    found = gather(f"{ROOT}docs/", site(answer, asked), most=50)
    assert found.site is not None
    assert found.site.beside["/mdh/nodes.json"].url == f"{ROOT}docs/mdh/nodes.json"
    statuses = {each.check.id: each.status for each in report_on(found).findings}
    assert statuses["indexes-agree"] == "passed"
    assert {each.path for each in asked} >= {"/mdh/nodes.json", "/docs/mdh/actions.json", "/docs/llms.txt"}


def test_of_the_paths_of_a_document_the_one_without_a_suffix_is_asked_in_every_form():
    """HA7: `/hours.md` is Markdown by its name."""
    home, hours = (f"---\nid: {each}\ntype: b\ntitle: c\n---\n[x](/hours.md) [y](/hours)\n" for each in "ah")
    nodes = {"/": home, "/hours": hours, "/hours.md": hours}

    def answer(ask: Ask) -> Reply:
        text = nodes.get(ask.path)
        status = 404 if text is None else 200
        return Reply(f"{ROOT}{ask.path.lstrip('/')}", status, {"content-type": "text/markdown"}, text or "")

    found = gather(ROOT, site(answer), most=50)
    assert found.site is not None
    assert [page.path for page in found.site.sampled] == ["/", "/hours"]
    assert found.site.same == {"/hours.md": "/hours"}
    assert [node.path for node in found.nodes] == ["/", "/hours"]


def test_pages_of_very_many_links_are_not_read(monkeypatch: pytest.MonkeyPatch):
    """X9: neither one page nor all together."""
    monkeypatch.setattr("prosa.site.probe.gather.MAX_PAGE_LINKS", 8)
    monkeypatch.setattr("prosa.site.probe.gather.MAX_LINKS", 14)
    head = "---\nid: {}\ntype: b\ntitle: c\n---\n"
    nodes = {
        "/": head.format("a") + "[x](/long) [y](/some) [z](/more) [w](/last)",
        "/long": head.format("l") + "[x](/long) " * 9,
        "/some": head.format("s") + "[x](/some) " * 8,
        "/more": head.format("m") + "[x](/inner) " * 8,
    }

    def answer(ask: Ask) -> Reply:
        text = nodes.get(ask.path)
        status = 404 if text is None else 200
        return Reply(f"{ROOT}{ask.path.lstrip('/')}", status, {"content-type": "text/markdown"}, text or "")

    found = gather(ROOT, site(answer), most=50)
    assert found.site is not None
    kinds = {path: page.kind for path, page in found.site.pages.items()}
    assert kinds == {"/": "node", "/long": "missing", "/some": "node", "/more": "unasked", "/last": "missing"}
    (links,) = (each for each in report_on(found).findings if each.check.id == "links-lead-to-nodes")
    assert "it has more than 8 links, and is not read" in links.evidence[0].message


@pytest.mark.parametrize(
    ("base", "href", "path"),
    [
        ("/a/b", "c", "/a/c"),
        ("/a/b", "../c?d#e", "/c"),
        ("/a", "https://FERRIES.example:443/x", "/x"),
        ("/a", "//ferries.example/x", "/x"),
        ("/a", "http://ferries.example/x", None),
        ("/a", "//other.example/x", None),
        ("/a", "mailto:x@ferries.example", None),
        ("/a", "https://[/x", None),
        ("/a", "%C3%A5", "/å"),
    ],
)
def test_ha6_a_link_leads_to_a_path_on_the_site_or_elsewhere(base: str, href: str, path: str | None):
    """HA5, HA6."""
    assert path_on(ROOT, base, href) == path


@pytest.mark.parametrize(
    ("path", "markdown", "json_path", "file"),
    [
        ("/", "/index.md", "/index.json", "/index.md"),
        ("/hours", "/hours.md", "/hours.json", "/hours.md"),
        ("/hours.md", "/hours.md", "/hours.json", "/hours.md.md"),
        ("/a/", "/a/index.md", "/a/index.json", "/a/index.md"),
    ],
)
def test_a_path_has_its_file_forms(path: str, markdown: str, json_path: str, file: str):
    """HA2, HA7."""
    assert (twin(path, ".md"), twin(path, ".json"), file_of(path).as_posix()) == (markdown, json_path, file)
