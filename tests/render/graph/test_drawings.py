"""SVG and the page: valid, inert whatever documents say, readable by everybody, without anything from outside."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from math import hypot, sqrt

import pytest
from hypothesis import given, settings

from prosa.dialects.table import DIALECTS
from prosa.graph.node import Edge, Node
from prosa.graph.selection import GraphFilter, Selection, select
from prosa.render.graph.html import MAX_STILL, html, relative_href
from prosa.render.graph.reports import drawn_line
from prosa.render.graph.scene import scene
from prosa.render.graph.style import (
    DARK_GROUND,
    EDGE_STYLES,
    LIGHT_GROUND,
    NODE_STYLES,
    edge_looks,
    edge_style,
    one_line,
)
from prosa.render.graph.svg import Caption, line_path, svg
from tests.depth import examples
from tests.render.graph.corpora import corpus
from tests.render.graph.hostile import NASTY, graphs

SVG = "{http://www.w3.org/2000/svg}"
CAPTION = Caption("Handbook", "3 documents")
VOID = {"meta", "input"}


class Page(HTMLParser):
    """What a browser makes of the page: elements with attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def page_of(chosen: Selection, prefix: str = "..") -> str:
    return html(scene(chosen), CAPTION, relative_href(prefix))


@settings(max_examples=examples(40), deadline=None)
@given(graphs())
def test_hostile_texts_stay_texts_in_svg(chosen: Selection):
    root = ET.fromstring(svg(scene(chosen), Caption("<b>", "&")).encode("utf-8"))
    allowed = {"svg", "title", "desc", "style", "defs", "marker", "path", "rect", "text", "tspan", "g"}
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= allowed
    shown = [each.findtext(f"{SVG}title") for each in root.iter(f"{SVG}path") if each.find(f"{SVG}title") is not None]
    assert len(shown) == len(chosen.nodes) + len(chosen.ghosts)
    for node, text in zip(chosen.nodes, shown, strict=False):
        assert one_line(node.path) in str(text)


@settings(max_examples=examples(40), deadline=None)
@given(graphs())
def test_hostile_texts_stay_texts_in_the_page(chosen: Selection):
    page = Page(page_of(chosen))
    assert page.open == []
    assert len(page.all("script")) == 2
    assert page.all("img") == page.all("iframe") == page.all("form") == page.all("link") == []
    assert not any(name.startswith("on") or name == "style" for _, attrs in page.elements for name in attrs)
    data = json.loads(page.texts["script"][0])
    assert [row[0] for row in data["nodes"]] == [mark.name for mark in scene(chosen).marks]
    assert [row[5] for row in data["nodes"] if len(row) > 5] == [one_line(node.path) for node in chosen.nodes]
    links = [attrs["href"] for attrs in page.all("a")] + [row[6] for row in data["nodes"] if len(row) > 6]
    assert all(str(link).startswith("../") for link in links)


def test_the_policy_of_the_page_lets_its_own_style_and_script_run_and_nothing_else():
    text = page_of(select(*corpus(12), GraphFilter()))
    policy = next(meta["content"] for meta in Page(text).all("meta") if "http-equiv" in meta)
    css = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    assert css is not None
    assert script is not None
    hashes = [b64encode(sha256(each[1].encode()).digest()).decode() for each in (css, script)]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_neither_drawing_names_anything_outside_itself():
    chosen = select(*corpus(30), GraphFilter())
    for text in (page_of(chosen), svg(scene(chosen), CAPTION)):
        addresses = set(re.findall(r"(?:https?:)?//[\w.]+[^\s\"'<]*", text))
        assert {each for each in addresses if "://" in each} <= {"http://www.w3.org/2000/svg"}
        assert "@import" not in text
        assert "fetch(" not in text
        assert "XMLHttpRequest" not in text


@pytest.mark.parametrize(
    ("prefix", "link"),
    [
        ("..", "../a%20b.md"),
        ("../docs", "../docs/a%20b.md"),
        (".", "./a%20b.md"),
        ("", "./a%20b.md"),
        ("docs", "./docs/a%20b.md"),
        ("/srv/docs", "/srv/docs/a%20b.md"),
        ("/", "/a%20b.md"),
        ("javascript:x", "./javascript%3Ax/a%20b.md"),
    ],
)
def test_links_lead_from_the_page_to_the_file(prefix: str, link: str):
    assert relative_href(prefix)("a b.md") == link


def test_no_name_of_a_file_makes_a_link_anything_but_a_path():
    for name in NASTY:
        assert re.fullmatch(r"\./[A-Za-z0-9/._~!$'()*+,;=@%-]*", relative_href(".")(name))


def test_a_small_page_holds_the_still_drawing_and_every_page_the_list():
    few, many = select(*corpus(40), GraphFilter()), select(corpus(MAX_STILL + 1)[0], (), GraphFilter())
    assert page_of(few).count('role="img"') == 1
    text = page_of(many)
    assert 'role="img"' not in text
    assert len(Page(text).all("li")) == MAX_STILL + 1


def test_a_drawing_says_in_words_what_it_shows():
    root = ET.fromstring(svg(scene(select(*corpus(30), GraphFilter())), CAPTION))
    assert root.get("role") == "img"
    names = str(root.get("aria-labelledby")).split()
    words = [each.text for each in root if each.get("id") in names]
    assert words[0] == "Handbook"
    assert str(words[1]).startswith("3 documents. Most linked: ")


def test_light_dark_and_paper_have_colours_of_their_own():
    text = svg(scene(select(*corpus(5), GraphFilter())), CAPTION)
    assert "@media (prefers-color-scheme:dark)" in text
    assert "@media print" in text
    assert LIGHT_GROUND in text
    assert DARK_GROUND in text


