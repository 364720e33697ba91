"""An action of a page as a tool of a run (X15). In: an offer and the access to the site. Out: the specification for
the model, and results that the model can react to.

Text of the site is put on one line, cut and marked as such. A change is only sent with permission, under an
`Idempotency-Key` that stays the same if the outcome of an earlier attempt is unknown (HA19).
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from msgspec import Struct

from prosa.adapters.http.background import in_background
from prosa.app.client.access import SiteAccess
from prosa.app.client.rights import declared, permission
from prosa.data import Value
from prosa.render.plain import safe
from prosa.runtime.ports import ToolResult
from prosa.site.answer import json_of
from prosa.site.pages import Pages, next_page
from prosa.site.problems import HttpProblem, PageProblem, RequestError
from prosa.site.request import build_request

if TYPE_CHECKING:
    from prosa.app.client.rights import Declared
    from prosa.site.answer import Answer
    from prosa.site.offer import Offer
    from prosa.site.request import Request
    from prosa.source.url import Origin

MAX_SHOWN = 200
"""Characters of a text of a site in a description."""

EXCUSE = 2_000
"""Characters of the text of a failure."""


class OfferedAction(Struct, frozen=True):
    """An action of the page at ``at``, ready to be called; meets the port `SiteAction`."""

    access: SiteAccess
    offer: Offer
    at: str
    origin: Origin

    @property
    def id(self) -> str:
        """Its id on the site."""
        return self.access.hide(self.offer.contract.id)

    @property
    def page(self) -> str:
        """The page that declares it."""
        return self.access.hide(self.at)

    @property
    def declared(self) -> Declared:
        """The declaration that a permission is bound to."""
        return declared(self.offer.contract, self.origin)

    @property
    def description(self) -> str:
        """Method and URL, then the title as a quotation."""
        contract = self.offer.contract
        changes = " It changes something there." if contract.wants_consent else ""
        title = f' The site calls it "{cleaned(self.offer.title)}".' if self.offer.title.strip() else ""
        text = f"Sends {contract.method} {cleaned(contract.url)} to {self.origin}.{changes}{title}"
        return self.access.hide(text)

    @property
    def parameters(self) -> Mapping[str, Value]:
        """The JSON Schema of its arguments."""
        text = json.dumps(self.offer.parameters)
        hidden = self.access.hide(text)
        schema: Mapping[str, Value] = self.offer.parameters if hidden == text else json.loads(hidden)
        return schema

    @property
    def repeatable(self) -> bool:
        """Whether it only reads, by its method and by its contract."""
        return not self.offer.contract.wants_consent

    async def call(self, arguments: Mapping[str, Value]) -> ToolResult:
        """Send the request; what goes wrong is a result that says so."""
        try:
            result = await self._called(arguments)
        except RequestError as error:
            result = failed("\n".join(map(str, error.problems)))
        except HttpProblem as problem:
            result = failed(problem.message)
        return ToolResult(self.access.hide(result.content), result.is_error)

    async def _called(self, arguments: Mapping[str, Value]) -> ToolResult:
        contract, root = self.offer.contract, str(self.origin)
        if contract.wants_consent and not self.access.allows(self.declared) and self.access.confirm is None:
            return self._not_permitted()
        token = self.access.token(self.origin) if contract.auth.wants_token else None
        if contract.auth.wants_token and token is None:
            return self._no_token()
        request = build_request(
            contract,
            self.offer.given(arguments),
            site_root=root,
            token=token,
            body_schema=await self.access.schema(contract, root),
            idempotency_key=self._key(arguments),
        )
        if contract.wants_consent and not await self.access.permits(self.declared, request):
            return self._not_permitted()
        if not contract.changes_state:
            return await self._result_of(request, await self.access.send(request))
        return await self._result_of(request, await self._changed(request, arguments))

    async def _changed(self, request: Request, arguments: Mapping[str, Value]) -> Answer:
        """Return the answer to a change. Until it is there the key is kept, so that the same call is the same
        change."""
        mark = self._mark(arguments)
        self.access.keys[mark] = request.headers["Idempotency-Key"]
        try:
            answer = await self.access.send(request)
        except HttpProblem as problem:
            if problem.again == "always":
                raise
            note = "it is not known whether the site did it; the same call again is safe, as it carries the same key"
            raise HttpProblem(f"{problem.message}; {note}") from None
        del self.access.keys[mark]
        return answer

    def _key(self, arguments: Mapping[str, Value]) -> str:
        return self.access.keys.get(self._mark(arguments)) or str(uuid4())

    def _mark(self, arguments: Mapping[str, Value]) -> str:
        contract = self.offer.contract
        asked = [str(self.origin), contract.method, contract.url, arguments]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    def _not_permitted(self) -> ToolResult:
        contract = self.offer.contract
        what = f"{safe(contract.id)} changes something ({contract.method} {cleaned(contract.url)})"
        if not self.access.rights.names(contract.id):
            return failed(f"{what}, and that was not permitted; nothing was sent. {self._permission()}")
        if any(permitted.id == contract.id for permitted in self.access.named):
            why = f"{cleaned(self.at)} declares it otherwise than the page that the user named"
            return failed(f"{what}: {why}; nothing was sent")
        why = "no page that the user named declares it, so its id alone permits nothing"
        return failed(f"{what}: {why}; nothing was sent. {self._permission()}")

    def _permission(self) -> str:
        """Return how the user permits it: by its id where that means this very action, quoted for a shell."""
        contract = self.offer.contract
        names = [contract.id] if self.declared in self.access.named else []
        names.append(f"{self.origin} {contract.method} {contract.url}")
        name = next((choice for choice in names if safe(choice) == choice and _is_permission(choice)), "")
        if not name:
            return "the user permits every change at the sites of the run with --allow-actions"
        return f"the user permits it with --allow-action {shlex.quote(name)}, or all with --allow-actions"

    def _no_token(self) -> ToolResult:
        help_ = self.offer.contract.auth.token_help
        site_text = f' The site says: "{cleaned(help_)}".' if help_ else ""
        how = f"the user gives it with --site-token {self.origin}=NAME, the variable that holds it"
        return failed(
            f"the action requires a token, and there is none for {self.origin}; nothing was sent. {how}.{site_text}"
        )

    async def _result_of(self, request: Request, answer: Answer) -> ToolResult:
        """Return the result of an answer; a large one must not hold up the run while it is read."""
        return await in_background(partial(self._result, request, answer))

    def _result(self, request: Request, answer: Answer) -> ToolResult:
        """Return the answer for the model: JSON without unneeded spaces, other text unchanged, and the link to
        the next page."""
        value = json_of(answer)
        text = _text(answer, value)
        status = f"{answer.status} {cleaned(answer.reason)}".strip()
        if not answer.is_success:
            return failed(f"the site answers {status}\n{(text or '')[:EXCUSE]}".rstrip())
        if text is None:
            return failed(f"the answer ({status}) is not text but {cleaned(answer.media_type) or 'of no named type'}")
        more = self._next(request, value)
        return ToolResult("\n".join(part for part in (text or f"{status}, without a text", more) if part))

    def _next(self, request: Request, value: Value) -> str:
        """Return how to ask for the next page, in the arguments of this tool (HA17)."""
        contract = self.offer.contract
        try:
            state = next_page(contract, value, Pages(request)) if value is not None else None
        except PageProblem as problem:
            return f"[the next page: {problem}]"
        if state is None:
            return ""
        added = {name: text for name, text in state.request.query if (name, text) not in request.query}
        if state.request.url == request.url and added and added.keys() <= set(contract.parameters):
            return f"[there is a next page: call again with {json.dumps(added, ensure_ascii=False)} in addition]"
        return f"[there is a next page: visit {state.request.address(show=False)}]"


def failed(reason: str) -> ToolResult:
    """Return a result that says what went wrong."""
    return ToolResult(f"error: {reason}", is_error=True)


def cleaned(text: str) -> str:
    """Return a text of a site on one line, without what moves a cursor, and cut."""
    line = safe(" ".join(text[: 4 * MAX_SHOWN].split()))
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"


def _is_permission(text: str) -> bool:
    try:
        permission(text)
    except ValueError:
        return False
    return True


def _text(answer: Answer, value: Value) -> str | None:
    if value is not None:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return answer.body.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        return None
