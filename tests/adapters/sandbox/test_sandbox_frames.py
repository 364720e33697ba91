"""Messages between the processes: whatever bytes come, the answer is a message or `BrokenFrame` (LW10)."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.sandbox import frames
from prosa.adapters.sandbox.frames import BrokenFrame
from prosa.adapters.sandbox.limits import MAX_FRAME
from tests.depth import examples

text = st.text(max_size=40)
messages = st.dictionaries(text, st.none() | st.booleans() | st.integers() | text, max_size=5)


def received(data: bytes) -> list[object]:
    """What the blocking reader makes of these bytes."""
    left, right = socket.socketpair()
    with left, right:
        left.sendall(data)
        left.close()
        found = []
        while (message := frames.receive(right)) is not None:
            found.append(message)
        return found


def read(data: bytes) -> dict[str, object]:
    async def story() -> dict[str, object]:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await frames.read(reader)

    return asyncio.run(story())


@settings(max_examples=examples(25), deadline=None)
@given(messages)
def test_lw10_messages_survive_both_readers(message):
    data = frames.encode(message)
    assert read(data) == message
    assert received(data + data) == [message, message]


@settings(max_examples=examples(40), deadline=None)
@given(st.binary(max_size=40))
def test_lw10_any_bytes_are_a_message_an_end_or_broken(data):
    with contextlib.suppress(BrokenFrame):
        assert all(isinstance(message, dict) for message in received(data))
    with contextlib.suppress(BrokenFrame, asyncio.IncompleteReadError):
        assert isinstance(read(data), dict)


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"\0\0\0\1[", b"\0\0\0\2[]", b"\0\0\0\2\xff\xff"])
def test_lw10_nonsense_is_refused_before_it_is_kept(data):
    with pytest.raises(BrokenFrame):
        received(data)


def test_lw10_a_message_that_is_too_large_is_not_sent():
    with pytest.raises(BrokenFrame):
        frames.encode({"a": "x" * MAX_FRAME})


def test_lw10_a_message_nested_too_deeply_is_broken():
    nested = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    with pytest.raises(BrokenFrame):
        frames.decode(nested)
