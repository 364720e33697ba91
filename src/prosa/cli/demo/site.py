"""The part of the tour with the example site: served, walked, called, booked, and tested. Only this machine is asked.

The server is a process of its own, as `prosa serve` would be; the story and what the commands print goes to stderr.
"""

from __future__ import annotations

import shlex
import sys
from io import StringIO

from prosa.cli.console import Console
from prosa.cli.demo.stage import folded, show
from prosa.cli.errors import say

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
    from prosa.cli.demo.server import NoServer, served
    from prosa.demo.example_places import ferries

    told = folded(console.changed(environ={**console.environ, **TOKEN}))
    told.err(f"{SITE}\n$ prosa {shlex.join(SERVE)}")
    # Without -P the folder of the examples would come before the installed packages.
    command = (sys.executable, "-P", "-m", "prosa", *SERVE)
    try:
        with served(command, console.environ, ferries().parent) as url:
            told.err(f"serving ferries/pages at {url}/\n")
            status = _visit(told, url) or _call(told, url) or _probe(told, url)
    except NoServer as problem:
        return say(told, "the example site could not be served", str(problem))
    if status == 0:
        told.err(STOPPED)
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
