"""The wire: messages of the protocol over standard input and output.

In: bytes of a client, possibly garbage. Out: messages for the server, in order; the process ends when the client
disconnects. Headers and messages are limited; invalid input ends with a message, and a message that is too large is
skipped.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable
from typing import BinaryIO, Protocol, TypedDict

from msgspec import Struct

from prosa.data import Value

MAX_HEADER = 4096
"""Bytes of a line of a header."""

MAX_HEADERS = 16
"""Lines of one."""

MAX_MESSAGE = 64 * 1024 * 1024
"""Bytes of a message; the largest document has a sixth of that."""

MAX_WAITING = 1000
"""Messages that were read and wait: a client that writes faster than it is answered waits too."""

MAX_WAITING_BYTES = MAX_MESSAGE
"""Bytes of these, without the one that was read last."""

_CHUNK = 1024 * 1024
WATCH_SECONDS = 1.0
"""How often the process of the client is checked."""


class BrokenWire(Exception):
    """What came is no message of the protocol."""


class Fault(Struct, frozen=True):
    """Why a message is none of JSON-RPC 2.0, and the id that the answer has: that of the message, where it has one."""

    words: str
    id: int | str | None = None


class Message(TypedDict, total=False):
    """A message without a fault: what `fault_of` has checked of it."""

    id: int | str
    method: str


def fault_of(message: Value) -> Fault | None:
    """Return the fault in the form of a message; None for a request, a notification or an answer."""
    if not isinstance(message, dict):
        return Fault(
            "it is not an object" + (", and a list of messages is not supported" if isinstance(message, list) else "")
        )
    number = message.get("id")
    known = number if isinstance(number, int | str) and not isinstance(number, bool) else None
    if message.get("jsonrpc") != "2.0":
        return Fault('`jsonrpc` is not "2.0"', known)
    if "method" not in message:
        return None if "id" in message else Fault("it has neither `method` nor `id`")
    if not isinstance(message["method"], str):
        return Fault("`method` is not text", known)
    if "id" in message and known is None:
        return Fault("`id` is neither a text nor a whole number")
    if not isinstance(message.get("params"), dict | list | None):
        return Fault("`params` is neither an object nor a list", known)
    return None


class TooLarge(Struct, frozen=True):
    """A skipped message, with its bytes."""

    size: int


def read_message(stream: BinaryIO) -> bytes | TooLarge | None:
    """Return the next message; None at the end. Raises `BrokenWire`."""
    length = _length(stream)
    if length is None:
        return None
    if length > MAX_MESSAGE:
        _pass_over(stream, length)
        return TooLarge(length)
    body = stream.read(length)
    return body if len(body) == length else None


def _length(stream: BinaryIO) -> int | None:
    """Return the length in a header; None at the end."""
    length: int | None = None
    for _ in range(MAX_HEADERS):
        line = stream.readline(MAX_HEADER)
        if not line:
            return None
        if not line.endswith(b"\n"):
            raise BrokenWire(f"a line of a header has more than {MAX_HEADER:,} bytes; this is not a language client")
        if not line.strip():
            if length is None:
                raise BrokenWire("a header without Content-Length; this is not a language client")
            return length
        name, colon, value = line.partition(b":")
        if not colon:
            raise BrokenWire(f"expected a header such as Content-Length: 123, found {_shown(line)}")
        if name.strip().lower() == b"content-length":
            if not value.strip().isdigit() or len(value) > 20:
                raise BrokenWire(f"Content-Length is not a number: {_shown(value)}")
            length = int(value)
    raise BrokenWire(f"a header has more than {MAX_HEADERS} lines")


def _shown(line: bytes) -> str:
    return repr(line[:60].decode("utf-8", "replace").strip())


def _pass_over(stream: BinaryIO, length: int) -> None:
    while length > 0 and (chunk := stream.read(min(length, _CHUNK))):
        length -= len(chunk)


class Server(Protocol):
    """Who messages are for."""

    def receive(self, message: Value) -> None:
        """Take a message that was read."""
        ...

    def complain(self, words: str) -> None:
        """Say that something came that is no message."""
        ...

    def not_json(self) -> None:
        """Answer a message that is no JSON."""
        ...

    @property
    def client_process(self) -> int | None:
        """The process of the client, if it has sent its id."""
        ...


async def serve(stream: BinaryIO, server: Server) -> None:
    """Pass every message to the server until the client disconnects. Raises `BrokenWire`."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    room = Room()

    def hand_over(message: bytes | TooLarge) -> None:
        room.leave(_size(message))
        _deliver(message, server)

    def end(error: BaseException | None) -> None:
        if not done.done():
            done.set_exception(error) if error is not None else done.set_result(None)

    def read() -> None:
        try:
            while (message := read_message(stream)) is not None:
                room.enter(_size(message))
                loop.call_soon_threadsafe(hand_over, message)
            loop.call_soon_threadsafe(end, None)
        except BrokenWire as error:
            loop.call_soon_threadsafe(end, error)
        except (OSError, ValueError):  # the stream was closed
            loop.call_soon_threadsafe(end, None)
        except RuntimeError:  # the loop is gone already
            return

    threading.Thread(target=read, name="prosa-wire", daemon=True).start()
    watching = asyncio.ensure_future(_watch(server, lambda: end(None)))
    try:
        await done
    finally:
        watching.cancel()


class Room:
    """Bounds the messages that wait for the server, by number and by bytes. One that is larger than the whole room
    waits alone."""

    def __init__(self, most: int = MAX_WAITING, most_bytes: int = MAX_WAITING_BYTES) -> None:
        self.most, self.most_bytes = most, most_bytes
        self.count = self.size = 0
        self._changed = threading.Condition()

    def enter(self, size: int) -> None:
        """Count a message, once there is room for it."""
        with self._changed:
            self._changed.wait_for(lambda: self.has_room(size))
            self.count, self.size = self.count + 1, self.size + size

    def leave(self, size: int) -> None:
        """Forget a message that the server has taken."""
        with self._changed:
            self.count, self.size = self.count - 1, self.size - size
            self._changed.notify()

    def has_room(self, size: int) -> bool:
        """Return whether a message of so many bytes may wait."""
        return self.count == 0 or (self.count < self.most and self.size + size <= self.most_bytes)


def _size(message: bytes | TooLarge) -> int:
    return 0 if isinstance(message, TooLarge) else len(message)


def _deliver(message: bytes | TooLarge, server: Server) -> None:
    if isinstance(message, TooLarge):
        server.complain(f"a message of {message.size:,} bytes is too large and was not read (at most {MAX_MESSAGE:,})")
        return
    try:
        value = json.loads(message)
    except (ValueError, RecursionError):
        server.not_json()
        return
    server.receive(value)


async def _watch(server: Server, gone: Callable[[], None]) -> None:
    """End the session when the process of the client has ended: its pipe may be held open by another."""
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        if server.client_process is not None and not _is_there(server.client_process):
            gone()
            return


def _is_there(process: int) -> bool:
    if os.name == "nt":  # where a signal 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
