"""What stands around an article: head, landmarks, connections, properties; and whether everybody can use it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from prosa.render.page.bodies import MAX_CONTENTS
from prosa.render.page.chrome import POLICY
from prosa.render.page.model import Crumb, Frame, Page
from prosa.render.page.node import MAX_NEIGHBOURS, node_page
from prosa.site.layout import Neighbour, Neighbourhood
from tests.render.page.elements import Tree, forbidden, tree
from tests.render.page.sample import FRAME, html_of, page_of, seen
from tests.site.actions import BOOK, SAILINGS

TEXT = "# Sailings\n\n## One\n\nx\n\n### Deeper\n\n## Two\n\n## Three\n"


def _full() -> Tree:
    around = Neighbourhood((Neighbour("Rules", "/rules", "depends_on", "By law"),), (Neighbour("Fares", "/fares"),))
    page = page_of(TEXT, neighbourhood=around, fields={"tags": ["a"], "owner": {"name": "x"}}, actions=(SAILINGS, BOOK))
    return tree(node_page(replace(page, crumbs=(Crumb("Start", "/"), Crumb("Sailings", "/sailings")))))


def test_hw3_a_page_has_no_inline_script_and_no_inline_style():
    """HW3. So that the policy needs no exception."""
    assert forbidden(_full()) == []
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY
    assert "frame-ancestors 'none'" in POLICY


def test_a_page_has_its_landmarks():
    page = _full()
    for tag in ("header", "main", "aside", "footer", "article"):
        assert len(page.all(tag)) == 1
    assert page.one("a", class_="skip")["href"] == f"#{page.one('main')['id']}"
    names = [each.get("aria-label") for each in page.all("nav")]
    assert len(set(names)) == len(names)
    assert "" not in names


def test_every_field_has_a_label():
    page = _full()
    labelled = {each["for"] for each in page.all("label") if each.get("for")}
    for tag in ("input", "select", "textarea"):
        for each in page.all(tag):
            named = each.get("type") == "hidden" or each.get("aria-label") or "label" in each.inside
            assert named or each["id"] in labelled


def test_headings_come_in_order():
    page = _full()
    inside = [int(each.tag[1]) for each in page.elements if each.tag[0] == "h" and each.tag[1:].isdigit()]
    assert inside[0] == 1
    assert inside.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(inside))


def test_every_picture_has_a_description():
    assert all("alt" in each.attributes for each in _full().all("img"))


def test_ids_are_unique_and_references_lead_to_them():
    page = _full()
    ids = [each["id"] for each in page.elements if each.get("id")]
    assert len(ids) == len(set(ids))
    for name in ("aria-controls", "aria-labelledby", "aria-describedby"):
        assert {each[name] for each in page.elements if each.get(name)} <= set(ids)
    assert {each["href"][1:] for each in page.all("a") if each.get("href").startswith("#")} <= set(ids)


def test_the_search_field_works_without_a_script():
    page = _full()
    form = page.one("form", class_="find")
    assert (form["method"], form["action"]) == ("get", "/mdh/search")
    field = page.one("input", type="search")
    assert (field["name"], field["role"], field["aria-expanded"]) == ("q", "combobox", "false")
    assert page.one("div", role="listbox")["id"] == field["aria-controls"]


def test_static_files_are_searched_by_a_script_of_their_own_and_have_no_graph():
    page = seen("text", frame=replace(FRAME, live=False), derived={"id": "x"})
    assert [each.get("action") for each in page.all("form")] == ["/mdh/search.html"]
    scripts = [each["src"].partition("?")[0] for each in page.all("script")]
    assert scripts == ["/mdh/assets/search.js", "/mdh/assets/page.js"]
    assert not [each for each in page.elements if "/mdh/graph" in each.get("href") + each.get("src")]
    assert "?raw=1" not in page.seen


def test_contents_are_there_when_there_is_something_to_find():
    contents = _full().one("nav", class_="contents")
    assert contents.text.split() == ["On", "this", "page", "One", "Deeper", "Two", "Three"]
    assert seen("## One\n\n## Two\n").all("nav", class_="contents") == []
    many = seen("## a\n" * (MAX_CONTENTS + 50))
    assert len([each for each in many.all("li") if each.get("class") == "depth-1"]) == MAX_CONTENTS


def test_connections_are_grouped_and_say_their_notes():
    around = Neighbourhood(
        (
            Neighbour("Rules", "/rules", "depends_on", "By law"),
            Neighbour("Sea", "https://sea.example/", "depends_on", "", True),
            Neighbour("Lost", "", "cites"),
        ),
        (Neighbour("Fares", "/fares"),),
        (Neighbour("Start", "/"),),
    )
    page = seen("text", neighbourhood=around, frame=Frame("F", prefix="/docs"))
    groups = [each.text.split() for each in page.all("section", class_="group")]
    assert [each[0] for each in groups] == ["depends_on", "cites", "Links", "Linked", "Around"]
    assert "By law" in page.one("aside").text
    assert page.one("a", href="/docs/rules").text == "Rules"
    assert page.one("a", href="https://sea.example/")["rel"].startswith("noopener")
    assert page.one("span", class_="missing").text == "Lost"


def test_long_lists_are_cut_and_say_so():
    many = tuple(Neighbour(f"n{number}", f"/n{number}", f"rel{number % 3}") for number in range(MAX_NEIGHBOURS + 30))
    page = seen("text", neighbourhood=Neighbourhood(many, many, many))
    links = [each for each in page.all("a") if each.get("href").startswith("/n")]
    assert len(links) == 3 * MAX_NEIGHBOURS
    assert page.one("aside").text.count("and 30 more") == 3


def test_a_graph_that_is_being_built_says_so():
    building = tree(node_page(replace(page_of("text"), neighbourhood=None)))
    assert "are being read" in building.one("aside").text
    assert building.all("img") == []
    ready = seen("text", url="/a b&c/ä", neighbourhood=Neighbourhood(backlinks=(Neighbour("Start", "/"),)))
    assert seen("text").all("img") == []
    assert ready.one("img")["src"] == "/mdh/graph.svg?around=%2Fa%20b%26c%2F%C3%A4&small=1"
    assert ready.one("a", class_="picture")["href"] == "/mdh/graph?around=%2Fa%20b%26c%2F%C3%A4"


@pytest.mark.parametrize(
    ("url", "markdown", "json"),
    [
        ("/", "/d/index.md", "/d/index.json"),
        ("/a/", "/d/a/index.md", "/d/a/index.json"),
        ("/a", "/d/a.md", "/d/a.json"),
    ],
)
def test_the_other_forms_are_named(url: str, markdown: str, json: str):
    page = seen("text", url=url, frame=Frame("F", prefix="/d", origin="https://f.example"))
    assert page.one("link", rel="alternate", type="text/markdown")["href"] == markdown
    assert page.one("link", rel="alternate", type="application/json")["href"] == json
    assert page.one("a", type="text/markdown")["href"] == markdown
    assert page.one("link", rel="canonical")["href"] == f"https://f.example/d{url}"


def test_the_file_as_written_is_offered_where_it_differs():
    assert [each.text for each in seen("x", derived={"id": "x"}).all("a") if "raw=1" in each.get("href")] == [
        "As written"
    ]
    assert "raw=1" not in seen("x").seen


def test_properties_are_text_and_lists_are_tags():
    page = seen("text", fields={"owner": "Ada", "tags": ["a", "b"], "deep": {"x": [1]}, "none": None, "actions": [{}]})
    panel = page.one("details", class_="properties")
    assert "open" not in panel.attributes
    assert "actions" not in panel.text
    assert [each.text for each in page.all("dt")] == ["owner", "tags", "deep", "none"]
    assert [each.text for each in page.all("span", class_="tag")] == ["a", "b"]


def test_ha22_aliases_are_shown_and_lead_nowhere():
    """HA22."""
    page = seen("text", "mdh", fields={"aliases": ["Ferry times"]})
    assert "Ferry times" in page.one("details", class_="properties").text
    assert not [each for each in page.all("a") if each.text == "Ferry times"]


@pytest.mark.parametrize(
    ("field", "lang"),
    [
        ("sv", "sv"),
        ("pt-BR", "pt-BR"),
        ("x y", "en"),
        ('"><b>', "en"),
        (7, "en"),
        ("", "en"),
        ("english language", "en"),
    ],
)
def test_the_language_is_that_of_the_document(field: object, lang: str):
    page = seen("text", fields={"language": field})
    assert page.one("html")["lang"] == lang
    assert page.one("footer").get("lang") == ("" if lang == "en" else "en")


def test_a_summary_that_was_derived_is_not_repeated():
    assert seen("text", summary="Short").one("p", class_="lead").text == "Short"
    assert seen("text", summary="Short", derived={"summary": "Short"}).all("p", class_="lead") == []


def test_notices_are_said():
    assert (
        seen("x", frame=Frame("F", more=("3 documents are private <b>",)))
        .one("p", class_="notice")
        .text.endswith("<b>")
    )


def test_breadcrumbs_lead_back():
    page: Page = replace(page_of("x", frame=Frame("F", prefix="/d")), crumbs=(Crumb("Start", "/"), Crumb("A", "/a/")))
    links = [each for each in tree(node_page(page)).all("a") if "nav" in each.inside and "aside" not in each.inside]
    assert [each["href"] for each in links] == ["/d/", "/d/a/"]
    assert "aria-current" not in node_page(page)  # none of them is the page itself


def test_a_page_is_small():
    assert len(html_of("text").encode()) < 4_000


def test_signing_in_and_out_return_to_the_page():
    out = seen("x", frame=Frame("F", prefix="/d", can_run=True), url="/a b")
    assert out.one("a", href="/d/mdh/sign-in?back=%2Fd%2Fa%20b").text == "Sign in"
    page = seen("x", frame=Frame("F", prefix="/d", can_run=True, signed_in=True, csrf="c"))
    form = next(each for each in page.all("form") if "footer" in each.inside)
    assert (form["method"], form["action"]) == ("post", "/d/mdh/sign-out")
    assert [each["value"] for each in page.all("input", type="hidden")] == ["c", "/d/doc"]
    assert "mdh/sign" not in seen("x").seen
