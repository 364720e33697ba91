"""Arguments that every command shares which asks a site, and the `Bounds` they make (X8, X9)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.adapters.http.exchange import Bounds

MOST_SECONDS = 3_600
"""Nobody waits longer for one answer."""


def add_bounds(group: argparse._ArgumentGroup) -> None:
    """Which addresses may be asked, how long an answer may take and how large it may be."""
    group.add_argument("--allow-private", action="store_true", help="ask private and loopback addresses too")
    group.add_argument("--timeout", type=seconds, metavar="SECONDS", help="for each answer (30)")
    group.add_argument("--max-size", metavar="SIZE", help="largest answer (10MiB)")


def seconds(text: str) -> float:
    """A time such as 30, 30s or 5m, as the type of an argument."""
    from prosa.dialects.quantity import seconds as read

    found = read(text)
    if found is None or not 0 < found <= MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"expected a time such as 30, 30s or 5m, found {text[:20]!r}")
    return float(found)


def bounds(args: argparse.Namespace, url: str) -> Bounds:
    """The bounds that the arguments ask for; ``url`` is the one that the user typed. Raises `WrongUse`."""
    from prosa.adapters.http.exchange import Bounds
    from prosa.app.client.requests import on_this_machine
    from prosa.cli.check_options import size_in_bytes

    default = Bounds()
    return Bounds(
        seconds=args.timeout or default.seconds,
        size=size_in_bytes(args.max_size) if args.max_size else default.size,
        allow_private=args.allow_private,
        named=on_this_machine(url),
    )


def given_token(args: argparse.Namespace, console: Console) -> str | None:
    """The token of `--token-env`; None without the flag. Raises `WrongUse` for a variable that is not set."""
    if args.token_env is None:
        return None
    token = console.environ.get(args.token_env)
    if not token:
        raise WrongUse(f"--token-env {args.token_env}: there is no such variable, or it is empty")
    return token
