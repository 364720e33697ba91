"""Arguments about the sites of a run that `run` and `chat` share, and the rights they make (X7, X8, HA19)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.app.options import SiteRights

CHAT_SITE = "mdh:"
FLAGS = {
    "sites": "--site",
    "allow_private": "--allow-private",
    "allow_actions": "--allow-actions",
    "allowed": "--allow-action",
    "site_tokens": "--site-token",
}


def add_sites(parser: argparse.ArgumentParser, *, named: bool) -> None:
    """What a run may do at sites; with ``named`` also which it has beside those that the program declares."""
    group = parser.add_argument_group("sites")
    if named:
        group.add_argument(
            "--site", dest="sites", action="append", metavar="URL", help="a page whose actions become tools, too"
        )
    group.add_argument("--allow-actions", action="store_true", help="let every action change something at its site")
    group.add_argument(
        "--allow-action",
        dest="allowed",
        action="append",
        type=_permission,
        metavar="ACTION",
        help="let this action change something: an id, or 'METHOD /path'",
    )
    group.add_argument("--allow-private", action="store_true", help="ask sites at private and loopback addresses, too")
    group.add_argument(
        "--site-token",
        dest="site_tokens",
        action="append",
        type=_token,
        metavar="ORIGIN=NAME",
        help="the variable with the token for a site",
    )


def rights_from(args: argparse.Namespace) -> SiteRights:
    """The rights; none where a command has no such arguments. A site that a flag grants was typed by the user."""
    from prosa.app.options import SiteRights

    granted = (each for each in getattr(args, "tools", None) or () if isinstance(each, str))
    typed = (each.removeprefix(CHAT_SITE) for each in granted if each.startswith(CHAT_SITE))
    return SiteRights(
        named=(*(getattr(args, "sites", None) or ()), *typed),
        allow_private=getattr(args, "allow_private", False),
        allow_actions=getattr(args, "allow_actions", False),
        actions=tuple(getattr(args, "allowed", None) or ()),
        variables=dict(getattr(args, "site_tokens", None) or ()),
    )


def require_no_sites(args: argparse.Namespace) -> None:
    """Refuses the flags for a document that is run by its scripts. Raises `WrongUse`."""
    given = next((flag for name, flag in FLAGS.items() if getattr(args, name)), None)
    if given is not None:
        raise WrongUse(f"{given} is about the sites of a program, and ai-scripts have none")


def _permission(text: str) -> str:
    """A text that names actions, as it is."""
    from prosa.app.client.rights import permission

    try:
        permission(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _token(text: str) -> tuple[str, str]:
    """An origin and the name of a variable."""
    from prosa.site.origin import origin_of

    where, _, name = text.rpartition("=")
    try:
        origin = origin_of(where)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"the origin in {text[:60]!r} {error}") from None
    if where.rstrip("/").count("/") > 2:
        raise argparse.ArgumentTypeError(f"expected an origin without a path, found {where[:60]!r}")
    if not (name.isascii() and name.isidentifier()):
        raise argparse.ArgumentTypeError("expected ORIGIN=NAME, where NAME is a variable and not the token")
    if not origin.keeps_secrets:
        raise argparse.ArgumentTypeError(f"a token is not sent over plain http to {origin.host}; use https")
    return str(origin), name
