"""What becomes of a call: answers of every shape, and the ways a call can fail."""

from __future__ import annotations

import asyncio
import json
import os
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.mcp import McpServers
from prosa.adapters.mcp.calls import cut
from tests.adapters.mcp.support import odd, run
from tests.depth import examples


def talk(work, *modes, **options):
    """Runs `work(call)` against one odd server."""

    async def main():
        servers = McpServers(environ=os.environ, **options)
        async with servers.connect([odd(*modes)], cwd="/") as session:

            async def call(tool, server="odd", **arguments):
                return await session.call(server, tool, arguments)

            return await work(call)

    return run(main())


def one(tool, *modes, **arguments):
    async def work(call):
        return await call(tool, **arguments)

    return talk(work, *modes)


def test_l21_a_call_reaches_the_tool_under_its_own_name():
    """L21, LW2: the very call that always failed in the origin; arguments arrive as they are."""
    arguments = {"a": [1, 2.5, None, True], "b": {"c": "ü😀"}, "d": "<x>"}
    result = one("echo", **arguments)
    assert (json.loads(result.content), result.is_error) == (arguments, False)


def test_x18_a_tool_that_says_error_is_an_error_result():
    assert one("fail") == type(one("fail"))("no such row", is_error=True)


def test_x18_an_error_answer_is_an_error_result_and_the_server_lives():
    """X18: -32000 is also the SDK's code for a lost connection; this is none."""

    async def work(call):
        first = (await call("pid")).content
        busy = await call("busy")
        return first, busy, (await call("pid")).content

    first, busy, second = talk(work)
    assert busy.is_error
    assert "the database is busy" in busy.content
    assert first == second


def test_l21_content_of_every_kind_becomes_text():
    assert one("blocks").content.split("\n") == [
        "words",
        "[image, image/png, 5 bytes, not shown]",
        "[audio, audio/wav, 6 bytes, not shown]",
        "[link to resource a: file:///a.txt, text/plain, 7 bytes]",
        "[resource file:///b.txt, text/plain, 6 bytes]",
        "inside",
        "[resource file:///c.bin, unknown type, 5 bytes, not shown]",
    ]


def test_l21_structured_content_stands_in_for_missing_text():
    assert json.loads(one("structured").content) == {"answer": 42, "ß": "é"}


def test_l21_an_answer_that_breaks_the_tools_own_promise_is_still_an_answer():
    result = one("broken-promise")
    assert (json.loads(result.content), result.is_error) == ({"answer": "not a number"}, False)


def test_x18_a_malformed_answer_is_an_error_result():
    result = one("malformed")
    assert result.is_error
    assert "breaks the protocol" in result.content


def test_x18_half_a_surrogate_pair_does_not_hang_the_call():
    assert one("half-pair").content == "cut ?"


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1, 2}])
def test_x18_arguments_that_are_no_json_are_an_error_result(value):
    async def work(call):
        refused = await call("echo", a=value)
        return refused, await call("echo", a=1)

    refused, served = talk(work)
    assert refused.is_error
    assert "cannot be sent" in refused.content
    assert not served.is_error


def test_x18_unknown_server_or_tool_is_an_error_result():
    async def work(call):
        return await call("echo", server="other"), await call("nope")

    other, nope = talk(work)
    assert (other.is_error, nope.is_error) == (True, True)
    assert "no MCP server 'other'" in other.content
    assert "no tool 'nope'" in nope.content


def test_x9_a_long_result_is_cut_and_says_so():
    async def work(call):
        return await call("huge", bytes=5000)

    content = talk(work, result_limit=1000).content
    assert len(content.encode()) <= 1000
    assert content.startswith("x" * 800)
    assert "5000 bytes" in content


def test_x9_the_default_limit_is_256_kib():
    assert 256 * 1024 - 200 < len(one("huge", bytes=1_000_000).content) <= 256 * 1024


@settings(max_examples=examples(60), deadline=None)
@given(st.text(st.characters(exclude_categories=())), st.integers(0, 400))
def test_x9_a_cut_stays_within_its_limit_and_keeps_the_start(text, limit):
    data = text.encode("utf-8", "replace")
    content = cut(text, limit)
    if len(data) <= limit:
        assert content == data.decode()
    else:
        shown, sentence = content.rsplit("\n[Cut here: ", 1)
        assert f"{len(data)} bytes" in sentence
        assert data.startswith(shown.encode())
        assert len(content.encode()) <= max(limit, len(sentence) + 20)


