"""`prosa call URL`: reads the node over the network, makes the request, and sends it (X8, HA12, HA17, HA19).

A change is sent only after a yes. The token goes to the origin of the URL that the user wrote, and nowhere else.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from prosa.cli.call import list_actions, show
from prosa.cli.call_answer import print_answer
from prosa.cli.call_request import contract_in, notes, prepared
from prosa.cli.console import Console
from prosa.cli.errors import say
from prosa.cli.network_options import bounds, given_token
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.adapters.http.exchange import Answer
    from prosa.app.client.requests import SiteClient
    from prosa.app.client.tokens import SiteTokens
    from prosa.site.contract import Contract
    from prosa.site.request import Request


def call_site(args: argparse.Namespace, console: Console) -> int:
    """0; 1 where the site or the network fails. Raises `WrongUse` and `RequestError`."""
    from prosa.adapters.http.problems import HttpProblem
    from prosa.app.client.requests import SiteClient

    try:
        with SiteClient(bounds(args, args.node), _tokens(args, console)) as client:
            return _call(client, args, console)
    except HttpProblem as problem:
        return say(console, problem.message, problem.hint)


def _tokens(args: argparse.Namespace, console: Console) -> SiteTokens:
    """The tokens for the page itself, which a closed site asks for; none is sent before it does."""
    from prosa.app.client.tokens import NO_TOKENS, site_tokens

    try:
        return replace(site_tokens(args.node, given_token(args, console), console.environ), eager=False)
    except ValueError:
        return NO_TOKENS  # what is wrong with the URL is told when it is read


def _call(client: SiteClient, args: argparse.Namespace, console: Console) -> int:
    from prosa.cli.call_pages import walk

    root = _root(args)
    node, _ = client.fetch(args.node)
    if args.action is None:
        return list_actions(node, args, console)
    contract = contract_in(node, args.action)
    schema = client.schema(contract, root)
    request = prepared(contract, args, console, site_root=root, schema=schema)
    if args.dry_run:
        show(request, args, console)
        notes(contract, request, args, console)
        return 0
    notes(contract, request, args, console)
    if contract.auth.wants_token and request.credential is None:
        return say(console, "the action is not called without its token")
    if args.all_pages or args.max_pages:
        return walk(client, contract, request, args.max_pages, console)
    if contract.wants_consent and not _agreed(contract, request, args, console):
        return say(console, "nothing was sent")
    return print_answer(_sent(client, request, console), console)


def _sent(client: SiteClient, request: Request, console: Console) -> Answer:
    """The answer. Where a change may or may not have happened, its key is told, so that it can be repeated safely."""
    from prosa.adapters.http.problems import HttpProblem

    try:
        return client.send(request)
    except HttpProblem as problem:
        key = request.headers.get("Idempotency-Key")
        if key and problem.again != "always":
            console.note(f"note: it is not known whether the site did it; repeat with --idempotency-key {key}")
        raise


def _root(args: argparse.Namespace) -> str:
    """The root of the site: the origin of the node, or what the user says, on the same origin."""
    from prosa.site.origin import origin_of
    from prosa.site.request import root_of

    try:
        origin = origin_of(args.node)
    except ValueError as error:
        raise WrongUse(f"the URL of the node {error}") from None
    root = root_of(args.site_root or str(origin))
    if origin_of(root) != origin:
        raise WrongUse(f"--site-root is another origin than the node's, {origin}")
    return root


def _agreed(contract: Contract, request: Request, args: argparse.Namespace, console: Console) -> bool:
    """Whether a change may be sent (HA19): a flag, or a yes on a terminal, where the request is shown first."""
    if args.yes:
        return True
    from prosa.render.request import request_text

    if not console.interactive:
        hint = "look at it with --dry-run, then add --yes"
        what = f"a {request.method} changes something"
        if contract.changing:
            what = f"the name of this GET says that it changes something, `{contract.changing}`"
        raise WrongUse(f"{what}, and nobody can be asked", hint=hint)
    console.err(f"{request_text(request)}\n")
    console.err("Send it? [y/N] ", end="")
    return console.stdin.readline().strip().lower() in ("y", "yes")
