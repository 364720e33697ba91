"""`prosa call URL`: reads the node over the network, makes the request, and sends it (X8, HA12, HA17, HA19).

A change is sent only after a yes. The token goes to the origin of the URL that the user wrote, and nowhere else.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

from prosa.cli.call import show
from prosa.cli.call_answer import print_answer, value_of
from prosa.cli.call_request import contract_in, notes, prepared
from prosa.cli.console import Console
from prosa.cli.errors import say
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.adapters.http.exchange import Answer, Bounds, Exchange
    from prosa.schema import Schema
    from prosa.site.contract import Contract
    from prosa.site.node import SiteNode
    from prosa.site.request import Request

NODE_FORMS = "text/markdown, application/json;q=0.8, text/plain;q=0.5, */*;q=0.1"
"""Markdown first; what a site without negotiation sends is read all the same (H8, HA8)."""

SCHEMA_FORMS = "application/schema+json, application/json"


def call_site(args: argparse.Namespace, console: Console) -> int:
    """0; 1 where the site or the network fails. Raises `WrongUse` and `RequestError`."""
    from prosa.adapters.http.exchange import Exchange
    from prosa.adapters.http.problems import HttpProblem

    try:
        with Exchange(_bounds(args)) as exchange:
            return _call(exchange, args, console)
    except HttpProblem as problem:
        return say(console, problem.message, problem.hint)


def _call(exchange: Exchange, args: argparse.Namespace, console: Console) -> int:
    from prosa.cli.call_pages import walk

    root = _root(args)
    contract = contract_in(_node(exchange, args.node), args.action)
    schema = _schema(exchange, contract, root)
    request = prepared(contract, args, console, site_root=root, schema=schema)
    if args.dry_run:
        show(request, args, console)
        notes(contract, request, args, console)
        return 0
    notes(contract, request, args, console)
    if contract.auth.wants_token and request.credential is None:
        return say(console, "the action is not called without its token")
    if args.all_pages or args.max_pages:
        return walk(exchange, contract, request, args.max_pages, console)
    if contract.changes_state and not _agreed(request, args, console):
        return say(console, "nothing was sent")
    return print_answer(_sent(exchange, request, console), console)


def _sent(exchange: Exchange, request: Request, console: Console) -> Answer:
    """The answer. Where a change may or may not have happened, its key is told, so that it can be repeated safely."""
    from prosa.adapters.http.problems import HttpProblem

    try:
        return exchange.send(request)
    except HttpProblem as problem:
        key = request.headers.get("Idempotency-Key")
        if key and problem.again != "always":
            console.err(f"note: it is not known whether the site did it; repeat with --idempotency-key {key}")
        raise


def _bounds(args: argparse.Namespace) -> Bounds:
    from prosa.adapters.http.exchange import Bounds
    from prosa.cli.check_options import size_in_bytes

    default = Bounds()
    return Bounds(
        seconds=args.timeout or default.seconds,
        size=size_in_bytes(args.max_size) if args.max_size else default.size,
        allow_private=args.allow_private,
        named=_on_this_machine(args.node),
    )


def _on_this_machine(url: str) -> tuple[str, int] | None:
    """The host and port of a URL that names this machine itself; None for any other (X8)."""
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme.lower() == "https" else 80)
        named = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return None
    return (host, port) if named else None


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


def _node(exchange: Exchange, url: str) -> SiteNode:
    """The node at a URL. One that moved to another origin is not followed: its actions belong to another site."""
    from prosa.adapters.http.problems import HttpProblem
    from prosa.site.node import node_of_json, node_of_text
    from prosa.site.origin import origin_of

    answer = exchange.send(_get(url, NODE_FORMS))
    if not answer.is_success:
        raise HttpProblem(f"{url}: {answer.status} {answer.reason}".rstrip())
    if origin_of(answer.url) != origin_of(url):
        raise HttpProblem(f"the node is at {answer.url}, on another origin", "call it there, if you trust it")
    value = value_of(answer)
    return node_of_text(_text(answer), url) if value is None else node_of_json(value, url)


def _text(answer: Answer) -> str:
    return answer.body.decode("utf-8", "replace")


def _schema(exchange: Exchange, contract: Contract, root: str) -> Schema | None:
    """The schema that an action names by URL, from its own site (HA16)."""
    from prosa.schema import SchemaError
    from prosa.site.contract import object_schema
    from prosa.site.origin import origin_of
    from prosa.site.problems import refuse

    if not contract.body_schema_url:
        return None
    try:
        url = urljoin(root, contract.body_schema_url)
        foreign = origin_of(url) != origin_of(root)
    except ValueError as error:
        raise refuse("action", "body_schema", str(error)) from None
    if foreign:
        raise refuse("action", "body_schema", "is the URL of another site, and is not fetched")
    answer = exchange.send(_get(url, SCHEMA_FORMS))
    value = value_of(answer) if answer.is_success and origin_of(answer.url) == origin_of(root) else None
    try:
        if value is not None:
            return object_schema(value)
    except SchemaError as error:
        raise refuse("action", "body_schema", f"is no JSON Schema: {error}") from None
    raise refuse("action", "body_schema", f"{url} gives no JSON Schema ({answer.status} {answer.reason})")


def _get(url: str, accept: str) -> Request:
    from urllib.parse import parse_qsl

    from prosa.site.request import Request

    where, _, query = urldefrag(url)[0].partition("?")
    return Request("GET", where, tuple(parse_qsl(query, keep_blank_values=True)), {"Accept": accept})


def _agreed(request: Request, args: argparse.Namespace, console: Console) -> bool:
    """Whether a change may be sent (HA19): a flag, or a yes on a terminal, where the request is shown first."""
    if args.yes:
        return True
    from prosa.render.request import request_text

    if not console.interactive:
        hint = "look at it with --dry-run, then add --yes"
        raise WrongUse(f"a {request.method} changes something, and nobody can be asked", hint=hint)
    console.err(f"{request_text(request)}\n")
    console.err("Send it? [y/N] ", end="")
    return console.stdin.readline().strip().lower() in ("y", "yes")
