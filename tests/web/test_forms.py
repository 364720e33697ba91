"""One URL, three forms: what is sent for which `Accept` and method, with which tag, and where the other forms are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import pytest

from tests.web.asking import Said, Served, cold, serving
from tests.web.conftest import Serve

MDH = """---
id: quay
type: place
title: The quay
links:
  - rel: near
    target: tide
actions:
  - id: quay.book
    method: POST
    url: /api/berths
---
# The quay

See the [tide table](/tide).
"""
FILES = {
    "index.md": "# Harbour\n\nTo [the quay](/quay) and [the tide](/tide), [ropes](/ropes/), [log](/log.ymj).\n",
    "quay.md": MDH,
    "tide.md": "# Tide\n\nHigh at noon. <b>Bold</b> words.\n",
    "ropes/hemp.md": "---\ntitle: Hemp\n---\nStrong.\n",
    "map.png": b"\x89PNG\r\n\x1a\n",
}
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
KINDS = {"markdown": "text/markdown", "json": "application/json", "html": "text/html"}
ACCEPTS = {
    None: "markdown",
    "*/*": "markdown",
    "text/markdown": "markdown",
    "application/json": "json",
    BROWSER: "html",
    "image/png": "markdown",
    "text/html;q=0.2, application/json;q=0.3": "json",
}
NODES = ["/", "/quay", "/tide", "/ropes/hemp", "/ropes/"]


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("harbour"), FILES) as served:
        yield served


@pytest.mark.parametrize("accept", ACCEPTS)
def test_h8_ha7_hw1_the_form_that_was_asked_for(harbour: Served, accept: str | None) -> None:
    """H8, HA7, HW1. Documents, MDH nodes and folders alike; never 406; caches are told what it depends on."""
    for url in NODES:
        said = harbour.get(url, accept)
        assert (said.status, said.kind) == (200, KINDS[ACCEPTS[accept]]), url
        assert said["vary"] == "Accept"
        assert said["content-length"] == str(len(said.body))
        assert said["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(("suffix", "form"), [(".md", "markdown"), (".json", "json"), (".html", "html")])
def test_ha7_h8_each_form_has_a_url_of_its_own(harbour: Served, suffix: str, form: str) -> None:
    """HA7, H8. Whatever `Accept` says; the same bytes as by negotiation."""
    for url in NODES:
        twin = f"{url}index{suffix}" if url.endswith("/") else f"{url}{suffix}"
        said = harbour.get(twin, "image/png, application/json;q=0.1, text/html;q=0.2")
        assert (said.status, said.kind) == (200, KINDS[form])
        assert "vary" not in said
        chosen = harbour.get(url, KINDS[form])
        assert said.body == chosen.body
        assert chosen["content-location"] == twin
        assert said["etag"] == chosen["etag"]


def links(said: Said) -> dict[tuple[str, str], str]:
    """The `Link` header: URLs by relation and type."""
    found = {}
    for each in said["link"].split(", "):
        target, *parameters = each.split("; ")
        values = dict(part.split("=") for part in parameters)
        found[values["rel"].strip('"'), values.get("type", "").strip('"')] = target.strip("<>")
    return found


def test_h1_h6_ha7_an_answer_says_where_the_other_forms_are(harbour: Served) -> None:
    """H1, H6, HA7. Each of the links leads to the form that it names."""
    for url in NODES:
        for form, kind in KINDS.items():
            found = links(harbour.get(url, kind))
            assert found["canonical", ""] == url
            others = {type_: target for (rel, type_), target in found.items() if rel == "alternate"}
            assert set(others) == set(KINDS.values()) - {kind}, form
            for other, target in others.items():
                assert harbour.get(target).kind == other
            assert harbour.get(found["llms-txt", ""]).status == 200


def test_h18_hw2_ha7_a_form_has_a_tag_and_is_not_sent_twice(harbour: Served) -> None:
    """H18, HW2, HA7. A tag of each form, and 304 for each; a tag of another form does not count."""
    for url in (
        *NODES,
        "/mdh/nodes.json",
        "/mdh/actions.json",
        "/llms.txt",
        "/sitemap.xml",
        "/map.png",
        "/mdh/graph.json",
    ):
        tags = {}
        for form, kind in KINDS.items():
            first = harbour.get(url, kind)
            assert "no-cache" in first["cache-control"]
            assert first["cache-control"].startswith("public")
            again = harbour.get(url, kind, headers=[("if-none-match", f'"x", W/{first["etag"]}')])
            assert (again.status, again.body) == (304, b"")
            for name in ("etag", "cache-control", "vary", "content-location", "link"):
                assert again[name] == first[name]
            assert "content-length" not in again
            assert harbour.get(url, kind, headers=[("if-none-match", '"another"')]).body == first.body
            assert harbour.get(url, kind, headers=[("if-none-match", "*")]).status == 304
            tags[form] = first["etag"]
        if url in NODES:
            assert len(set(tags.values())) == 3
            assert harbour.get(url, "text/html", headers=[("if-none-match", tags["markdown"])]).status == 200


def test_ha7_head_is_get_without_its_body(harbour: Served) -> None:
    """HA7."""
    for url in (
        *NODES,
        "/map.png",
        "/nothing",
        "/ropes",
        "/mdh/nodes.json",
        "/llms.txt",
        "/healthz",
        "/mdh/search?q=tide",
    ):
        for kind in KINDS.values():
            whole, head = harbour.get(url, kind), harbour.head(url, kind)
            assert head.body == b""
            assert (head.status, head.headers) == (whole.status, whole.headers)
        tag = harbour.get(url)["etag"]
        if tag:
            assert harbour.head(url, headers=[("if-none-match", tag)]).status == 304


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_h17_hw1_nodes_are_only_read(harbour: Served, method: str) -> None:
    """H17, HW1. 405 says what is allowed, in the form that was asked for."""
    for url in ("/quay", "/ropes/", "/map.png", "/nothing", "/mdh/nodes.json", "/llms.txt", "/healthz", "/mdh/graph"):
        for kind in KINDS.values():
            said = harbour.ask(url, kind, method=method, client=f"{url}{kind}")
            assert (said.status, said["allow"]) == (405, "GET, HEAD")
            assert said.kind == kind.replace("/json", "/problem+json")
    assert harbour.get("/quay").body == MDH.encode()


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "get", "BREW"])
def test_unknown_methods(harbour: Served, method: str) -> None:
    assert harbour.ask("/quay", method=method).status == 501


@pytest.mark.parametrize(
    "url",
    ["/nothing", "/quay/nothing", "/nothing/", "/mdh/nothing", "/mdh", "/map.gif", "/../x", "/%00", "/nothing.json"],
)
def test_hw1_what_is_not_there_is_said_in_the_form_that_was_asked_for(harbour: Served, url: str) -> None:
    """HW1. 404 as Markdown, as problem JSON, as a page; no cache keeps it."""
    assert harbour.get(url).text.startswith("# Not found")
    problem = harbour.get(url, "application/json")
    assert (problem.status, problem.kind, problem.json["status"]) == (404, "application/problem+json", 404)
    page = harbour.get(url, BROWSER)
    assert (page.status, page.kind) == (404, "text/html")
    assert "content-security-policy" in page
    for said in (problem, page):
        assert (said["cache-control"], said["vary"]) == ("no-store", "Accept")
        assert "etag" not in said


def test_h2_hw5_an_mdh_node_is_sent_to_the_byte(serve: Serve) -> None:
    """H2, HW5. With any line ends, a byte order mark, and no line end at the end."""
    written = {
        "a.md": MDH.replace("quay", "a").encode(),
        "b.md": MDH.replace("quay", "b").replace("\n", "\r\n").encode(),
        "c.md": b"\xef\xbb\xbf" + MDH.replace("quay", "c").encode(),
        "d.md": MDH.replace("quay", "d").rstrip("\n").encode(),
        "e.md": MDH.replace("quay", "e").replace("title: The e", "title:   'The e'   # a comment").encode()
        + b"\n\n\t \n",
    }
    site = serve(written)
    for name, content in written.items():
        assert site.get(f"/{name[0]}", "text/markdown").body == content
        assert site.get(f"/{name[0]}?raw=1").body == content


def test_h2_h9_another_dialect_gets_the_fields_of_a_node(harbour: Served) -> None:
    """H2, H9. Spliced in, the original beside it."""
    said = harbour.get("/tide").text
    assert said.endswith(FILES["tide.md"])  # type: ignore[arg-type]
    assert said.startswith("---\nid: tide.md\ntype: page\ntitle: Tide\n---\n")
    assert harbour.get("/ropes/hemp").text == "---\ntitle: Hemp\nid: ropes/hemp.md\ntype: page\n---\nStrong.\n"
    raw = harbour.get("/ropes/hemp?raw=1", BROWSER)
    assert (raw.text, raw.kind) == (FILES["ropes/hemp.md"], "text/markdown")
    assert raw["etag"] != harbour.get("/ropes/hemp")["etag"]


def test_ha8_h23_a_node_as_json(harbour: Served) -> None:
    """HA8, H23. The front matter at the top, `md_url` and `body`."""
    said = harbour.get("/quay", "application/json").json
    assert said == {
        "id": "quay",
        "type": "place",
        "title": "The quay",
        "links": [{"rel": "near", "target": "tide"}],
        "actions": [{"id": "quay.book", "method": "POST", "url": "/api/berths"}],
        "md_url": "/quay",
        "body": "# The quay\n\nSee the [tide table](/tide).\n",
    }
    assert list(said)[-2:] == ["md_url", "body"]
    plain = harbour.get("/tide.json").json
    assert (plain["id"], plain["type"], plain["title"], plain["body"]) == ("tide.md", "page", "Tide", FILES["tide.md"])


def test_ha8_fields_of_ours_win_over_the_author_s(serve: Serve) -> None:
    """HA8. A client must be able to rely on `md_url` and `body`."""
    site = serve({"a.md": "---\ntitle: T\nmd_url: https://evil.example/\nbody: other\n---\nreal\n"})
    said = site.get("/a.json").json
    assert (said["md_url"], said["body"]) == ("/a", "real\n")


@pytest.mark.parametrize(
    ("url", "leads"),
    [("/ropes", "/ropes/"), ("/quay/", "/quay"), ("/ropes/hemp/", "/ropes/hemp"), ("/nothing/", ""), ("/map.png/", "")],
)
def test_h7_slashes_are_put_right(harbour: Served, url: str, leads: str) -> None:
    """H7. 308, so that the method stays; not where there is nothing."""
    said = harbour.get(url)
    assert (said.status, said["location"]) == ((308, leads) if leads else (404, ""))


@pytest.mark.parametrize("url", ["/index", "/index.md"])
def test_ha2_the_root_has_other_names(harbour: Served, url: str) -> None:
    """HA2. `/index` is `/`."""
    assert harbour.get(url).body == harbour.get("/").body
    assert 'rel="canonical"' in harbour.get(url)["link"]
    assert harbour.get(url)["link"].startswith("</>;")


def test_h7_a_node_can_be_read_while_the_index_is_being_built(serve: Serve) -> None:
    """H7, H2. All three forms, and the folder."""
    site = serve(FILES, building=True)
    for kind in KINDS.values():
        assert site.get("/quay", kind).kind == kind
        assert site.get("/ropes/", kind).kind == kind
    assert "/ropes/hemp" in site.get("/ropes/").text
    assert site.get("/quay").body == MDH.encode()
    assert site.get("/healthz").json == {"status": "ok", "ready": False, "nodes": 0}


def test_h7_below_a_prefix(serve: Serve) -> None:
    """H7, HA2. A site can live under a path; what it says of itself has the path in it."""
    site = serve({"quay.md": MDH, "ropes/hemp.md": "# Hemp\n"}, prefix="/docs", origin="https://harbour.example")
    assert site.get("/quay").status == 404
    said = site.get("/docs/quay")
    assert said.body == MDH.encode()
    assert links(said)["alternate", "application/json"] == "/docs/quay.json"
    assert said["content-location"] == "/docs/quay.md"
    assert site.get("/docs/quay.json").json["md_url"] == "/docs/quay"
    assert site.get("/docs/ropes")["location"] == "/docs/ropes/"
    assert "(/docs/ropes/)" in site.get("/docs/").text
    assert "(/docs/ropes/hemp)" in site.get("/docs/ropes/").text
    page = site.get("/docs/ropes/", "text/html").text
    assert 'href="/docs/ropes/hemp"' in page
    assert "/docs/docs" not in page
    assert {each["md_url"] for each in site.get("/docs/mdh/nodes.json").json["nodes"]} >= {"/docs/quay", "/docs/"}
    assert "https://harbour.example/docs/quay.md" in site.get("/docs/llms.txt").text
    assert "<loc>https://harbour.example/docs/quay</loc>" in site.get("/docs/sitemap.xml").text
    assert site.get("/healthz").status == 200


def test_h7_nodes_by_id(serve: Serve) -> None:
    """H7. The layout `id`: `/node/ID`, the forms beside it, and the paths still good."""
    site = serve(
        {"quay.md": MDH, "a/tide.md": "---\nid: the tide/1\n---\n# Tide\n", "odd.md": "---\nid: a//b\n---\n"},
        layout="id",
    )
    urls = {each["id"]: each["md_url"] for each in site.get("/mdh/nodes.json").json["nodes"]}
    assert (urls["quay"], urls["the tide/1"], urls["a//b"]) == ("/node/quay", "/node/the%20tide%2F1", "/odd")
    assert site.get("/node/quay").body == MDH.encode()
    for id_, url in urls.items():
        said = site.get(url, "application/json")
        assert (said.json["id"], said.json["md_url"]) == (id_, url)
    assert site.get("/node/the%20tide%2F1.json").json["title"] == "Tide"
    assert site.get("/quay").body == MDH.encode()
    assert site.get("/node/none").status == 404


@pytest.mark.parametrize("name", ["x" * 300, "x" * 2_000, "a/" * 300 + "b", "é" * 200])
def test_hw4_names_that_no_file_can_have_are_not_there(tmp_path: Path, name: str) -> None:
    """HW4. Warm, and while there is no index yet."""
    for serve in (serving, cold):
        folder = tmp_path / uuid4().hex
        folder.mkdir()
        with serve(folder, {"a.md": "# A\n"}) as site:
            for ending in ("", "/", ".md", ".json"):
                assert site.get(f"/{quote(name)}{ending}").status == 404


@pytest.mark.parametrize("size", [10, 1024 * 1024 + 1], ids=["held", "read in pieces"])
def test_h7_parts_of_a_film_are_served_as_browsers_ask_for_them(serve: Serve, size: int) -> None:
    """RFC 9110, section 14: Safari plays no film from a server that only has the whole."""
    film = bytes(at % 251 for at in range(size))
    site = serve({"index.md": "# A\n\n![f](f.mp4)\n", "f.mp4": film})
    whole = site.get("/f.mp4")
    assert (whole.status, whole["accept-ranges"], whole.body) == (200, "bytes", film)

    def part(asked: str, **more: str) -> tuple[int, str, bytes]:
        headers = [("range", asked), *((name.replace("_", "-"), value) for name, value in more.items())]
        said = site.get("/f.mp4", headers=headers)
        assert said["content-length"] == str(len(said.body))
        return said.status, said["content-range"], said.body

    assert part("bytes=0-1") == (206, f"bytes 0-1/{size}", film[:2])
    assert part("bytes=3-") == (206, f"bytes 3-{size - 1}/{size}", film[3:])
    assert part("bytes=-4") == (206, f"bytes {size - 4}-{size - 1}/{size}", film[-4:])
    assert part(f"bytes=-{size * 2}") == (206, f"bytes 0-{size - 1}/{size}", film)
    assert part(f"bytes=8-{size * 2}") == (206, f"bytes 8-{size - 1}/{size}", film[8:])
    assert part("bytes=2-4", if_range=whole["etag"]) == (206, f"bytes 2-4/{size}", film[2:5])
    for nowhere in (f"bytes={size}-", "bytes=-0"):
        assert part(nowhere) == (416, f"bytes */{size}", b"")
    for all_of_it in ("bytes=4-2", "bytes=-", "bytes=0-1,3-4", "lines=1-2", "bytes=x-2"):
        assert part(all_of_it) == (200, "", film)
    assert part("bytes=2-4", if_range='"old"') == (200, "", film)
    asked = [("range", "bytes=0-1")]
    assert site.get("/f.mp4", headers=[*asked, ("if-none-match", whole["etag"])]).status == 304
    assert site.head("/f.mp4", headers=asked).status == 200
    assert site.get("/", headers=asked).status == 200
