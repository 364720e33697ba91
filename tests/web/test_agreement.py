"""The indexes of a site say what its nodes say, and every node is found by following links from the root."""

from __future__ import annotations

import re
from urllib.parse import urljoin
from xml.etree import ElementTree

import pytest

from prosa.dialects.front import read_front
from prosa.source import SourceText
from tests.web.asking import Served
from tests.web.conftest import Serve

FOLDER = {
    "place.md": "---\nid: mdh-node\ntype: place\ntitle: A place\n"
    "actions:\n  - {id: a.b, method: GET, url: /api/b}\n---\n# x\n",
    "mdh number.md": "---\nid: 007\ntype: 1\ntitle: 42\n---\n# x\n",
    "plain.md": "# Plain\n",
    "own id.md": "---\nid: my own  id\n---\nx\n",
    "note.md": "---\ntype: note\ntitle: A note\n---\nx\n",
    "numeric.md": "---\ntitle: 2024\nid: 0x10\ntype: 1.50\n---\n# Heading\n",
    "odd.md": "---\ntitle:\ntype: [note, other]\n---\n# Odd\n",
    "empty id.md": '---\nid: ""\n---\nx\n',
    "boolean.md": "---\nid: true\ntitle: false\n---\nx\n",
    "list.md": "---\nid: [first, second]\ntitle: [a, b]\n---\n# Listed\n",
    "broken.md": "---\ntype: note\ntags: [x\n---\n# Broken\n",
    "flow.md": "---\n{title: Flow}\n---\nx\n",
    "twice-a.md": "---\nid: twice\n---\n# A\n",
    "twice-b.md": "---\nid: twice\n---\n# B\n",
    "same.md": "# Same, md\n",
    "same.markdown": "# Same, markdown\n",
    "README.MD": "# Read me\n",
    "magi.mda": "---\ntitle: Magi\n---\nx\n",
    "record.ymj": "---\nymj_spec: 0.5.0\ndoc_summary: s\nkind: log\ntitle: Log\n---\n"
    'x\n\n```json\n{"index": {}, "ops": {}}\n```\n',
    "program.md": "---\nname: adder\ndescription: Adds.\ninput: {a: number}\noutput: {b: number}\n---\nAdd.\n",
    "chat.md": "### @user:\n\nHello\n",
    "skill/SKILL.md": "---\nname: knots\ndescription: Ties knots.\n---\nTie.\n",
    "a (b/c) d & e.md": "# Brackets\n",
    "ä/漢 字.md": "# Letters\n",
    "deep/er/and/deeper.md": "# Deep\n",
    "q?x#y%41.md": "# Signs\n",
    "[l](x).md": "---\ntitle: '](/evil) <b> `x` & \"\\\\'\n---\nx\n",
    "empty.md": "",
}
LINK = re.compile(r"\[(?:[^\]\\]|\\.)*\]\(([^()\s]+)\)")


def front_matter(text: str) -> dict[str, object]:
    front = read_front(SourceText(text))
    assert front.complete
    return {entry.key.text: entry.value.text for entry in front.fields or () if hasattr(entry.value, "text")}


@pytest.mark.parametrize("layout", ["path", "id"])
def test_ha1_h6_the_index_says_what_the_nodes_say(serve: Serve, layout: str) -> None:
    """HA1a, HA1, H6, H2. Of every dialect and odd field; no two nodes have one URL; Markdown, JSON, index agree."""
    site = serve(FOLDER, layout=layout)
    told = site.get("/mdh/nodes.json").json
    assert told["spec"] == "mdh/1.0"
    urls = [each["md_url"] for each in told["nodes"]]
    assert len(set(urls)) == len(urls) >= len(FOLDER)
    for each in told["nodes"]:
        said = site.get(each["md_url"], "text/markdown")
        assert said.status == 200, each
        fields = front_matter(said.text)
        assert {name: " ".join(str(fields[name]).split()) for name in ("id", "type", "title")} == {
            name: each[name] for name in ("id", "type", "title")
        }
        links = dict(re.findall(r'<([^>]+)>; rel="alternate"; type="([^"]+)"', said["link"]))
        (twin,) = (url for url, kind in links.items() if kind == "application/json")
        json = site.get(twin).json
        assert {name: json[name] for name in ("id", "type", "title", "md_url")} == each


