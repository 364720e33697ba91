"""What every request passes: host, origin, size, rate; and what is noted of it."""

from __future__ import annotations

import json

import pytest

from prosa.web import limits, log
from prosa.web.limits import MAX_HEAD, Guard, Rate
from tests.web.asking import HOST, Served
from tests.web.conftest import Serve


@pytest.fixture
def site(look: Serve) -> Served:
    return look({"a.md": "# A\n", "p.png": b"x"})


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:8001",
        "",
        None,
        f"{HOST}.evil.example",
        f"{HOST}, evil",
        "localhost:8000",
    ],
)
def test_h6_a_name_that_is_not_ours_is_refused(site: Served, host: str | None) -> None:
    """H6. A name bound anew to this machine reads nothing: 421."""
    for url in ("/", "/a", "/healthz", "/mdh/nodes.json"):
        assert site.get(url, host=host).status == 421


def test_h6_two_hosts_are_refused(site: Served) -> None:
    """H6."""
    assert site.get("/a", headers=[("host", HOST)]).status == 421
    assert site.get("/a", host=HOST.upper()).status == 200


ORIGINS = [
    ({}, True),
    ({"origin": f"http://{HOST}"}, True),
    ({"origin": f"https://{HOST}"}, True),
    ({"origin": f"HTTP://{HOST}"}, True),
    ({"origin": "http://evil.example"}, False),
    ({"origin": "null"}, False),
    ({"origin": f"http://{HOST}.evil.example"}, False),
    ({"origin": f"http://{HOST}/"}, False),
    ({"origin": "http://127.0.0.1"}, False),
    ({"origin": f"http://{HOST}, http://evil.example"}, False),
    ({"sec-fetch-site": "same-origin"}, True),
    ({"sec-fetch-site": "none"}, True),
    ({"sec-fetch-site": "same-site"}, False),
    ({"sec-fetch-site": "cross-site"}, False),
    ({"origin": "http://evil.example", "sec-fetch-site": "same-origin"}, False),
]


@pytest.mark.parametrize(("headers", "allowed"), ORIGINS)
def test_h20_h6_a_form_of_another_site_changes_nothing(site: Served, headers: dict[str, str], allowed: bool) -> None:
    """H20, H6. On every method that may change something; reading is not concerned."""
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        said = site.ask("/mdh/nodes.json", method=method, headers=list(headers.items()), client=method)
        assert said.status == (405 if allowed else 403)
    assert site.get("/a", headers=list(headers.items())).status == 200


@pytest.mark.parametrize(
    "length", ["1048577", "99999999999999", "-1", "0x10", "1e3", "\xb2", "5, 5", "000000000000009999999999", "x"]
)
def test_h6_bodies_that_are_too_large_or_of_no_length(site: Served, length: str) -> None:
    """H6."""
    assert site.ask("/a", method="POST", headers=[("content-length", length)]).status == 413
    assert site.ask("/a", method="POST", headers=[("content-length", "1048576")]).status == 405


def test_h6_heads_that_are_too_large(site: Served) -> None:
    """H6."""
    assert site.get("/a", headers=[("x", "y" * MAX_HEAD)]).status == 431
    assert site.get("/" + "a" * MAX_HEAD).status == 431
    assert site.get("/a?" + "a" * MAX_HEAD).status == 431
    assert site.get("/a", "x" * (MAX_HEAD - 1_000)).status == 200


