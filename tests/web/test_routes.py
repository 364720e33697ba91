"""Y12: a record lives at its route, is described by what it says for search engines, and its layout is a class."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa import check
from prosa.dialects.mdh.url import decoded, is_reserved, route_url
from tests.web.conftest import Serve


def record(route: object, layout: str = "wide") -> str:
    page = {"route": route, "layout": layout, "seo": {"description": "About fog"}}
    footer = json.dumps({"schema": {}, "ops": {"page": page}})
    return f"---\nkind: page\nsubject: Fog\n---\n# Fog\n\n```json\n{footer}\n```\n"


def test_y12_a_record_lives_at_its_route(serve: Serve) -> None:
    """Y12, H7, HA2. In every form, in the indexes, and as the target of links; its file answers too."""
    served = serve({"notes/t.ymj": record("/weather/fog"), "a.md": "# A\n\n[fog](notes/t.ymj)\n"})
    assert served.get("/weather/fog", "application/json").json["md_url"] == "/weather/fog"
    assert served.get("/weather/fog.md").kind == "text/markdown"
    assert served.get("/notes/t.ymj", "application/json").json["md_url"] == "/weather/fog"
    assert "/weather/fog" in {each["md_url"] for each in served.get("/mdh/nodes.json").json["nodes"]}
    assert 'href="/weather/fog"' in served.get("/a", "text/html").text
    page = served.get("/weather/fog", "text/html").text
    assert '<meta name="description" content="About fog">' in page and 'class="sheet layout-wide"' in page
    assert "(/weather/fog.md): About fog" in served.get("/llms.txt").text


@pytest.mark.parametrize(
    "route",
    ["/../etc", "//evil.example/x", "https://evil.example", "/mdh/search", "/.git/x", "/a", "/", "/x//", "/x.html", "",
     "x:y", "a/", "/node/a", "/x?y", "/x#y", "/a\\b", "/llms.txt", 7, None],
)  # fmt: skip
def test_y12_a_route_that_cannot_be_leaves_a_record_where_it_is(serve: Serve, route: object) -> None:
    """Y12, X23. Nothing of the site or of another node is taken, nothing leads out of it."""
    served = serve({"t.ymj": record(route, 'x" onload="y'), "a.md": "# A\n"})
    assert served.get("/t.ymj", "application/json").json["md_url"] == "/t.ymj"
    assert "# A" in served.get("/a").text
    assert 'class="sheet">' in served.get("/t.ymj", "text/html").text


def test_y12_of_two_records_at_one_route_the_first_has_it(serve: Serve) -> None:
    """Y12, H7."""
    served = serve({"b.ymj": record("/fog"), "a.ymj": record("/fog")})
    urls = {each["id"]: each["md_url"] for each in served.get("/mdh/nodes.json").json["nodes"]}
    assert (urls["a.ymj"], urls["b.ymj"]) == ("/fog", "/b.ymj")
    assert served.site.index.catalogue.unrouted == (("b.ymj", "/fog", "'a.ymj' is there"),)


@pytest.mark.parametrize("route", ["/hello", "/hello/", "hello", "hello/", " /hello "])
def test_y12_slashes_around_a_route_make_no_difference(serve: Serve, route: str) -> None:
    """Y12. One URL in every spelling."""
    served = serve({"t.ymj": record(route)})
    assert served.get("/hello", "application/json").json["md_url"] == "/hello"
    assert served.site.index.catalogue.unrouted == ()
    assert [each for each in check(served.site.root) if each.rule == "unusable-route"] == []


@pytest.mark.parametrize(
    ("route", "why"),
    [
        ("/a", "'a.md' is there"),
        ("/mdh/x", "`/mdh` belongs to the site itself"),
        ("/node", "`/node` belongs to the site itself"),
        ("/x.html", "`.html` asks for a form of another node"),
        ("/x?y", "`?` is not allowed in it"),
        ("/", "the root of the site belongs to its index"),
        ("https://evil.example", "`https:` leads away from the site"),
        ("//evil.example", "a part of it is empty or begins with a dot, it has odd characters, or it is too long"),
    ],
)
def test_y12_why_a_record_is_not_at_its_route_is_said(serve: Serve, route: str, why: str) -> None:
    """Y12, X30. By a site and by a check."""
    served = serve({"t.ymj": record(route), "a.md": "# A\n"})
    assert served.site.index.catalogue.unrouted == (("t.ymj", route, why),)
    found = [each.message for each in check(served.site.root) if each.rule == "unusable-route"]
    assert len(found) == 1 and (why in found[0] or "is the URL of a.md too" in found[0])


def test_y12_check_refuses_the_routes_that_a_site_refuses(serve: Serve) -> None:
    """Y12, X30."""
    routes = ["/fog", "/fog", "/../x", "/mdh/graph", "/a", "/a.md", "/r5.ymj", "/r1.ymj", "/é", "x", "/in/", "/in", ""]
    files = {f"r{number}.ymj": record(route) for number, route in enumerate(routes)}
    served = serve(files | {"a.md": "# A\n", "in/index.md": "# In\n"})
    refused = {path for path, *_ in served.site.index.catalogue.unrouted}
    found = {Path(each.path).name for each in check(served.site.root) if each.rule == "unusable-route"}
    assert found == refused and {"r1.ymj", "r2.ymj", "r4.ymj"} <= refused, (found, refused)


@given(st.text("/.%\\ab#?é:\x00 ", max_size=12).map("/{}".format) | st.text(max_size=20))
def test_y12_every_route_stays_inside_the_site(route: str) -> None:
    """Y12, X23."""
    url = route_url(route)
    if url:
        path = decoded(url.encode("ascii"))
        assert path is not None and not path.endswith("/") and not is_reserved(url)
        assert not {"", ".", ".."} & set(path[1:].split("/"))
        assert route_url(f"{path}/") == url
