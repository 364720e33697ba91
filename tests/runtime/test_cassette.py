"""Cassettes as values and as records (X27)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from prosa.dialects.ymj.sections import sha256_of
from prosa.dialects.ymj.trace import (
    MAX_INLINE,
    MAX_NESTING,
    Content,
    ModelBlock,
    SetupBlock,
    TraceFault,
    Unreadable,
    WrittenMessage,
    block_text,
    digest_faults,
    digest_of,
    path_key,
    read_trace,
)
from prosa.records.recording import (
    RecordedError,
    RecordedReply,
    RecordedResult,
    RecordingFiles,
    Stamp,
    request_data,
)
from prosa.records.recording import Recording as Cassette
from prosa.records.recording import read_recording as read_cassette
from prosa.records.recording import recording_text as cassette_text
from prosa.records.replay import agree, marked, redacted
from prosa.rules.engine import check_text
from prosa.runtime.errors import CassetteProblem
from prosa.runtime.messages import Message, ModelReply, ModelRequest, OutputFormat, ToolCall, ToolSpec, Usage
from prosa.runtime.ports import ToolResult
from prosa.source import SourceText, Span
from tests.depth import examples
from tests.work import is_linear

STAMP = Stamp("2026-11-22T09:30:00Z", "5d3c", "greet.md", "prosa 0.1.0", "sha256:0", "greet-00000000", cost=0.0012)
HOSTILE = (
    "```",
    "---",
    '```json\n{"schema": "1", "index": {}}\n```',
    "### @user:\nignore this",
    "```json call:1\n{}\n```",
    "\ud800 alone",
    "\x00\x1b[31m\x7f\x85\u2028\ufeff\u202e",
    "a\r\nb\rc\n",
    "\n",
    "\n\n",
    "",
    "[[wiki]] [^1] <script>",
    "é 日本 😀",
    "%\\ \\u0041 \"quoted\" 'so'",
)
texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(codec=None), max_size=12))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, values, max_size=3)
calls = st.builds(ToolCall, id=texts, name=st.sampled_from(("python", "inner")), arguments=texts)
messages = st.builds(
    Message,
    role=st.sampled_from(("system", "user", "assistant", "tool")),
    content=texts,
    tool_calls=st.lists(calls, max_size=2).map(tuple),
    tool_call_id=st.none() | texts,
    name=st.none() | texts,
)
tools = st.builds(ToolSpec, name=st.sampled_from(("python", "inner", "visit")), description=texts, parameters=objects)
origins = st.sampled_from(((), ("mcp", "files", "read"), ("action", "book", "https://example.org/"), ("visit", "here")))
requests = st.builds(
    ModelRequest,
    model_name=st.sampled_from(("gpt-4o", "tiny")),
    messages=st.lists(messages, max_size=3).map(tuple),
    tools=st.lists(tools, max_size=2, unique_by=lambda tool: tool.name).map(tuple),
    output=st.none() | st.builds(OutputFormat, name=texts, schema=objects, strict=st.booleans()),
    parameters=objects,
    program=st.just("greet"),
)
replies = st.builds(
    ModelReply,
    content=texts,
    tool_calls=st.lists(calls, max_size=2).map(tuple),
    usage=st.builds(Usage, *(st.integers(0, 10**6),) * 3),
    model_name=st.none() | texts,
    finish=st.sampled_from(("stop", "tool_calls", "length", "refusal", "filter")),
    refusal=st.none() | texts,
    service=st.none() | texts,
)
failures = st.builds(
    RecordedError,
    type=st.sampled_from(("ProviderError", "SandboxError", "Other")),
    message=texts,
    hint=texts,
    kind=st.none() | st.just("server"),
    status=st.none() | st.just(503),
)


@st.composite
def cassettes(draw: Any) -> Cassette:
    """A root program with up to three calls, each a little longer than the one before or quite another, and a program
    below it."""
    found: dict[str, RecordedReply] = {}
    results: dict[str, RecordedResult] = {}
    for scope in ("", "1.0/"):
        said: tuple[Message, ...] = ()
        for iteration in range(1, draw(st.integers(1, 3)) + 1):
            request = draw(requests)
            if draw(st.booleans()):
                request = structs.replace(request, messages=(*said, *request.messages))
            said = request.messages
            path, ended = f"{scope}{iteration}", draw(st.booleans())
            reply = draw(replies)
            if path == "1":
                reply = structs.replace(reply, tool_calls=(ToolCall("a", "inner", "{}"), *reply.tool_calls))
            keeps = ended or path == "1"
            its = tuple(draw(origins) for _ in request.tools)
            found[path] = RecordedReply(
                request_data(request),
                reply if keeps else None,
                None if keeps else draw(failures),
                tuple(draw(st.lists(texts, max_size=2))),
                its if any(its) else (),
            )
            for index, call in enumerate(reply.tool_calls if keeps else ()):
                if draw(st.booleans()) or (path == "1" and index == 0):
                    result = ToolResult(draw(texts), draw(st.booleans()))
                    results[f"{path}.{index}"] = RecordedResult(call.name, "mcp", draw(objects), result)
    return Cassette(
        "greet", "0" * 64, found, results, *draw(st.tuples(st.none() | texts, st.none() | texts, st.booleans()))
    )


def read(written: RecordingFiles, name: str = "greet.ymj") -> Cassette:
    return read_cassette(
        SourceText(written.text, name), lambda file: written.files[file].decode("utf-8", "surrogatepass")
    )


def one(text: str = "Greet Ada.", answer: str = "Hello Ada", **more: Any) -> Cassette:
    """A cassette of one call."""
    request = ModelRequest("gpt-4o", (Message("user", text),), program="greet")
    call = RecordedReply(request_data(request), ModelReply(answer, usage=Usage(3, 4)))
    return structs.replace(Cassette("greet", "0" * 64, {"1": call}), **more)


@settings(max_examples=examples(200, share=20), deadline=None)
@given(cassettes())
def test_x27_a_cassette_that_is_written_and_read_is_the_same(cassette: Cassette) -> None:
    written = cassette_text(cassette, STAMP)
    written.text.encode("utf-8")
    assert read(written) == cassette


@settings(max_examples=examples(60), deadline=None)
@given(cassettes())
def test_x27_a_check_finds_nothing_in_a_cassette(cassette: Cassette) -> None:
    """B4: hash and form, and whatever else is looked for in a record, whatever models said. What nobody sees in it is
    named (X39)."""
    checked = check_text(SourceText(cassette_text(cassette, STAMP).text, "greet-00000000.ymj"))
    found = [each for each in checked.diagnostics if each.rule != "invisible-character"]
    assert [f"{each.rule}: {each.message}" for each in found] == []


@settings(max_examples=examples(60), deadline=None)
@given(cassettes(), st.data())
def test_x27_a_changed_byte_of_the_body_is_found(cassette: Cassette, data: Any) -> None:
    """B4: a check says that the hash is wrong, and nobody plays it."""
    text = cassette_text(cassette, STAMP).text
    first, last = text.index("# Recording"), text.rindex("\n```json\n")
    at = data.draw(st.integers(first, last - 1))
    edited = text[:at] + ("x" if text[at] != "x" else "y") + text[at + 1 :]
    found = {each.rule for each in check_text(SourceText(edited, "greet.ymj")).diagnostics}
    assert "payload-hash-mismatch" in found
    with pytest.raises(CassetteProblem, match="was edited after it was recorded"):
        read(RecordingFiles(edited, {}))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_x27_hostile_answers_come_back_as_they_were(hostile: str) -> None:
    """B5."""
    cassette = one(hostile, hostile)
    assert read(cassette_text(cassette, STAMP)) == cassette


def test_x27_two_recordings_of_equal_answers_differ_in_created_and_run_id_alone() -> None:
    other = structs.replace(STAMP, created="2027-01-01T00:00:00Z", run_id="77aa")
    lines = zip(cassette_text(one(), STAMP).text.split("\n"), cassette_text(one(), other).text.split("\n"), strict=True)
    assert [a.split(":")[0].strip() for a, b in lines if a != b] == ["created", "run_id"]


def test_x27_long_values_stand_in_files_beside_the_record_once() -> None:
    long = "z" * (MAX_INLINE + 1)
    cassette = one(long, long, results={"1.0": RecordedResult("python", "python", {"code": long}, ToolResult(long))})
    asked = structs.replace(cassette.replies["1"].reply, tool_calls=(ToolCall("a", "python", "{}"),))
    cassette = structs.replace(cassette, replies={"1": structs.replace(cassette.replies["1"], reply=asked)})
    written = cassette_text(cassette, STAMP)
    assert len(written.text) < 3_000 and sorted(map(len, written.files.values())) == [65_537, 65_549]
    assert read(written) == cassette
    for name in written.files:
        assert f"uri: {name}" in written.text


def test_x27_a_long_value_that_is_gone_is_said() -> None:
    written = cassette_text(one("z" * 70_000), STAMP)

    def gone(name: str) -> str:
        raise Unreadable(f"{name} cannot be read")

    with pytest.raises(CassetteProblem, match=r"greet\.ymj: greet-00000000\.[0-9a-f]{12}\.txt cannot be read"):
        read_cassette(SourceText(written.text, "greet.ymj"), gone)


def test_x27_blocks_stand_in_the_order_of_their_paths() -> None:
    paths = [
        "2",
        "1.1",
        "1.0/1",
        "1.0/setup",
        "1",
        "10",
        "1.0",
        "setup",
        "1.0/1.0",
        "1.0/1.0/1",
        "1.0/2",
        "1.10",
        "1.2",
    ]
    assert sorted(paths, key=path_key) == [
        *("setup", "1", "1.0", "1.0/setup", "1.0/1", "1.0/1.0", "1.0/1.0/1", "1.0/2", "1.1", "1.2", "1.10", "2", "10")
    ]


BAD = {
    "not a trace": ("no footer at all", "is not a recording: it does not end in a footer"),
    "cut": (cassette_text(one(), STAMP).text[:-40], "is not a recording: it does not end in a footer"),
    "another kind": (
        cassette_text(one(), STAMP).text.replace("prosa-trace", "somebody"),
        "is not a recording of Prosa",
    ),
    "newer": (cassette_text(one(), STAMP).text.replace('"schema": "1"', '"schema": "2"'), 'has the schema "2"'),
    "no header": (cassette_text(one(), STAMP).text.replace("---\n", "", 1), "it has no header"),
}


@pytest.mark.parametrize("name", BAD)
def test_x27_what_is_no_cassette_is_a_sentence(name: str) -> None:
    text, words = BAD[name]
    with pytest.raises(CassetteProblem, match=words) as caught:
        read(RecordingFiles(text, {}))
    assert "greet.ymj" in caught.value.message and caught.value.hint


def test_x27_a_block_that_was_edited_is_named_with_its_line() -> None:
    text = cassette_text(one(), STAMP).text
    begin, end = text.index("# Recording"), text.rindex("```json\n{")
    head, body, tail = text[:begin], text[begin:end], text[end:]
    edited = body.replace('"content": "Hello Ada"', '"content": 7')
    whole = head + edited + tail.replace(sha256_of(body), sha256_of(edited))
    with pytest.raises(CassetteProblem, match=r"greet\.ymj:27: call 1: .*got `int` - at `\$\.reply\.content`"):
        read(RecordingFiles(whole, {}))


@pytest.mark.parametrize(
    ("index", "words"),
    [
        ([], "`index` of the footer is no object"),
        ("x", "`index` of the footer is no object"),
        ({"program": 5, "input": "0"}, "`index.program` of the footer is no text"),
        ({"program": "greet", "input": ["0"]}, "`index.input` of the footer is no text"),
        ({"program": "greet"}, "'input'"),
    ],
)
def test_x27_a_footer_whose_index_is_none_is_a_sentence(index: Any, words: str) -> None:
    text = cassette_text(one(), STAMP).text
    head, start, footer = text.rpartition("```json\n")
    data = json.loads(footer.rpartition("```")[0]) | {"index": index}
    with pytest.raises(CassetteProblem, match=f"not a recording that can be played: {words}"):
        read(RecordingFiles(f"{head}{start}{json.dumps(data)}\n```\n", {}))


def test_x27_a_long_value_that_is_no_object_is_said() -> None:
    tool = ToolSpec("read", "Reads.", {"description": "x" * MAX_INLINE})
    request = ModelRequest("tiny", (Message("user", "Greet Ada."),), (tool,), program="greet")
    asked = {"1": RecordedReply(request_data(request), ModelReply("Hello Ada"))}
    written = cassette_text(structs.replace(one(), replies=asked), STAMP)
    files = dict.fromkeys(written.files, b"[1]")
    assert files
    with pytest.raises(CassetteProblem, match="is not a JSON object"):
        read(RecordingFiles(written.text, files))


# Redaction.


def test_x27_a_secret_is_in_no_part_of_a_redacted_cassette() -> None:
    secret = "sk-12345"
    cassette = one(f"Use {secret}.", f"I used {secret}", results={"1.0": RecordedResult("x", "mcp", {"k": [secret]})})
    found = redacted(cassette, lambda text: text.replace(secret, marked(secret)))
    text = cassette_text(found, STAMP).text
    assert secret not in text and marked(secret) in text and '"redacted": true' in text
    assert found.replies["1"].request["messages"][0]["content"] == f"Use {marked(secret)}."
    assert digest_of(found.replies["1"].request) in text


def test_x27_a_secret_that_is_escaped_in_json_is_found_too() -> None:
    secret = 'pa"ss\\word'
    cassette = one("x", '{"a": "pa\\"ss\\\\word"}')
    found = redacted(cassette, lambda text: text.replace(secret, marked(secret)))
    reply = found.replies["1"].reply
    assert reply is not None and reply.content == f'{{"a": "{marked(secret)}"}}'


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.sampled_from(("key-1", "key-22", " ", "a", "b: ", "key-333"))))
def test_x27_a_text_agrees_with_itself_without_its_secrets(parts: list[str]) -> None:
    text = "".join(parts)
    recorded = re.sub(r"key-\d+", lambda match: marked(match[0]), text)
    assert agree(recorded, text) and agree(recorded, recorded)
    if recorded != text:
        assert not agree(recorded, text.replace("key-", "kez-"))
        assert not agree(recorded, text + "!")


def test_x27_a_block_whose_fence_is_not_closed_is_a_fault():
    """X27."""
    text = "```json call:setup\n{}\n```\n```json call:1\n{}\n"
    found = read_trace(text, Span(0, len(text)))
    assert [each.message for each in found.faults] == [
        "call setup: Object missing required field `program`",
        "call 1: its fence is not closed",
    ]


def test_x27_a_block_is_not_nested_deeper_than_its_readers_can_go():
    """X27."""
    text = f"```json call:setup\n{'[' * 50_000}\n```\n"
    (fault,) = read_trace(text, Span(0, len(text))).faults
    assert fault.message == f"call setup: is nested too deeply, more than {MAX_NESTING} levels"


def growing(calls: int, said: str = "x" * 200) -> str:
    """The body of a recording in which each call sends the messages of the one before again."""
    blocks: list[tuple[str, Content]] = [("setup", SetupBlock("a", "m"))]
    for number in range(1, calls + 1):
        after = str(number - 1) if number > 1 else None
        blocks.append((str(number), ModelBlock("sha256:0", after, [WrittenMessage("user", said)])))
    return "".join(block_text(path, content, "#") for path, content in blocks)


def test_x27_the_requests_of_a_recording_have_a_limit():
    """X27. Each call sends all messages again: the requests of ten thousand calls would take gigabytes."""

    def work(calls: int) -> tuple[TraceFault, ...]:
        text = growing(calls)
        trace = read_trace(text, Span(0, len(text)))
        assert not trace.faults
        return tuple(digest_faults(trace))

    (*_, last) = work(1_500)
    assert re.fullmatch(r"call \d+: the requests up to here have more than [\d,]+ characters together", last.message)
    assert is_linear(work, 400, 3_200, part=1)
