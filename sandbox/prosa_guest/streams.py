"""stdout and stderr as text handed to the host, and an empty stdin.

The stream that componentize-py provides cuts long writes, so both are replaced. Short programs hand over every line,
so a program that is stopped has shown what it printed; after many pieces lines are collected, because each hand-over
costs about 20 µs.
"""

from __future__ import annotations

import codecs
import io
import sys
import time

import wit_world

PIECE = 65_536
"""Bytes per hand-over at most: the host counts and can stop the program between two."""
EAGER_PIECES = 500
"""Hand-overs before lines are collected."""
PATIENCE = 0.05
"""Seconds a collected line may wait for the next one."""


class HostStream(io.RawIOBase):
    """Takes bytes, gives the host UTF-8 text; broken bytes become ``\\xNN``."""

    def __init__(self, channel: int) -> None:
        self._channel = channel
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._pending = bytearray()
        self._pieces = 0
        self._handed_over = 0.0

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._channel

    def write(self, data) -> int:
        self._pending += data
        if self._pieces < EAGER_PIECES or len(self._pending) >= PIECE // 2 or self._is_late():
            self.hand_over()
        return len(data)

    def _is_late(self) -> bool:
        return time.monotonic() - self._handed_over > PATIENCE

    def hand_over(self, final: bool = False) -> None:
        """Gives the host everything collected."""
        data, self._pending = bytes(self._pending), bytearray()
        self._pieces += 1
        self._handed_over = time.monotonic()
        for start in range(0, len(data), PIECE):
            wit_world.emit(self._channel, self._decoder.decode(data[start : start + PIECE]))
        if final:
            wit_world.emit(self._channel, self._decoder.decode(b"", True))


_out = HostStream(1)
_err = HostStream(2)


def install() -> None:
    """Puts the streams in place for one run."""
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    sys.stdout = sys.__stdout__ = _text(_out)
    sys.stderr = sys.__stderr__ = _text(_err)


def _text(stream: HostStream) -> io.TextIOWrapper:
    return io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="\n", line_buffering=True)


def hand_over() -> None:
    """Shows what was printed so far; used before a wait."""
    _out.hand_over()
    _err.hand_over()


def finish() -> None:
    """Hands over the rest. A program may have closed or replaced its streams."""
    for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
        try:
            getattr(sys, name).flush()
        except BaseException:
            continue
    _out.hand_over(final=True)
    _err.hand_over(final=True)
