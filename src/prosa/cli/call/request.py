"""What `prosa call` makes of its arguments: the contract of an action and the request; and the words for a refusal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING
from uuid import uuid4

from prosa.cli.console import Console
from prosa.cli.errors import FAILED, WRONG_USE, say
from prosa.cli.options import given_token
from prosa.cli.parser import WrongUse
from prosa.data import Value

if TYPE_CHECKING:
    from prosa.schema import Schema
    from prosa.site.contract import Contract
    from prosa.site.node import SiteNode
    from prosa.site.problems import RequestError
    from prosa.site.request import Request


def contract_in(node: SiteNode, name: str) -> Contract:
    """The contract of an action of a node. Raises `WrongUse` where there is none, `RequestError` for a bad one."""
    from prosa.cli.parser import nearest
    from prosa.site.contract import read_contract

    action = node.action(name)
    if action is None:
        near = nearest(name, node.ids)
        hint = f"did you mean {near}?" if near else f"it has {', '.join(node.ids) or 'none'}"
        raise WrongUse(f"{node.name} declares no action {name!r}", hint=hint)
    return read_contract(action)


def prepared(
    contract: Contract, args: argparse.Namespace, console: Console, *, site_root: str, schema: Schema | None = None
) -> Request:
    """The request that the arguments ask for. Raises `RequestError` and `WrongUse`.

    ``schema`` is the fetched one of an action that names it by URL. A change carries a key of its own (H19).
    """
    from prosa.site.arguments import arranged
    from prosa.site.request import build_request

    undeclared = args.allow_undeclared
    return build_request(
        contract,
        arranged(contract, _pairs(args), _whole(args, console), schema=schema, allow_undeclared=undeclared),
        site_root=site_root,
        token=_token(contract, args, console, site_root),
        allow_undeclared=undeclared,
        body_schema=schema,
        idempotency_key=args.idempotency_key or str(uuid4()),
    )


def refused(error: RequestError, console: Console) -> int:
    """Says every problem. The status is 2 where the caller can mend it, 1 where only the site can."""
    theirs = all(problem.where == "action" for problem in error.problems)
    head, *more = map(str, error.problems)
    return say(console, head, "\n".join(more), status=FAILED if theirs else WRONG_USE)


def notes(
    contract: Contract, request: Request, args: argparse.Namespace, console: Console, *, unchecked: bool = False
) -> None:
    """What the request does not say by itself, on stderr. ``unchecked``: a schema that is a URL was not fetched."""
    auth = contract.auth
    if auth.wants_token and request.credential is None:
        help_ = f" ({auth.token_help})" if auth.token_help else ""
        _note(console, f"the action wants a token, and there is none; give it with --token-env NAME{help_}")
    if args.token_env and not auth.wants_token:
        _note(console, "the action declares no authentication, so the token is not sent")
    if unchecked and request.body is not None:
        _note(console, f"the body is not checked: its schema is at {contract.body_schema_url}, and nothing is fetched")


def _note(console: Console, text: str) -> None:
    from prosa.render.plain import safe

    console.note(f"note: {safe(text)}")


def _pairs(args: argparse.Namespace) -> list[tuple[str, str]]:
    from prosa.cli.run.input import pair

    return [pair(each) for each in args.pairs]


def _whole(args: argparse.Namespace, console: Console) -> dict[str, Value]:
    from prosa.cli.run.input import parse_input

    given = parse_input(args.input, console) if args.input is not None else {}
    if not isinstance(given, dict):
        raise WrongUse("--input must be an object", hint="""as in: --input '{"query": {"city": "Oslo"}}'""")
    return given


def _token(contract: Contract, args: argparse.Namespace, console: Console, site_root: str) -> str | None:
    """The token of this call, else the one that the user's settings name for the site, where the action wants one."""
    from prosa.app.client.tokens import site_tokens
    from prosa.site.request import root_of
    from prosa.source.url import origin_of

    given = given_token(args, console)
    if given is not None or not contract.auth.wants_token:
        return given
    root = root_of(site_root)
    return site_tokens(root, None, console.environ).when_asked(origin_of(root))
