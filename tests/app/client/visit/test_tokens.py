"""Credentials of `visit` and `call` from the user's settings (X8): for one origin, where they are asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.settings.read import read_project_settings, read_user_settings
from tests.app.client.call.calling import call
from tests.app.client.visit.site import Site, markdown, moved
from tests.app.client.visit.visiting import facts, visit

SECRET = {"SITE_TOKEN": "s3cret"}


def settings(folder: Path, *sites: str) -> Path:
    """A folder with settings that name a variable for each site."""
    text = "".join(f'[sites."{site}"]\ntoken-env = "SITE_TOKEN"\n' for site in sites)
    (folder / "settings.toml").write_text(text)
    return folder


def guarded(site: Site) -> None:
    """Lets `/rules` be read only with a token."""
    rules = site.pages["/rules"]

    def give(headers):
        good = headers.get("authorization") == "Bearer s3cret"
        return rules if good else (401, "text/plain", b"who are you", {"WWW-Authenticate": "Bearer"})

    site.pages["/rules"] = give


def sent(site: Site) -> list[tuple[str, str | None]]:
    """Each path with the credential that it was asked for with."""
    return [(path, headers.get("authorization")) for path, headers in site.asked]


def test_x8b_a_token_of_the_settings_is_sent_where_it_is_asked_for(site: Site, tmp_path: Path):
    """X8b: after a 401 only, to the origin that the settings name, however its URL is spelled."""
    guarded(site)
    config = settings(tmp_path, site.url.upper().replace("HTTP", "http") + "/")
    assert facts(f"{site.url}/", "--follow", "rules", environ=SECRET, config=config)["id"] == "rules"
    assert sent(site) == [("/", None), ("/rules", None), ("/rules", "Bearer s3cret")]


def test_x8b_not_to_another_origin(site: Site, tmp_path: Path):
    guarded(site)
    config = settings(tmp_path, site.other)
    status, at = visit(f"{site.url}/rules", environ=SECRET, config=config)
    assert status == 1 and "401" in at.err and "--token-env" in at.err
    site.pages["/to"] = moved(f"{site.url}/rules")
    status, at = visit(f"{site.other}/to", "--any-origin", "--allow-private", environ=SECRET, config=config)
    assert status == 1 and {token for _, token in sent(site)} == {None}


def test_x8_the_token_of_a_call_is_sent_at_once_and_wins(site: Site, tmp_path: Path):
    """X8: `--token-env` is for this call and its origin."""
    guarded(site)
    config = settings(tmp_path, site.url)
    environ = {"SITE_TOKEN": "wrong", "MINE": "s3cret"}
    assert facts(f"{site.url}/rules", "--token-env", "MINE", environ=environ, config=config)["id"] == "rules"
    assert sent(site) == [("/rules", "Bearer s3cret")]
    site.pages["/away"] = moved(f"{site.other}/ferry")
    visit(f"{site.url}/away", "--any-origin", "--allow-private", "--token-env", "MINE", environ=environ, config=config)
    assert sent(site)[1:] == [("/away", "Bearer s3cret"), ("/ferry", None)]


@pytest.mark.parametrize("token", ["two\r\nlines: x", "ünder", "nul\0"])
def test_x8_a_token_that_cannot_be_sent_is_never_shown(site: Site, tmp_path: Path, token: str):
    status, at = visit(f"{site.url}/rules", "--token-env", "T", environ={"T": token})
    assert status == 2 and token not in at.err and site.asked == []


def test_x8_no_token_over_plain_http(tmp_path: Path):
    words = ("http://ferries.example/", "--token-env", "T")
    status, at = visit(*words, environ={"T": "s3cret"})
    assert status == 2 and "plain http" in at.err and "s3cret" not in at.err


def test_x8b_call_uses_the_settings_where_the_action_wants_a_token(site: Site, tmp_path: Path):
    """X8b, HA14: the page is read without it; an action without `auth` gets none."""
    actions = (
        "actions: [{id: a, method: GET, url: /x, auth: {type: bearer}}, {id: b, method: GET, url: /x},"
        " {id: c, method: GET, url: /x, auth: {type: api_key, in: query, name: k}}]"
    )
    site.pages["/desk"] = markdown(f"---\nid: desk\n{actions}\n---\n")
    site.pages["/x"] = site.pages["/x?k=s3cret"] = (200, "text/plain", b"done", {})
    config = {"PROSA_CONFIG_DIR": str(settings(tmp_path, site.url)), **SECRET}
    for action in "abc":
        assert call(f"{site.url}/desk", action, environ=config)[0] == 0
    assert [each for each in sent(site) if each[0] != "/desk"] == [
        ("/x", "Bearer s3cret"),
        ("/x", None),
        ("/x?k=s3cret", None),
    ]
    assert {token for path, token in sent(site) if path == "/desk"} == {None}
    status, at = call(f"{site.url}/desk", "a", "--dry-run", "--format", "json", environ=config)
    assert status == 0 and json.loads(at.out)["headers"]["Authorization"] == "Bearer ***"
    status, at = call(f"{site.url}/desk", "a", environ={"PROSA_CONFIG_DIR": str(tmp_path)})
    assert status == 1 and "SITE_TOKEN: there is no such variable" in at.err and site.url in at.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("http://ferries.example", "plain http"),
        ("ferries.example", "must be a URL"),
        ("https://a:b@ferries.example", "a name or a password"),
        ("https://ferries.example/path", "without a path"),
    ],
)
def test_x8b_a_site_is_named_by_its_origin(site: Site, tmp_path: Path, name: str, said: str):
    """X8b: over TLS, or on this machine; anything else is refused with the reason."""
    status, at = visit(f"{site.url}/", environ=SECRET, config=settings(tmp_path, name))
    assert status == 1 and said in at.err and "[sites." in at.err and site.asked == []


def test_x7_x8b_a_project_cannot_name_a_token():
    """X7, X8b: the setting is the user's alone, with the words that the others have."""
    text = '[sites."https://ferries.example"]\ntoken-env = "AWS_SECRET"\n'
    assert read_user_settings(text)[0].site_variables == {"https://ferries.example": "AWS_SECRET"}
    found, problems = read_project_settings(text)
    assert not found.site_variables and [each.rule for each in problems] == ["refused-setting"]
    assert "own settings" in problems[0].notes[0]
