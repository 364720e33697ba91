"""Requests that are not carried out, and runs without a result, in words for a program (RFC 9457).

No text here ever holds a token, a key, where on this machine a file lies, or a hint about flags of the server.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from prosa.render.json import dump
from prosa.render.plain import safe
from prosa.runtime.errors import (
    AgreementRequired,
    BudgetSpent,
    InputRefused,
    LimitExceeded,
    NotTrusted,
    OutputRefused,
    PriceUnknown,
    ProgramRefused,
    ProviderError,
    RunError,
    SandboxError,
    SiteError,
    TemplateRefused,
    ToolServerError,
)
from prosa.runtime.messages import Meter
from prosa.source import FileProblem
from prosa.web.answer import NEVER, Answer, answer

PROBLEM = "application/problem+json"
GONE = 499
"""The logged status of a request whose client disconnected before there was an answer; it is never sent."""

Pairs = tuple[tuple[str, str], ...]


class Wrong(NamedTuple):
    """One thing that is wrong with a body: where it stands (RFC 6901), and what was expected."""

    pointer: str
    message: str


class Refused(Exception):
    """A request that is not carried out. ``detail`` is a sentence for the client, ``headers`` go with it, ``wrong`` is
    everything that is wrong with its body."""

    def __init__(self, status: int, detail: str, *, headers: Pairs = (), wrong: Iterable[Wrong] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers
        self.wrong = tuple(wrong)

    @property
    def title(self) -> str:
        """The status in words."""
        return HTTPStatus(self.status).phrase

    def answer(self) -> Answer:
        """As problem JSON."""
        return problem(self.status, self.detail, headers=self.headers, wrong=self.wrong)


class ClientGone(Exception):
    """The client disconnected."""


def taken(meter: Meter) -> Pairs:
    """Return what a run took, for the client: tokens and US dollars."""
    return ("x-prosa-tokens", str(meter.tokens)), ("x-prosa-cost", f"{meter.cost:.6f}")


def problem(status: int, detail: str, *, headers: Pairs = (), wrong: Iterable[Wrong] = ()) -> Answer:
    """Problem JSON: `type`, `title`, `status`, `detail`, and `errors` for an invalid body. Never cached."""
    value: dict[str, str | int] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    errors = [fault._asdict() for fault in wrong]
    body = dump(value | ({"errors": errors} if errors else {}))
    return answer(f"{body}\n", PROBLEM, status=status, cache=NEVER, headers=headers)


MAX_DETAIL = 2_000
"""Characters of a sentence; a service may answer with a page."""

NOT_ALLOWED = "The program has MCP servers or sites of its own; this site was started without --allow-servers."

_STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (InputRefused, 400),
    (TemplateRefused, 422),
    (OutputRefused, 422),
    (BudgetSpent, 503),
    (PriceUnknown, 503),
    (AgreementRequired, 503),
    (LimitExceeded, 504),
    (ProviderError, 502),
    (ToolServerError, 502),
    (SiteError, 502),
    (SandboxError, 502),
    (ProgramRefused, 500),
)
"""The first class that fits decides."""


MINUTE = 60.0
"""Seconds over which runs and wrong tokens are counted."""


def too_many(detail: str, wait: int) -> Refused:
    """429 with the seconds after which to come again."""
    return Refused(429, f"{detail} Try again in {wait} seconds.", headers=(("retry-after", str(wait)),))


def refusal(error: Exception, root: Path) -> Refused:
    """Return the status and the words for an error of a run; for one of this program itself only that there was one."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, FileProblem):
        return Refused(500, "The document cannot be read.")
    if isinstance(error, NotTrusted):
        return Refused(403, NOT_ALLOWED)
    if not isinstance(error, RunError):
        return Refused(500, "The run ended by a mistake of this server.")
    wrong = [Wrong(*_ends(fault)) for fault in error.problems] if isinstance(error, InputRefused) else []
    return Refused(_status(error), words(error, root), headers=_headers(error), wrong=wrong)


def words(error: RunError, root: Path) -> str:
    """Return the sentence of an error, on one line, with paths as they are on the site."""
    text = error.message.replace(f"{root}/", "").replace(str(root), ".")
    return safe(text)[:MAX_DETAIL]


def _status(error: RunError) -> int:
    if isinstance(error, ProviderError) and error.kind == "timeout":
        return 504
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def _headers(error: RunError) -> tuple[tuple[str, str], ...]:
    """Return the Retry-After header, if a service requested a delay."""
    if isinstance(error, ProviderError) and error.retry_after is not None:
        return (("retry-after", str(max(1, round(error.retry_after)))),)
    return ()


def _ends(problem: tuple[str, str, str]) -> tuple[str, str]:
    return problem[0], problem[2]
