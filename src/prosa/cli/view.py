"""`prosa view`: the store of runs in a browser, live, on this machine alone. Thin: open, bind, serve, stop (X37).

It never listens beyond loopback, and every page needs the token, which is printed on stderr with the address.
"""

from __future__ import annotations

import argparse
import errno
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.argument_types import port, store_place
from prosa.cli.console import Console
from prosa.cli.environment import prices_of
from prosa.cli.errors import say
from prosa.cli.process import collect_often
from prosa.cli.serve import token_of

if TYPE_CHECKING:
    from prosa.records.run import StorePlace
    from prosa.web.view.app import ViewApp

HOST = "127.0.0.1"
DEFAULT_PORT = 8040


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `view`."""
    parser.add_argument(
        "--store", type=store_place, metavar="PATH|URL", help="the store of runs: a file, postgresql://…"
    )
    number = f"the port on 127.0.0.1 (default: {DEFAULT_PORT}; 0: any)"
    parser.add_argument("--port", type=port, default=DEFAULT_PORT, metavar="N", help=number)
    parser.add_argument(
        "--token-env", metavar="NAME", help="the environment variable with the token (default: a new token, printed)"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """0 after a signal has stopped it. Raises `StoreProblem` for a store that is not there or cannot be read."""
    from prosa.app.journal.place import store_of
    from prosa.render.plain import safe
    from prosa.web import serving

    place = store_of(args.store, console.environ)
    _require_readable(place, named=args.store is not None)
    try:
        made = serving.bound(HOST, args.port)
    except OSError as error:
        hint = "--port 0 takes any free one" if error.errno == errno.EADDRINUSE else ""
        return say(console, f"{HOST}:{args.port} cannot be bound: {error.strerror or error}", hint, status=1)
    with made:
        token = token_of(args, console)
        address = serving.address_of(made, HOST)
        app = _app(console, place, made.getsockname()[1], token)
        collect_often()
        message = f"serving the store {safe(str(place))} at {address}/ (Ctrl-C stops)"
        serving.serve(app, made, lambda: console.err(message), stopping=app.live.stop)
    return 0


def _require_readable(place: StorePlace, *, named: bool) -> None:
    """Raise `StoreProblem` for a store that cannot be read, and for one that the user names and that is not there."""
    from prosa.app.journal.history import reading_store
    from prosa.runtime.errors import StoreProblem

    with reading_store(place):
        pass
    if named and isinstance(place, Path) and not place.exists():
        raise StoreProblem(f"there is no store {place}", hint="the first run with that --store makes it")


def _app(console: Console, place: StorePlace, number: int, token: str) -> ViewApp:
    from prosa.render.plain import safe
    from prosa.web.context import Sessions
    from prosa.web.limits import Guard
    from prosa.web.serving import hosts_of
    from prosa.web.view.app import View, ViewApp

    view = View(place, Sessions(token, name=f"prosa-view-{number}"), cache(partial(prices_of, console)))
    return ViewApp(view, Guard(hosts_of(HOST, number, ())), lambda text: console.err(safe(f"error: {text}")))
