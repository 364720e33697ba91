"""Whole runs against the fake model server: what is sent, what is done with odd answers, large and many results."""

from __future__ import annotations

import json
import re
import socket
import sys
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from tests.adapters.mcp.support import ODD
from tests.cli.programs import asked, configured, events_in, nested, program, prosa, summary_in, user
from tests.cli.services import NAMES, Service, service_at
from tests.depth import DEEP
from tests.model_server.server import ModelServer

# ---- the request ----


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try a scenario at two of the four services, and each service with half of the scenarios; in `make test-deep`
    all of them at all."""
    if "service" in metafunc.fixturenames:
        first = crc32(metafunc.function.__name__.encode()) % 2
        metafunc.parametrize("service", NAMES if DEEP else NAMES[first::2], indirect=True)


@pytest.fixture
def service(request: pytest.FixtureRequest, model_server: ModelServer) -> Service:
    """A service, as above."""
    return service_at(request.param, model_server)


def test_l11_lw7_the_request_is_the_one_of_the_specification(count: Path, model_server: ModelServer):
    model_server.script({"content": {"words": 2}})
    status, at = asked(model_server, count, "text=two words")
    assert (status, json.loads(at.out)) == (0, {"words": 2})
    (request,), (body,) = model_server.requests, model_server.bodies
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert set(body) == {"model", "messages", "tools", "response_format"}
    assert body["model"] == "gpt-4o"
    system, asks = body["messages"]
    assert (system["role"], asks) == ("system", {"role": "user", "content": "Count two words.\n"})
    assert system["content"].startswith("Counts the words of a text.\n\n")
    assert '"required": [\n    "words"\n  ]' in system["content"]
    (tool,) = body["tools"]
    assert (tool["type"], tool["function"]["name"]) == ("function", "python")
    schema = body["response_format"]["json_schema"]
    assert (body["response_format"]["type"], schema["name"], schema["strict"]) == ("json_schema", "output", True)
    assert schema["schema"]["required"] == ["words"]


def test_l13_la8_feedback_is_in_the_next_system_message_and_the_answer_is_kept(count: Path, service: Service):
    service.server.script({"content": {"words": -1}}, {"content": {"words": 1}})
    status, at = service.asked(count, "--summary")
    assert status == 0
    assert (summary_in(at.err)["iterations"], summary_in(at.err)["errors"]) == (2, 1)
    first, then = (body["messages"] for body in service.sent)
    assert then[0]["content"].startswith(first[0]["content"])
    assert "/words" in then[0]["content"].removeprefix(first[0]["content"])
    assert then[1:3] == [first[1], {"role": "assistant", "content": '{"words": -1}'}]
    assert (then[3]["role"], len(then)) == ("user", 4) and "/words" in then[3]["content"]


def test_l10_la7_the_last_iteration_has_no_tools_and_then_it_is_over(count: Path, service: Service):
    service.server.default = {"content": "never JSON"}
    status, at = service.asked(count, "--summary", "--max-iterations", "3")
    assert status == 1
    assert ["tools" in body for body in service.sent] == [True, True, False]
    assert summary_in(at.err)["error"].startswith("validation failed: no valid output after 3 iterations")


def test_l10_ten_iterations_are_the_default(count: Path, model_server: ModelServer):
    model_server.default = {"content": "never JSON"}
    assert asked(model_server, count)[0] == 1
    assert len(model_server.bodies) == 10


def test_l31_lw3_an_import_is_offered_called_and_has_its_own_request(tmp_path: Path, service: Service):
    path, _ = nested(tmp_path)
    call = {"name": "inner", "arguments": {"text": "deep"}, "id": "c1"}
    service.server.script({"tool_calls": [call]}, {"content": {"words": 1}}, {"content": {"words": 2}})
    status, at = service.asked(path, "--summary")
    assert (status, json.loads(at.out)) == (0, {"words": 2})
    outer, inner, after = service.sent
    offered = next(tool for tool in outer["tools"] if tool["name"] == "inner")
    assert offered["parameters"]["properties"]["text"] == {"type": "string", "default": "nothing"}
    assert inner["messages"][1] == {"role": "user", "content": "Count deep.\n"}
    assert after["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": '{"words": 1}'}
    assert summary_in(at.err)["agent_calls"]["calls_by_agent"] == {"inner": 1}


def test_la3_the_responses_interface_is_a_flag(count: Path, model_server: ModelServer):
    model_server.script({"content": {"words": 2}})
    status, _ = asked(model_server, count, "--api", "responses")
    assert status == 0
    (request,) = model_server.requests
    assert request.path == "/v1/responses"
    assert request.body["text"]["format"]["name"] == "output"


def test_la3_the_settings_of_the_user_choose_the_interface(count: Path, tmp_path: Path, model_server: ModelServer):
    model_server.script({"content": {"words": 2}})
    place = configured(tmp_path, 'api = "responses"\n')
    assert asked(model_server, count, PROSA_CONFIG_DIR=place)[0] == 0
    assert model_server.requests[0].path == "/v1/responses"


def test_streams_give_the_same_result(count: Path, service: Service):
    service.server.script({"content": {"words": 2}})
    status, at = service.asked(count, "--stream", "--summary", "--events", "jsonl")
    assert (status, json.loads(at.out)) == (0, {"words": 2})
    assert service.sent[0]["stream"] is True
    pieces = [json.loads(line)["text"] for line in at.err.splitlines() if '"event": "text-arrived"' in line]
    assert "".join(pieces) == '{"words": 2}' and len(pieces) > 1
    assert summary_in(at.err)["tokens"]["total"] == 225


@pytest.mark.parametrize(
    ("refused", "forms"),
    [
        ({"json_schema"}, ["json_schema", "json_object"]),
        ({"json_schema", "json_object"}, ["json_schema", "json_object", None]),
    ],
    ids=["one-step", "two-steps"],
)
def test_la4_a_service_without_schemas_is_asked_in_the_next_way(
    refused: set[str], forms: list[str | None], count: Path, model_server: ModelServer
):
    model_server.refuses = refused
    model_server.default = {"content": '```json\n{"words": 2}\n```'}
    status, at = asked(model_server, count, "--summary")
    assert (status, json.loads(at.out)) == (0, {"words": 2})
    assert [(body.get("response_format") or {}).get("type") for body in model_server.bodies] == forms
    assert summary_in(at.err)["iterations"] == 1


def test_la4_la5_a_schema_that_is_no_object_is_wrapped_and_unwrapped(tmp_path: Path, service: Service):
    text = "---\nname: word\ndescription: d\ninput: {type: object}\noutput: {type: string, minLength: 2}\n---\nSay.\n"
    service.server.script({"content": {"value": "x"}}, {"content": {"value": "xy"}})
    status, at = service.asked(program(tmp_path, name="word", text=text))
    assert (status, at.out) == (0, '"xy"\n')
    assert service.sent[0]["schema"]["required"] == ["value"]


# ---- odd answers ----


@pytest.mark.parametrize("fault", ["html200", "not_json", "empty_choices", "close", "reset"])
def test_an_answer_that_is_none_is_an_error_in_words(fault: str, count: Path, service: Service):
    service.server.default = {"content": {"words": 2}, "fault": fault}
    status, at = service.asked(count, "--retries", 0, "--summary")
    assert status == 1
    assert f"error: the model service at {service.base_url} " in at.err
    assert "Traceback" not in at.err and "internal error" not in at.err
    assert summary_in(at.err)["iterations"] == 0


def test_a_wrong_base_url_is_named_with_what_to_check(count: Path, service: Service):
    service.server.default = {"fault": "html200"}
    status, at = service.asked(count)
    assert status == 1
    assert "sent a web page instead of a reply" in at.err
    assert "check the base URL: it usually ends in /v1" in at.err
    assert len(service.server.requests) == 1


def test_l16_transient_errors_are_retried_and_are_no_iterations(count: Path, service: Service):
    busy = {"status": 503, "headers": {"retry-after-ms": "10"}}
    service.server.script(busy, {"status": 429, "headers": {"retry-after-ms": "10"}}, {"content": {"words": 2}})
    status, at = service.asked(count, "--summary")
    assert status == 0
    assert len(service.server.requests) == 3
    assert summary_in(at.err)["iterations"] == 1


def test_l16_retries_end(count: Path, service: Service):
    service.server.default = {"status": 503, "headers": {"retry-after-ms": "1"}, "message": "overloaded"}
    status, at = service.asked(count, "--retries", 2)
    assert status == 1
    assert "is in trouble (status 503): overloaded (after 3 attempts)" in at.err
    assert len(service.server.requests) == 3


def test_la7_nobody_there_is_told_after_two_attempts(count: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    status, at = prosa("run", count, environ=user(count.parent, OPENAI_BASE_URL=url))
    assert status == 1
    again, error, _ = at.err.splitlines()
    assert re.fullmatch(r"count: attempt 1 failed, next in 0\.\d s: the model service at .* connection refused", again)
    assert error == f"error: the model service at {url} cannot be reached: connection refused (after 2 attempts)"


def test_la7_where_no_status_line_is_shown_each_wait_is_a_line(count: Path, model_server: ModelServer):
    busy = {"status": 503, "headers": {"retry-after-ms": "1"}, "message": "overloaded " * 40}
    model_server.script(busy, busy, {"content": {"words": 2}})
    status, at = asked(model_server, count)
    assert status == 0
    assert [line[:43] for line in at.err.splitlines()] == [
        f"count: attempt {number} failed, next in 0.0 s: the" for number in (1, 2)
    ]


def test_a_refusal_ends_the_run_with_its_words(count: Path, service: Service):
    service.server.script({"refusal": "I would rather not."})
    status, at = service.asked(count)
    assert status == 1
    assert re.fullmatch(r"error: the model refused to answer: .*I would rather not\.\)?\n", at.err)


def test_l17_the_wall_clock_ends_a_slow_run(count: Path, service: Service):
    service.server.default = {"fault": "hang"}
    status, at = service.asked(count, "--timeout", "300ms", "--summary")
    assert status == 1
    assert "count took longer than its wall clock limit of 0.3 s\n  raise it with --timeout" in at.err
    assert "wall clock" in summary_in(at.err)["error"]


# ---- large and many ----


def with_server(folder: Path, *modes: str) -> Path:
    arguments = json.dumps(["-I", str(ODD), *modes])
    return program(folder, more=f"mcp_servers: [{{name: odd, command: {sys.executable}, args: {arguments}}}]\n")


def odd(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": f"mcp__odd__{name}", "arguments": arguments}


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (50_000_000 if DEEP else 20_000_000, "larger than 16 MiB"),
        (3_000_000, "the whole result has 3000000 bytes, and only the first"),
    ],
)
def test_x9_x18_a_huge_tool_result_is_cut_or_dropped_and_the_model_is_told(
    size: int, words: str, tmp_path: Path, model_server: ModelServer
):
    model_server.script({"tool_calls": [odd("huge", bytes=size)]}, {"content": {"words": 2}})
    status, at = asked(model_server, with_server(tmp_path), "--summary")
    assert (status, json.loads(at.out)) == (0, {"words": 2})
    told = model_server.bodies[1]["messages"][3]
    assert words in told["content"]
    assert len(told["content"].encode()) < 263_000


def test_x9_a_user_lets_larger_results_through(tmp_path: Path, model_server: ModelServer):
    model_server.script({"tool_calls": [odd("huge", bytes=400_000)]}, {"content": {"words": 2}})
    assert asked(model_server, with_server(tmp_path), "--max-tool-result", "1MB")[0] == 0
    assert model_server.bodies[1]["messages"][3]["content"] == "x" * 400_000


def tool_events(text: str) -> list[str]:
    """In which order tool calls began and ended."""
    return [each["event"] for each in events_in(text) if each["event"].startswith("tool-") and "call" in each]


def test_x9_l10_eight_tool_calls_run_at_once_and_answer_in_order(tmp_path: Path, service: Service):
    calls = [{**odd("sleep", seconds=0.3 - n / 25), "id": f"s{n}"} for n in range(7)]
    calls.append({**odd("echo", n=7), "id": "s7"})
    service.server.script({"tool_calls": calls}, {"content": {"words": 2}})
    status, at = service.asked(with_server(tmp_path), "--summary", "--events", "jsonl")
    assert status == 0
    assert tool_events(at.err) == ["tool-called"] * 8 + ["tool-answered"] * 8
    answers = service.sent[1]["messages"][3:]
    assert [each["tool_call_id"] for each in answers] == [f"s{n}" for n in range(8)]
    assert [each["content"] for each in answers] == ["slept"] * 7 + ['{"n": 7}']
    assert summary_in(at.err)["tools_called"] == 8


def test_x9_concurrency_is_bounded(tmp_path: Path, model_server: ModelServer):
    calls = [{**odd("sleep", seconds=0.02), "id": f"s{n}"} for n in range(3)]
    model_server.script({"tool_calls": calls}, {"content": {"words": 2}})
    status, at = asked(model_server, with_server(tmp_path), "--concurrency", 1, "--events", "jsonl")
    assert status == 0
    assert tool_events(at.err) == ["tool-called", "tool-answered"] * 3


def test_l21_la11_servers_of_an_import_run_once_and_stop_with_the_run(tmp_path: Path, model_server: ModelServer):
    inner = with_server(tmp_path)
    inner.rename(tmp_path / "inner.md")
    (tmp_path / "inner.md").write_text((tmp_path / "inner.md").read_text().replace("name: count", "name: inner"))
    path = program(tmp_path, more="imports: [./inner.md]\n")
    both = [{"name": "inner", "arguments": {}, "id": "a"}, {"name": "inner", "arguments": {}, "id": "b"}]
    model_server.answer = lambda request: answer_of(request.body)
    model_server.script({"tool_calls": both})
    status, at = asked(model_server, path, "--summary", "--debug")
    assert status == 0, at.err
    pids = {
        message["content"] for body in model_server.bodies for message in tools_of(body) if message["content"].isdigit()
    }
    assert len(pids) == 1
    assert not Path(f"/proc/{pids.pop()}").exists()


def tools_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [message for message in body["messages"] if message["role"] == "tool"]


def answer_of(body: dict[str, Any]) -> dict[str, Any] | None:
    """The outer program is answered by the script first; the inner one asks its server who it is."""
    names = {tool["function"]["name"] for tool in body["tools"]}
    if "inner" in names:
        return {"content": {"words": 2}} if tools_of(body) else None
    return {"content": {"words": 1}} if tools_of(body) else {"tool_calls": [odd("pid")]}


def test_la11_a_server_that_does_not_start_ends_the_run(tmp_path: Path, model_server: ModelServer):
    status, at = asked(model_server, with_server(tmp_path, "crash-at-start"), "--summary")
    assert status == 1
    assert "cannot read config.toml" in at.err
    assert summary_in(at.err)["success"] is False
    assert model_server.requests == []


def test_an_address_where_nobody_answers_is_given_up(count: Path, tmp_path: Path):
    """A port that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        status, at = prosa("run", count, "--base-url", url, "--timeout", "300ms", environ=user(tmp_path))
    assert status == 1
    assert "wall clock limit" in at.err


def test_la27_la28_another_server_says_who_answered_and_charges_nothing(count: Path, model_server: ModelServer):
    """A model of a known name at an address that is not its service has no price, but for one of the user's own."""
    model_server.script({"content": {"words": 2}, "model": "tiny.gguf"})
    status, at = asked(model_server, count, "--summary")
    summary = summary_in(at.err)
    assert (status, summary["model"], summary["answered_by"]) == (0, "gpt-4o", "tiny.gguf")
    assert (summary["tokens"]["cost"], summary["total"]["cost"]) == (None, None)


def test_la28_what_a_server_cut_off_is_asked_for_again(count: Path, service: Service):
    service.server.script({"content": '{"wor', "finish": "length"}, {"content": {"words": 2}})
    status, at = service.asked(count, "--summary")
    assert (status, json.loads(at.out), summary_in(at.err)["errors"]) == (0, {"words": 2}, 1)
