"""Server-sent events: bytes in, `(event, data)` out, as the HTML standard (9.2.6) reads a stream.

An event without data is dropped. Whether the stream ended well is for the caller to say; an event that was not closed
by an empty line is handed out all the same, because some services leave out the last one.
"""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterator, Iterator


class EventDecoder:
    """Collects bytes and hands out events. Linear: a line is searched for its end once."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._rest: list[str] = []
        self._after_cr = False
        self._event = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        """Events that this chunk completes."""
        text = self._decode(chunk)
        if self._after_cr and text:
            text = text.removeprefix("\n")
            self._after_cr = False
        self._after_cr = self._after_cr or text.endswith("\r")
        *lines, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if lines:
            lines[0] = "".join([*self._rest, lines[0]])
            self._rest = []
        if rest:
            self._rest.append(rest)
        for line in lines:
            yield from self._line(line)

    def finish(self) -> Iterator[tuple[str, str]]:
        """What is left when the stream ends."""
        rest, self._rest = "".join(self._rest), []
        yield from self._line(rest)
        yield from self._line("")

    def _line(self, line: str) -> Iterator[tuple[str, str]]:
        if not line:
            if self._data:
                yield self._event, "\n".join(self._data)
            self._event, self._data = "", []
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[str, str]]:
    """Decodes a stream."""
    decoder = EventDecoder()
    async for chunk in chunks:
        for event in decoder.feed(chunk):
            yield event
    for event in decoder.finish():
        yield event
