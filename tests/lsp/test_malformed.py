"""Messages that are none of JSON-RPC, or come out of turn: each is answered as JSON-RPC 2.0 says (X9, X30)."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.lsp.server import ProsaServer
from prosa.lsp.wire import Room
from tests.depth import examples
from tests.lsp.editor import Editor, inside

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NOT_INITIALIZED = -32002


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.fixture
def editor(project: Path, environ: Mapping[str, str]):
    """An editor whose server has been told of a project."""
    with inside(environ) as made:
        made.initialize(project)
        yield made


def error_of(editor: Editor, message: Any) -> tuple[Any, int]:
    """The id and the code of the answer to a message that is none."""
    editor.write(framed(message if isinstance(message, bytes) else json.dumps(message).encode()))
    found = editor.wait(lambda each: "error" in each)
    return found["id"], found["error"]["code"]


CASES = {
    "a method that is a number": ({"jsonrpc": "2.0", "method": 5}, None, INVALID_REQUEST),
    "the same with an id": ({"jsonrpc": "2.0", "id": 9, "method": 5}, 9, INVALID_REQUEST),
    "no version": ({"method": 5}, None, INVALID_REQUEST),
    "another version": ({"jsonrpc": "1.0", "id": "x", "method": "shutdown"}, "x", INVALID_REQUEST),
    "no method and no id": ({"jsonrpc": "2.0"}, None, INVALID_REQUEST),
    "an id that is a list": ({"jsonrpc": "2.0", "id": [1], "method": "textDocument/hover"}, None, INVALID_REQUEST),
    "an id that is null": ({"jsonrpc": "2.0", "id": None, "method": "textDocument/hover"}, None, INVALID_REQUEST),
    "an id that is true": ({"jsonrpc": "2.0", "id": True, "method": "textDocument/hover"}, None, INVALID_REQUEST),
    "an id that is a fraction": ({"jsonrpc": "2.0", "id": 1.5, "method": "textDocument/hover"}, None, INVALID_REQUEST),
    "params that are a text": (
        {"jsonrpc": "2.0", "id": 9, "method": "textDocument/hover", "params": "x"},
        9,
        INVALID_REQUEST,
    ),
    "params that do not fit": (
        {"jsonrpc": "2.0", "id": 9, "method": "textDocument/hover", "params": {}},
        9,
        INVALID_PARAMS,
    ),
    "params that are missing": ({"jsonrpc": "2.0", "id": 9, "method": "textDocument/hover"}, 9, INVALID_PARAMS),
    "an unknown method": ({"jsonrpc": "2.0", "id": 9, "method": "no/such"}, 9, UNKNOWN_METHOD),
    "a batch": ([{"jsonrpc": "2.0", "id": 9, "method": "shutdown"}], None, INVALID_REQUEST),
    "an empty batch": ([], None, INVALID_REQUEST),
    "a number": (3, None, INVALID_REQUEST),
    "no JSON": (b"{", None, PARSE_ERROR),
    "no UTF-8": (b"\xff\xfe\xfd", None, PARSE_ERROR),
    "a second beginning": ({"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": {}}, 9, INVALID_REQUEST),
}


@pytest.mark.parametrize("case", CASES)
def test_x30_a_malformed_message_is_answered_as_json_rpc_says(editor: Editor, case: str):
    """X30. Never as an internal error; the session goes on."""
    message, number, code = CASES[case]
    assert error_of(editor, message) == (number, code)
    editor.is_read()


def test_x30_requests_out_of_turn_are_refused(project: Path, environ: Mapping[str, str]):
    """X30. Before `initialize` and after `shutdown`."""
    with inside(environ, goodbye=False) as editor:
        assert editor.answer(editor.begin("textDocument/hover", {}))["error"]["code"] == NOT_INITIALIZED
        editor.initialize(project)
        editor.ask("shutdown")
        assert editor.answer(editor.begin("workspace/symbol", {"query": ""}))["error"]["code"] == INVALID_REQUEST
        editor.notify("exit")


class Heard:
    """Meets the writer of the library, and keeps what was sent."""

    def __init__(self) -> None:
        self.errors: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        found = json.loads(data.partition(b"\r\n\r\n")[2])
        if "error" in found:
            self.errors.append(found)

    def close(self) -> None:
        """Nothing is open."""


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
METHODS = st.sampled_from(["initialized", "textDocument/hover", "$/cancelRequest", "$/setTrace", "", "x"]) | JSON
MESSAGES = JSON | st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": st.integers() | st.text(max_size=3) | JSON,
        "method": METHODS,
        "params": JSON,
        "result": JSON,
        "error": JSON,
    },
)


@settings(max_examples=examples(1_000), deadline=None)
@given(messages=st.lists(MESSAGES, min_size=1, max_size=4))
def test_x30_no_message_reaches_an_internal_error(messages: list[Any]):
    """X30. Whatever JSON comes: an error has the code of JSON-RPC, and what is none of its messages is refused."""
    server, heard = ProsaServer({}), Heard()
    server.protocol.set_writer(heard)
    for message in messages:
        before = len(heard.errors)
        server.receive(message)
        codes = {each["error"]["code"] for each in heard.errors[before:]}
        assert codes <= {INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, NOT_INITIALIZED}
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            assert codes == {INVALID_REQUEST}


def test_x9_the_bytes_of_waiting_messages_are_bounded():
    """X9. A reader that is ahead waits for the server, whether its messages are many or large."""
    room = Room(most=3, most_bytes=100)
    assert room.has_room(1_000)
    room.enter(60)
    assert room.has_room(40) and not room.has_room(41)
    room.enter(1)
    room.enter(1)
    assert not room.has_room(1)
    entered = threading.Event()

    def ahead() -> None:
        room.enter(50)
        entered.set()

    reader = threading.Thread(target=ahead, daemon=True)
    reader.start()
    room.leave(1)
    assert not entered.is_set() and (room.count, room.size) == (2, 61)
    room.leave(60)
    assert entered.wait(30)
    assert (room.count, room.size) == (2, 51)
