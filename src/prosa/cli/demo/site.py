"""The part of the tour that serves a site, visits it and calls an action; its server is a process of its own, waited
for until it says where it is, and always stopped, whichever way the tour ends.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import IO

from prosa.cli.console import Console
from prosa.cli.demo.stage import folded, show
from prosa.cli.errors import Stopped, say
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
    output = ""
    limit = threading.Timer(seconds, child.kill)
    limit.daemon = True
    limit.start()
    try:
        for line in child.stderr:
            if match := READY.search(line):
                return match[1]
            output = (output + line)[-EXCUSE:]
    finally:
        limit.cancel()
    raise NoServer(output.strip())


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


SITE = """\
7. A site for people and agents: fourteen pages in Markdown, and a small API
   that they describe. It is served on this machine, read as an agent reads it,
   and its actions are called as the pages declare them.
"""

WALKED = "The root lists its links. One is followed by its text:\n"

CALLED = """\
A page declares what can be called. First only the request, then its answers, on
two pages:
"""

BOOKED = """\
A request that changes something needs a token and a confirmation, and carries a
key, so that it can be repeated safely:
"""

PROBED = "Does the site conform to MDH?\n"

STOPPED = "The server has stopped.\n"

TOKEN = {"SKERRY_TOKEN": "skerry-demo"}
VERDICT = 2
"""Lines at the end of a report that say how it went."""

SERVE = ("serve", "ferries/pages", "--api", "ferries/api.py:app", "--port", "0")
WALK = ("--follow", "the islands", "--follow", "Kelda")
SEARCH = ("sailings.search", "from=HAR", "to=KEL", "date=2026-07-01")
BOOK = ("bookings.create", "sailing=HAR-KEL-20260701-0630", "name=Ada", "passengers=2")


def tour_site(console: Console) -> int:
    """Walk through the site. The exit status of the first command that fails, else 0."""
    from prosa.demo.example_places import ferries

    screen = folded(console.changed(environ={**console.environ, **TOKEN}))
    screen.err(f"{SITE}\n$ prosa {shlex.join(SERVE)}")
    # Without -P the folder of the examples would come before the installed packages.
    command = (sys.executable, "-P", "-m", "prosa", *SERVE)
    try:
        with served(command, console.environ, ferries().parent) as url:
            screen.err(f"serving ferries/pages at {url}/\n")
            status = _visit(screen, url) or _call(screen, url) or _probe(screen, url)
    except NoServer as problem:
        return say(screen, "the example site could not be served", str(problem))
    if status == 0:
        screen.err(STOPPED)
    return status


def _visit(console: Console, url: str) -> int:
    console.err(WALKED)
    return show(console, "visit", f"{url}/") or show(console, "visit", f"{url}/", *WALK)


def _call(console: Console, url: str) -> int:
    console.err(CALLED)
    call = ("call", f"{url}/timetable", *SEARCH)
    status = show(console, *call, "--dry-run") or show(console, *call, "--all-pages", "--max-pages", "2")
    if status:
        return status
    console.err(BOOKED)
    ((name, value),) = TOKEN.items()
    return show(console, "call", f"{url}/booking", *BOOK, "--token-env", name, "--yes", environ=f"{name}={value} ")


def _probe(console: Console, url: str) -> int:
    """Return the verdict alone, where all is well: the findings are many lines."""
    console.err(PROBED)
    report = StringIO()
    status = show(console.changed(stdout=report), "probe", f"{url}/", "--strict")
    lines = report.getvalue().splitlines()
    console.err("\n".join((*(lines if status else ("…", *lines[-VERDICT:])), "")))
    return status
