"""Messages between the two processes: a JSON object behind its length, four bytes, big-endian.

Both directions are length-checked: the worker runs hostile programs, so its messages are not trusted either.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

from prosa.adapters.sandbox.limits import MAX_FRAME
from prosa.data import Value

if TYPE_CHECKING:
    import asyncio
    import socket

_LENGTH = struct.Struct(">I")


class BrokenFrame(Exception):
    """The other side sent something that is not a message."""


def encode(message: dict[str, Value]) -> bytes:
    """Return the bytes of one message. Raises `BrokenFrame` when it is larger than `MAX_FRAME`."""
    data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    if len(data) > MAX_FRAME:
        raise BrokenFrame(f"a message of {len(data)} bytes")
    return _LENGTH.pack(len(data)) + data


def decode(data: bytes) -> dict[str, Value]:
    """Return the message in the bytes after the length."""
    try:
        message = json.loads(data)
    except ValueError as error:
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


def receive(connection: socket.socket) -> dict[str, Value] | None:
    """Return the next message, blocking; None when the other side is gone."""
    head = _receive_exactly(connection, _LENGTH.size)
    data = _receive_exactly(connection, _length(head)) if head else None
    return None if data is None else decode(data)


def _receive_exactly(connection: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            return None
        data += piece
    return bytes(data)
