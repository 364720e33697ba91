"""Everything that ends a run. Each error is a record that builds its own sentence; `hint` says what to do.

RunError               a `ProsaError`
├── ProgramRefused     the program has errors; carries the diagnostics
├── AgreementRequired  the agreement has not been accepted (L41)
├── NotTrusted         a document would start something that the user did not name and does not trust (X7)
├── InputRefused       the input does not satisfy the input schema (L12)
├── TemplateRefused    the body cannot be rendered with this input
├── OutputRefused      no valid output within the iterations (L13)
│   └── AnswerCut      a text that was cut off at the length limit of the model; carries what came
├── LimitExceeded      wall clock, depth, size (X9)
├── BudgetSpent        a model call may cost more than what is left (X26)
├── PriceUnknown       a budget that the user named, and a model without a price: refused before any call (X26)
├── ProviderError      the model service; `retryable` says whether another attempt makes sense
├── ToolServerError    an MCP server that does not start (LA11)
├── SiteError          a declared site whose page cannot be read
├── CassetteProblem    a recording that cannot be used or written
│   └── ReplayDrift    a call that is not what was recorded; carries where and both values
├── SandboxError       the sandbox itself cannot work
├── StoreProblem       the store of runs cannot be used (X25)
├── RowsRefused        the rows of a batch cannot be read (X29)
├── BatchRefused       a batch cannot begin or go on (X29)
├── InDoubt            a tool call that may have been made may not be made again (X25)
└── NotResumed         an interrupted run cannot go on (X25)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from prosa.data import Plain
from prosa.diagnostics import Diagnostic
from prosa.source import ProsaError


class RunError(ProsaError):
    """A run that cannot start or continue. ``run_id`` names it in the journal if it can be resumed; ``billable`` is
    true if the service may charge for the failed model call (X26)."""

    run_id: str = ""
    billable: bool = False
    is_wrong_use: ClassVar[bool] = False
    """Whether what the user asked for is refused before anything starts (exit status 2)."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ProgramRefused(RunError):
    """The program, or one it imports, has errors; so may a chat. ``diagnostics`` may hold warnings with the reason;
    ``outcome`` is the line below them."""

    def __init__(
        self, diagnostics: Sequence[Diagnostic], outcome: str = "the program has errors and was not run"
    ) -> None:
        errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"] or diagnostics
        first = errors[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        where = f"{first.path}:{first.start.line}"
        super().__init__(f"{where}: {first.message}{more}", hint=f"run: prosa check {first.path}")
        self.diagnostics = tuple(diagnostics)
        self.outcome = outcome


class AgreementRequired(RunError):
    """The agreement that gates markdownlang programs has not been accepted."""


class NotTrusted(RunError):
    """A document would start something that the user did not name and does not trust."""


class InputRefused(RunError):
    """The input does not satisfy the input schema. ``problems`` are (pointer, keyword, message)."""

    def __init__(self, message: str, problems: Sequence[tuple[str, str, str]] = (), *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class TemplateRefused(RunError):
    """The body cannot be rendered with this input, as when a value has another shape than the template expects."""


class OutputRefused(RunError):
    """No valid output came within the allowed iterations."""


class AnswerCut(OutputRefused):
    """The answer reached the length limit of the model, which was not allowed. ``content`` is the received part."""

    def __init__(self, content: str) -> None:
        super().__init__(
            "the answer was cut off at the length limit of the model",
            hint="ask for less, raise the limit (`max_tokens` in the document, or --max-output-tokens), or take it as"
            " it is with --allow-cut",
        )
        self.content = content


class LimitExceeded(RunError):
    """A named limit was reached."""


class BudgetSpent(RunError):
    """A model call may cost more than what is left of the budget, so it was not made. ``whole`` marks the budget of a
    whole batch, ``of_worker`` that of one worker, ``later`` a call that is made once there is money again instead of a
    cheaper one now."""

    kind: ClassVar[str] = "budget"
    whole: bool = False
    of_worker: bool = False
    later: bool = False


class PriceUnknown(RunError):
    """A budget cannot be enforced, because the price of a model is unknown. No call was made."""

    kind: ClassVar[str] = "budget"


class ProviderError(RunError):
    """The model service failed.

    ``status`` is the HTTP status if there was one; ``retry_after`` the delay in seconds that the service requested;
    ``kind`` one of ``auth``, ``bad-request``, ``rate-limit``, ``server``, ``network``, ``timeout``, ``malformed``,
    ``missing``. ``is_absent`` is true if the connection was refused, or the name does not resolve. ``billable`` is
    false only if the service certainly never processed the request.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        retryable: bool,
        status: int | None = None,
        retry_after: float | None = None,
        hint: str = "",
        is_absent: bool = False,
        billable: bool = True,
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.billable = billable
        self.retryable = retryable
        self.is_absent = is_absent
        self.status = status
        self.retry_after = retry_after


class ToolServerError(RunError):
    """A declared MCP server does not start."""


class LoginError(RunError):
    """A login at an MCP server that cannot be made, renewed or ended."""


class SiteError(RunError):
    """The page of a declared site cannot be read or is not allowed."""


class CassetteProblem(RunError):
    """A recording that cannot be used: absent, cut off, edited, of another program, newer than this Prosa; or one that
    cannot be written."""


class ReplayDrift(CassetteProblem):
    """A call of a replay differs from the recording, or is missing in it.

    ``path`` is that of the call, ``nearest`` the recorded call that it was compared with, if any. ``pointer`` is the
    first difference, as a JSON Pointer, with both values; None if absent.
    """

    def __init__(
        self,
        message: str,
        path: str,
        pointer: str = "",
        recorded: Plain = None,
        now: Plain = None,
        *,
        nearest: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.pointer = pointer
        self.recorded = recorded
        self.now = now
        self.nearest = nearest


class SandboxError(RunError):
    """The sandbox cannot work on this machine."""


class StoreProblem(RunError):
    """The store of runs cannot be opened or written."""


class RowsRefused(RunError):
    """The rows of a batch cannot be read, or are no rows."""


class BatchRefused(RunError):
    """A batch cannot start or continue: it does not exist, another process holds it, or its content may not be
    stored."""


class InDoubt(RunError):
    """A tool call without an answer when a run was interrupted, which may have changed something."""


class NotResumed(RunError):
    """An interrupted run cannot be resumed: it does not exist, is still running, or its files changed."""


E = TypeVar("E", bound=BaseException)


def first_error(group: BaseExceptionGroup[E]) -> E:
    """Return the most informative error in groups of errors: a `RunError` before anything else, else the first."""
    flat: list[E] = []
    stack: list[E | BaseExceptionGroup[E]] = [group]
    while stack:
        error = stack.pop(0)
        if isinstance(error, BaseExceptionGroup):
            stack[:0] = error.exceptions
        else:
            flat.append(error)
    return next((error for error in flat if isinstance(error, RunError)), flat[0])