@pytest.mark.parametrize("tool", ["huge", "id-last"])
def test_x9_an_enormous_answer_is_refused_at_once_in_bounded_memory(tool):
    """X9: 50 MB in one line, with the id before or after it; the server lives on and others are not disturbed."""

    async def work(call):
        first = (await call("pid")).content
        await call("huge", bytes=17_000_000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        other = asyncio.create_task(call("sleep", seconds=0.3))
        result = await call(tool, bytes=50_000_000)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        return result, grown, await other, first == (await call("pid")).content

    result, grown, other, same = talk(work, call_timeout=60)
    assert result.is_error
    assert "larger than 16 MiB" in result.content
    assert grown < 40_000_000
    assert other.content == "slept"
    assert same


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [("deep", {"depth": 3000}, "nested too deeply"), ("deep", {"depth": 400}, "nested"), ("half-line", {}, "not JSON")],
)
def test_x9_an_answer_that_cannot_be_read_is_an_error_result_at_once(tool, arguments, why):
    async def work(call):
        other = asyncio.create_task(call("sleep", seconds=0.3))
        return await call(tool, **arguments), await other

    (result, other) = talk(work, call_timeout=60)
    assert result.is_error and why in result.content
    assert (other.content, other.is_error) == ("slept", False)


def test_x18_calls_run_at_the_same_time():
    async def work(call):
        results = await asyncio.gather(*(call("meet") for _ in range(8)))
        return {result.content for result in results}

    assert talk(work) == {"met"}


def test_x18_a_crash_is_an_error_result_and_the_server_is_started_again():
    """X18: one reconnect; the call is not repeated."""

    async def work(call):
        first = (await call("pid")).content
        crashed = await call("crash")
        return first, crashed, await call("pid")

    first, crashed, second = talk(work)
    assert crashed.is_error
    assert "'odd'" in crashed.content
    assert "status 3" in crashed.content
    assert "started again" in crashed.content
    assert not second.is_error
    assert second.content != first


def test_x18_a_hang_is_an_error_result_and_the_server_is_started_again():
    async def work(call):
        hung = await call("hang")
        return hung, await call("echo", a=1)

    hung, after = talk(work, call_timeout=2.5)
    assert hung.is_error
    assert "no answer to 'hang' within 2.5 s" in hung.content
    assert not after.is_error


def test_x18_two_crashes_in_a_row_end_the_server():
    async def work(call):
        return [await call("crash") for _ in range(3)]

    results = talk(work)
    assert all(result.is_error for result in results)
    assert "started again" in results[0].content
    assert "twice in a row" in results[1].content
    assert "no longer running" in results[2].content


def test_x18_an_answer_between_two_crashes_earns_another_start():
    async def work(call):
        return [(await call(tool)).is_error for tool in ("crash", "pid", "crash", "pid")]

    assert talk(work) == [True, False, True, False]


def test_x18_a_server_that_cannot_start_again_says_why(tmp_path):
    async def work(call):
        return await call("crash"), await call("pid")

    crashed, after = talk(work, f"counter={tmp_path / 'starts'}", "starts=1")
    assert "could not be started again" in crashed.content
    assert "no more starts" in crashed.content
    assert after.is_error


def test_x18_a_server_that_left_while_idle_is_started_for_the_next_call(tmp_path):
    counter = tmp_path / "starts"

    async def work(call):
        first = await call("leave")
        await asyncio.sleep(0.6)
        idle = counter.read_text()
        return first, idle, await call("pid"), counter.read_text()

    first, idle, second, after = talk(work, f"counter={counter}")
    assert (first.content, first.is_error, second.is_error) == ("bye", False, False)
    assert (idle, after) == ("x", "xx")


def test_x18_a_crash_takes_the_other_calls_with_it_but_answers_them_all():
    async def work(call):
        slow = [asyncio.create_task(call("sleep", seconds=5)) for _ in range(3)]
        await call("pid")
        await call("crash")
        return await asyncio.gather(*slow), await call("pid")

    lost, after = talk(work)
    assert all(result.is_error and "status 3" in result.content for result in lost)
    assert not after.is_error


def test_x18_a_cancelled_caller_cancels_its_call_only():
    """X18: the server is told (`notifications/cancelled`), stays, and answers the next call."""

    async def work(call):
        first = (await call("pid")).content
        hung = asyncio.create_task(call("hang"))
        await asyncio.sleep(0.1)
        hung.cancel()
        await asyncio.wait([hung])
        told = json.loads((await call("cancelled")).content)
        return hung.cancelled(), len(told), first == (await call("pid")).content

    assert talk(work) == (True, 1, True)