def test_h7_ha1_every_node_is_found_from_the_root(look: Serve) -> None:
    """H7, HA1, HA2, H1, H21. By links in Markdown, and from a README by what it `contains`; none leads nowhere."""
    site = look(FOLDER)
    nodes = site.get("/mdh/nodes.json").json["nodes"]  # two of which have one id
    seen, waiting = set[str](), ["/"]
    while waiting:
        url = waiting.pop()
        if url in seen:
            continue
        seen.add(url)
        said = site.get(url)
        assert said.status == 200, url
        if "\ntype: folder\n" in said.text:
            waiting += [urljoin(url, each) for each in LINK.findall(said.text)]
        elif said["content-location"].endswith("/index.md"):
            links = site.get(url, "application/json").json["links"]
            inside = {each["target"] for each in links if each["rel"] == "contains"}
            waiting += [each["md_url"] for each in nodes if each["id"] in inside]
    bodies = {site.get(url)["content-location"] for url in seen}
    assert bodies == {
        site.get(each["md_url"])["content-location"] for each in site.get("/mdh/nodes.json").json["nodes"]
    }
    overview = {url for url in LINK.findall(site.get("/llms.txt").text) if not url.startswith("/mdh/")}
    assert len(overview) == len(FOLDER)
    assert [url for url in overview if site.get(url).status != 200] == []


def test_h6_the_site_map_is_xml_with_every_node(look: Serve) -> None:
    """H6. Its addresses are absolute, and nothing in a name breaks it."""
    site = look(FOLDER, origin="https://harbour.example")
    tree = ElementTree.fromstring(site.get("/sitemap.xml").body)
    places = [each.text or "" for each in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert all(place.startswith("https://harbour.example/") for place in places)
    nodes = {each["md_url"] for each in site.get("/mdh/nodes.json").json["nodes"]}
    assert {place.removeprefix("https://harbour.example") for place in places} == nodes
    assert "Sitemap: https://harbour.example/sitemap.xml" in site.get("/robots.txt").text


def test_ha1_the_index_of_actions(look: Serve) -> None:
    """HA1. Each with the id of its node."""
    told = look(FOLDER).get("/mdh/actions.json").json
    assert told == {
        "spec": "mdh/1.0",
        "actions": [{"id": "a.b", "node_id": "mdh-node", "method": "GET", "url": "/api/b"}],
    }


@pytest.mark.parametrize("name", ["mdh/x.md", "healthz.md", "mdh.md", "llms.txt.md", "mdh/index.md"])
def test_h7_endpoints_win_over_files_and_the_user_hears_of_it(serve: Serve, name: str) -> None:
    """H7. However the URL is written; such a document is in no list."""
    said: list[str] = []
    site = serve({"a.md": "# A\n"})
    site.site.index.notice = said.append
    site.write(name, "# Zanzibar\n")
    site.settle()
    assert len(said) == 1
    assert name in said[0]
    stem = name.removesuffix(".md").removesuffix("index")
    for url in (f"/{stem}", f"/%6ddh/{stem[4:]}", "/mdh/nodes.json", "/", "/llms.txt"):
        assert "Zanzibar" not in site.get(url).text
    assert site.get("/healthz").json["status"] == "ok"


def test_ha7_llms_txt_and_lists_escape_what_they_name(serve: Serve) -> None:
    """HA7, H6. A title cannot make a link, a heading or a line of its own."""
    title = '"x](/evil) [y\\n\\n# Heading\\n- [z](/evil)"'
    site = serve({"a.md": f"---\ntitle: {title}\nsummary: {title}\n---\nx\n"})
    for url in ("/", "/llms.txt"):
        text = site.get(url).text
        assert "\n# Heading" not in text
        assert "/evil" not in LINK.findall(text)


def test_h6_an_error_says_nothing_of_the_machine(serve: Serve) -> None:
    """H6, X23. A document that cannot be read is as if it were not there."""
    site: Served = serve({"a.md": b"\xff\xfe\x00broken"})
    said = site.get("/a")
    assert said.status == 404
    assert str(site.root) not in said.text
