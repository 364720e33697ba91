"""Whatever stands in a field, a body, a name or a query: no page runs it, no header is made of it (HW3)."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from urllib.parse import quote

import pytest

from tests.web.asking import Served
from tests.web.conftest import Serve

VECTORS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    "</title><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--><script>alert(1)</script>-->",
    "javascript:alert(1)",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "![x](javascript:alert(1))",
    "<javascript:alert(1)>",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:alert(1))",
    "<iframe src=javascript:alert(1)></iframe>",
    "<a href=javascript:alert(1)>x</a>",
    "<form action=javascript:alert(1)><button>",
    "<object data=x></object>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<details open ontoggle=alert(1)>",
    "<style>@import '//evil.example'</style>",
    "```<script>alert(1)</script>\nx\n```",
    '" onmouseover="alert(1)',
    "<math><mi xlink:href=javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    "<embed src=//evil.example>",
    "\r\nSet-Cookie: x=1\r\n\r\n<script>alert(1)</script>",
]
BAD_TAGS = {"iframe", "object", "embed", "base", "math", "applet", "frame"}


class Page(HTMLParser):
    """Collects what could run."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.bad: list[str] = []
        self.scripts: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: "".join((value or "").split()).lower() for name, value in attrs}
        self.inside = tag == "script"
        refresh = tag == "meta" and said.get("http-equiv") == "refresh"
        if tag in BAD_TAGS or refresh or any(name.startswith("on") for name in said):
            self.bad.append(f"{tag} {attrs}")
        for name in ("href", "src", "action", "formaction", "xlink:href", "data"):
            value = said.get(name, "")
            if value.startswith(("javascript:", "vbscript:", "data:text", "//")) or (tag != "a" and "://evil" in value):
                self.bad.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.scripts.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self.inside = False


def assert_inert(site: Served, url: str) -> None:
    said = site.get(url, "text/html", client=url)
    assert said.status in (200, 404), url
    assert "script-src" in said["content-security-policy"] or "default-src 'none'" in said["content-security-policy"]
    assert "unsafe-inline" not in said["content-security-policy"].partition("script-src")[2].partition(";")[0]
    page = Page()
    page.feed(said.text)
    assert page.bad == [], url
    assert not any("alert(1)" in each and "</script" in each for each in page.scripts)
    assert not any(each.strip().startswith("alert(1)") for each in page.scripts)
    assert "set-cookie" not in said


@pytest.fixture(scope="module")
def titles() -> list[str]:
    return [json.dumps(vector) for vector in VECTORS]


def test_hw3_in_fields_of_a_plain_document_and_of_a_node(serve: Serve, titles: list[str]) -> None:
    """HW3. As id, type, title, summary, language, tags, updated, links, actions; in lists, search, graph, indexes."""
    plain = (
        "---\nid: {0}\ntitle: {0}\nsummary: {0}\ndescription: {0}\ntags: [{0}]\nlanguage: {0}\nupdated: {0}\n"
        "{0}: {0}\n---\n# {1}\n"
    )
    node = (
        "---\nid: {0}\ntype: {0}\ntitle: {0}\naliases: [{0}]\nlinks: [{{rel: {0}, target: {0}}}]\ncanonical_url: {0}\n"
        "actions: [{{id: {0}, title: {0}, method: GET, url: {0}, query: {{required: [{0}]}}, "
        "auth: {{type: {0}, token_help: {0}}}}}]\n---\nx\n"
    )
    written = {f"p{n}.md": plain.format(title, n) for n, title in enumerate(titles)}
    written |= {f"n{n}.md": node.format(title) for n, title in enumerate(titles)}
    site = serve(written)
    for name in written:
        assert_inert(site, f"/{name[:-3]}")
        for suffix in (".md", ".json"):
            assert "set-cookie" not in site.get(f"/{name[:-3]}{suffix}")
        json.loads(site.get(f"/{name[:-3]}.json").body)
    for url in ("/", "/mdh/graph", "/mdh/search?q=alert", "/mdh/graph?around=/p1", "/mdh/graph?around=/n1"):
        assert_inert(site, url)
    assert json.loads(site.get("/mdh/nodes.json").body)["nodes"]
    assert json.loads(site.get("/mdh/actions.json").body)["actions"]
    assert json.loads(site.get("/mdh/graph.json").body)["nodes"]


def test_hw3_in_bodies(serve: Serve) -> None:
    """HW3. Of plain documents, nodes, chats, programs and records."""
    written = {
        f"b{n}.md": f"# {vector}\n\n{vector}\n\n- {vector}\n\n> {vector}\n\n| a |\n|---|\n| {vector} |\n"
        for n, vector in enumerate(VECTORS)
    }
    written |= {
        f"c{n}.md": f"### @user:\n\n{vector}\n\n### @assistant:\n\n{vector}\n" for n, vector in enumerate(VECTORS)
    }
    written |= {
        f"r{n}.md": f"---\nname: x\ninput: {{}}\noutput: {{}}\n---\n{vector}\n" for n, vector in enumerate(VECTORS)
    }
    site = serve(written)
    for name in written:
        assert_inert(site, f"/{name[:-3]}")
    for url in ("/mdh/search?q=alert", "/mdh/search?q=script&limit=100", "/mdh/graph"):
        assert_inert(site, url)


def test_hw3_in_names_of_files_and_folders_queries_and_paths(serve: Serve) -> None:
    """HW3. In crumbs, lists, errors and the field of the search."""
    names = [vector.replace("/", "∕").replace("\n", "").replace("\r", "").replace("\t", "")[:60] for vector in VECTORS]
    site = serve({f"{name}/{name}.md": "x\n" for name in names if not name.startswith(".")}, name=VECTORS[0])
    for name in names:
        assert_inert(site, f"/{quote(name)}/{quote(name)}")
        assert_inert(site, f"/{quote(name)}/")
    for vector in VECTORS:
        assert_inert(site, f"/mdh/search?q={quote(vector)}")
        assert_inert(site, f"/nothing/{quote(vector)}")
        for accept in ("text/markdown", "application/json"):
            assert "set-cookie" not in site.get(f"/mdh/search?q={quote(vector)}", accept)
    assert_inert(site, "/")
    assert_inert(site, "/mdh/graph")