def test_h6_a_rate_counts_each_client_and_fills_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """H6."""
    now = [100.0]
    monkeypatch.setattr(limits.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(limits, "MAX_CLIENTS", 3)
    rate = Rate(per_second=2.0, burst=3.0)
    assert [rate.allows("a") for _ in range(4)] == [True, True, True, False]
    assert rate.allows("b")
    now[0] += 0.5
    assert [rate.allows("a") for _ in range(2)] == [True, False]
    now[0] += 1_000
    assert [rate.allows("a") for _ in range(4)] == [True, True, True, False]
    for each in range(100):
        rate.allows(str(each))
    assert len(rate._left) == 3


def test_h6_questions_and_changes_have_rates(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """H6. 429 with `Retry-After`; nodes are read all the same, and another client is not concerned."""
    monkeypatch.setattr(limits.time, "monotonic", lambda: 100.0)
    site = serve({"a.md": "# A\n"}, guard=Guard((HOST,), changes=Rate(1, 1), questions=Rate(1, 2)))
    assert [site.get("/mdh/search?q=a").status for _ in range(3)] == [200, 200, 429]
    refused = site.get("/mdh/graph", "application/json")
    assert (refused.status, refused["retry-after"], refused.kind) == (429, "1", "application/problem+json")
    assert site.get("/a").status == 200
    assert site.get("/mdh/search?q=a", client="10.0.0.1").status == 200
    assert [site.ask("/a", method="POST").status for _ in range(2)] == [405, 429]


def test_h6_the_access_log_has_one_line_for_each_request_and_no_secret(site: Served) -> None:
    """H6. No query, no header, and nothing that ends a line."""
    targets = ["/a?q=hush", "/%0d%0aset-cookie:x", '/"}\n{"', "/\xe9\x1b[31m", "/nothing", "/mdh/search?q=hush"]
    for target in targets:
        site.get(
            target,
            headers=[
                ("authorization", "Bearer hush"),
                ("cookie", "hush=1"),
                ("referer", "hush"),
                ("user-agent", "hush"),
            ],
        )
    site.ask("/a", method="POST", host="evil.example")
    assert site.app.log is not None
    site.app.log.flush()
    lines = "\n".join(site.lines).split("\n")
    assert len(lines) == len(targets) + 1
    entries = [json.loads(line) for line in lines]
    assert "hush" not in "".join(lines)
    assert "\x1b" not in "".join(lines)
    assert all(set(each) == {"time", "client", "method", "path", "status", "ms"} for each in entries)
    assert [each["status"] for each in entries] == [200, 404, 404, 404, 404, 200, 421]


def test_h6_log_lines_are_written_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """H6."""
    written: list[str] = []
    monkeypatch.setattr(log, "BATCH", 3)
    made = log.AccessLog(written.append)
    for _ in range(4):
        made.add({"raw_path": b"/", "client": None, "method": "GET"}, 200, 0.1)
    assert len(written) == 1
    assert written[0].count("\n") == 2
    made.flush()
    made.flush()
    assert len(written) == 2


ASSETS = {
    "a.png": "image/png",
    "a.JPG": "image/jpeg",
    "a.svg": "image/svg+xml",
    "a.pdf": "application/pdf",
    "a.csv": "text/csv",
    "a.txt": "text/plain",
    "a.json": "application/json",
    "sub/a.webp": "image/webp",
    "a b.png": "image/png",
}
NEVER = (
    "a.py",
    ".env",
    "a.env",
    "a.sqlite",
    "noext",
    "a.html",
    "a.js",
    "a.zip",
    "prosa.toml",
    "id_rsa",
    "a.pem",
    "a.yaml",
    ".a.png",
    "a.xml",
    "a.png.exe",
)


def test_h6_ha5_files_beside_documents_are_inert(serve: Serve) -> None:
    """H6, HA5. Pictures and data are sent with their type and run nothing; code, keys and databases stay."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    links = " ".join(f"[x](<{name}>)" for name in (*ASSETS, *NEVER))
    site = serve({**dict.fromkeys((*ASSETS, *NEVER), svg), "index.md": f"# Files\n\n{links}\n"})
    for name, kind in ASSETS.items():
        said = site.get(f"/{name.replace(' ', '%20')}")
        assert (said.status, said.kind, said.text) == (200, kind, svg)
        assert said["content-security-policy"].startswith("default-src 'none'")
        assert "sandbox" in said["content-security-policy"]
        assert said["x-content-type-options"] == "nosniff"
    for name in NEVER:
        assert site.get(f"/{name}").status == 404, name
