"""A server on loopback that is hardly ever done: it sends a first piece, then the same piece again and again."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PIECES = 400
"""After so many it hangs up: whoever waits for its end is told so, and does not wait for ever."""


@contextmanager
def dripping(first: bytes, again: bytes, *, pause: float = 0.02, asked: list[bytes] | None = None) -> Iterator[str]:
    """Its URL. Every ``pause`` seconds it sends ``again`` to each who asked, until they go; what each ``asked`` is
    added to a list."""
    listening, over = socket.create_server(("127.0.0.1", 0)), threading.Event()
    threads: list[threading.Thread] = []

    def serve(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(2)
            heard = client.recv(65536)
            if asked is not None:
                asked.append(heard)
            client.sendall(first)
            for _ in range(PIECES):
                if over.wait(pause):
                    return
                client.sendall(again)

    def accept() -> None:
        with suppress(OSError):
            while not over.is_set():
                client = listening.accept()[0]
                threads.append(threading.Thread(target=serve, args=(client,), daemon=True))
                threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        over.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for thread in (accepting, *threads):
            thread.join(5)
