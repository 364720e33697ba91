"""`--follow`: which link is meant, and that no step leaves the site unasked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prosa.site.follow import leads
from prosa.site.node import node_of_text
from tests.app.client.visit.site import FERRY, Site, markdown, moved
from tests.app.client.visit.visiting import facts, visit


@pytest.mark.parametrize(
    ("what", "id_"),
    [
        ("1", "ferry"),
        ("5", "ferry"),
        ("has", "ferry"),
        ("ferry", "ferry"),
        ("/ferry", "ferry"),
        ("HAS", "ferry"),
        ("rules", "rules"),
        ("url:/rules", "rules"),
        ("small boats", "boats"),
        ("Small Boats", "boats"),
        ("boats/", "boats"),
        ("/boats/", "boats"),
        ("Tides", None),
        ("/tide-table", None),
    ],
)
def test_h3_a_link_is_meant_by_any_of_its_names(site: Site, what: str, id_: str | None):
    """H3, H4, HA4, HA9: number, rel, target, text, destination, path."""
    assert facts(site.url, "--follow", what)["id"] == id_


def test_steps_follow_each_other(site: Site):
    found = facts(site.url, "--follow", "small boats", "--follow", "one")
    assert (found["id"], found["url"]) == ("boat-one", f"{site.url}/boats/one")
    assert site.paths() == ["/", "/boats/", "/boats/one"]


def test_ha1_an_index_says_where_a_node_is(site: Site):
    """HA1, HA4: it is asked for only where the page does not say, and need not be there."""
    site.pages["/lonely"] = markdown("---\nid: l\nlinks: [{rel: next, target: boat-one}]\n---\n")
    status, at = visit(f"{site.url}/lonely", "--follow", "next")
    assert status == 2 and "neither the page nor an index locates the node 'boat-one' is" in at.err
    index: Any = {"spec": "mdh/1.0", "nodes": [{"id": "boat-one", "md_url": "/boats/one"}, {"id": 3}, "x"]}
    site.pages["/mdh/nodes.json"] = (200, "application/json", json.dumps(index).encode(), {})
    assert facts(f"{site.url}/lonely", "--follow", "boat-one")["id"] == "boat-one"
    site.asked.clear()
    assert facts(site.url, "--follow", "1")["id"] == "ferry"
    assert "/mdh/nodes.json" not in [path for path, _ in site.asked]


@pytest.mark.parametrize(
    ("what", "status", "said"),
    [
        ("nope", 2, "it has 1 (has: ferry), 2 (rules: url:/rules)"),
        ("99", 2, "no link of"),
        ("write", 2, "it is not a web page"),
        ("away", 2, "another site"),
        ("weather", 2, "--any-origin"),
        ("", 2, "no link of"),
    ],
)
def test_what_cannot_be_followed_says_why(site: Site, what: str, status: int, said: str):
    found, at = visit(site.url, "--follow", what)
    assert (found, said in at.err) == (status, True), at.err
    assert site.paths() == ["/"]


def test_two_links_of_one_name_need_a_number(site: Site):
    site.pages["/two"] = markdown("[here](/ferry) and [here](/rules)\n")
    status, at = visit(f"{site.url}/two", "--follow", "here")
    assert status == 2 and "follow one by its number: 1, 2" in at.err
    site.pages["/two"] = markdown("[here](/ferry) and [here](/ferry#top)\n")
    assert facts(f"{site.url}/two", "--follow", "here")["id"] == "ferry"
    status, at = visit(f"{site.url}/tide-table", "--follow", "1")
    assert status == 2 and "has no links" in at.err


def test_a_page_of_many_links_is_numbered():
    """X9: each target is looked up, not searched for."""
    typed = "".join(f"- {{rel: r, target: n{number}}}\n" for number in range(3_000))
    inline = "".join(f"[n{number}](/at/{number}) [x](/n{number})\n" for number in range(3_000))
    node = node_of_text(f"---\nlinks:\n{typed}---\n{inline}", "x", url="https://x.example/")
    assert [lead.url for lead in leads(node)[:3_000]] == [f"https://x.example/at/{number}" for number in range(3_000)]


def test_x8_another_origin_needs_a_word_and_gets_no_token(site: Site):
    """X8, HA12."""
    site.pages["/out"] = markdown(f"[out]({site.other}/ferry)\n")
    words = (f"{site.url}/out", "--follow", "out", "--token-env", "T", "--allow-private")
    status, at = visit(*words, environ={"T": "s3cret"})
    assert status == 2 and "another site" in at.err and site.paths() == ["/out"]
    assert facts(*words, "--any-origin", environ={"T": "s3cret"})["id"] == "ferry"
    assert [headers.get("authorization") for _, headers in site.asked][-2:] == ["Bearer s3cret", None]


def test_x8_only_what_was_typed_is_asked_on_this_machine(site: Site):
    """X8: a link or redirect to another origin of this machine, or to a private address, needs the flag."""
    site.pages["/out"] = markdown(f"[out]({site.other}/ferry) [metadata](http://169.254.169.254/x)\n")
    for what in ("out", "metadata"):
        status, at = visit(f"{site.url}/out", "--follow", what, "--any-origin")
        assert status == 1 and "--allow-private" in at.err
    site.pages["/gone"] = moved(f"{site.other}/ferry")
    status, at = visit(f"{site.url}/gone")
    assert status == 1 and "--allow-private" in at.err
    status, at = visit(f"{site.url}/gone", "--allow-private")
    assert status == 1 and "on another origin" in at.err
    assert facts(f"{site.url}/gone", "--allow-private", "--any-origin")["url"] == f"{site.other}/ferry"


@pytest.mark.parametrize(
    ("path", "said"),
    [("/missing", "404"), ("/rounds", "redirects more than"), ("/large", "--max-size"), ("/picture", "is image/png")],
)
def test_x9_what_ends_a_visit(site: Site, path: str, said: str):
    site.pages["/rounds"] = moved("/rounds")
    site.pages["/large"] = markdown("x" * 5_000)
    site.pages["/picture"] = (200, "image/png", b"\x89PNG\x1b[2J", {})
    status, at = visit(f"{site.url}{path}", "--max-size", "3000")
    assert (status, at.out, said in at.err) == (1, "", True), at.err
    site.pages["/to"] = markdown(f"[next]({path})\n" + FERRY)
    status, at = visit(f"{site.url}/to", "--follow", "next", "--max-size", "3000")
    assert (status, said in at.err) == (1, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ferries.example"], "https://"),
        (["http://user:pw@x.example/"], "a name or a password"),
        (["http://x.example/", "--max-pages", "3"], "add --crawl DIR"),
        (["http://x.example/", "--refresh"], "add --crawl DIR"),
        (["http://x.example/", "--crawl", "d", "--follow", "x"], "--follow"),
        (["http://x.example/", "--crawl", "d", "--format", "markdown"], "one page"),
        (["http://x.example/", "--crawl", "d", "--max-pages", "100001"], "100,000"),
        (["http://x.example/", "--crawl", "d", "--delay", "x"], "expected a time"),
        (["http://x.example/", "--crawl", "d", "--max-depth", "-1"], "number of links"),
        (["http://x.example/", "--token-env", "NONE"], "no such variable"),
        (["http://x.example/", *["--follow", "x"] * 101], "at most 100"),
    ],
)
def test_wrong_use(words: list[str], said: str):
    status, at = visit(*words)
    assert (status, said in at.err) == (2, True), at.err
