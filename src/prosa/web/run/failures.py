"""A run without a result, as a status and a sentence. In: the exception. Out: `Refused`, from which the answer is
made.

Clients see no paths of this machine and no hints about flags of the server.
"""

from __future__ import annotations

from pathlib import Path

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
from prosa.source import FileProblem
from prosa.web.run.problem import Refused, Wrong

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
    wrong = [Wrong(*_ends(each)) for each in error.problems] if isinstance(error, InputRefused) else []
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
