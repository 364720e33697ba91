"""`prosa call`: call an action that a node declares, or print the request with `--dry-run`.

In: the URL of a node, the id of an action, its input. Out: the answer on stdout, or the request with credentials as
`***` (X8); notices on stderr. For a node in a file nothing is sent.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct
from msgspec.structs import replace

from prosa.cli.argument_types import count
from prosa.cli.console import Console
from prosa.cli.documents import add_bounds, bounds, given_token
from prosa.cli.errors import FAILED, WRONG_USE, say
from prosa.cli.parser import WrongUse
from prosa.data import Value

if TYPE_CHECKING:
    from prosa.app.client.call import CallInput, CallOutcome, PagedCall
    from prosa.app.client.tokens import SiteTokens
    from prosa.data import Value
    from prosa.site.answer import Answer
    from prosa.site.contract import Contract
    from prosa.site.node import SiteNode
    from prosa.site.problems import RequestError
    from prosa.site.request import Request


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `call`."""
    parser.add_argument("node", metavar="URL", help="the page that declares the action; with --dry-run, a file too")
    parser.add_argument(
        "action", nargs="?", metavar="ACTION", help="the id of the action; without it, all actions are listed"
    )
    put = "one input; the action declares whether it goes into the path, the query or the body"
    parser.add_argument("pairs", nargs="*", default=(), metavar="KEY=VALUE", help=put)
    whole = '{"query": {...}, "path": {...}, "body": ...} as JSON, @FILE, or - for standard input'
    parser.add_argument("--input", metavar="JSON", help=whole)
    parser.add_argument("--allow-undeclared", action="store_true", help="also send parameters that are not declared")
    parser.add_argument("--site-root", metavar="URL", help="the root of the site that a file belongs to")
    parser.add_argument("--dry-run", action="store_true", help="print the request and send nothing")
    parser.add_argument("--token-env", metavar="NAME", help="the variable that holds the token for this call")
    parser.add_argument("--idempotency-key", metavar="KEY", help="the key of an earlier request, to repeat it safely")
    parser.add_argument("--show-secrets", action="store_true", help="print credentials instead of ***")
    _add_network(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")


def _add_network(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("over the network")
    group.add_argument("--yes", action="store_true", help="do not ask before a request that changes something")
    group.add_argument("--all-pages", action="store_true", help="follow pagination; print each item on a line")
    group.add_argument("--max-pages", type=count, metavar="N", help="follow at most N pages of results (1000)")
    add_bounds(group)


def run(args: argparse.Namespace, console: Console) -> int:
    """0; 1 where the action cannot be called as declared. Raises `WrongUse`."""
    from prosa.app.client.call import WrongCall
    from prosa.site.problems import RequestError

    try:
        if args.node.lower().startswith(("http://", "https://")):
            return call_site(args, console)
        return _look(args, console)
    except RequestError as error:
        return refused(error, console)
    except WrongCall as error:
        raise WrongUse(error.message, hint=error.hint) from None


def _look(args: argparse.Namespace, console: Console) -> int:
    """Print the request of an action in a file."""
    from prosa.app.client.call import contract_in, made_request

    node = _node(Path(args.node))
    if args.action is None:
        return list_actions(node, args, console)
    if args.site_root is None:
        raise WrongUse("the node is in a file, so its site is not known", hint="as in: --site-root https://example.org")
    if not args.dry_run:
        raise WrongUse("the node is in a file, so its action cannot be called, only shown", hint="add --dry-run")
    contract = contract_in(node, args.action)
    request = made_request(contract, given(args, console), console.environ, root=args.site_root)
    show(request, args, console)
    notes(contract, request, args, console, unchecked=bool(contract.body_schema_url))
    return 0


def list_actions(node: SiteNode, args: argparse.Namespace, console: Console) -> int:
    """Return the actions that a node declares, a line each, on stdout; 0, though it has none."""
    from prosa.render.json import dump
    from prosa.render.plain import safe

    if args.format == "json":
        console.out(
            dump({"node": node.url or node.name, "actions": [dict(action) for action in node.actions]}, indent=2)
        )
        return 0
    for action in node.actions:
        words = [str(action.get(name) or "") for name in ("id", "method", "url")]
        about = str(action.get("title") or action.get("description") or "").partition("\n")[0]
        console.out(safe("  ".join(filter(None, (*words, about)))))
    if not node.actions:
        console.err(f"{safe(node.name)} declares no actions")
    return 0


def show(request: Request, args: argparse.Namespace, console: Console) -> None:
    """Print the request on stdout, in the requested format."""
    from prosa.render.json import dump
    from prosa.render.visit import request_text

    visible = args.show_secrets
    as_json = args.format == "json"
    console.out(dump(request.as_dict(show=visible), indent=2) if as_json else request_text(request, show=visible))


def _node(path: Path) -> SiteNode:
    from prosa.app.text_files import read_given
    from prosa.site.node import node_of_text

    return node_of_text(read_given(path), str(path))


# `prosa call URL`: over the network. `app.client.call` makes the steps; this part selects the site and prints.


def call_site(args: argparse.Namespace, console: Console) -> int:
    """0; 1 where the site or the network fails. Raises `WrongUse` and `RequestError`."""
    from prosa.app.client.call import ActionCall, call_action
    from prosa.app.client.requests import SiteClient
    from prosa.site.problems import HttpProblem, PageProblem

    pages = args.max_pages or (None if args.all_pages else 0)
    asked = ActionCall(args.node, args.action, args.site_root, args.dry_run, pages)
    try:
        with SiteClient(bounds(args, args.node), _tokens(args, console)) as client:
            return _printed(call_action(client, asked, _Asker(args, console), console.environ), args, console)
    except HttpProblem as problem:
        return say(console, problem.message, problem.hint, cause=problem)
    except PageProblem as problem:
        return say(console, str(problem), cause=problem)


def _printed(called: CallOutcome, args: argparse.Namespace, console: Console) -> int:
    from prosa.app.client.call import AnsweredCall, NodeActions, PagedCall, PreparedCall, UnsentCall

    match called:
        case NodeActions(node):
            return list_actions(node, args, console)
        case PreparedCall():
            return 0
        case UnsentCall(reason):
            return say(console, reason, cause="not-sent")
        case AnsweredCall(answer):
            return print_answer(answer, console)
        case PagedCall():
            return print_walk(called, args.max_pages, console)
        case _:
            assert_never(called)


class _Asker(Struct, frozen=True):
    """The user at the command line."""

    args: argparse.Namespace
    console: Console

    def given(self) -> CallInput:
        return given(self.args, self.console)

    def prepared(self, contract: Contract, request: Request) -> None:
        if self.args.dry_run:
            show(request, self.args, self.console)
        notes(contract, request, self.args, self.console)

    def agrees(self, contract: Contract, request: Request) -> bool:
        return _agreed(contract, request, self.args, self.console)

    def item(self, value: Value) -> None:
        from prosa.render.json import dump

        self.console.out(dump(value))

    def in_doubt(self, key: str) -> None:
        self.console.note(f"note: it is not known whether the site did it; repeat with --idempotency-key {key}")


def _tokens(args: argparse.Namespace, console: Console) -> SiteTokens:
    """Return the tokens for the page itself, which a closed site asks for; none is sent before it does."""
    from prosa.app.client.tokens import NO_TOKENS, site_tokens

    try:
        return replace(site_tokens(args.node, given_token(args, console), console.environ), eager=False)
    except ValueError:
        return NO_TOKENS  # an invalid URL is reported when it is read


def _agreed(contract: Contract, request: Request, args: argparse.Namespace, console: Console) -> bool:
    """Return whether a change may be sent (HA19): a flag, or a yes on a terminal, where the request is shown first."""
    if args.yes:
        return True
    from prosa.render.visit import request_text

    if not console.interactive:
        hint = "look at it with --dry-run, then add --yes"
        what = f"a {request.method} changes something"
        if contract.changing:
            what = f"the name of this GET suggests a change, `{contract.changing}`"
        raise WrongUse(f"{what}, and there is no terminal to ask for confirmation", hint=hint)
    console.err(f"{request_text(request)}\n")
    console.err("Send it? [y/N] ", end="")
    return console.stdin.readline().strip().lower() in ("y", "yes")


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
    return say(console, head, "\n".join(more), status=FAILED if theirs else WRONG_USE, cause=error)


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

    return [pair(word) for word in args.pairs]


def _whole(args: argparse.Namespace, console: Console) -> dict[str, Value]:
    from prosa.cli.run.input import parse_input

    value = parse_input(args.input, console) if args.input is not None else {}
    if not isinstance(value, dict):
        raise WrongUse("--input must be an object", hint="""as in: --input '{"query": {"city": "Oslo"}}'""")
    return value


EXCUSE = 2_000
"""Characters of the text of a failure that are printed."""


def print_answer(answer: Answer, console: Console) -> int:
    """Return 0 for a success, 1 for any other answer. JSON is printed in one form, other text unchanged."""
    if not answer.is_success:
        return failed(answer, console)
    text = shown(answer)
    if text is None:
        return say(console, f"the answer is not text but {answer.media_type or 'of no named type'}, and is not printed")
    console.warn(f"{answer.status} {_plain(answer.reason)}".rstrip())
    if text:
        console.out(text)
    return 0


def failed(answer: Answer, console: Console) -> int:
    """Say that the site refused, with the beginning of its reasons."""
    message = f"the site answers {answer.status} {answer.reason}".rstrip()
    return say(console, message, (shown(answer) or "")[:EXCUSE], status=FAILED, cause="site-failed")


def shown(answer: Answer) -> str | None:
    """Return the text of an answer; None where it is none."""
    from prosa.render.json import dump
    from prosa.site.answer import json_of

    value = json_of(answer)
    if value is not None:
        return dump(value, indent=2)
    try:
        return answer.body.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        return None


def _plain(text: str) -> str:
    from prosa.render.plain import safe

    return safe(text)


def print_walk(walked: PagedCall, limit: int | None, console: Console) -> int:
    """Print how many items there were (HA17): return 0, also at the user's limit of pages; 1 for a listing
    without end."""
    if walked.more and limit is None:
        return say(console, f"there are more than {walked.pages:,} pages", "--max-pages N follows more of them")
    more = "; there are more pages" if walked.more else ""
    console.note(f"{_many(walked.items, 'item')} on {_many(walked.pages, 'page')}{more}")
    return 0


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
