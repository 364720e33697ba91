"""A server from its first message to its last. In: the streams of a process. Out: an exit status."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from prosa.lsp.server import ProsaServer
from prosa.lsp.wire import serve

SWITCH_SECONDS = 0.001
"""How long the thread that reads a corpus keeps the others waiting, which answer in a few of these."""


def serve_stdio(incoming: BinaryIO, outgoing: BinaryIO, environ: Mapping[str, str], log: str | None = None) -> int:
    """Serve one stream on the other until the client sends `exit` or disconnects. Raises `BrokenWire`."""

    async def run() -> int:
        server = ProsaServer(environ)
        server.protocol.set_writer(_Writer(outgoing))
        await serve(incoming, server)
        return 0 if server.protocol.is_shut_down else 1

    sys.setswitchinterval(SWITCH_SECONDS)
    with _logging(log):
        try:
            return asyncio.run(run())
        except SystemExit as end:  # how the library answers `exit`
            return int(end.code or 0)


class _Writer:
    """Meets the writer of the library. A client that reads no more ends the session where its input ends."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    def write(self, data: bytes) -> None:
        """Write a message at once."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(data)
            self.stream.flush()

    def close(self) -> None:
        """Write the remaining data; the process closes the stream."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.flush()


@contextlib.contextmanager
def _logging(path: str | None) -> Iterator[None]:
    """Send the library's log to a file, if one is named, and nowhere else."""
    library = logging.getLogger("pygls")
    library.propagate = False
    handler = logging.FileHandler(path, encoding="utf-8") if path else logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    library.addHandler(handler)
    library.setLevel(logging.DEBUG if path else logging.CRITICAL)
    try:
        yield
    finally:
        library.removeHandler(handler)
        handler.close()
