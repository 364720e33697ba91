"""Who may look at a store, and what a request cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest

from prosa.web.context import Sessions
from prosa.web.run import sign_in
from tests.web.view.conftest import BEARER, TOKEN, Viewer
from tests.web.view.stores import batch_record, ended, put_batch, put_runs, run_record

PATHS = ("/", "/runs/a1", "/batches/b1", "/live", "/nothing")


@pytest.fixture(autouse=True)
def filled(store: Path) -> None:
    put_runs(store, [ended(run_record("a1"))])
    put_batch(store, batch_record("b1", total=0, state="done"))


@pytest.mark.parametrize("path", PATHS)
def test_x23_nothing_is_shown_without_the_token(viewer: Viewer, path: str):
    """X23, X37. A browser is sent to the form for it, and back from there; a program gets 401. A token in the
    address is none."""
    said = viewer.ask(path)
    assert said.status == 303 and said["location"].startswith("/mdh/sign-in?back=%2F")
    assert "triage" not in said.text
    for target in (path, f"{path}?token={TOKEN}"):
        said = viewer.ask(target, accept="*/*")
        assert said.status == 401 and "Bearer" in said["www-authenticate"] and "triage" not in said.text
    assert viewer.ask(path, ("authorization", "Bearer wrong"), accept="*/*").status == 401


def test_x23_the_form_gives_a_session_that_leads_back(viewer: Viewer):
    """X23. The same sign-in as on a site."""
    form = viewer.ask("/mdh/sign-in?back=/runs/a1")
    assert form.status == 200 and 'value="/runs/a1"' in form.text and "triage" not in form.text
    said = viewer.post("/mdh/sign-in", token=TOKEN, back="/runs/a1")
    assert (said.status, said["location"]) == (303, "/runs/a1")
    assert "HttpOnly" in said["set-cookie"] and "SameSite=Strict" in said["set-cookie"]
    cookie = viewer.session()
    assert viewer.ask("/runs/a1", cookie).status == 200
    page = viewer.ask("/", cookie).text
    csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
    assert viewer.post("/mdh/sign-out", cookie, csrf="wrong").status == 403
    assert viewer.post("/mdh/sign-out", cookie, csrf=csrf).status == 303
    assert viewer.ask("/", cookie).status == 303


def test_x23_wrong_tokens_are_counted(viewer: Viewer, monkeypatch: pytest.MonkeyPatch):
    """X23."""
    monkeypatch.setattr(sign_in, "WRONG_SECONDS", 0)
    for _ in range(5):
        assert viewer.post("/mdh/sign-in", token="guess").status == 403
    assert viewer.post("/mdh/sign-in", token=TOKEN).status == 429
    assert viewer.ask("/", BEARER, accept="*/*").status == 429


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1:9", "localhost.evil.example:8000", ""]
)
def test_x8_another_host_is_not_answered(viewer: Viewer, host: str):
    """X8. A name that was rebound to loopback is none of the viewer's."""
    for path in ("/", "/mdh/sign-in", "/mdh/assets/page.css", "/live"):
        said = viewer.ask(path, BEARER, host=host)
        assert said.status == 421 and "triage" not in said.text


@pytest.mark.parametrize(
    "header",
    [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:9"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ],
)
def test_x8_another_site_changes_nothing(viewer: Viewer, header: tuple[str, str]):
    """X8, X23. Not even with the cookie of the reader."""
    for path in ("/mdh/sign-in", "/mdh/sign-out", "/tests/t1/feedback"):
        assert viewer.post(path, viewer.session(), header, token=TOKEN, opinion="good").status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_x37_pages_are_only_read(viewer: Viewer, method: str):
    for path in ("/", "/runs/a1", "/live", "/mdh/assets/page.css"):
        assert viewer.ask(path, BEARER, method=method).status == 405
    assert viewer.ask("/", BEARER, method="BREW").status == 501
    assert viewer.ask("/live", BEARER, method="HEAD").status == 405
    assert (viewer.ask("/", BEARER, method="HEAD").status, viewer.ask("/", BEARER, method="HEAD").body) == (200, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/runs/none",
        "/runs/a",
        "/runs/",
        "/runs/../runs/a1",
        "/runs/a1/x",
        "/batches/a1",
        "/tests/a1/",
        "/runs/a1/",
        "/a1",
        "//",
    ],
)
def test_x37_what_is_not_there_is_not_found(viewer: Viewer, path: str):
    assert viewer.get(path).status == 404


def test_x37_every_answer_forbids_what_it_does_not_need(viewer: Viewer):
    """X37. No address but its own is asked, and no page may frame it; nothing stays in a cache."""
    for path in ("/", "/runs/a1", "/batches/b1", "/nothing", "/mdh/sign-in"):
        said = viewer.get(path)
        policy = said["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "http" not in policy
        assert said["cache-control"] == "no-store" and said["x-frame-options"] == "DENY"
        assert "http://" not in said.text.replace("http://127.0.0.1", "") and "https://" not in said.text


def test_x37_the_script_of_our_own_is_small(viewer: Viewer):
    """X37. At most 40 KB of script for all pages together."""
    names = ("page.js", "records.js")
    assert sum(len(viewer.get(f"/mdh/assets/{name}").body) for name in names) <= 40_000


def test_x23_sessions_of_one_machine_stay_apart(viewer: Viewer):
    """X23. A browser sends a cookie to every port of a host: each viewer has a name of its own for it."""
    other = Sessions(TOKEN, name="prosa-view-8041")
    plain = other.cookie().partition(";")[0]
    assert plain.startswith("prosa-view-8041=") and other.no_cookie().startswith("prosa-view-8041=;")
    both = f"{plain}; {viewer.session()[1]}"
    assert viewer.ask("/", ("cookie", both)).status == 200
    assert other.reader({"headers": [(b"cookie", both.encode())]}).via == "cookie"
    assert viewer.ask("/", ("cookie", plain.replace("prosa-view-8041", "prosa-session"))).status == 303
