"""`prosa logout`: end a login at an MCP server. Its tokens are revoked where the server can do that (RFC 7009), and
deleted here in any case.
"""

from __future__ import annotations

import argparse
import asyncio
import json

from prosa.app.login.begin import log_out, server_url
from prosa.cli.console import Console
from prosa.cli.errors import OK, say


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `logout`."""
    parser.add_argument("server", metavar="SERVER", help="the URL of the server, as `prosa login` lists it")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")


def run(args: argparse.Namespace, console: Console) -> int:
    """Return 0; 1 where there is no login, and where the server did not revoke its tokens."""
    done = asyncio.run(log_out(server_url(args.server), console.environ))
    login = done.login
    if args.format == "json":
        report = {"server": login.server, "issuer": login.issuer, "revoked": done.revoked, "deleted": True}
        console.out(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        how = "revoked and deleted" if done.revoked else "deleted here"
        console.out(f"logged out: {login.server} at {login.issuer}; its tokens are {how}")
    if done.problem:
        hint = f"they are deleted here; end the login at {login.issuer} yourself"
        return say(console, f"the tokens may still be good: {done.problem}", hint, cause="login-failed")
    if not done.revoked:
        console.note(f"note: {login.issuer} cannot revoke tokens; they stay good there until they end")
    return OK
