"""Messages between the two processes: a JSON object behind its length, four bytes, big-endian.

Both directions are length-checked: the worker runs hostile programs, so its messages are not trusted either.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from prosa.adapters.sandbox.limits import MAX_FRAME
from prosa.data import Plain, Value

if TYPE_CHECKING:
    import asyncio

_LENGTH = struct.Struct(">I")


class BrokenFrame(Exception):
    """The other side sent something that is not a message."""


def encode(message: Mapping[str, Plain]) -> bytes:
    """Return the bytes of one message. Raises `BrokenFrame` when it is larger than `MAX_FRAME`."""
    data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    if len(data) > MAX_FRAME:
        raise BrokenFrame(f"a message of {len(data)} bytes")
    return _LENGTH.pack(len(data)) + data


def decode(data: bytes) -> dict[str, Value]:
    """Return the message in the bytes after the length."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BrokenFrame("not JSON") from error
    if not isinstance(message, dict):
        raise BrokenFrame("not a JSON object")
    return message


def _length(data: bytes) -> int:
    length: int = _LENGTH.unpack(data)[0]
    if length > MAX_FRAME:
        raise BrokenFrame(f"a message of {length} bytes")
    return length


async def read(reader: asyncio.StreamReader) -> dict[str, Value]:
    """Return the next message. Raises ``asyncio.IncompleteReadError`` at the end of the stream."""
    return decode(await reader.readexactly(_length(await reader.readexactly(_LENGTH.size))))


class Channel(Protocol):
    """What a worker speaks through: a socket, or its standard streams."""

    def recv(self, size: int, /) -> bytes:
        """Return at most so many bytes, blocking; none at the end."""
        ...

    def sendall(self, data: bytes, /) -> None:
        """Send all bytes."""
        ...


class StandardStreams:
    """The standard streams of this process as a connection. What anything else prints goes nowhere from now on."""

    def __init__(self) -> None:
        self._output = os.dup(1)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
        if sys.platform == "win32":
            import msvcrt

            for descriptor in (0, self._output):
                msvcrt.setmode(descriptor, os.O_BINARY)

    def recv(self, size: int) -> bytes:
        """Return at most so many bytes, blocking; none at the end."""
        return os.read(0, size)

    def sendall(self, data: bytes) -> None:
        """Write all bytes: one call may write fewer."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._output, view) :]


def receive(connection: Channel) -> dict[str, Value] | None:
    """Return the next message, blocking; None when the other side is gone."""
    head = _receive_exactly(connection, _LENGTH.size)
    data = _receive_exactly(connection, _length(head)) if head else None
    return None if data is None else decode(data)


def _receive_exactly(connection: Channel, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            return None
        data += piece
    return bytes(data)
