"""A call of an action that a node of a site declares, step by step (X8, HA12, HA17, HA19).

In: the URL of a node, the id of an action, and a `Caller` with the input and the prompts. Out: the result. The node
and a schema that it names are read first; nothing is sent without a required token; a change is only sent after
confirmation; reads continue to further pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias
from uuid import uuid4

from msgspec import Struct

from prosa.app.client.tokens import site_tokens
from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.schema import Schema
from prosa.site.answer import Answer, json_of
from prosa.site.contract import Contract, read_contract
from prosa.site.node import SiteNode
from prosa.site.offer import arranged
from prosa.site.pages import MAX_PAGES, Pages, items_of, next_page
from prosa.site.problems import HttpProblem, PageProblem
from prosa.site.request import Request, build_request, root_of
from prosa.source.url import origin_of

if TYPE_CHECKING:
    from prosa.app.client.requests import SiteClient


class WrongCall(ValueError):
    """The request does not fit this action, or the node has none of that name; ``hint`` says what is possible."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message, self.hint = message, hint
        super().__init__(message)


class CallInput(Struct, frozen=True):
    """The input of an action: ``pairs`` go where it declares them, ``whole`` has `query`, `path` and `body`. ``token``
    is that of this call, ``key`` repeats an earlier change (H19)."""

    pairs: Sequence[tuple[str, str]] = ()
    whole: Mapping[str, Value] = {}
    allow_undeclared: bool = False
    token: str | None = None
    key: str = ""


class ActionCall(Struct, frozen=True):
    """The request: an action of the node at a URL; all of its actions without a name. ``root`` is that of the site if
    it differs from the origin; ``dry_run`` sends nothing; ``pages`` is the number of followed pages, 0 for only one
    answer, None for all."""

    url: str
    action: str | None = None
    root: str | None = None
    dry_run: bool = False
    pages: int | None = 0


class Caller(Protocol):
    """Who calls."""

    def given(self) -> CallInput:
        """Return what goes to the action; asked once its contract is known."""
        ...

    def prepared(self, contract: Contract, request: Request) -> None:
        """Receive the request before it is sent."""
        ...

    def agrees(self, contract: Contract, request: Request) -> bool:
        """Return whether a change may be sent."""
        ...

    def item(self, value: Value) -> None:
        """Receive an item of a page as soon as it arrives."""
        ...

    def in_doubt(self, key: str) -> None:
        """Learn that a change with this key may or may not have happened."""
        ...


class NodeActions(Struct, frozen=True):
    """The node whose actions were requested."""

    node: SiteNode


class PreparedCall(Struct, frozen=True):
    """The request of a dry run."""

    request: Request


class UnsentCall(Struct, frozen=True):
    """Nothing was sent, and why."""

    reason: str


class AnsweredCall(Struct, frozen=True):
    """The answer of the site: a success or not."""

    answer: Answer


class PagedCall(Struct, frozen=True):
    """All pages that were wanted: ``items`` on ``pages``; ``more`` says that there are further pages."""

    items: int
    pages: int
    more: bool = False


CallOutcome: TypeAlias = NodeActions | PreparedCall | UnsentCall | AnsweredCall | PagedCall


def call_action(client: SiteClient, asked: ActionCall, caller: Caller, environ: Mapping[str, str]) -> CallOutcome:
    """Call the action. Raises `WrongCall`, `RequestError`, `HttpProblem`, and `PageProblem` if the walk over
    pages cannot continue."""
    root = _root(asked)
    node, _ = client.fetch(asked.url)
    if asked.action is None:
        return NodeActions(node)
    contract = contract_in(node, asked.action)
    schema = client.schema(contract, root)
    request = made_request(contract, caller.given(), environ, root=root, schema=schema)
    caller.prepared(contract, request)
    if asked.dry_run:
        return PreparedCall(request)
    if contract.auth.wants_token and request.credential is None:
        return UnsentCall("the action is not called without its token")
    if asked.pages != 0:
        return _walked(client, contract, request, asked.pages, caller)
    if contract.wants_consent and not caller.agrees(contract, request):
        return UnsentCall("nothing was sent")
    return AnsweredCall(_sent(client, request, caller))


def contract_in(node: SiteNode, name: str) -> Contract:
    """Return the contract of an action of a node. Raises `WrongCall` where there is none, `RequestError` for a bad
    one."""
    action = node.action(name)
    if action is None:
        near = nearest(name, node.ids)
        hint = f"did you mean {near}?" if near else f"it has {', '.join(node.ids) or 'none'}"
        raise WrongCall(f"{node.name} declares no action {name!r}", hint)
    return read_contract(action)


def made_request(
    contract: Contract, call_input: CallInput, environ: Mapping[str, str], *, root: str, schema: Schema | None = None
) -> Request:
    """Return the request for the input. Raises `RequestError`.

    ``schema`` is the fetched one of an action that names it by URL. A change gets its own key (H19). The token is that
    of this call, otherwise the one from the user's settings for the site, if the action requires one.
    """
    undeclared = call_input.allow_undeclared
    token = call_input.token
    if token is None and contract.auth.wants_token:
        site = root_of(root)
        token = site_tokens(site, None, environ).when_asked(origin_of(site))
    return build_request(
        contract,
        arranged(contract, call_input.pairs, dict(call_input.whole), schema=schema, allow_undeclared=undeclared),
        site_root=root,
        token=token,
        allow_undeclared=undeclared,
        body_schema=schema,
        idempotency_key=call_input.key or str(uuid4()),
    )


def _root(asked: ActionCall) -> str:
    """Return the root of the site: the origin of the node, or the user's choice on the same origin."""
    try:
        origin = origin_of(asked.url)
    except ValueError as error:
        raise WrongCall(f"the URL of the node {error}") from None
    root = root_of(asked.root or str(origin))
    if origin_of(root) != origin:
        raise WrongCall(f"--site-root is another origin than the node's, {origin}")
    return root


def _sent(client: SiteClient, request: Request, caller: Caller) -> Answer:
    """Return the answer. If a change may or may not have happened, its key is reported, so that it can be
    repeated safely."""
    try:
        return client.send(request)
    except HttpProblem as problem:
        key = request.headers.get("Idempotency-Key")
        if key and problem.again != "always":
            caller.in_doubt(key)
        raise


def _walked(
    client: SiteClient, contract: Contract, request: Request, limit: int | None, caller: Caller
) -> AnsweredCall | PagedCall:
    """Return one page after the other; an answer without success ends the walk."""
    if contract.wants_consent:
        what = (
            f"the name of this GET says `{contract.changing}`" if contract.changing else f"this is a {contract.method}"
        )
        raise WrongCall(f"--all-pages is for reads, and {what}")
    if contract.pagination is None:
        raise WrongCall("the action declares no pagination", "call it without --all-pages")
    state: Pages | None = Pages(request, limit=limit or MAX_PAGES)
    items = 0
    while state is not None:
        answer = client.send(state.request)
        if not answer.is_success:
            return AnsweredCall(answer)
        value = json_of(answer)
        if value is None:
            raise PageProblem(f"page {state.count} is not JSON, so its items cannot be read")
        for item in items_of(value):
            caller.item(item)
            items += 1
        count, full = state.count, state.full
        state = next_page(contract, value, state)
        if state is not None and full:
            return PagedCall(items, count, more=True)
    return PagedCall(items, count)
