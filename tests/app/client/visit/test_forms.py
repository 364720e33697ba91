"""A node in every form a site may give it: what the client reads of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.site.node import BELOW, NO_FRONT, SINGULAR, WITH_HREF, LinkEntry, SiteNode, node_of_text
from prosa.site.page import IN_PRE, MAX_HTML, NOT_UTF8, Elsewhere, NoNode, linked_markdown, read_html, read_page
from tests.app.client.visit.site import FERRY, HARBOUR, TIDES, Site
from tests.app.client.visit.visiting import facts, visit
from tests.depth import DEEP, examples

URL = "https://ferries.example/a/harbour"


def page(text: str, kind: str = "text/markdown", **headers: str) -> SiteNode:
    read = read_page(text.encode(), kind, URL, {name.replace("_", "-"): value for name, value in headers.items()})
    assert isinstance(read, SiteNode)
    return read


def test_h2_everything_of_a_node():
    """H2, H3, H10, HA6, HA9: links resolved against the URL of the node, the tolerated forms named."""
    node = page(HARBOUR)
    assert (node.id, node.type, node.title, node.summary) == (
        "harbour",
        "section",
        "The harbour",
        "Where the ferries leave",
    )
    assert node.links[0] == LinkEntry("has", "ferry")
    assert [link.url(URL) for link in node.links] == [
        "",
        "https://ferries.example/rules",
        "https://weather.example/x",
        "https://ferries.example/tide-table",
    ]
    assert [(link.text, link.url, link.same_site) for link in node.inline_links] == [
        ("ferry", "https://ferries.example/ferry", True),
        ("small boats", "https://ferries.example/a/boats/", True),
        ("write", "", False),
        ("away", "https://other.example/", False),
    ]
    assert node.ids == ("bell",) and node.actions[0]["method"] == "POST"
    assert node.notes == (SINGULAR, WITH_HREF)
    assert node.markdown == HARBOUR and node.body.startswith("# The harbour")
    assert (node.form, node.url, node.md_url) == ("markdown", URL, URL)


FIELDS = {
    "id": "harbour",
    "type": "section",
    "title": "The harbour",
    "links": [{"rel": "has", "target": "ferry"}],
    "actions": [{"id": "bell", "method": "GET", "url": "/bell"}],
}
BODY = "See the [ferry](ferry).\n"
JSON_FORMS = {
    "at the top": {**FIELDS, "md_url": "/a/harbour.md", "body": BODY},
    "below meta": {"meta": FIELDS, "frontmatter_raw": "id: harbour\ntype: section", "body": BODY},
    "below front_matter": {"front_matter": FIELDS, "body": BODY},
}


@pytest.mark.parametrize("name", JSON_FORMS)
def test_ha8b_a_node_as_json(name: str):
    """HA8b: front matter at the top with `md_url` and `body`; the first site's `{meta, frontmatter_raw, body}`."""
    value = JSON_FORMS[name]
    node = page(json.dumps(value), "application/json; charset=utf-8")
    assert (node.form, node.id, node.title, node.body) == ("json", "harbour", "The harbour", BODY)
    assert node.links == (LinkEntry("has", "ferry"),) and node.ids == ("bell",)
    assert [link.url for link in node.inline_links] == ["https://ferries.example/a/ferry"]
    assert node.md_url == (URL + ".md" if "md_url" in value else URL)
    assert (BELOW.format("meta") in node.notes) is ("meta" in value)
    assert node.markdown.startswith("---\nid: harbour\ntype: section\n") and node.markdown.endswith(f"---\n{BODY}")
    again = node_of_text(node.markdown, URL)
    assert (again.id, again.type, again.body) == ("harbour", "section", BODY)


def test_ha8b_a_url_of_another_site_is_no_md_url():
    node = page(json.dumps({**FIELDS, "md_url": "https://other.example/x", "body": ""}), "application/json")
    assert node.md_url == URL


@pytest.mark.parametrize(
    ("content", "kind", "why"),
    [
        (b"[1]", "application/json", "is JSON, but no node"),
        (b'{"items": []}', "application/json", "is JSON, but no node"),
        (b"{", "application/json", "claims to be JSON, and is not"),
        (b"\xff", "application/json", "claims to be JSON, and is not"),
        (b"\x89PNG", "image/png", "is image/png, not Markdown"),
        (b"a\0b", "text/markdown", "claims to be text/markdown, and is not"),
        (b"<h1>Hi</h1><pre>no front matter</pre>", "text/html", "names no Markdown"),
        (b'<link rel=alternate type=text/markdown href="https://x.example/y">', "text/html", "on its own site"),
    ],
)
def test_what_is_no_node_says_what_it_is(content: bytes, kind: str, why: str):
    with pytest.raises(NoNode, match=why):
        read_page(content, kind, URL)


def test_a_page_without_front_matter_is_read_and_noted():
    node = page(TIDES, "text/plain")
    assert (node.id, node.title, node.body, node.notes) == ("", "", TIDES, (NO_FRONT,))
    read = read_page(b"caf\xe9", "text/markdown", URL)
    assert isinstance(read, SiteNode) and NOT_UTF8 in read.notes


HEAD = '<html><head><LINK Rel="alternate stylesheet" TYPE="text/markdown; v=1" href="harbour.md?a=1&amp;b=2"></head>'


def test_h8b_html_names_its_markdown():
    """H8b: by a `<link>` or an HTTP `Link` header; of the same site only."""
    where = Elsewhere("https://ferries.example/a/harbour.md?a=1&b=2")
    assert read_page(HEAD.encode(), "text/html", URL) == where
    header = '<style.css>; rel=stylesheet, </x.md>; rel="alternate"; type="text/markdown"'
    assert read_page(b"<p>", "text/html", URL, {"link": header}) == Elsewhere("https://ferries.example/x.md")
    assert linked_markdown("</x>; rel=alternate; type=text/html") == ""


