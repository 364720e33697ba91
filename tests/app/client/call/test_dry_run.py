"""`prosa call NODE.md ACTION … --dry-run`: the request before the page is published."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import prosa
from tests.app.client.call.calling import NODE, call, written

HERE = Path(__file__).parents[4]
ROOT = ("--site-root", "https://ferries.example", "--dry-run")


def shown(folder: Path, *words: str, **more: Any) -> dict[str, Any]:
    status, at = call(written(folder), *words, *ROOT, "--format", "json", **more)
    assert status == 0, at.err
    return json.loads(at.out)


def test_the_request_in_the_keys_of_the_interface(tmp_path: Path):
    """H14, HA10, HA11: method, url, query, headers, body, in this order, and the same from Python."""
    found = shown(tmp_path, "sailings.list", "harbour=Ål", "day=2026-05-01", "deck=a", "deck=b", "seats=2")
    assert list(found.items()) == [
        ("method", "GET"),
        ("url", "https://ferries.example/api/harbours/%C3%85l/sailings"),
        ("query", [["day", "2026-05-01"], ["deck", "a"], ["deck", "b"], ["seats", "2"]]),
        ("headers", {"Accept": "application/json"}),
        ("body", None),
    ]
    front = prosa.load(NODE).front_matter
    given = {"path": {"harbour": "Ål"}, "query": {"day": "2026-05-01", "deck": ["a", "b"], "seats": 2}}
    assert front and prosa.mdh.request(front["actions"][0], given, site_root="https://ferries.example") == found


def test_x8_credentials_are_stars_unless_they_are_asked_for(tmp_path: Path):
    """X8, H12, H19b."""
    words = ("sailings.book", "name=Ada", "seats=2", "--token-env", "FERRY", "--idempotency-key", "k1")
    found = shown(tmp_path, *words, environ={"FERRY": "s3cret"})
    assert found["headers"] == {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Idempotency-Key": "k1",
        "Authorization": "Bearer ***",
    }
    assert found["body"] == {"name": "Ada", "seats": 2}
    found = shown(tmp_path, *words, "--show-secrets", environ={"FERRY": "s3cret"})
    assert found["headers"]["Authorization"] == "Bearer s3cret"


def test_the_text_form_is_what_goes_over_the_wire(tmp_path: Path):
    status, at = call(written(tmp_path), "sailings.list", "harbour=x y", "day=a&b", *ROOT)
    assert status == 0
    assert at.out == "GET https://ferries.example/api/harbours/x%20y/sailings?day=a%26b\nAccept: application/json\n"
    status, at = call(written(tmp_path), "sailings.book", "name=\x1b[2J", "--idempotency-key", "k", *ROOT)
    assert (status, "\x1b" in at.out) == (0, False)
    assert "the action requires a token" in at.err and "Ask at the harbour" in at.err


def test_h19b_a_change_has_a_key_of_its_own(tmp_path: Path):
    first, second = (shown(tmp_path, "sailings.book", "name=Ada")["headers"]["Idempotency-Key"] for _ in range(2))
    assert first != second and len(first) == 36


def test_an_input_at_once_and_pairs_over_it(tmp_path: Path):
    given = json.dumps({"path": {"harbour": "x"}, "query": {"day": "d", "seats": 1}})
    assert shown(tmp_path, "sailings.list", "seats=4", "--input", given)["query"] == [["day", "d"], ["seats", "4"]]
    assert shown(tmp_path, "sailings.list", "--input", "-", typed=given)["query"] == [["day", "d"], ["seats", "1"]]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["sailings.lst"], 2, "did you mean sailings.list?"),
        (["elsewhere"], 1, "another origin"),
        (["sailings.list", "harbour=x"], 2, "query `day`: is required"),
        (["sailings.list", "harbour=x", "dya=1"], 2, "input `dya`: is not declared"),
        (["sailings.list", "harbour"], 2, "expected KEY=VALUE"),
        (["sailings.list", "--input", "[1]"], 2, "--input must be an object"),
        (["sailings.list", "--input", "{"], 2, "--input is not valid JSON"),
        (["sailings.list", "--input", '{"qeury": {}}'], 2, "did you mean `query`?"),
        (["sailings.book", "seats=two", "name=A"], 2, "body `seats`: expected an integer"),
        (["sailings.book", "--input", '{"body": {"x": 1}}'], 2, "body: unexpected property `x`"),
        (["sailings.book", "name=A", "--token-env", "NONE"], 2, "no such variable"),
    ],
)
def test_refusals_say_what_is_wrong_and_whose_it_is(tmp_path: Path, words: list[str], status: int, said: str):
    """HA11, HA12, HA16: 2 where the caller can mend it, 1 where only the site can."""
    found, at = call(written(tmp_path), *words, *ROOT)
    assert (found, at.out) == (status, "")
    assert said in at.err


def test_x8_a_token_with_a_line_end_is_an_error_and_not_printed(tmp_path: Path):
    found, at = call(
        written(tmp_path), "sailings.book", "name=A", "--token-env", "T", *ROOT, environ={"T": "s3c\r\nX: y"}
    )
    assert found == 2 and "must not have line ends" in at.err
    assert "s3c" not in at.out + at.err


def test_ha11_undeclared_parameters_on_request(tmp_path: Path):
    found = shown(tmp_path, "sailings.list", "harbour=x", "day=d", "q=1", "--allow-undeclared")
    assert found["query"] == [["day", "d"], ["q", "1"]]


def test_ha14_a_token_that_is_not_sent_is_mentioned(tmp_path: Path):
    """HA14a."""
    words = ("sailings.list", "harbour=x", "day=d", "--token-env", "T", *ROOT)
    status, at = call(written(tmp_path), *words, environ={"T": "s3cret"})
    assert status == 0 and "declares no authentication" in at.err and "s3cret" not in at.out + at.err


def test_ha16_a_schema_at_a_url_is_not_fetched(tmp_path: Path):
    """HA16, X6."""
    status, at = call(written(tmp_path), "sketched", "line=1", *ROOT, "--format", "json")
    assert (status, json.loads(at.out)["body"]) == (0, {"line": 1})
    assert "the body is not checked: its schema is at /schemas/sketch.json" in at.err


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--dry-run"], "--site-root https://example.org"), (["--site-root", "https://x.example"], "add --dry-run")],
)
def test_a_file_needs_a_root_and_is_only_looked_at(tmp_path: Path, words: list[str], said: str):
    status, at = call(written(tmp_path), "sailings.book", "name=A", *words)
    assert status == 2 and said in at.err


@pytest.mark.parametrize(
    "text",
    ["", "# no front matter\n", "---\n: [\n---\n", "---\nactions: 3\n---\n", "---\nactions: [1, {}, {id: x}]\n---\n"],
)
def test_a_document_that_is_no_node_has_no_action(tmp_path: Path, text: str):
    status, at = call(written(tmp_path, text), "sailings.list", *ROOT)
    assert status == 2 and "declares no action 'sailings.list'" in at.err


def test_ha9_a_single_action_counts(tmp_path: Path):
    text = "---\nid: a\ntype: page\ntitle: A\naction: {id: go, method: get, url: /go}\n---\n"
    status, at = call(written(tmp_path, text), "go", *ROOT)
    assert (status, at.out) == (0, "GET https://ferries.example/go\n")


def test_a_file_that_cannot_be_read(tmp_path: Path):
    assert call(str(tmp_path / "none.md"), "x", *ROOT)[0] == 2


def test_x6_a_dry_run_of_a_file_loads_nothing_that_reaches_a_network(tmp_path: Path):
    """X6."""
    words = [written(tmp_path), "sailings.list", "harbour=x", "day=d", *ROOT]
    script = f"import sys; from tests.app.client.call.calling import call; status, _ = call(*{words!r}); "
    script += "sys.exit(status or bool({'httpx2', 'openai', 'prosa.adapters.http'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], cwd=HERE, check=False).returncode == 0


def test_h11_a_file_lists_its_actions(tmp_path: Path):
    """H11. It needs no root for that; one without actions says so."""
    status, at = call(written(tmp_path))
    assert status == 0 and "sailings.book  POST  /api/bookings" in at.out
    status, at = call(written(tmp_path, "# none\n"))
    assert (status, at.out) == (0, "") and "declares no actions" in at.err
