"""X36, X26. The tap: what passes, what is seen and counted, which caps hold, and what it does with a bad service."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest

from prosa.adapters.agents import tap as module
from prosa.adapters.agents.tap import TapLimits, Upstream
from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.messages import VERSION
from prosa.records.agent import WireName
from prosa.runtime.messages import Usage
from tests.adapters.agents.tapped import KEY, WIRES, Agent, body, budget, key_header, opened, path, tapped
from tests.model_server.fixture import model_server
from tests.model_server.server import ModelServer

__all__ = ["model_server"]

LOAD = {"id": "c1", "name": "Skill", "arguments": '{"skill": "tides"}'}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_x36_answers_pass_unchanged_and_are_counted(model_server: ModelServer, wire: WireName, stream: bool):
    model_server.script({"content": "a reply", "times": 2})

    async def work(agent: Agent) -> None:
        answer = await agent.ask(stream=stream)
        seen = agent.tap.calls  # before the client hears of the last bytes
        base = f"http://127.0.0.1:{model_server.port}"
        named, given = {"anthropic-version": VERSION, "x-api-key": KEY}, body(wire, stream=stream)
        direct = await agent.client.post(base + path(wire, stream=stream), json=given, headers=named)
        assert (answer.status_code, answer.headers["content-type"]) == (200, direct.headers["content-type"])
        assert re.sub(r"[0-9a-f]{6,}|\d+", "", answer.text) == re.sub(r"[0-9a-f]{6,}|\d+", "", direct.text)
        assert len(seen) == 1

    paid = budget()
    tap = tapped(model_server, wire, work, budget=paid)
    (call,) = tap.calls
    assert (call.wire, call.status, call.answered, call.refused) == (wire, 200, True, "")
    assert call.usage == Usage(150, 75) and call.cost == Decimal("0.0003") == paid.ledger.spent
    assert paid.ledger.held == 0
    assert [(step.kind, step.text) for step in tap.steps] == [("say", "a reply")]


@pytest.mark.parametrize("wire", WIRES)
def test_x36_the_key_stays_with_the_tap(model_server: ModelServer, wire: WireName):
    model_server.default = "fine"

    async def work(agent: Agent) -> None:
        answer = await agent.ask(cookie="canary", **{"x-evil": "canary", "anthropic-beta": "kept", "host": "evil"})
        assert KEY not in answer.text + str(answer.headers)

    tap = tapped(model_server, wire, work)
    (sent,) = model_server.requests
    text = json.dumps(dict(sent.headers))
    assert KEY in text and tap.token not in text + sent.path + sent.text
    assert "canary" not in text and "evil" not in text and sent.headers["anthropic-beta"] == "kept"
    assert sent.path.endswith(path(wire).removeprefix("/v1beta").removeprefix("/v1"))


@pytest.mark.parametrize("wire", WIRES)
def test_x36_a_request_without_the_token_is_refused(model_server: ModelServer, wire: WireName):
    async def work(agent: Agent) -> None:
        for headers in ({}, key_header(wire, "wrong"), key_header(wire, KEY), {"x-other": agent.tap.token}):
            answer = await agent.client.post(path(wire), json=body(wire), headers=headers)
            assert answer.status_code == 401 and "not the key" in json.dumps(answer.json()["error"])

    tap = tapped(model_server, wire, work)
    assert [call.refused for call in tap.calls] == ["token"] * 4 and model_server.requests == []


def test_x36_a_token_in_the_address_goes_no_further(model_server: ModelServer):
    model_server.script("fine")

    async def work(agent: Agent) -> None:
        answer = await agent.client.post(f"{path('gemini')}?key={agent.tap.token}", json=body("gemini"))
        assert answer.status_code == 200

    tap = tapped(model_server, "gemini", work)
    assert tap.token not in model_server.requests[0].path


@pytest.mark.parametrize("wire", WIRES)
def test_x36_only_the_paths_of_the_wire_pass(model_server: ModelServer, wire: WireName):
    async def work(agent: Agent) -> None:
        paths = ["/v1/files", "/v1/../admin", "/v1//messages", "/v1/models/m", "/v1/models/%2e%2e:generateContent"]
        others = [path(other) for other in WIRES if other != wire]
        for each in paths + others:
            answer = await agent.client.post(each, json=body(wire), headers=key_header(wire, agent.tap.token))
            assert answer.status_code == 404, each
        listed = await agent.client.get("/v1/models", headers=key_header(wire, agent.tap.token))
        assert listed.status_code == 200 and "fake-model" in listed.text

    tap = tapped(model_server, wire, work)
    assert "a request for /v1/files is not part of the wire and was refused" in tap.notes and tap.calls == ()


@pytest.mark.parametrize("wire", WIRES)
def test_x36_a_cap_on_calls_is_a_400_in_the_words_of_the_wire(model_server: ModelServer, wire: WireName):
    model_server.default = "more"

    async def work(agent: Agent) -> None:
        assert [(await agent.ask()).status_code for _ in range(3)] == [200, 200, 400]
        error = (await agent.ask()).json()["error"]
        assert error["message"] == "this attempt ends here: it made 2 model calls, the limit (--max-calls)"

    tap = tapped(model_server, wire, work, limits=TapLimits(max_calls=2))
    assert [call.refused for call in tap.calls] == ["", "", "calls", "calls"]
    assert tap.end == "calls" and len(model_server.requests) == 2


@pytest.mark.parametrize("wire", WIRES)
def test_x26_a_call_that_the_budget_does_not_hold_is_not_made(model_server: ModelServer, wire: WireName):
    model_server.default = "more"
    paid = budget("0.003")

    async def work(agent: Agent) -> None:
        first = [await agent.ask(body(wire, "x" * 500)) for _ in range(9)]
        assert [answer.status_code for answer in first][::8] == [200, 400]
        assert "the budget of $0.003" in first[-1].json()["error"]["message"]

    tap = tapped(model_server, wire, work, budget=paid)
    assert tap.end == "cost" and paid.ledger.spent <= paid.ledger.cap and paid.ledger.held == 0
    assert sum(each.cost or 0 for each in tap.calls) == paid.ledger.spent


def test_x26_a_model_without_a_price_is_refused_under_a_cap_of_the_user(model_server: ModelServer):
    model_server.default = "more"

    async def work(agent: Agent) -> None:
        answer = await agent.ask({**body("chat"), "model": "unheard-of"})
        assert answer.status_code == (400 if agent.tap.calls[-1].refused else 200)

    tap = tapped(model_server, "chat", work, budget=budget())
    assert tap.calls[0].refused == "cost" and "no price of unheard-of" in tap.calls[0].problem
    free = tapped(model_server, "chat", work, budget=budget(explicit=False))
    assert (free.calls[0].answered, free.calls[0].cost) == (True, None)


@pytest.mark.parametrize("wire", ["responses", "chat", "gemini"])
def test_x26_a_request_without_a_bound_gets_one_under_a_cap_of_the_user(model_server: ModelServer, wire: WireName):
    model_server.default = "more"

    async def work(agent: Agent) -> None:
        assert (await agent.ask(body(wire, bound=None))).status_code == 200

    def sent(**named: Any) -> tuple[str, tuple[str, ...]]:
        tap = tapped(model_server, wire, work, **named)
        return model_server.requests[-1].text, tap.notes

    text, notes = sent(budget=budget())
    assert "4096" in text and notes == (
        "each model call was bounded to 4,096 output tokens, as the agent sets no limit",
    )
    assert "777" in sent(budget=budget(), output_bound=777)[0]
    assert json.loads(sent(budget=budget(explicit=False))[0]) == json.loads(sent()[0]) == body(wire, bound=None)


def test_x36_cached_tokens_have_their_own_price(model_server: ModelServer):
    model_server.script(
        {"content": "x", "usage": {"input_tokens": 1000, "output_tokens": 10, "cached_input_tokens": 900}}
    )

    async def work(agent: Agent) -> None:
        await agent.ask()

    (call,) = tapped(model_server, "chat", work, budget=budget()).calls
    assert call.usage == Usage(1000, 10, 900) and call.cost == Decimal("0.00021")


def listing(
    text: str = "The following skills are available for use with the Skill tool:\n\n- tides: knows tides\n",
) -> dict[str, Any]:
    return {**body("messages", text), "tools": [{"name": "Skill", "input_schema": {"type": "object"}}]}


def answered(*, is_error: bool = False) -> dict[str, Any]:
    made = listing()
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "read", "is_error": is_error}
    called = {"type": "tool_use", "id": "c1", "name": "Skill", "input": {"skill": "tides"}}
    more = [{"role": "assistant", "content": [called]}, {"role": "user", "content": [result]}]
    return {**made, "messages": [*made["messages"], *more]}


def test_x36_listed_and_loaded_are_different_facts(model_server: ModelServer):
    model_server.script("no skill is needed", {"tool_calls": [LOAD]}, "done")

    async def work(agent: Agent) -> None:
        await agent.ask(body("messages", "nothing is listed here"))
        assert (agent.tap.listed, agent.tap.loaded) == ((), ())
        await agent.ask(listing())
        assert (agent.tap.listed, agent.tap.loaded) == (("tides",), ("tides",))
        await agent.ask(answered())

    tap = tapped(model_server, "messages", work, skills=["tides"])
    assert (tap.loaded, tap.loaded_first) == (("tides",), ("tides",))
    assert [(step.kind, step.tool, step.text, step.conversation) for step in tap.steps] == [
        ("say", "", "no skill is needed", 0),
        ("call", "Skill", "", 1),
        ("result", "Skill", "read", 1),
        ("say", "", "done", 1),
    ]
    assert tap.steps[1].arguments == {"skill": "tides"}
    assert [call.conversation for call in tap.calls] == [0, 1, 1]


def test_x36_a_load_that_failed_is_none(model_server: ModelServer):
    model_server.script({"tool_calls": [LOAD]}, "done")

    async def work(agent: Agent) -> None:
        await agent.ask(listing())
        await agent.ask(answered(is_error=True))

    tap = tapped(model_server, "messages", work, skills=["tides"])
    assert (tap.listed, tap.loaded, tap.loaded_first) == (("tides",), (), ())
    assert tap.steps[1].is_error


def test_x36_a_load_after_a_change_is_not_a_first_one(model_server: ModelServer):
    model_server.script("wait", {"tool_calls": [LOAD]}, "done")
    stamps = iter([1, 2, 2])

    async def work(agent: Agent) -> None:
        for given in (listing(), listing(), answered()):
            await agent.ask(given)

    tap = tapped(model_server, "messages", work, skills=["tides"], stamp=lambda: next(stamps))
    assert (tap.loaded, tap.loaded_first) == (("tides",), ())


@pytest.mark.parametrize("changes", [False, True])
def test_x36_an_attempt_ends_at_the_first_load_or_change(model_server: ModelServer, changes: bool):
    model_server.script("wait" if changes else {"tool_calls": [LOAD]}, "too late")
    stamps = iter([1, 2, 2] if changes else [1, 1, 1])

    async def work(agent: Agent) -> None:
        statuses = [(await agent.ask(each)).status_code for each in (listing(), answered(), answered())]
        assert statuses == [200, 400, 400]

    limits = TapLimits(stop_when_loaded=True)
    tap = tapped(model_server, "messages", work, skills=["tides"], limits=limits, stamp=lambda: next(stamps))
    assert tap.end == "loaded" and tap.loaded == (() if changes else ("tides",))
    assert len(model_server.requests) == 1


def test_x36_a_conversation_whose_beginning_changes_is_known_by_its_calls(model_server: ModelServer):
    model_server.script({"tool_calls": [LOAD]}, "done", "sub")

    async def work(agent: Agent) -> None:
        await agent.ask(listing())
        await agent.ask({**answered(), "system": "today is another day"})
        await agent.ask(body("messages", "you are a subagent"))

    assert [call.conversation for call in tapped(model_server, "messages", work).calls] == [0, 0, 1]


def test_x36_long_texts_of_steps_are_cut(model_server: ModelServer):
    long = {"id": "c1", "name": "Write", "arguments": json.dumps({"text": "x" * 9000})}
    model_server.script({"content": "y" * 9000, "tool_calls": [long]})

    async def work(agent: Agent) -> None:
        await agent.ask()

    said, called = tapped(model_server, "chat", work).steps
    assert (len(said.text), said.size, len(said.digest)) == (4000, 9000, 64)
    assert len(called.arguments["text"]) == 4000 and called.size > 9000


# A bad service.


def test_x36_errors_of_the_service_pass_unchanged(model_server: ModelServer):
    model_server.script(
        {"status": 429, "message": f"slow down, {KEY}", "headers": {"retry-after": "7"}}, {"status": 500}
    )
    paid = budget()

    async def work(agent: Agent) -> None:
        first, second = await agent.ask(), await agent.ask()
        assert (first.status_code, first.headers["retry-after"], second.status_code) == (429, "7", 500)
        assert "slow down, ***" in first.text

    tap = tapped(model_server, "messages", work, budget=paid)
    assert [(call.status, call.answered, call.usage) for call in tap.calls] == [(429, False, None), (500, False, None)]
    assert tap.calls[0].cost == 0 and tap.calls[1].cost == paid.ledger.spent > 0
    assert KEY not in repr(tap.calls) and all(call.problem for call in tap.calls)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", ["html200", "not_json", "json_list", "error200", "truncated", "reset", "close"])
@pytest.mark.parametrize("wire", WIRES)
def test_x36_a_broken_answer_is_recorded_as_one(model_server: ModelServer, wire: WireName, fault: str, stream: bool):
    model_server.script({"content": "a reply that is longer than the first piece of it", "fault": fault})
    paid = budget()

    async def work(agent: Agent) -> None:
        with suppress(httpx2.TransportError):
            answer = await agent.ask(stream=stream)
            assert answer.status_code in (200, 502)

    (call,) = tapped(model_server, wire, work, budget=paid).calls
    assert not call.answered and call.problem and call.usage is None and paid.ledger.held == 0
    assert call.cost == paid.ledger.spent > 0


def test_x36_a_service_that_is_not_there_is_a_502(model_server: ModelServer):
    async def work() -> Any:
        gone = Upstream(Endpoint("http://127.0.0.1:9/v1", KEY))
        async with opened(model_server, "chat", upstream=gone, budget=budget()) as tap:
            agent = Agent(tap, "chat")
            answer = await agent.ask()
            await agent.client.aclose()
        assert answer.status_code == 502 and "cannot be reached" in answer.json()["error"]["message"]
        return tap

    (call,) = asyncio.run(work()).calls
    assert (call.status, call.answered, call.cost) == (502, False, 0)


@pytest.mark.parametrize("fault", ["hang", "slow_drip"])
def test_x36_a_tap_closes_at_once_before_a_slow_service(model_server: ModelServer, fault: str):
    model_server.script({"content": "never", "fault": fault, "interval": 5.0})
    paid = budget()

    async def work(agent: Agent) -> None:
        asking = asyncio.create_task(agent.ask())
        while not model_server.requests:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        agent.asking = asking  # type: ignore[attr-defined]

    (call,) = tapped(model_server, "chat", work, budget=paid).calls
    assert (call.answered, call.problem) == (False, "the attempt ended before the reply was complete")
    assert paid.ledger.spent > 0 == paid.ledger.held


def test_x36_a_service_that_streams_for_ever_is_left_at_the_end(model_server: ModelServer):
    async def run() -> Any:
        async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
            with suppress(ConnectionError):
                while True:
                    writer.write(b'data: {"choices": [{"delta": {"content": "more "}}]}\n\n')
                    await writer.drain()
                    await asyncio.sleep(0)

        server = await asyncio.start_server(stream, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        came = 0
        for_ever = Upstream(Endpoint(f"http://127.0.0.1:{port}/v1", KEY))
        async with opened(model_server, "chat", upstream=for_ever) as tap:
            client = httpx2.AsyncClient(base_url=tap.url, trust_env=False)
            asked = client.stream("POST", path("chat"), json=body("chat"), headers=key_header("chat", tap.token))
            async with asyncio.timeout(20), asked as answer:
                async for piece in answer.aiter_bytes():
                    came += len(piece)
                    if came > 10_000:
                        break
        await client.aclose()
        server.close()
        return tap

    (call,) = asyncio.run(run()).calls
    assert (call.status, call.answered) == (200, False)


@pytest.mark.parametrize("wire", WIRES)
def test_x36_a_client_that_leaves_early_is_counted_all_the_same(model_server: ModelServer, wire: WireName):
    model_server.script({"content": "a long reply " * 50, "delay": 0.1})

    async def work(agent: Agent) -> None:
        headers = key_header(wire, agent.tap.token)
        given = body(wire, stream=True)
        asked = agent.client.stream("POST", path(wire, stream=True), json=given, headers=headers)
        async with asked as answer:
            async for _ in answer.aiter_raw():
                break
        async with asyncio.timeout(10):
            while not agent.tap.calls:
                await asyncio.sleep(0.01)

    (call,) = tapped(model_server, wire, work).calls
    assert (call.answered, call.usage) == (True, Usage(150, 75))


def test_x36_bad_requests_never_reach_the_service(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MOST_REQUEST", 1000)

    async def work(agent: Agent) -> None:
        headers = key_header("chat", agent.tap.token)
        posts = [
            (b"{", {}, 400),
            (b"x" * 2000, {}, 413),
            (b"{}", {"content-encoding": "zstd"}, 413),
            (b"no gzip at all", {"content-encoding": "gzip"}, 413),
        ]
        for content, more, status in posts:
            answer = await agent.client.post(path("chat"), content=content, headers={**headers, **more})
            assert answer.status_code == status and answer.json()["error"]["message"]

    tap = tapped(model_server, "chat", work)
    assert model_server.requests == [] and [call.refused for call in tap.calls] == [""]


# Many at once, and the socket of a box.


def test_x36_many_attempts_at_once_see_only_their_own_calls(model_server: ModelServer):
    model_server.default = {"content": "fine", "delay": 0.05}
    shared = budget()

    async def one(number: int) -> tuple[str, int]:
        wire = WIRES[number % 4]
        async with opened(model_server, wire, budget=shared) as tap:
            agent = Agent(tap, wire)
            for _ in range(number % 3 + 1):
                assert (await agent.ask(stream=number % 2 == 0)).status_code == 200
            await agent.client.aclose()
        return tap.token, len([call for call in tap.calls if call.answered])

    async def all_of_them() -> list[tuple[str, int]]:
        return await asyncio.gather(*(one(number) for number in range(20)))

    ended = asyncio.run(all_of_them())
    assert [calls for _, calls in ended] == [number % 3 + 1 for number in range(20)]
    assert len({token for token, _ in ended}) == 20
    assert shared.ledger.spent == Decimal("0.0003") * sum(calls for _, calls in ended)


def test_x36_a_tap_on_a_unix_socket_is_for_this_user_alone(model_server: ModelServer, tmp_path: Path):
    model_server.script("fine")
    at = tmp_path / "tap.sock"

    async def run() -> Any:
        async with opened(model_server, "chat", socket=at) as tap:
            assert at.stat().st_mode & 0o777 == 0o600 and tap.url == "http://127.0.0.1:8377"
            transport = httpx2.AsyncHTTPTransport(uds=str(at))
            async with httpx2.AsyncClient(transport=transport, base_url=tap.url) as client:
                headers = key_header("chat", tap.token)
                answer = await client.post(path("chat"), json=body("chat"), headers=headers)
        assert answer.status_code == 200 and not at.exists()
        return tap

    assert asyncio.run(run()).calls[0].answered
