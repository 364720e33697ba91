"""Bytes and lists that nobody sane would send: never an exception, never more memory than the limit."""

from __future__ import annotations

import asyncio
import json
import subprocess
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types import ListToolsResult
from mcp_types.methods import validate_server_result

from prosa.adapters.mcp import stdio
from prosa.adapters.mcp.calls import _tool, mend
from prosa.adapters.mcp.observed import Observed
from tests.depth import examples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta", "x"]
SCHEMAS = st.dictionaries(
    st.sampled_from(["type", "properties", "required", "$schema", "$defs"]), JSON | st.just("object")
)


def child_of(chunks):
    """A child whose stdout gives these chunks."""
    left = [*chunks, b""]

    async def read(_size):
        return left.pop(0)

    return SimpleNamespace(stdout=SimpleNamespace(read=read))


def lines_of(chunks):
    async def collect():
        return [line async for line in stdio._lines(child_of(chunks))]

    return asyncio.run(collect())


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=30) | st.just(b"\n"), max_size=20))
def test_x18_lines_do_not_depend_on_how_the_bytes_arrive(chunks):
    assert lines_of(chunks) == b"".join(chunks).split(b"\n")[:-1]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.binary(min_size=1, max_size=600).map(lambda data: data.replace(b"\n", b".")), max_size=12),
    st.booleans(),
)
def test_x9_of_a_line_over_the_limit_only_its_ends_are_kept(chunks, ended):
    whole = b"".join(chunks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stdio, "MESSAGE_LIMIT", 1000)
        lines = lines_of([*chunks, b"\nnext\n"] if ended else [*chunks])
    if not ended:
        assert lines == []
    elif len(whole) <= 1000:
        assert lines == [whole, b"next"]
    else:
        assert lines == [whole[:128] + whole[-128:], b"next"]
        assert isinstance(lines[0], stdio._Oversized)


@settings(max_examples=examples(100), deadline=None)
@given(st.binary(max_size=80) | JSON.map(lambda value: json.dumps(value).encode()))
def test_x18_no_line_raises(line):
    seen, pending = Observed(), {1, 2}
    assert len(stdio._messages(line, seen, pending)) <= 1
    assert len(seen.stray) <= 200


@pytest.mark.parametrize(
    ("line", "waiting", "refused"),
    [
        (b'{"jsonrpc":"2.0","id":2,"result":{"te', {1, 2, 3}, [2]),
        (b'xxxx"}]},"jsonrpc":"2.0","id": 3}', {1, 2, 3}, [3]),
        (b'{"id":9,"result":{"te', {1, 2}, [1, 2]),
        (b"xxxxxxxx", {1, 2}, [1, 2]),
        (b'{"id":1, "id":2', {1, 2}, [1, 2]),
        (b"xxxxxxxx", set(), []),
    ],
)
def test_x9_an_oversized_answer_refuses_the_call_it_belongs_to(line, waiting, refused):
    left = set(waiting)
    messages = stdio._messages(stdio._Oversized(line), Observed(), left)
    assert [message.id for message in messages] == refused
    assert left == waiting - set(refused)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON | SCHEMAS) | JSON, max_size=5))
def test_l21_a_mended_list_is_always_readable(tools):
    """L21: whatever is in it, and whichever protocol version reads it; what is left out is noticed."""
    result, notices = {"tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}, []
    mend(result, "s", notices.append)
    for version in ("2025-11-25", "2026-07-28"):
        validate_server_result("tools/list", version, result)
    read = ListToolsResult.model_validate({"tools": result["tools"]})
    assert len(read.tools) + len(notices) == len(tools)
    assert all(tool.input_schema["type"] == "object" for tool in read.tools)


@given(JSON)
def test_l21_answers_that_are_no_list_stay_as_they_are(value):
    result = {"content": value}
    mend(result, "s", lambda _: None)
    assert result == {"content": value}


def test_x18_a_process_id_that_was_given_away_is_not_killed():
    """X18: start times tell a process from a later one with the same id."""
    process = subprocess.Popen(["sleep", "30"])
    try:
        stdio.kill({process.pid: "some other start time"})
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    assert stdio.descendants(process.pid) == {}
    assert stdio.signal_group(process.pid, 0) is False


@pytest.mark.parametrize(
    ("annotations", "reads"),
    [
        ({"readOnlyHint": True}, True),
        ({"readOnlyHint": False}, False),
        ({"readOnlyHint": "yes"}, False),
        ({}, False),
        ("read only", False),
        (None, False),
    ],
)
def test_x25_what_a_server_says_of_reading_is_taken_where_it_is_plain(annotations, reads):
    """X25. A tool call that may have been made is made again only where the tool says that it reads."""
    answer = {"tools": [{"name": "a", "annotations": annotations}]}
    mend(answer, "odd", lambda _: None)
    kept = ListToolsResult.model_validate(answer).tools
    assert [_tool("odd", tool).read_only for tool in kept] == [reads]
