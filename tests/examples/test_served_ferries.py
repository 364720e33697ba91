"""The example site as it is served, with its API beside it: probed, walked and called on this machine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from prosa.cli.demo.site import SERVE, served, tour_site
from prosa.cli.main import main
from tests.cli.desk import Desk, desk
from tests.cli.programs import SOURCE, user
from tests.examples.ferries import FOLDER, WISH, client

NOT_APPLICABLE = {"csrf-documented", "listing-envelope"}
"""The example uses no cookies, and its only listing wants to know where to go."""


def around(folder: Path) -> dict[str, str]:
    """The environment of the server and of the tour."""
    return user(folder, PATH=os.environ["PATH"], PYTHONPATH=str(SOURCE), PROSA_CACHE_DIR=str(folder / "cache"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the running example."""
    environ = around(tmp_path_factory.mktemp("site"))
    with served((sys.executable, "-P", "-m", "prosa", *SERVE), environ, FOLDER.parent) as url:
        yield url


def prosa(*words: str, **environ: str) -> tuple[int, Desk]:
    at = desk(environ=environ)
    return main(list(words), at.console), at


def asked(url: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers in small letters, and body."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urlopen(Request(url, headers=named, method=method), timeout=120) as answer:
            return answer.status, {name.lower(): text for name, text in answer.headers.items()}, answer.read()
    except HTTPError as error:
        return error.code, {name.lower(): text for name, text in error.headers.items()}, error.read()


def test_h21_the_example_passes_the_probe_with_every_must_and_should(site: str):
    """H21."""
    status, at = prosa("probe", f"{site}/", "--strict", "--call-reads", "--format", "json")
    report: dict[str, Any] = json.loads(at.out)
    wanted = [each for each in report["checks"] if each["level"] in ("MUST", "SHOULD")]
    assert [each for each in wanted if each["status"] == "failed"] == []
    assert {each["id"] for each in wanted if each["status"] != "passed"} <= NOT_APPLICABLE
    assert (status, report["pages"] >= 14) == (0, True)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_h18_the_api_is_served_as_it_is(method: str, site: str):
    """H18: what the app says reaches the client as it was said."""
    status, headers, body = asked(f"{site}/api/fares", method)
    alone = client().get("/api/fares")
    assert (status, headers["cache-control"], headers["etag"]) == (200, "public, max-age=3600", alone.headers["etag"])
    assert body == (alone.content if method == "GET" else b"")
    assert asked(f"{site}/api/fares", If_None_Match=headers["etag"])[0] == 304


@pytest.mark.parametrize("path", ["/api/nothing", "/api/", "/api"])
def test_what_the_api_has_not_is_for_the_api_to_say(path: str, site: str):
    status, headers, body = asked(f"{site}{path}", Accept="application/json")
    assert (status, headers["content-type"]) == (404, "application/problem+json")
    assert json.loads(body)["type"] == "/errors#not-found"


def test_h16_hw7_a_listing_is_walked_over_the_network(site: str):
    """H16, HW7: two pages, each sailing once; and a changed cursor stops with words."""
    search = ("call", f"{site}/timetable", "sailings.search", "from=HAR", "to=KEL", "date=2026-07-01")
    status, at = prosa(*search, "--all-pages", "--max-pages", "2")
    sailings = [json.loads(line) for line in at.out.splitlines()]
    assert (status, len(sailings), len({each["id"] for each in sailings})) == (0, 8, 8)
    assert "8 items on 2 pages" in at.err
    status, at = prosa(*search, "cursor=MS4x")
    assert (status, at.out) == (1, "")
    assert "400" in at.err and "/errors#bad-cursor" in at.err


def test_h19_hw6_a_booking_is_made_once_over_the_network(site: str):
    """H19, HW6."""
    call = ("call", f"{site}/booking")
    token = ("--token-env", "TOKEN", "--yes")
    pairs = [f"{name}={value}" for name, value in WISH.items()]
    key = ("--idempotency-key", "once")
    first, again = (prosa(*call, "bookings.create", *pairs, *token, *key, TOKEN="skerry-demo") for _ in range(2))
    assert (first[0], first[1].out) == (again[0], again[1].out)
    booking = json.loads(first[1].out)
    assert (first[0], booking["status"]) == (0, "confirmed")
    status, at = prosa(*call, "bookings.cancel", f"id={booking['id']}", *token, TOKEN="skerry-demo")
    assert (status, json.loads(at.out)["status"]) == (0, "cancelled")
    status, at = prosa(*call, "bookings.get", f"id={booking['id']}", *token, TOKEN="wrong")
    assert (status, at.out) == (1, "") and "/errors#no-token" in at.err


def test_the_tour_serves_walks_calls_books_probes_and_stops(tmp_path: Path):
    at = desk(environ=around(tmp_path))
    assert tour_site(at.console) == 0, at.err
    assert at.out == ""
    for words in (
        "Harbour code `KEL`.",
        "\nGET http://127.0.0.1:",
        "8 items on 2 pages",
        '"id": "SK-1001"',
        "every MUST holds, every SHOULD that applies holds",
        "The server has stopped.",
    ):
        assert words in at.err, words
    assert "skerry-demo" not in at.err.replace("SKERRY_TOKEN=skerry-demo prosa", "")
    url = at.err.partition(" at http://")[2].splitlines()[0]
    with pytest.raises(OSError):
        asked(f"http://{url}")


def test_a_site_that_cannot_be_served_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("prosa.cli.demo.site.SERVE", ("serve", "ferries/no-such-folder", "--port", "0"))
    at = desk(environ=around(tmp_path))
    assert tour_site(at.console) == 1
    assert "error: the example site could not be served" in at.err
    assert "no-such-folder" in at.err and "Traceback" not in at.err
