"""The wire: messages of the protocol over standard input and output.

In: bytes of a client, which may be garbage. Out: messages for the server, in order; the process ends when the client is
gone. A header is short and a message has a limit; what is none ends in a sentence, and a message that is too large is
passed over.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable
from typing import BinaryIO, Protocol

from msgspec import Struct

from prosa.data import Value

MAX_HEADER = 4096
"""Bytes of a line of a header."""

MAX_HEADERS = 16
"""Lines of one."""

MAX_MESSAGE = 64 * 1024 * 1024
"""Bytes of a message; the largest document has a sixth of that."""

_CHUNK = 1024 * 1024
WATCH_SECONDS = 1.0
"""How often it is looked whether the process of the client is still there."""


class BrokenWire(Exception):
    """What came is no message of the protocol."""


class TooLarge(Struct, frozen=True):
    """A message that was passed over, with its bytes."""

    size: int


def read_message(stream: BinaryIO) -> bytes | TooLarge | None:
    """The next message; None at the end. Raises `BrokenWire`."""
    length = _length(stream)
    if length is None:
        return None
    if length > MAX_MESSAGE:
        _pass_over(stream, length)
        return TooLarge(length)
    body = stream.read(length)
    return body if len(body) == length else None


def _length(stream: BinaryIO) -> int | None:
    """The length that a header tells; None at the end."""
    length: int | None = None
    for _ in range(MAX_HEADERS):
        line = stream.readline(MAX_HEADER)
        if not line:
            return None
        if not line.endswith(b"\n"):
            raise BrokenWire(f"a line of a header has more than {MAX_HEADER:,} bytes; this is no language client")
        if not line.strip():
            if length is None:
                raise BrokenWire("a header without Content-Length; this is no language client")
            return length
        name, colon, value = line.partition(b":")
        if not colon:
            raise BrokenWire(f"expected a header such as Content-Length: 123, found {_shown(line)}")
        if name.strip().lower() == b"content-length":
            if not value.strip().isdigit() or len(value) > 20:
                raise BrokenWire(f"Content-Length is no number: {_shown(value)}")
            length = int(value)
    raise BrokenWire(f"a header has more than {MAX_HEADERS} lines")


def _shown(line: bytes) -> str:
    return repr(line[:60].decode("utf-8", "replace").strip())


def _pass_over(stream: BinaryIO, length: int) -> None:
    while length > 0 and (found := stream.read(min(length, _CHUNK))):
        length -= len(found)


class Server(Protocol):
    """Who messages are for."""

    def receive(self, message: Value) -> None:
        """Takes a message that was read."""
        ...

    def complain(self, words: str) -> None:
        """Says that something came that is no message."""
        ...

    @property
    def client_process(self) -> int | None:
        """The process of the client, where it has told."""
        ...


async def serve(stream: BinaryIO, server: Server) -> None:
    """Gives the server every message until the client is gone. Raises `BrokenWire`."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    room = threading.Semaphore(_AHEAD)

    def hand_over(message: bytes | TooLarge) -> None:
        room.release()
        _deliver(message, server)

    def end(error: BaseException | None) -> None:
        if not done.done():
            done.set_exception(error) if error is not None else done.set_result(None)

    def read() -> None:
        try:
            while (message := read_message(stream)) is not None:
                room.acquire()
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


_AHEAD = 1000
"""Messages that may wait: a client that writes faster than it is read waits too."""


def _deliver(message: bytes | TooLarge, server: Server) -> None:
    if isinstance(message, TooLarge):
        server.complain(f"a message of {message.size:,} bytes is too large and was not read (at most {MAX_MESSAGE:,})")
        return
    try:
        found = json.loads(message)
    except (ValueError, RecursionError):
        server.complain("a message is no JSON and was not read")
        return
    server.receive(found)


async def _watch(server: Server, gone: Callable[[], None]) -> None:
    """Ends the session when the process of the client is no more: its pipe may be held open by another."""
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