def test_every_dialect_has_a_shape_and_a_colour_of_its_own():
    assert {row.name for row in DIALECTS} <= {style.name for style in NODE_STYLES}
    for part in ("shape", "light", "dark", "title"):
        values = [getattr(style, part) for style in NODE_STYLES]
        assert len(set(values)) == len(values)


def test_every_rel_has_a_line_of_its_own_without_its_colour():
    looks = [(style.dash, style.width) for style in EDGE_STYLES]
    assert len(set(looks)) == len(looks)


@pytest.mark.parametrize(
    ("rel", "name"),
    [(None, "link"), ("child", "parent"), ("cited-by", "citation"), ("contradicts", "contradicts"), ("x", "other")],
)
def test_x21_a_rel_and_its_inverse_look_the_same(rel: str | None, name: str):
    assert edge_style(Edge("a", "b", rel, "footnote", 1, "resolved")).name == name


def test_colours_stand_out_from_the_ground():
    for style in (*NODE_STYLES, *EDGE_STYLES):
        assert _contrast(style.light, LIGHT_GROUND) >= 3, style.name
        assert _contrast(style.dark, DARK_GROUND) >= 3, style.name


def test_the_legend_lists_what_occurs_with_numbers():
    nodes = (Node("a", "a.md", "magi"), Node("b", "b.md", "ymj"), Node("c", "c.md", "ymj"))
    edges = (
        Edge("a", "b", "contradicts", "footnote", 1, "resolved"),
        Edge("a", "gone", None, "inline", 2, "unresolved"),
    )
    root = ET.fromstring(svg(scene(select(nodes, edges, GraphFilter(), ghosts=True)), CAPTION))
    texts = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    assert {"MAGI 1", "YMJ 2", "missing 1", "contradicts 1", "link 1"} <= set(texts)


def _contrast(one: str, other: str) -> float:
    """WCAG 2.2, relative luminance and contrast ratio."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("neighbours", [0, 1, 12, 90])
def test_x21_the_loop_of_a_node_that_points_at_itself_is_in_the_drawing(neighbours: int):
    """X21. As the arc is drawn: a circle through its two ends, at least as wide as they are apart."""
    nodes = tuple(Node(f"n{at}", f"n{at}.md", "plain", f"N{at}") for at in range(neighbours + 1))
    edges = (*(Edge("n0", node.id, None, "wikilink", 1, "resolved") for node in nodes),)
    drawn = scene(select(nodes, edges, GraphFilter()))
    (loop,) = (line for line in drawn.lines if line.source == line.target)
    mark = drawn.marks[loop.source]
    gaps = (mark.radius + 1.5, mark.radius + 3)
    path = line_path((mark.x, mark.y), (mark.x, mark.y), 0, gaps)
    x, y, wide, _, _, _, _, right, down = map(float, re.findall(r"-?[0-9.]+", path))
    apart = hypot(right, down)
    radius = max(wide, apart / 2)
    away = sqrt(max(0.0, radius**2 - apart**2 / 4))
    middle = (x + right / 2 + away * down / apart, y + down / 2 - away * right / apart)
    assert middle[1] - radius >= drawn.box.top
    assert middle[0] + radius <= drawn.box.right


def test_x21_types_of_connections_are_told_apart_and_named():
    """X21."""
    nodes = tuple(Node(name, f"{name}.md", "plain") for name in "abcd")
    rels = ["in_section", "in_section", "next <b>", "wikilink", "type-1", "parent"]
    edges = [Edge("a", "bcd"[at % 3], rel, "front-matter", at, "resolved") for at, rel in enumerate(rels)]
    edges += [Edge("a", "b", None, origin, 9, "resolved") for origin in ("inline", "wikilink", "import")]
    drawn = scene(select(nodes, edges, GraphFilter()))
    looks = {line.kind: (line.style.light, line.style.dash) for line in drawn.lines}
    assert set(looks) == {"in_section", "next <b>", "wikilink", "type-1", "parent", "link", "import"}
    assert len(set(looks.values())) == len(looks)
    root = ET.fromstring(svg(drawn, CAPTION))
    texts = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    assert {"in_section 2", "next <b> 1", "link 1", "wikilink 1", "import 1"} <= set(texts)
    for looks_of in (edge_looks(edges), edge_looks(reversed(edges))):
        assert {kind: style.light for kind, style in looks_of.items()} == {k: v[0] for k, v in looks.items()}


def test_x21_more_types_than_looks_share_one():
    """X21."""
    edges = [Edge("a", "b", f"t{at}", "footnote", 1, "resolved") for at in range(40) for _ in range(at + 1)]
    looks = edge_looks(edges)
    assert [kind for kind, style in looks.items() if style.name != "other"] == [
        "t39",
        "t38",
        "t37",
        "t36",
        "t35",
        "t34",
    ]
    assert len({style.name for style in looks.values()}) == 7


def test_every_type_of_connection_has_a_colour_of_its_own():
    for part in ("light", "dark"):
        values = [getattr(style, part) for style in EDGE_STYLES if style.name != "other"]
        assert len(set(values)) == len(values)


def test_the_head_of_a_drawing_says_how_it_counts():
    nodes = (Node("a", "a.md", "plain"), Node("b", "b.md", "plain"))
    twice = select(nodes, [Edge("a", "b", None, "inline", line, "resolved") for line in (1, 2, 3)], GraphFilter())
    assert drawn_line(twice, len(scene(twice).lines)) == "2 documents · 3 connections · drawn as 1 line"
    once = select(nodes, [Edge("a", "b", None, "inline", 1, "resolved")], GraphFilter())
    assert drawn_line(once, len(scene(once).lines)) == "2 documents · 1 connection"
