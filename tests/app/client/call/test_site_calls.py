"""`prosa call URL ACTION …`: over the network, against a site on loopback."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from prosa.adapters.http.exchange import Bounds, Exchange
from prosa.site.request import Request
from tests.app.client.call.calling import call
from tests.app.client.call.site import Site
from tests.cli.desk import Desk

HERE = "--allow-private"
TOKEN = {"FERRY": "s3cret"}


def desk_call(site: Site, *words: str, **more: Any) -> tuple[int, Desk]:
    return call(f"{site.url}/desk", *words, HERE, **more)


def test_h8b_a_read_is_called_at_once(site: Site):
    """H8b, H14, H17: the node is asked for as Markdown, the answer is the result."""
    status, at = call(f"{site.url}/ferry", "sailings.list", "harbour=Ål/2", "day=a&b", HERE)
    assert status == 0, at.err
    assert json.loads(at.out)["page"] == {"next_cursor": "p2"}
    assert at.err == "200 OK\n"
    (_, node, headers, _), (method, target, sent, _) = site.asked
    assert (node, headers["accept"].partition(",")[0]) == ("/ferry", "text/markdown")
    assert (method, target) == ("GET", "/api/harbours/%C3%85l%2F2/sailings?day=a%26b")
    assert sent["accept"] == "application/json" and "cookie" not in sent and "idempotency-key" not in sent


@pytest.mark.parametrize("path", ["/ferry.json", "/meta.json"])
def test_ha8b_a_node_may_be_json(site: Site, path: str):
    """HA8b, HA9: front matter at the top, or below `meta`."""
    status, at = call(f"{site.url}{path}", "go", HERE)
    assert (status, at.out) == (0, "hëre\n")


def test_a_node_may_move_within_its_site(site: Site):
    assert call(f"{site.url}/old", "sailings.list", "harbour=x", "day=d", HERE)[0] == 0


def test_ha12_a_node_that_moved_to_another_origin_is_not_used(site: Site):
    status, at = call(
        f"{site.url}/elsewhere", "sailings.book", "name=A", "--yes", "--token-env", "FERRY", HERE, environ=TOKEN
    )
    assert status == 1 and "on another origin" in at.err
    assert not site.headers("/api/bookings") and all("authorization" not in headers for _, _, headers, _ in site.asked)


def test_x8_private_addresses_need_permission(site: Site):
    for url in ("http://10.0.0.1", "http://[::ffff:127.0.0.1]:1", "http://169.254.169.254"):
        status, at = call(f"{url}/ferry", "sailings.list", "harbour=x", "day=d")
        assert status == 1 and "--allow-private" in at.err
    assert site.asked == []


def test_x8_who_names_this_machine_asks_for_exactly_that(site: Site):
    """X8: the origin that was typed, and no other: a redirect to another one of this machine needs the flag."""
    for url in (site.url, site.other):
        assert call(f"{url}/ferry", "sailings.list", "harbour=x", "day=d")[0] == 0
    status, at = call(f"{site.url}/elsewhere", "sailings.list", "harbour=x", "day=d")
    assert status == 1 and "--allow-private" in at.err


def test_ha19_a_change_is_sent_after_a_yes_only(site: Site):
    """HA19, H12, X8: without a terminal the flag is needed; on one, the request is shown without its secret."""
    words = (f"{site.url}/ferry", "sailings.book", "name=Ada", "--token-env", "FERRY", HERE)
    status, at = call(*words, environ=TOKEN)
    assert status == 2 and "add --yes" in at.err
    status, at = call(*words, environ=TOKEN, typed="n\n", terminal=True)
    assert status == 1 and "nothing was sent" in at.err and "Bearer ***" in at.err
    assert not site.headers("/api/bookings")
    status, at = call(*words, environ=TOKEN, typed="y\n", terminal=True)
    assert status == 0 and "s3cret" not in at.err
    status, at = call(*words, "--yes", environ=TOKEN)
    assert json.loads(at.out) == {"booked": {"name": "Ada"}, "by": "Bearer s3cret"}
    keys = [headers["idempotency-key"] for headers in site.headers("/api/bookings")]
    assert len(set(keys)) == 2


def test_h19b_a_retry_has_the_same_key(site: Site):
    """H19b: the site says it did nothing, so the same request goes again."""
    status, at = desk_call(site, "busy", "n=1", "--yes")
    assert (status, json.loads(at.out)["body"]) == (0, {"n": 1})
    first, second = (headers["idempotency-key"] for headers in site.headers("/busy"))
    assert first == second == json.loads(at.out)["key"]


def test_h19b_a_change_of_unknown_outcome_is_not_repeated_but_its_key_is_told(site: Site):
    status, at = desk_call(site, "broken", "n=1", "--yes", "--idempotency-key", "k7")
    assert status == 1 and "--idempotency-key k7" in at.err
    assert len(site.headers("/broken")) == 1


def test_a_call_that_wants_a_token_is_not_made_without(site: Site):
    """H12, HA14."""
    status, at = call(f"{site.url}/ferry", "sailings.book", "name=A", "--yes", HERE)
    assert status == 1 and "Ask at the harbour" in at.err
    assert not site.headers("/api/bookings")


def test_ha12_a_redirect_keeps_the_credential_only_within_its_origin(site: Site):
    """HA12, X8."""
    for action in ("moved", "away"):
        assert desk_call(site, action, "--token-env", "FERRY", environ=TOKEN)[0] == 0
    assert [headers.get("authorization") for headers in site.headers("/here")] == ["Bearer s3cret", None]


@pytest.mark.parametrize(
    ("action", "more", "said"),
    [
        ("rounds", [], "redirects more than 10 times"),
        ("inward", [], "redirects to an address that is not an http URL"),
        ("large", ["--max-size", "1KB"], "--max-size"),
        ("slow", ["--timeout", "0.1"], "did not answer within 0.1 s"),
        ("packed", [], "compressed answer"),
        ("picture", [], "the answer is not text but image/png"),
        ("gone", [], "the site answers 404 Not Found\n  {\n"),
        ("handed-on", ["--yes", "n=1"], "what it carries is not sent there"),
        ("foreign-schema", ["--yes"], "is the URL of another site"),
        ("endless", ["--all-pages", "--max-size", "20"], "sent more than"),
    ],
)
def test_x8_x9_what_ends_a_call(site: Site, action: str, more: list[str], said: str, monkeypatch: pytest.MonkeyPatch):
    """X8, X9: sizes, times, redirects, encodings; each in words, with nothing on stdout."""
    monkeypatch.setattr("prosa.adapters.http.exchange.time.sleep", lambda _: None)
    if action == "endless":
        status, at = call(f"{site.url}/ferry.json", "go", HERE, "--max-size", "20")
    else:
        status, at = desk_call(site, action, *more)
    assert (status, at.out) == (1, "")
    assert said in at.err and "\x1b" not in at.err


def test_ha16_a_schema_at_a_url_of_the_site_is_fetched(site: Site):
    status, at = desk_call(site, "sketched", "lines=two", "--yes")
    assert status == 2 and "body `lines`" in at.err
    status, at = desk_call(site, "sketched", "lines=2", "--yes")
    assert json.loads(at.out)["booked"] == {"lines": 2}


def test_ha17_all_pages_are_lines_of_items(site: Site):
    """H15, HA17."""
    words = (f"{site.url}/ferry", "sailings.list", "harbour=x", "day=d", HERE)
    status, at = call(*words, "--all-pages")
    assert (status, at.out) == (0, '{"at": "08:00"}\n{"at": "09:00"}\n{"at": "10:00"}\n')
    assert at.err == "3 items on 2 pages\n"
    status, at = call(*words, "--max-pages", "1")
    assert (status, at.out.count("\n")) == (0, 2)
    assert "there are more pages" in at.err


@pytest.mark.parametrize(("action", "lines", "said"), [("circle", 2, "cycle"), ("leaving", 1, "another origin")])
def test_ha17_hw7b_guards_of_a_walk(site: Site, action: str, lines: int, said: str):
    status, at = desk_call(site, action, "--all-pages")
    assert (status, at.out.count("\n")) == (1, lines)
    assert said in at.err


def test_ha17_a_listing_without_end_ends(site: Site, monkeypatch: pytest.MonkeyPatch):
    status, at = desk_call(site, "endless", "--max-pages", "3")
    assert (status, at.out) == (0, '"0"\n"1"\n"2"\n')
    monkeypatch.setattr("prosa.app.client.call.MAX_PAGES", 2)
    status, at = desk_call(site, "endless", "--all-pages")
    assert (status, at.out) == (1, '"0"\n"1"\n') and "--max-pages N" in at.err


@pytest.mark.parametrize(("action", "said"), [("busy", "for reads"), ("moved", "declares no pagination")])
def test_all_pages_is_for_reads_with_pages(site: Site, action: str, said: str):
    status, at = desk_call(site, action, "--all-pages", "--yes", "--token-env", "FERRY", environ=TOKEN)
    assert status == 2 and said in at.err


def test_a_dry_run_reads_the_node_and_sends_nothing_else(site: Site):
    """X8."""
    words = ("sailings.book", "name=Ada", "--dry-run", "--format", "json", "--token-env", "FERRY", HERE)
    status, at = call(f"{site.url}/ferry", *words, environ=TOKEN)
    assert (status, json.loads(at.out)["url"]) == (0, f"{site.url}/api/bookings")
    assert "s3cret" not in at.out and len(site.asked) == 1


@pytest.mark.parametrize(
    ("url", "more", "status", "said"),
    [
        ("https://user:pw@x.example/a", [], 2, "must not carry a name or a password"),
        ("http://", [], 2, "names a host"),
        ("http://nowhere.invalid/a", [], 1, "does not resolve"),
        ("http://127.0.0.1:1/a", [HERE], 1, "127.0.0.1 at port 1 cannot be reached: connection refused"),
        ("http://0177.0.0.1:1/a", [], 1, "0177.0.0.1 is the address 127.0.0.1 in another spelling"),
        ("http://①②⑦.0.0.1:1/a", [HERE], 1, "①②⑦.0.0.1 is the address 127.0.0.1 in another spelling"),
        ("http://256.1.1.1/a", [], 1, "256.1.1.1 is neither the name of a host nor an address"),
        ("http://127.0.0.1:1/a", [HERE, "--site-root", "https://x.example"], 2, "another origin"),
        ("http://127.0.0.1:1/a", ["--max-pages", "0"], 2, "--max-pages"),
        ("http://127.0.0.1:1/a", ["--timeout", "soon"], 2, "--timeout"),
    ],
)
def test_urls_and_flags_that_lead_nowhere(
    url: str, more: list[str], status: int, said: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("prosa.adapters.http.exchange.time.sleep", lambda _: None)
    found, at = call(url, "x", *more)
    assert (found, at.out) == (status, "")
    assert said in at.err and "pw@" not in at.err.replace(url, "")


def test_an_https_url_of_a_site_without_tls_is_called_that(site: Site):
    status, at = call(f"{site.url.replace('http', 'https')}/ferry", "sailings.list", HERE)
    port = site.url.rpartition(":")[2]
    assert status == 1
    assert f"127.0.0.1 at port {port} does not speak TLS, as https:// demands" in at.err
    assert f"ask {site.url}\n" in at.err


def test_x8_a_host_in_another_spelling_is_asked_by_nobody(monkeypatch: pytest.MonkeyPatch):
    """X8. Nothing is looked up, connected to or tried again."""
    monkeypatch.setattr("prosa.adapters.http.exchange.time.sleep", lambda _: pytest.fail("it is tried again"))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("it is looked up"))
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("it is connected to"))
    for host in ("0177.0.0.1", "00.0.0.0", "①②⑦.0.0.1", "0x7f.0.0.01"):
        assert call(f"http://{host}:1/a", "x", HERE)[0] == 1


@pytest.mark.parametrize("name", ["rooms.book", "errands"])
def test_ha19_a_get_whose_name_says_that_it_changes_something_is_sent_after_a_yes_only(site: Site, name: str):
    """HA19, H17. By its id or its title; where `state-changing-get` warns."""
    status, at = desk_call(site, name)
    word = {"rooms.book": "book", "errands": "cancel"}[name]
    assert status == 2 and f"the name of this GET suggests a change, `{word}`" in at.err
    assert "add --yes" in at.err and not site.headers("/here")
    assert desk_call(site, name, "--all-pages", "--yes")[0] == 2
    status, at = call(f"{site.url}/desk", name, HERE, typed="n\n", terminal=True)
    assert status == 1 and "nothing was sent" in at.err and not site.headers("/here")
    assert desk_call(site, name, "--dry-run")[0] == 0 and not site.headers("/here")
    assert call(f"{site.url}/desk", name, HERE, typed="y\n", terminal=True)[0] == 0
    assert desk_call(site, name, "--yes")[0] == 0 and len(site.headers("/here")) == 2
    assert "idempotency-key" not in site.headers("/here")[0]


def test_ha19_a_get_that_may_change_something_is_not_sent_twice(site: Site):
    """HA19. Where the answer broke off, it may have happened."""
    assert desk_call(site, "seats.book", "--yes")[0] == 1
    assert len(site.headers("/broken")) == 1


def test_x8_proxies_of_the_environment_are_not_asked(site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with Exchange(Bounds(allow_private=True)) as exchange:
        assert exchange.send(Request("GET", f"{site.url}/here", (), {})).status == 200


def test_x8_every_redirect_is_checked_again(site: Site, monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    def look(host: str, port: int, *, allow_private: bool) -> str:
        asked.append(host)
        return "127.0.0.1"

    monkeypatch.setattr("prosa.adapters.http.transport.checked_address", look)
    with Exchange(Bounds()) as exchange:
        port = site.url.rpartition(":")[2]
        answer = exchange.send(Request("GET", f"http://ferries.example:{port}/away", (), {}))
    assert (answer.status, asked) == (200, ["ferries.example", "localhost"])
    assert site.headers("/away")[0]["host"] == f"ferries.example:{port}"


def test_h11_without_an_action_all_are_listed(site: Site):
    """H11. Id, method and URL; as JSON the whole contracts. Nothing is called."""
    status, at = call(f"{site.url}/ferry", HERE)
    assert status == 0, at.err
    assert at.out.splitlines()[0] == "sailings.list  GET  /api/harbours/{harbour}/sailings"
    assert [line.split()[0] for line in at.out.splitlines()][:2] == ["sailings.list", "sailings.book"]
    status, at = call(f"{site.url}/ferry", HERE, "--format", "json")
    assert json.loads(at.out)["actions"][0]["id"] == "sailings.list"
    assert {method for method, *_ in site.asked} == {"GET"}
    assert all(target == "/ferry" for _, target, _, _ in site.asked)
