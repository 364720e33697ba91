"""Going through a site: the actions of a page are tools while a run is there (X15, H1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from prosa.app.options import Options
from prosa.app.run.load import load_program
from prosa.runtime.events import ToolCalled, ToolsOffered
from prosa.settings import Settings
from tests.app.run.site_tools.runs import calls, loaded, run, text_of, visit
from tests.app.run.site_tools.site import Site

HOME_TOOLS = ["visit", "mdh__tides_next", "mdh__berths_book"]
FERRY_TOOLS = ["visit", "mdh__sailings_list", "mdh__crew_list"]


def test_x15c_the_actions_of_the_page_a_run_is_on_are_its_tools(site: Site, tmp_path: Path):
    ran = run(loaded(tmp_path, site.url), visit("/ferries"), visit("home"))
    assert ran.error is None
    assert [ran.names(at) for at in range(3)] == [HOME_TOOLS, FERRY_TOOLS, HOME_TOOLS]
    offered = [list(event.tools) for event in ran.events if isinstance(event, ToolsOffered)]
    assert offered == [HOME_TOOLS, FERRY_TOOLS, HOME_TOOLS]
    assert {event.kind for event in ran.events if isinstance(event, ToolCalled)} == {"action"}
    assert ran.tools_called == 2


def test_x15c_an_action_is_called_with_typed_arguments(site: Site, tmp_path: Path):
    ran = run(loaded(tmp_path, site.url), calls(("mdh__tides_next", {"place": "Kiel", "day": "monday"})))
    assert ran.results == ['{"day":["monday"],"at":"5"}']
    parameters = ran.tool(0, "mdh__tides_next").parameters
    assert parameters["required"] == ["place", "day"] and set(parameters["properties"]) == {"place", "day"}
    body = ran.tool(0, "mdh__berths_book").parameters
    assert body["required"] == ["body"]
    assert body["properties"]["body"]["properties"]["metres"] == {"$ref": "#/properties/body/$defs/length"}


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("mdh__tides_next", {"place": "Kiel"}, "day"),
        ("mdh__tides_next", {"place": "Kiel", "day": "x", "more": 1}, "more"),
        ("mdh__berths_book", {"body": {"name": "Ada", "metres": 0}}, "/body/metres"),
        ("mdh__tides_next", {"place": "..", "day": "x"}, "leads elsewhere"),
    ],
)
def test_x15c_arguments_that_do_not_fit_are_refused_before_anything_is_sent(
    site: Site, tmp_path: Path, name: str, arguments: dict[str, object], why: str
):
    ran = run(loaded(tmp_path, site.url), calls((name, arguments)), allow_actions=True)
    assert ran.results[0].startswith("error: ") and why in ran.results[0]
    assert [each.path for each in site.asked] == ["/"]


def test_x15c_a_tool_of_a_page_that_was_left_says_where_it_is(site: Site, tmp_path: Path):
    book = calls(("mdh__berths_book", {"body": {"name": "Ada"}}))
    ran = run(loaded(tmp_path, site.url), visit("1"), book, allow_actions=True)
    assert ran.results[1] == f"error: mdh__berths_book is an action of {site.url}/; visit that page first, then call it"
    assert site.of("/api/berths") == []


def test_the_calls_of_one_reply_are_those_of_the_page_it_was_asked_on(site: Site, tmp_path: Path):
    both = calls(("visit", {"to": "/ferries"}), ("mdh__tides_next", {"place": "Kiel", "day": "x"}))
    ran = run(loaded(tmp_path, site.url), both)
    assert ran.results[1] == '{"day":["x"],"at":"5"}'


@pytest.mark.parametrize("to", ["/ferries", "ferries", "1", "FERRIES", "./ferries"])
def test_a_page_is_reached_by_path_number_and_text(site: Site, tmp_path: Path, to: str):
    ran = run(loaded(tmp_path, site.url), visit(to))
    assert ran.results[0].startswith(f"page: Ferries ({site.url}/ferries)\n\nBack [home](/).\n")
    assert "- sailings.list (GET /api/sailings)" in ran.results[0]
    assert ran.names(1) == FERRY_TOOLS


def test_a_page_is_reached_by_the_index_of_the_site(site: Site, tmp_path: Path):
    site.put("/mdh/nodes.json", {"nodes": [{"id": "quay", "md_url": "/q"}]}, "application/json")
    site.put("/q", "---\nid: quay\ntype: page\ntitle: Quay\n---\nStones.\n")
    ran = run(loaded(tmp_path, site.url), visit("quay"), visit("nowhere"))
    assert "Stones." in ran.results[0] and ran.results[1].startswith("error: ")
    assert len(site.of("/mdh/nodes.json")) == 1


def test_visit_says_which_page_the_run_is_on(site: Site, tmp_path: Path):
    ran = run(loaded(tmp_path, site.url), visit("/ferries"))
    assert f'You are on {site.url}/, which calls itself "The harbour".' in ran.tool(0, "visit").description
    assert f'You are on {site.url}/ferries, which calls itself "Ferries".' in ran.tool(1, "visit").description


def test_what_is_no_page_is_shown_and_the_run_stays(site: Site, tmp_path: Path):
    site.put("/data", {"a": 1}, "application/json")
    ran = run(loaded(tmp_path, site.url), visit("/data"), visit("/gone"), visit("/chart.txt"))
    assert ran.results[0].endswith('you are still where you were. Its text:\n\n{"a": 1}')
    assert ran.results[1] == f"error: {site.url}/gone: 404 Not Found"
    assert ran.names(2) == HOME_TOOLS


def test_ha17_a_result_says_how_to_ask_for_the_next_page(site: Site, tmp_path: Path):
    more = calls(("mdh__sailings_list", {"cursor": "p 2"}))
    ran = run(loaded(tmp_path, f"{site.url}/ferries"), calls(("mdh__sailings_list", {})), more)
    note = '[there is a next page: call again with {"cursor": "p 2"} in addition]'
    assert ran.results[0] == f'{{"sailings":[1],"page":{{"next_cursor":"p 2"}}}}\n{note}'
    assert ran.results[1] == '{"sailings":[1],"page":{"next_cursor":null}}'


def test_several_sites_are_one_page_each(site: Site, tmp_path: Path):
    ran = run(loaded(tmp_path, site.url, f"{site.url}/ferries"), visit("/ferries"), visit("/"))
    assert ran.names(0) == [*HOME_TOOLS, *FERRY_TOOLS[1:]]
    assert ran.names(1) == [*FERRY_TOOLS, *HOME_TOOLS[1:]]
    assert sorted(ran.names(2)) == sorted([*HOME_TOOLS, *FERRY_TOOLS[1:]])


def test_two_sites_with_the_same_ids_have_tools_of_their_own(site: Site, tmp_path: Path):
    ran = run(loaded(tmp_path, site.url, site.other))
    names = ran.names(0)
    assert len(names) == len(set(names)) == 5 and names[:3] == HOME_TOOLS
    assert all(name.rpartition("_")[0] in HOME_TOOLS for name in names[3:])


def test_an_imported_program_is_on_pages_of_its_own(site: Site, tmp_path: Path):
    (tmp_path / "inner.md").write_text(text_of(f"{site.url}/ferries", name="inner"), encoding="utf-8")
    path = tmp_path / "outer.md"
    path.write_text(text_of(site.url, name="outer", more="imports: [./inner.md]\n"), encoding="utf-8")
    outer = load_program(path, Options(), Settings())
    inner = replace(outer.imports[0], python=False)
    outer = replace(outer, python=False, imports=(inner,))
    replies = [
        {"program": "outer", **calls(("inner", {}))},
        {"program": "inner", **visit("/")},
        {"program": "inner", "content": {}},
    ]
    ran = run(outer, *replies)
    asked = [(request.program, [tool.name for tool in request.tools]) for request in ran.requests]
    assert ran.error is None
    assert asked[0] == ("outer", ["inner", *HOME_TOOLS])
    assert asked[1] == ("inner", FERRY_TOOLS) and asked[2] == ("inner", HOME_TOOLS)
    assert asked[3] == ("outer", ["inner", *HOME_TOOLS])


def test_an_import_named_visit_collides(site: Site, tmp_path: Path):
    (tmp_path / "visit.md").write_text(text_of(name="visit"), encoding="utf-8")
    (tmp_path / "ask.md").write_text(text_of(site.url, more="imports: [./visit.md]\n"), encoding="utf-8")
    from prosa import check

    found = [each for each in check(tmp_path / "ask.md") if each.rule == "tool-name-collision"]
    assert [each.message for each in found] == [
        "`./visit.md` is a program named `visit`, which is the name of the built-in tool"
    ]


def test_results_are_cut_so_that_links_and_actions_stay(site: Site, tmp_path: Path):
    site.put("/long", f"---\nid: long\ntype: page\ntitle: Long\n---\n{'words ' * 3000}\n\n[home](/)\n")
    program = loaded(tmp_path, site.url, more="limits: {tool_result: 4KiB}\n")
    result = run(program, visit("/long")).results[0]
    assert len(result.encode()) <= 4096 and "[cut: the text has" in result
    assert f"1. home ({site.url}/)" in result and result.endswith("no actions on this page")
    assert json.dumps(result)
