"""X16: fixed replies, consumed per program, so that what runs at the same time cannot reorder them."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.providers.scripted import replies_of
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import ModelReply, ModelRequest, ToolCall, Usage
from prosa.testing import FakeClock, ScriptedProvider, ScriptProblem
from tests.depth import examples


def ask(provider: ScriptedProvider, program: str = "main", on_text: Any = None) -> ModelReply:
    return asyncio.run(provider.complete(ModelRequest("m", (), program=program), on_text))


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ({"content": "text"}, ModelReply("text")),
        ({"content": {"n": 1, "ü": None}}, ModelReply('{"n":1,"ü":null}')),
        ({"content": [1, True]}, ModelReply("[1,true]")),
        ({"content": None}, ModelReply("null")),
        ({"content": 0}, ModelReply("0")),
        ({"content": "x", "model": "m-2", "finish": "length"}, ModelReply("x", model_name="m-2", finish="length")),
        ({"refusal": "no"}, ModelReply("", refusal="no", finish="refusal")),
        (
            {
                "tool_calls": [
                    {"name": "add", "arguments": {"a": 1}},
                    {"name": "add", "arguments": "{broken", "id": "i"},
                ]
            },
            ModelReply(
                "",
                (ToolCall("call_1_1", "add", '{"a":1}'), ToolCall("i", "add", "{broken")),
                finish="tool_calls",
            ),
        ),
        (
            {"content": None, "tool_calls": [{"name": "now"}]},
            ModelReply("", (ToolCall("call_1_1", "now", "{}"),), finish="tool_calls"),
        ),
        ({"content": "", "usage": {"input_tokens": 3, "output_tokens": 4}}, ModelReply("", usage=Usage(3, 4))),
        ({"content": "", "usage": {"input": 3, "output": 4, "total": 7}}, ModelReply("", usage=Usage(3, 4))),
        (
            {"content": "", "usage": {"prompt_tokens": 3, "completion_tokens": 4, "cached_tokens": 2}},
            ModelReply("", usage=Usage(3, 4, 2)),
        ),
    ],
)
def test_x16_replies(line: dict[str, Any], reply: ModelReply) -> None:
    """X16: content as text or JSON value, tool calls, usage; the same from a dict and from a file."""
    assert ask(ScriptedProvider([line])) == reply


def test_x16_a_file_of_json_lines(tmp_path: Path) -> None:
    """X16: JSON lines; blank lines, a BOM, CRLF and line separators inside a text do no harm."""
    path = tmp_path / "replies.jsonl"
    lines = ['{"content": "a\u2028b"}', "", '{"program": "p", "content": {"n": 1}}']
    path.write_bytes(("\ufeff" + "\r\n".join(lines)).encode())
    for given_path in (path, str(path)):
        provider = ScriptedProvider(given_path)
        assert provider.remaining == 2
        assert ask(provider, "p").content == '{"n":1}'
        assert ask(provider, "p").content == "a\u2028b"


def test_x16_a_program_takes_its_own_first() -> None:
    """X16: own replies first, then those for any program; another's never."""
    script = [{"content": "any"}, {"program": "b", "content": "b1"}, {"program": "a", "content": "a1"}]
    provider = ScriptedProvider(script)
    assert [ask(provider, "a").content, ask(provider, "a").content] == ["a1", "any"]
    with pytest.raises(ProviderError) as caught:
        ask(provider, "a")
    assert caught.value.kind == "missing"
    assert not caught.value.retryable
    assert "`a`" in caught.value.message
    assert "1 reply for it and 1 for any program" in caught.value.message
    assert "`b`" in caught.value.hint
    assert ask(provider, "b").content == "b1"
    assert [request.program for request in provider.requests] == ["a", "a", "a", "b"]


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=24), st.randoms(use_true_random=False))
def test_x16_concurrency_cannot_reorder(order: list[str], chance: random.Random) -> None:
    """X16: whatever runs first, each program sees its own replies in the order of the file."""
    script = [{"program": program, "content": f"{program}{number}"} for number, program in enumerate(order)]
    provider = ScriptedProvider(script)
    seen: dict[str, list[str]] = {program: [] for program in "abc"}

    async def run(program: str) -> None:
        for _ in range(order.count(program)):
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            reply = await provider.complete(ModelRequest("m", (), program=program))
            seen[program].append(reply.content)

    async def everything() -> None:
        await asyncio.gather(*(run(program) for program in chance.sample("abc", 3)))

    asyncio.run(everything())
    for program in "abc":
        assert seen[program] == [line["content"] for line in script if line["program"] == program]
    assert provider.remaining == 0