def test_h8b_the_first_sites_html_is_read_from_its_pre():
    """H8b, HA8b: front matter in a `<pre>`, with links made clickable in either of the ways that are about."""
    shown = FERRY.replace("[harbour](/)", '<a href="/">harbour</a>')
    shown = shown.replace("(./rules#top)", '(<a href="./rules#top">./rules#top</a>)')
    node = page(f"<html><body><pre>none</pre><pre>{shown}&lt;b&gt;</pre></body>", "text/html")
    assert node.markdown == FERRY + "<b>"
    assert (node.form, node.id, node.notes) == ("html", "ferry", (IN_PRE,))
    assert [link.href for link in node.inline_links] == ["/", "./rules#top"]


N = 20_000 if DEEP else 5_000


@pytest.mark.parametrize(
    "text",
    [
        *("<" * 15 * N, "<!--" * 5 * N, "<pre>" * 5 * N, "<a href=" * 3 * N, "&" * 15 * N, "</" * 10 * N),
        *("<![CDATA[" * 3 * N, "<?" * 10 * N, '<link rel="' * 3 * N, "<script>" + "</s" * 10 * N),
        *("<pre>---\n" + "<a>" * 5 * N, "<pre>---\n" + "<a href=x>y</a>" * 3 * N + "</pre>"),
    ],
    ids=range(12),
)
def test_hostile_html_ends(text: str):
    """Bounded reading: each of these ends, and yields no Markdown but what stands in a `<pre>`."""
    found = read_html(text)
    assert found.alternate == "" and len(found.pre) <= MAX_HTML


@settings(max_examples=examples(80), deadline=None)
@given(st.text(alphabet="<>/=\"' prealink-hrefmdoty&#;!\n[]()", max_size=120))
def test_no_html_makes_reading_fail(text: str):
    found = read_html(f"<pre>---{text}</pre>{text}")
    assert found.pre.startswith("---") or not found.pre


@settings(max_examples=examples(60), deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "meta", "links", "actions", "action", "body", "md_url", "rel"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_ha8b_no_json_makes_reading_fail(value: object):
    try:
        node = read_page(json.dumps(value).encode(), "application/json", URL)
    except NoNode:
        return
    assert isinstance(node, SiteNode) and replace(node, name="x").url == URL


def test_the_facts_of_a_visit(site: Site):
    """H1, H4, HW9: the JSON has every fact, and only GET was sent."""
    found = facts(site.url)
    assert list(found) == [
        *("url", "md_url", "form", "id", "type", "title", "summary"),
        *("links", "inline_links", "actions", "body", "notes"),
    ]
    assert found["url"] == f"{site.url}/" and found["form"] == "markdown"
    assert found["links"][0] == {
        "number": 1,
        "rel": "has",
        "target": "ferry",
        "href": None,
        "title": None,
        "url": f"{site.url}/ferry",
    }
    assert [link["number"] for link in found["inline_links"]] == [5, 6, 7, 8]
    assert found["inline_links"][2]["url"] is None and found["inline_links"][3]["same_site"] is False
    assert found["actions"][0]["id"] == "bell" and found["notes"] == [SINGULAR, WITH_HREF]
    assert site.methods == {"GET"}


def test_markdown_is_given_as_it_is(site: Site):
    for path in ("/", "/rules"):
        status, at = visit(f"{site.url}{path}", "--format", "markdown")
        assert (status, at.out.encode()) == (0, site.pages[path][2])


def test_text_for_people(site: Site):
    status, at = visit(site.url)
    assert status == 0
    assert at.out.startswith(
        f"The harbour\nharbour · section · {site.url}/\nWhere the ferries leave\n\n# The harbour\n"
    )
    assert f"  2  rules: url:/rules → {site.url}/rules\n" in at.out
    assert "  7  write → mailto:a@b.example\n" in at.out
    assert at.out.endswith("Actions\n  bell  POST /bell/{tone}  Ring\n    needs tone, long; token: bearer\n")
    assert at.err.startswith("note: `action` is read as")


def test_an_html_page_is_read_where_it_points(site: Site):
    """H8b: one step, and no circle."""
    site.pages["/page"] = (200, "text/html", b'<link rel=alternate type="text/markdown" href="/ferry">', {})
    found = facts(f"{site.url}/page")
    assert (found["id"], found["url"]) == ("ferry", f"{site.url}/ferry")
    site.pages["/round"] = (200, "text/html", b'<link rel=alternate type="text/markdown" href="/turn">', {})
    site.pages["/turn"] = (200, "text/html", b'<link rel=alternate type="text/markdown" href="/round">', {})
    status, at = visit(f"{site.url}/round")
    assert status == 1 and "is HTML too" in at.err


def test_nothing_of_a_page_moves_the_cursor(site: Site):
    """X8: titles, links, actions and bodies with escapes are shown without them; so is what is piped to a terminal."""
    hostile = (
        '---\nid: "\\e[2J"\ntype: "x\\u202e"\ntitle: "a\\rb"\nlinks: [{rel: "\\e]0;x\\a", target: "b\\e"}]\n'
        'action: {id: "\\e", method: GET, url: "/\\u009b"}\n---\nbell \x07 \x1b[31m [\x1bt](/x\x1b) \x9b\n'
    )
    site.pages["/evil"] = (200, "text/markdown", hostile.encode(), {})
    for form in ("text", "markdown"):
        status, at = visit(f"{site.url}/evil", "--format", form, terminal=True)
        assert status == 0
        assert not any((each < " " and each != "\n") or "\x7f" <= each <= "\x9f" for each in at.out + at.err)
        assert "\u202e" not in at.out
