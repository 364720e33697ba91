"""What `prosa call` makes of its arguments, and its words for a request and for a refusal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.documents import given_token
from prosa.cli.errors import FAILED, WRONG_USE, say
from prosa.cli.parser import WrongUse
from prosa.data import Value

if TYPE_CHECKING:
    from prosa.app.client.call import CallInput
    from prosa.site.contract import Contract
    from prosa.site.problems import RequestError
    from prosa.site.request import Request


def given(args: argparse.Namespace, console: Console) -> CallInput:
    """Return the input of an action from the arguments. Raises `WrongUse`."""
    from prosa.app.client.call import CallInput

    return CallInput(
        _pairs(args),
        _whole(args, console),
        args.allow_undeclared,
        given_token(args, console),
        args.idempotency_key or "",
    )


def refused(error: RequestError, console: Console) -> int:
    """Say every problem. The status is 2 where the caller can mend it, 1 where only the site can."""
    theirs = all(problem.where == "action" for problem in error.problems)
    head, *more = map(str, error.problems)
    return say(console, head, "\n".join(more), status=FAILED if theirs else WRONG_USE)


def notes(
    contract: Contract, request: Request, args: argparse.Namespace, console: Console, *, unchecked: bool = False
) -> None:
    """Print notes about the request on stderr. ``unchecked``: a schema that is a URL was not fetched."""
    auth = contract.auth
    if auth.wants_token and request.credential is None:
        help_ = f" ({auth.token_help})" if auth.token_help else ""
        _note(console, f"the action requires a token, and there is none; give it with --token-env NAME{help_}")
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
