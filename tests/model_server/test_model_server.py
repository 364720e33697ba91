"""The fake model server itself: its command line, its order, and that it refuses what a real service refuses."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.model_server.behaviour import behaviour
from tests.model_server.fixture import model_server  # noqa: F401
from tests.model_server.server import ModelServer


def post(url: str, body: Any) -> tuple[int, Any]:
    asked = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(asked, timeout=120) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def ask(server: ModelServer, text: str = "hi", **more: Any) -> tuple[int, Any]:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
    return post(f"{server.base_url}/chat/completions", body)


def text_of(answer: tuple[int, Any]) -> str:
    return answer[1]["choices"][0]["message"]["content"]


def test_behaviours_come_in_order_and_by_what_a_request_contains(model_server: ModelServer) -> None:  # noqa: F811
    model_server.script("a", {"content": "for b", "contains": "bbb"}, {"content": "c", "times": 2})
    assert [text_of(ask(model_server, text)) for text in ("bbb", "bbb", "x", "x")] == ["a", "for b", "c", "c"]
    status, body = ask(model_server)
    assert (status, "no reply left" in body["error"]["message"]) == (400, True)
    assert len(model_server.bodies) == 5


@pytest.mark.parametrize(
    "change",
    [
        {"model": ""},
        {"messages": []},
        {"messages": [{"role": "tool", "tool_call_id": "x", "content": ""}]},
        {"messages": [{"role": "robot", "content": ""}]},
        {"system": "x"},
        {"stream_options": {}},
        {"tools": [{"type": "function", "function": {"name": "a b"}}]},
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "o", "strict": True, "schema": {"type": "object"}},
            }
        },
    ],
)
def test_it_refuses_what_a_real_service_refuses(model_server: ModelServer, change: dict[str, Any]) -> None:  # noqa: F811
    model_server.default = "ok"
    assert ask(model_server, **change)[0] == 400
    model_server.checks = False
    assert ask(model_server, **change)[0] == 200


def test_a_misspelt_behaviour_is_an_error() -> None:
    with pytest.raises(ValueError, match="contents"):
        behaviour({"contents": "x"})
    with pytest.raises(ValueError, match="unknown fault"):
        behaviour({"fault": "fire"})


def test_the_command_line(tmp_path: Path) -> None:
    """It prints its base URL, serves the script, and says that it is a fake."""
    script = tmp_path / "script.jsonl"
    script.write_text('{"content": {"n": 1}}\n\n{"status": 503, "headers": {"Retry-After": "1"}}\n', "utf-8")
    command = [sys.executable, "-m", "tests.model_server.server", "--port", "0", "--script", str(script)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        url = server.stdout.readline().strip()
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        assert text_of(post(f"{url}/chat/completions", body)) == '{"n": 1}'
        assert post(f"{url}/chat/completions", body)[0] == 503
        server.terminate()
        assert "fake" in server.stderr.read()