@pytest.mark.parametrize(
    ("error", "kind", "retryable", "status", "wait"),
    [
        ("boom", "server", True, None, None),
        ({"message": "boom"}, "server", True, None, None),
        ({"message": "boom", "status": 429, "retry_after": 2}, "rate-limit", True, 429, 2),
        ({"message": "boom", "status": 400}, "bad-request", False, 400, None),
        ({"message": "boom", "status": 401}, "auth", False, 401, None),
        ({"message": "boom", "kind": "network"}, "network", True, None, None),
        ({"message": "boom", "kind": "malformed", "status": 200}, "malformed", False, 200, None),
    ],
)
def test_x16_errors(error: Any, kind: str, retryable: bool, status: int | None, wait: float | None) -> None:
    """X16: an error is one failed attempt; the next attempt takes the next line."""
    provider = ScriptedProvider([{"error": error}, {"content": "ok"}, {"error": error}])
    with pytest.raises(ProviderError) as caught:
        ask(provider)
    found = caught.value
    assert (found.message, found.kind, found.retryable) == ("boom", kind, retryable)
    assert (found.status, found.retry_after) == (status, wait)
    assert ask(provider).content == "ok"
    with pytest.raises(ProviderError):
        ask(provider)
    with pytest.raises(ProviderError, match=r"no reply left.*the error: boom"):
        ask(provider)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("hello", 1, "one JSON object per line"),
        ('{"content": "a"}\n\n[1]', 3, "expected an object, found a list"),
        ('{"contents": "a"}', 1, "unknown key `contents`"),
        ("{}", 1, "expected one of"),
        ('{"program": 5, "content": ""}', 1, "`program` is a text, found a number"),
        ('{"content": "a", "error": "b"}', 1, "must be alone"),
        ('{"content": NaN}', 1, "NaN is not JSON"),
        ('{"tool_calls": {"name": "x"}}', 1, "`tool_calls` is a list, found an object"),
        ('{"tool_calls": ["x"]}', 1, "a tool call is"),
        ('{"tool_calls": [{"name": "x", "args": 1}]}', 1, "unknown key `args`"),
        ('{"content": "", "usage": {"tokens": 1}}', 1, "unknown key `tokens`"),
        ('{"content": "", "usage": {"input": -1}}', 1, "is a count"),
        ('{"content": "", "usage": [1]}', 1, "`usage` is an object, found a list"),
        ('{"content": "", "finish": "done"}', 1, "`finish` is one of"),
        ('{"content": "", "finish": ["stop"]}', 1, "`finish` is a text, found a list"),
        ('{"error": 5}', 1, "`error` is a text or"),
        ('{"error": {"text": "x"}}', 1, "unknown key `text`"),
        ('{"error": {"message": "x", "kind": "odd"}}', 1, "`error.kind` is one of"),
        ('{"error": {"message": "x", "kind": []}}', 1, "`kind` is a text, found a list"),
        ('{"error": {"message": "x", "status": 99}}', 1, "HTTP status"),
        ('{"error": {"message": "x", "retry_after": "soon"}}', 1, "number of seconds"),
        ("[" * 100_000, 1, "nested too deeply"),
    ],
)
def test_x16_a_bad_script_names_file_and_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    """X16: what is wrong, where, and what was expected."""
    path = tmp_path / "replies.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(ScriptProblem) as caught:
        ScriptedProvider(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)
    assert caught.value.message.startswith(f"{path}:{line}: ")
    assert says in caught.value.message
    assert isinstance(caught.value, ProviderError)


def test_x16_a_script_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name, says in (("none.jsonl", "No such file"), ("bytes", "not UTF-8"), (".", "directory")):
        with pytest.raises(ScriptProblem, match=says):
            ScriptedProvider(tmp_path / name)


@pytest.mark.parametrize("value", [{"content": {1, 2}}, {"content": float("inf")}, "text", 5])
def test_replies_as_values_are_checked_too(value: Any) -> None:
    with pytest.raises(ScriptProblem) as caught:
        ScriptedProvider([{"content": "ok"}, value])
    assert caught.value.message.startswith("reply 2: ")


@settings(max_examples=examples(80), deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["program", "content", "tool_calls", "error", "usage", "name", "kind", "status", "input"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_x16_any_line_is_a_reply_or_a_problem(value: Any) -> None:
    """X16: bad input never ends in a traceback."""
    try:
        replies = replies_of([value])
    except ScriptProblem as problem:
        assert problem.line == 1
    else:
        assert len(replies) == 1


def test_text_is_handed_over_when_streaming() -> None:
    pieces: list[str] = []
    provider = ScriptedProvider([{"content": {"n": 1}}, {"tool_calls": []}])
    ask(provider, on_text=pieces.append)
    ask(provider, on_text=pieces.append)
    assert "".join(pieces) == json.dumps({"n": 1}, separators=(",", ":"))
    assert asyncio.run(provider.aclose()) is None


def test_a_fake_clock_never_waits() -> None:
    clock = FakeClock()
    before = clock.now()
    asyncio.run(clock.sleep(3600))
    clock.advance(5)
    clock.advance(-5)
    assert clock.monotonic() == 3605
    assert (clock.now() - before).total_seconds() == 3605
    assert clock.sleeps == [3600]
