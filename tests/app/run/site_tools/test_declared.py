"""`mdh` in the front matter of a program: what is read, what is refused; looking at it asks nobody (X6, X7)."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

import prosa
from prosa.dialects.markdownlang.fields import MAX_SITES, site_form
from tests.app.run.site_tools.runs import text_of
from tests.cli.programs import prosa as command
from tests.cli.programs import user

SITE = "https://ferries.example/home"


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name is looked up and nothing is connected to."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


def written(folder: Path, text: str) -> Path:
    path = folder / "ask.md"
    path.write_text(text, encoding="utf-8")
    return path


def findings(folder: Path, value: str) -> list[tuple[str, str, str, str]]:
    text = text_of().replace("mdh: []", f"mdh: {value}")
    found = prosa.check(written(folder, text))
    named = [each for each in found if each.rule in ("wrong-form", "wrong-type", "scalar-for-list", "unknown-field")]
    return [
        (each.rule, str(each.severity.value), text[each.span.start : each.span.end], each.message) for each in named
    ]


def test_x15c_a_program_declares_sites(tmp_path: Path):
    model = prosa.load(written(tmp_path, text_of(SITE, SITE, "http://127.0.0.1:8000"))).model
    assert model is not None and model.mdh == (SITE, "http://127.0.0.1:8000")


def test_a_single_url_is_a_list_of_one_with_a_hint(tmp_path: Path):
    said = "`mdh` is a list, and this is one value: it is read as a list of one"
    assert findings(tmp_path, SITE) == [("scalar-for-list", "hint", SITE, said)]
    model = prosa.load(tmp_path / "ask.md").model
    assert model is not None and model.mdh == (SITE,)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ferries.example", "must be a URL that begins with `https://` or `http://` and names a host"),
        ("ftp://ferries.example", "must be a URL that begins with `https://` or `http://` and names a host"),
        ("https://", "must be a URL that begins with `https://` or `http://` and names a host"),
        ("https://ada:pw@ferries.example", "must not carry a name or a password"),
        ("https://a b.example", "must be a URL without white space"),
        ("https://a.example:port", "is not a URL: its host or port cannot be read"),
    ],
)
def test_what_is_no_url_of_a_site_is_an_error_at_its_place(tmp_path: Path, url: str, why: str):
    ((rule, severity, text, message),) = findings(tmp_path, f'["{SITE}", "{url}"]')
    assert (rule, severity, text) == ("wrong-form", "error", f'"{url}"')
    assert message.startswith(f"an item of `mdh` {why}")
    assert site_form(SITE) is None


def test_more_than_the_allowed_sites_are_an_error(tmp_path: Path):
    urls = [f"{SITE}/{at}" for at in range(MAX_SITES + 1)]
    ((rule, _, text, message),) = findings(tmp_path, json.dumps(urls))
    assert (rule, text) == ("wrong-form", f'"{urls[-1]}"')
    assert message == "`mdh` names 17 URLs; a program has at most 16"


def test_a_mapping_is_no_list_of_sites(tmp_path: Path):
    assert [row[0] for row in findings(tmp_path, "{a: b}")] == ["wrong-type"]


def test_show_lists_the_sites(tmp_path: Path):
    status, at = command("show", written(tmp_path, text_of(SITE)), "--format", "json", environ=user(tmp_path))
    assert status == 0 and json.loads(at.out)["mdh"] == [SITE]
    assert SITE in command("show", tmp_path / "ask.md", environ=user(tmp_path))[1].out


@pytest.mark.usefixtures("offline")
def test_x6_plan_render_and_check_ask_no_site(tmp_path: Path):
    path, environ = written(tmp_path, text_of(SITE)), user(tmp_path)
    assert command("check", path, environ=environ)[0] == 0
    assert command("render", path, environ=environ)[0] == 0
    status, at = command("plan", path, "--format", "json", environ=environ)
    plan = json.loads(at.out)
    assert status == 0
    tools = [(tool["name"], tool["kind"]) for tool in plan["tools"]]
    assert tools == [("python", "python"), ("visit", "action"), ("mdh__", "action")]
    assert f"reads pages and calls actions of {SITE}" in plan["effects"]
    assert any("--allow-action ID" in effect for effect in plan["effects"])
    assert SITE in command("plan", path, environ=environ)[1].out
