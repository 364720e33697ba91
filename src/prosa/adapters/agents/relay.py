"""The way out of the box: `python -I -S relay.py SOCKET PORT COMMAND…`, inside of it, started by `box` alone.

It listens on 127.0.0.1, which in the box is a network of its own, hands every connection on to one unix socket, and
ends with the exit status of the command. It runs on the standard library alone and imports nothing of Prosa.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes an eighth of the time of a start
    from typing import NoReturn

MOST_THREADS = 4096
"""Threads in the box at one time: what the supervisor counts twice a second, the kernel refuses at once. It does so for
ordinary users; for root it has no such limit."""

_PIECE = 1 << 16


def main() -> NoReturn:
    """Relay for as long as the command runs."""
    path, port, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    listening = socket.create_server(("127.0.0.1", port), backlog=128)
    threading.Thread(target=_serve, args=(listening, path), daemon=True).start()
    _bound_threads()
    try:
        usual = [signal.SIGPIPE, signal.SIGXFSZ]
        child = os.posix_spawnp(command[0], command, os.environ, setsigmask=[], setsigdef=usual)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda signum, _: os.kill(child, signum))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


def _bound_threads() -> None:
    """Set the limit where the kernel counts a box by itself (Linux 5.14); earlier ones count all of a user's."""
    import resource  # POSIX has it alone

    release = [int(part) for part in os.uname().release.split("-")[0].split(".")[:2] if part.isdigit()]
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    if release >= [5, 14] and (hard == resource.RLIM_INFINITY or hard > MOST_THREADS):
        resource.setrlimit(resource.RLIMIT_NPROC, (MOST_THREADS, MOST_THREADS))


def _serve(listening: socket.socket, path: str) -> None:
    while True:
        near, _ = listening.accept()
        far = socket.socket(socket.AF_UNIX)
        try:
            far.connect(path)
        except OSError:
            near.close()
            far.close()
            continue
        for source, target in ((near, far), (far, near)):
            threading.Thread(target=_hand_on, args=(source, target), daemon=True).start()


def _hand_on(source: socket.socket, target: socket.socket) -> None:
    """Hand on what comes until it ends, then say so to the other side. The last of both directions closes."""
    with suppress(OSError):
        while piece := source.recv(_PIECE):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
    with suppress(OSError):
        source.shutdown(socket.SHUT_RD)


if __name__ == "__main__":
    main()
