"""A server in a process of its own, for the tour: started, waited for until it says where it is, and always stopped.

In: a command. Out: the URL, while the server runs. It ends with the tour, whichever way that ends.
"""

from __future__ import annotations

import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO

from prosa.cli.errors import Stopped
from prosa.cli.run.interaction import SIGNALS
from prosa.regex import regex

START_SECONDS = 60
"""Maximum seconds to start: a slow machine imports for a while, and a longer silence means a hang."""

STOP_SECONDS = 10
"""A server that was asked to stop finishes its answers first."""

EXCUSE = 2_000
"""Characters that are kept of what a server says before it fails."""

READY = regex(r"serving .* at (http://127\.0\.0\.1:\d+)/")


class NoServer(Exception):
    """The server ended, or said nothing in time. The text is what it said."""


@contextmanager
def served(
    command: Sequence[str], environ: Mapping[str, str], folder: Path, *, seconds: float = START_SECONDS
) -> Iterator[str]:
    """Return the URL of a server, without the slash at its end, while the server runs in ``folder``. Raises
    `NoServer`."""
    with _signals_raise(), _started(command, environ, folder) as child:
        url = _address(child, seconds)
        rest = threading.Thread(target=_drain, args=(child.stderr,), daemon=True)
        rest.start()
        try:
            yield url
        finally:
            _stop(child)
            rest.join(STOP_SECONDS)


@contextmanager
def _started(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(
        list(command),
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    with child:
        try:
            yield child
        finally:
            _stop(child)


def _address(child: subprocess.Popen[str], seconds: float) -> str:
    assert child.stderr is not None
    heard = ""
    limit = threading.Timer(seconds, child.kill)
    limit.daemon = True
    limit.start()
    try:
        for line in child.stderr:
            if match := READY.search(line):
                return match[1]
            heard = (heard + line)[-EXCUSE:]
    finally:
        limit.cancel()
    raise NoServer(heard.strip())


def _drain(stream: IO[str]) -> None:
    """Read on, so that a server with much to say is never stopped by a full pipe."""
    deque(stream, maxlen=0)


def _stop(child: subprocess.Popen[str]) -> None:
    child.terminate()
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


@contextmanager
def _signals_raise() -> Iterator[None]:
    """Signal that would end this process at once raise `Stopped`, so that the server is stopped too."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Stopped(number)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    mine = [number for number, handler in before.items() if handler is signal.SIG_DFL]
    for number in mine:
        with suppress(ValueError):
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number in mine:
            with suppress(ValueError):
                signal.signal(number, signal.SIG_DFL)
