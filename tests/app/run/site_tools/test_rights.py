"""What a run may do at sites comes from the user alone: changes, tokens, addresses (X7, X8, HA12, HA19)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prosa.runtime.errors import RunError, SiteError
from prosa.settings import Settings
from tests.app.run.site_tools.runs import calls, loaded, run, visit
from tests.app.run.site_tools.site import Site

TOKEN = "s3cret/token+x"
BOOK = calls(("mdh__berths_book", {"body": {"name": "Ada"}}))
CREW = calls(("mdh__crew_list", {}))
NOT_PERMITTED = "was not permitted; nothing was sent. the user permits it with --allow-action berths.book"


# ---- changes ----
def test_ha19a_a_change_without_permission_is_a_result_and_nothing_is_sent(site: Site, tmp_path: Path):
    ran = run(loaded(tmp_path, site.url), BOOK)
    assert ran.error is None and NOT_PERMITTED in ran.results[0]
    assert site.of("/api/berths") == []


@pytest.mark.parametrize("rights", [{"allow_actions": True}, {"actions": ("berths.book",)}])
def test_ha19a_a_permitted_change_is_sent_with_a_key(site: Site, tmp_path: Path, rights: dict[str, Any]):
    ran = run(loaded(tmp_path, site.url), BOOK, BOOK, **rights)
    assert ran.results == ['{"booked":{"name":"Ada"}}'] * 2
    keys = [each.headers["idempotency-key"] for each in site.of("/api/berths")]
    assert len(keys) == len(set(keys)) == 2


def test_ha19a_permission_is_for_the_id_that_was_named(site: Site, tmp_path: Path):
    ran = run(loaded(tmp_path, site.url), BOOK, actions=("berths", "tides.next"))
    assert NOT_PERMITTED in ran.results[0]
    assert site.of("/api/berths") == []


@pytest.mark.parametrize(("yes", "sent"), [(True, 1), (False, 0)])
def test_ha19a_a_person_is_shown_the_request_and_asked(site: Site, tmp_path: Path, yes: bool, sent: int):
    shown: list[str] = []

    async def confirm(text: str) -> bool:
        shown.append(text)
        return yes

    ran = run(loaded(tmp_path, site.url), BOOK, confirm=confirm)
    assert len(site.of("/api/berths")) == sent
    assert len(shown) == 1 and shown[0].startswith(f"POST {site.url}/api/berths\n") and '"name": "Ada"' in shown[0]
    assert (NOT_PERMITTED in ran.results[0]) is not yes


def test_ha19a_a_repeated_change_carries_the_same_key(site: Site, tmp_path: Path):
    answers = iter([(503, "text/plain", "later", {"Retry-After": "0"}), (201, "application/json", {}, {})])
    site.pages["/api/berths"] = lambda _: next(answers)
    ran = run(loaded(tmp_path, site.url), BOOK, allow_actions=True)
    first, second = (each.headers["idempotency-key"] for each in site.of("/api/berths"))
    assert ran.results == ["{}"] and first == second


def test_ha19a_the_same_call_after_an_unknown_outcome_carries_the_same_key(site: Site, tmp_path: Path):
    site.pages["/api/berths"] = lambda _: (201, "application/json", {}, {"Content-Encoding": "gzip"})
    ran = run(loaded(tmp_path, site.url), BOOK, BOOK, allow_actions=True)
    keys = {each.headers["idempotency-key"] for each in site.of("/api/berths")}
    assert "it is not known whether the site did it" in ran.results[0] and len(keys) == 1


def test_x15c_a_get_needs_no_permission_and_carries_no_key(site: Site, tmp_path: Path):
    run(loaded(tmp_path, site.url), calls(("mdh__tides_next", {"place": "Kiel", "day": "x"})))
    assert "idempotency-key" not in site.of("/api/tides/Kiel")[0].headers


# ---- tokens ----
def test_x8_a_token_reaches_its_site_and_nothing_else(site: Site, tmp_path: Path):
    """A site that says what it was sent is not believed: the token is taken out of what it gives."""
    echo = '{"sent": "%s", "escaped": "s3cret\\/token\\u002bx", "url": "s3cret%%2Ftoken%%2Bx"}'
    site.pages["/api/crew"] = lambda asked: (200, "application/json", echo % asked.headers["authorization"], {})
    rights = {"variables": {site.url: "HARBOUR"}}
    ran = run(loaded(tmp_path, f"{site.url}/ferries"), CREW, environ={"HARBOUR": TOKEN}, **rights)
    assert site.of("/api/crew")[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert json.loads(ran.results[0]) == {"sent": "Bearer ***", "escaped": "***", "url": "***"}
    assert "s3cret" not in ran.everything
    assert [each.path for each in site.asked if "authorization" in each.headers] == ["/api/crew"]


def test_x8_a_page_that_repeats_a_token_is_cleaned_everywhere(site: Site, tmp_path: Path):
    action = f'{{id: "x.{TOKEN}", title: "{TOKEN}", method: GET, url: /x, query: {{optional: ["{TOKEN}"]}}}}'
    title = "s3cret\\x2Ftoken+x"
    site.put("/leak", f'---\nid: leak\ntype: page\ntitle: "{title}"\nactions: [{action}]\n---\n[{TOKEN}](/y)\n')
    site.put("/x", f"no {TOKEN}", "text/plain", status=500)
    rights = {"variables": {site.url: "HARBOUR"}}
    program = loaded(tmp_path, f"{site.url}/ferries")
    ran = run(program, CREW, visit("/leak"), calls(("mdh__x____", {})), environ={"HARBOUR": TOKEN}, **rights)
    assert "page: ***" in ran.results[1] and 'calls itself "***"' in ran.tool(2, "visit").description
    assert "s3cret" not in ran.everything
    assert len(ran.names(2)) == 2


def test_x8_a_token_of_another_origin_is_not_sent(site: Site, tmp_path: Path):
    rights = {"variables": {site.other: "HARBOUR"}}
    ran = run(loaded(tmp_path, f"{site.url}/ferries"), CREW, environ={"HARBOUR": TOKEN}, **rights)
    assert f"the user gives it with --site-token {site.url}=NAME" in ran.results[0]
    assert 'The site says: "Ask at the office".' in ran.results[0]
    assert site.of("/api/crew") == []


def test_x8_the_settings_of_the_user_name_tokens_too(site: Site, tmp_path: Path):
    settings = Settings(site_variables={site.url: "HARBOUR"})
    run(loaded(tmp_path, f"{site.url}/ferries"), CREW, settings=settings, environ={"HARBOUR": TOKEN})
    assert site.of("/api/crew")[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_x8_a_variable_that_is_not_set_is_told_before_a_model_is_asked(site: Site, tmp_path: Path):
    ran = run(loaded(tmp_path, site.url), variables={site.url: "HARBOUR"})
    assert isinstance(ran.error, RunError) and "there is no such variable" in str(ran.error)
    assert ran.requests == [] and site.asked == []


# ---- addresses ----
def test_x8_a_loopback_site_of_a_document_needs_permission(site: Site, tmp_path: Path):
    ran = run(loaded(tmp_path, site.url), typed=False)
    assert isinstance(ran.error, SiteError) and "a private or loopback address" in ran.error.message
    assert ran.error.hint == "if the site is yours, add --allow-private"
    assert ran.requests == [] and site.asked == []
    assert run(loaded(tmp_path, site.url), typed=False, allow_private=True).error is None


def test_x8_the_permission_is_for_the_very_origin_that_was_typed(site: Site, tmp_path: Path):
    program = loaded(tmp_path, site.url, site.other)
    assert run(program).error is None
    ran = run(program, typed=(site.url,))
    assert isinstance(ran.error, SiteError) and f"the site at {site.other} cannot be used" in ran.error.message


@pytest.mark.parametrize(
    "to", ["https://elsewhere.example/x", "//elsewhere.example/x", "{other}/", "mailto:a@b.example"]
)
def test_ha12_a_visit_stays_on_the_declared_sites(site: Site, tmp_path: Path, to: str):
    ran = run(loaded(tmp_path, site.url), visit(to.format(other=site.other)))
    assert ran.results[0].startswith("error: ")
    assert {each.headers["host"] for each in site.asked} == {site.url.removeprefix("http://")}


def test_ha12_a_redirect_to_another_origin_is_not_followed(site: Site, tmp_path: Path):
    site.put("/away", "", status=302, Location=f"{site.other}/ferries")
    site.put("/near", "", status=302, Location="/ferries")
    ran = run(loaded(tmp_path, site.url), visit("/away"), visit("/near"))
    assert ran.results[0] == f"error: {site.url} redirects to {site.other}, another site, and is not followed there"
    assert ran.results[1].startswith(f"page: Ferries ({site.url}/ferries)")
    assert len(site.of("/ferries")) == 1


def test_ha12a_an_action_that_redirects_away_sends_no_token_there(site: Site, tmp_path: Path):
    site.put("/api/crew", "", status=307, Location=f"{site.other}/api/tides/Kiel")
    rights = {"variables": {site.url: "HARBOUR"}}
    ran = run(loaded(tmp_path, f"{site.url}/ferries"), CREW, environ={"HARBOUR": TOKEN}, **rights)
    assert "is not followed there" in ran.results[0]
    assert site.of("/api/tides/Kiel") == []


def test_ha12_an_action_of_another_origin_is_not_offered(site: Site, tmp_path: Path):
    action = "{id: far, method: GET, url: 'https://elsewhere.example/x'}"
    site.put("/p", f"---\nid: p\ntype: page\ntitle: P\nactions: [{action}]\n---\n")
    ran = run(loaded(tmp_path, site.url), visit("/p"))
    assert "- not offered: far: its url leads to another origin than the site" in ran.results[0]
    assert ran.names(1) == ["visit"]


def test_ha16a_a_schema_by_url_is_read_from_the_site_before_a_body_is_sent(site: Site, tmp_path: Path):
    site.put("/s.json", {"required": ["name"]}, "application/json")
    actions = "[{id: a, method: POST, url: /api/berths, body_schema: /s.json}]"
    site.put("/p", f"---\nid: p\ntype: page\ntitle: P\nactions: {actions}\n---\n")
    replies = (calls(("mdh__a", {"body": {}})), calls(("mdh__a", {"body": {"name": "Ada"}})))
    ran = run(loaded(tmp_path, f"{site.url}/p"), *replies, allow_actions=True)
    assert "name" in ran.results[0] and ran.results[1] == '{"booked":{"name":"Ada"}}'
    assert len(site.of("/api/berths")) == 1
