"""`prosa login`: OAuth 2.1 at an MCP server over HTTP, once; programs use and renew the login afterwards (X18).

In: the URL of a server, and a user who logs in with a browser or with a code. Out: a login in the user's data folder.
No token is ever printed. Without a server it lists the logins.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import webbrowser
from collections.abc import Mapping

from prosa.app.login.begin import log_in, server_url
from prosa.app.login.renewal import end_of, login_words, logins
from prosa.cli.argument_types import seconds
from prosa.cli.console import Console
from prosa.cli.errors import OK, say
from prosa.cli.parser import WrongUse
from prosa.data import Value
from prosa.render.plain import safe
from prosa.runtime.login import Login, LoginRequest, LoginUser
from prosa.source.url import Origin, secret_origin


class _Declined(Exception):
    """The user does not want to log in there."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `login`."""
    parser.add_argument("server", nargs="?", metavar="SERVER", help="the URL of the server; without it, list logins")
    parser.add_argument("--scope", metavar="TEXT", help="rights to ask for, with spaces between (what the server asks)")
    parser.add_argument("--device", action="store_true", help="log in with a code, on this or another device")
    parser.add_argument("--no-browser", action="store_true", help="only print the address; open no browser")
    parser.add_argument("--yes", action="store_true", help="do not ask before a login at another origin")
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="another origin that belongs to the authorization server; may be repeated",
    )
    parser.add_argument("--allow-private", action="store_true", help="allow private and loopback addresses")
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="port on this machine that the browser returns to"
    )
    parser.add_argument("--timeout", type=seconds, default=300.0, metavar="SECONDS", help="for the whole login (300)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")


def run(args: argparse.Namespace, console: Console) -> int:
    """Return 0 for a login, or a list; 1 where there was no login."""
    if args.server is None:
        return _list(args, console)
    wanted = LoginRequest(
        server=server_url(args.server),
        scope=_scope(args.scope),
        device=args.device,
        port=args.port,
        origins=frozenset(map(_origin, args.allow_origin)),
        allow_private=args.allow_private,
        seconds=args.timeout,
    )
    try:
        login = asyncio.run(log_in(wanted, _user(args, console), console.environ))
    except _Declined:
        return say(console, "not logged in; nothing was stored", cause="interrupted", head="")
    if args.format == "json":
        console.out(json.dumps(as_dict(login), ensure_ascii=False, indent=2))
    else:
        console.out(f"logged in: {login_words(login)}")
    return OK


def _list(args: argparse.Namespace, console: Console) -> int:
    stored_logins = logins(console.environ)
    if args.format == "json":
        console.out(json.dumps([as_dict(login) for login in stored_logins], ensure_ascii=False, indent=2))
    elif stored_logins:
        console.out("\n".join(map(login_words, stored_logins)))
    else:
        console.note("note: there is no login; to make one: prosa login SERVER")
    return OK


def as_dict(login: Login) -> Mapping[str, Value]:
    """Return a login without its tokens, for programs."""
    return {
        "server": login.server,
        "resource": login.resource,
        "issuer": login.issuer,
        "scope": login.scope,
        "expires": end_of(login),
        "renews": login.refresh_token is not None,
    }


def _scope(text: str | None) -> str | None:
    """Return scopes as OAuth has them (RFC 6749, section 3.3). Raises `WrongUse`."""
    if text is None:
        return None
    if not text.strip() or not text.isascii() or not text.isprintable() or '"' in text or "\\" in text:
        raise WrongUse("--scope: expected printable ASCII without quotes and backslashes")
    return " ".join(text.split())


def _origin(text: str) -> Origin:
    try:
        return secret_origin(text)
    except ValueError as error:
        raise WrongUse(f"--allow-origin {text}: {error}", hint="as in https://login.example.org") from None


def _user(args: argparse.Namespace, console: Console) -> LoginUser:
    def approve(server: Origin, place: Origin) -> None:
        if args.yes:
            return
        if not console.interactive:
            raise WrongUse(
                f"{server} has its logins at {place}, and there is no terminal to ask for confirmation",
                hint="if that is where you want to log in, add --yes",
            )
        console.err(f"{server} has its logins at {place}.\nLog in there? [y/N] ", end="")
        if console.stdin.readline().strip().lower() not in ("y", "yes"):
            raise _Declined

    async def visit(url: str, code: str) -> None:
        # Not a notice: without it no login can be made, also where a program reads the rest.
        about = f"Enter the code {safe(code)} at" if code else "Log in at"
        console.err(f"{about}\n  {safe(url)}")
        if console.interactive and not args.no_browser and _has_browser(console.environ):
            await asyncio.to_thread(webbrowser.open, url)

    return LoginUser(approve, visit)


def _has_browser(environ: Mapping[str, str]) -> bool:
    """Return whether a browser would open in a window: one in this terminal would take it over."""
    return sys.platform in ("win32", "darwin") or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
