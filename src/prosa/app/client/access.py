"""The way of a run to its sites: requests within the bounds of the run, its credentials, its permission (X7, X8, X9).

In: requests to sites that the run may ask. Out: answers, or `HttpProblem`. Every request stays with its origin, also
when it is redirected; a run that is stopped waits for none. Tokens go to their origin only, and `hide` takes them out
of whatever a site gives back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct, field

from prosa.adapters.http.background import in_background
from prosa.adapters.http.exchange import MAX_REDIRECTS, Bounds, Exchange, redirected
from prosa.app.client.requests import SCHEMA_FORMS, on_this_machine, schema_in, schema_url
from prosa.app.client.tokens import site_variables
from prosa.app.options import SiteRights
from prosa.app.run.service import WithStoredKeys
from prosa.render.plain import safe
from prosa.render.visit import request_text
from prosa.runtime.errors import RunError
from prosa.site.problems import HttpProblem
from prosa.site.request import get_request
from prosa.source.secrets import HIDDEN, forms_of
from prosa.source.values import PartlyShown

if TYPE_CHECKING:
    from prosa.app.client.rights import Declared
    from prosa.app.options import Environment
    from prosa.schema import Schema
    from prosa.site.answer import Answer
    from prosa.site.contract import Contract
    from prosa.site.request import Request
    from prosa.source.url import Origin

CALL_SECONDS = 30.0
"""For one request with its redirects and repetitions, within the wall clock of the run."""

MAX_REQUESTS = 200
"""Requests of one run, those of its imported programs among them: a page must not keep a run going round."""


Confirm = Callable[[str], Awaitable[bool]]
"""Shows a request to a person and gives whether it may be sent."""


class SiteAccess(PartlyShown, Struct):
    """The shared state of the programs of one run. ``variables`` hold the tokens, by origin; ``confirm`` is None if
    prompting is not possible. ``keys`` are those of changes with an unknown outcome, by request. ``starts`` are the
    URLs of the pages that the user named, ``pinned`` the actions of each when it was first read."""

    rights: SiteRights
    variables: Mapping[Origin, str]
    environ: Mapping[str, str]
    confirm: Confirm | None = None
    starts: Collection[str] = ()
    requests: int = 0
    keys: dict[str, str] = field(default_factory=dict)
    pinned: dict[str, tuple[Declared, ...]] = field(default_factory=dict)
    _secrets: dict[str, None] = field(default_factory=dict)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    unshown: ClassVar = frozenset({"environ", "_secrets"})

    async def send(self, request: Request) -> Answer:
        """Return the answer, whatever its status. Raises `HttpProblem`."""
        if self.requests >= MAX_REQUESTS:
            raise HttpProblem(f"the run has made its {MAX_REQUESTS} requests to sites, and makes no further one")
        self.requests += 1
        exchange = Exchange(self._bounds(request.origin))
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await in_background(lambda: _answer(exchange, request, anywhere=self.rights.allow_actions))
        except TimeoutError:
            late = f"{request.origin.host} did not answer within {CALL_SECONDS:g} s"
            raise HttpProblem(late, again="if-repeatable") from None
        finally:
            exchange.__exit__(None, None, None)  # an abandoned thread sends nothing further

    def _bounds(self, origin: Origin) -> Bounds:
        """Return the bounds of a request: a loopback address is allowed if the user typed that very origin (X8)."""
        place = (origin.host, origin.port)
        named = place if any(on_this_machine(url) == place for url in self.rights.named) else None
        return Bounds(seconds=CALL_SECONDS, allow_private=self.rights.allow_private, named=named, follow=False)

    def token(self, origin: Origin) -> str | None:
        """Return the token for an origin, None where the user gave none or its variable is not set."""
        name = self.variables.get(origin)
        token = (self.environ.get(name, "") or None) if name else None
        if token is not None:
            for form in forms_of(token):
                self._secrets.setdefault(form)
        return token

    def hide(self, text: str) -> str:
        """Return ``text`` with every used token replaced: a site may repeat its input."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        return text

    def pin(self, url: str, actions: Iterable[Declared]) -> None:
        """Record the declarations of a page that the user named: an id is only permitted as declared there (X7)."""
        if url in self.starts:
            self.pinned.setdefault(url, tuple(actions))

    @property
    def named(self) -> frozenset[Declared]:
        """The actions of the pages that the user named."""
        return frozenset(action for actions in self.pinned.values() for action in actions)

    def allows(self, action: Declared) -> bool:
        """Return whether a flag permits a change without confirmation (HA19)."""
        return self.rights.permits(action, self.named)

    async def permits(self, action: Declared, request: Request) -> bool:
        """Return whether a change may be sent (HA19): by a flag, or by a yes on a terminal, where the request is
        shown."""
        if self.allows(action):
            return True
        if self.confirm is None:
            return False
        async with self._asking:
            return await self.confirm(request_text(request))

    async def schema(self, contract: Contract, root: str) -> Schema | None:
        """Return the schema that an action names by URL, from its own site (HA16); None where it names none. Raises
        `RequestError`, `HttpProblem`."""
        if not contract.body_schema_url:
            return None
        url = schema_url(contract, root)
        return schema_in(await self.send(get_request(url, SCHEMA_FORMS)), url, root)


def site_access(rights: SiteRights, environment: Environment, starts: Collection[str] = ()) -> SiteAccess:
    """Return the way to sites for one run. ``starts`` are the pages of the program that the user named. Flags win over
    the user's settings. Raises `RunError` for an origin that is none, and for a variable that a flag names and that is
    not set."""
    granted = site_variables(rights.variables)
    for origin, variable in granted.items():
        if not environment.environ.get(variable):
            message = f"--site-token {origin}={variable}: there is no such variable, or it is empty"
            raise RunError(message, hint="it names the variable that holds the token, not the token")
    variables = {**site_variables(environment.settings.site_variables), **granted}
    return SiteAccess(
        rights, variables, WithStoredKeys(environment.environ), environment.confirm, {*starts, *rights.named}
    )


def _answer(exchange: Exchange, request: Request, *, anywhere: bool) -> Answer:
    """Return the answer after redirects within the site. A redirect to another site is not followed; nor, unless
    changes may go ``anywhere``, one of a change: the permission, or the confirmation by the user, was for its first
    URL (HA19)."""
    for _ in range(MAX_REDIRECTS):
        answer = exchange.send(request)
        if not answer.moved_to:
            return answer
        moved = redirected(request, answer.status, answer.moved_to)
        if moved.origin != request.origin:
            raise HttpProblem(f"{request.origin} redirects to {moved.origin}, another site, and is not followed there")
        if moved.method != "GET" and not anywhere:
            to = f"carries a {moved.method} on to {safe(moved.url[:200])}"
            raise HttpProblem(f"{moved.origin} {to}, which was not permitted; nothing was sent there", again="always")
        request = moved
    raise HttpProblem(f"{request.origin} redirects more than {MAX_REDIRECTS} times")
