"""Results of a search, and pages that only say something."""

from __future__ import annotations

from prosa.render.page.chrome import MAX_TYPED, hits_fragment, marked, message_page, search_page, sign_in_page
from prosa.render.page.model import Crumb, Frame, MessagePage, SearchHit, SearchPage
from tests.render.page.elements import tree

FRAME = Frame("Ferries", prefix="/docs", csrf="c")
HITS = (
    SearchHit("Sailings", "/sailings", "Timetable", "the last ferry leaves", ((9, 14),)),
    SearchHit("Fares", "/fares", "Fares", "x"),
)


def test_results_are_links_with_their_passages():
    page = tree(search_page(SearchPage(FRAME, "ferry & co", HITS)))
    assert page.one("title").text == "Search: ferry & co · Ferries"
    assert [each["href"] for each in page.all("a") if "h2" in each.inside] == ["/docs/sailings", "/docs/fares"]
    assert page.one("mark").text == "ferry"
    assert [each.text for each in page.all("p", class_="heading")] == ["Timetable"]
    assert {each["value"] for each in page.all("input")} == {"ferry & co"}
    assert "2 pages" in page.one("p", class_="count").text


def test_pages_of_one_title_say_which_they_are():
    """The notes of a vault have the same names in the folders of several languages."""
    same = (SearchHit("Home", "/en/Home#a%20b", "", "x"), SearchHit("Home", "/de/Home%20page", "", "x"), *HITS)
    page = SearchPage(FRAME, "x", (*same, SearchHit("Fares", "/fares#more", "Fares", "y")))
    assert [each.text for each in tree(search_page(page)).all("p", class_="heading")] == [
        "/en/Home",
        "/de/Home page",
        "Timetable",
    ]
    assert [each.text for each in tree(hits_fragment(page)).all("i")] == ["/en/Home", "/de/Home page", "Timetable"]


def test_nothing_found_is_said():
    assert "Nothing was found" in tree(search_page(SearchPage(FRAME, "x"))).one("main").text
    empty = tree(search_page(SearchPage(FRAME, " ")))
    assert empty.all("p", class_="count") == []


def test_an_index_that_is_being_built_and_a_bad_query_are_said():
    assert "being built" in tree(search_page(SearchPage(FRAME, "x", ready=False))).one("main").text
    assert (
        tree(search_page(SearchPage(FRAME, "x", complaint="a quote is open"))).one("p", role="alert").text
        == "a quote is open"
    )


def test_marks_outside_the_text_are_left_out():
    hit = SearchHit("", "", "", "abcdef", ((4, 99), (-3, 2), (1, 3), (2, 5), (3, 3)))
    assert marked(hit) == [(False, "a"), (True, "bc"), (False, "d"), (True, "ef")]
    assert "".join(text for _, text in marked(hit)) == hit.snippet


def test_the_list_under_the_field_is_made_of_options():
    many = tuple(SearchHit(f"T{number}", f"/t{number}", "", "s") for number in range(20))
    page = tree(hits_fragment(SearchPage(FRAME, "a&b", many)))
    options = page.all("a", role="option")
    assert len(options) == MAX_TYPED + 1
    assert options[-1]["href"] == "/docs/mdh/search?q=a%26b"
    assert len({each["id"] for each in options}) == len(options)
    assert {each["aria-selected"] for each in options} == {"false"}
    assert page.all("html") == []


def test_the_list_says_when_there_is_nothing():
    assert "Nothing found" in hits_fragment(SearchPage(FRAME, "x"))
    assert "being built" in hits_fragment(SearchPage(FRAME, "x", ready=False))
    assert "no good" in hits_fragment(SearchPage(FRAME, "x", HITS, complaint="no good"))


def test_a_message_has_its_links():
    page = tree(
        message_page(MessagePage(FRAME, "Not here", "No page is there.", (Crumb("Near", "/near"), Crumb("x", ""))))
    )
    assert page.one("h1").text == "Not here"
    assert page.one("a", href="/docs/near").text == "Near"


def test_signing_in_is_a_form():
    page = tree(sign_in_page(FRAME, back="/docs/lamp?x=1", failed=False))
    form = next(each for each in page.all("form") if each["method"] == "post")
    assert form["action"] == "/docs/mdh/sign-in"
    assert page.one("input", name="back")["value"] == "/docs/lamp?x=1"
    assert page.one("input", name="csrf")["value"] == "c"
    assert page.one("input", name="token")["type"] == "password"
    assert page.all("p", role="alert") == []
    failed = tree(sign_in_page(FRAME, back="/", failed=True))
    assert failed.one("input", name="token")["aria-describedby"] == failed.one("p", role="alert")["id"]
