"""How a failed exchange becomes a `ProviderError`: kind, whether to retry, a sentence, and what to do.

What comes in: problems as the wire and the transport find them. What goes out: errors that name the service and never
contain its key: everything a service or a library wrote is searched for the key before it is repeated.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

from prosa.adapters.providers.endpoint import DEFAULT_BASE_URL, Endpoint
from prosa.adapters.providers.kinds import is_free, is_retryable, kind_of_status
from prosa.data import Plain, Value
from prosa.runtime.errors import ProviderError

MAX_QUOTED = 500  # characters of a service's own words that go into a sentence
THREE_WAYS = "set OPENAI_API_KEY, or name a service with --base-url (OPENAI_BASE_URL), or use --model local"


class ExchangeProblem(Exception):
    """What went wrong in one exchange, without the service's name. ``reason`` finishes the sentence "the service …"."""

    def __init__(
        self,
        reason: str,
        *,
        kind: str = "malformed",
        retryable: bool = False,
        quoted: str = "",
        hint: str = "",
        status: int | None = None,
        is_absent: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind
        self.retryable = retryable
        self.quoted = quoted
        self.hint = hint
        self.status = status
        self.is_absent = is_absent


class StatusProblem(Exception):
    """An answer with a status that is no success. ``text`` is the service's message, ``raw`` the whole body."""

    def __init__(self, status: int, headers: Mapping[str, str], raw: str) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.headers = headers
        self.raw = raw
        error = error_of(_json(raw))
        self.text = error.message or raw
        self.code = error.code
        self.param = error.param

    @property
    def is_free(self) -> bool:
        """Whether the service surely never worked on the request."""
        return is_free(self.status, own_words=not self.raw.strip() or isinstance(_json(self.raw), Mapping))


_NEVER_RIGHT: Mapping[str, str] = {
    "invalid_request_error": "bad-request",
    "not_found_error": "bad-request",
    "request_too_large": "bad-request",
    "billing_error": "bad-request",
    "authentication_error": "auth",
    "permission_error": "auth",
}
"""What services call errors that another attempt does not mend, and their kind."""


class ServiceError(Struct, frozen=True):
    """The error object of an answer, as far as it could be read."""

    message: str = ""
    code: str | None = None
    param: str | None = None
    type: str | None = None


def error_of(body: Plain) -> ServiceError:
    """Read `{"error": {message, code, param, type}}` and the common variations of it."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, str):
        return ServiceError(error)
    if not isinstance(error, Mapping):
        return ServiceError()
    message = error.get("message") or error.get("detail") or ""
    if not isinstance(message, str):
        message = json.dumps(message, ensure_ascii=False, default=str)
    code, param, kind = (error.get(name) for name in ("code", "param", "type"))
    return ServiceError(
        message,
        None if code is None else str(code),
        None if param is None else str(param),
        kind if isinstance(kind, str) and kind else None,
    )


def page_instead(wanted: str) -> ExchangeProblem:
    """Return a web page where something else was wanted, as a wrong base URL or a captive portal gives."""
    hint = "check the base URL: it usually ends in /v1"
    return ExchangeProblem(f"sent a web page instead of {wanted}", hint=hint)


def problem_in_reply(body: Plain) -> ExchangeProblem:
    """Return an error that came with status 200, whole or inside a stream."""
    error = error_of(body)
    code = error.code or ""
    status = int(code) if code.isascii() and code.isdigit() and len(code) < 5 and 400 <= int(code) <= 599 else None
    if status is not None:
        kind, retry = kind_of_status(status), is_retryable(status)
    elif "rate_limit" in code or error.type == "rate_limit_error":
        kind, retry = "rate-limit", True
    elif error.type in _NEVER_RIGHT or code.startswith("invalid"):
        kind, retry = _NEVER_RIGHT.get(error.type or "", "bad-request"), False
    else:
        kind, retry = "server", True
    return ExchangeProblem(
        "reported an error instead of a reply", kind=kind, retryable=retry, quoted=error.message, status=status
    )


def error_from_exchange(problem: ExchangeProblem, endpoint: Endpoint, *, billable: bool = True) -> ProviderError:
    """Return the error for an exchange that failed without a status of its own; ``billable`` where anything was
    sent."""
    sentence = (
        f"the model service at {endpoint.shown} {endpoint.redact(problem.reason)}{_quote(problem.quoted, endpoint)}"
    )
    return ProviderError(
        sentence,
        kind=problem.kind,
        retryable=problem.retryable,
        status=problem.status,
        hint=problem.hint,
        is_absent=problem.is_absent,
        billable=billable,
    )


def error_from_status(problem: StatusProblem, endpoint: Endpoint, model_name: str) -> ProviderError:
    """Return the error for an answer with a status that is no success."""
    status = problem.status
    what, hint = _status_words(problem, endpoint, model_name)
    wish = problem.headers.get("x-should-retry")
    return ProviderError(
        f"the model service at {endpoint.shown} {what} (status {status}){_quote(problem.text, endpoint)}",
        kind=kind_of_status(status),
        retryable=is_retryable(status, problem.code, wish),
        status=status,
        retry_after=retry_after(problem.headers),
        hint=hint,
        billable=not problem.is_free,
    )


def _status_words(problem: StatusProblem, endpoint: Endpoint, model_name: str) -> tuple[str, str]:
    status = problem.status
    if status in {401, 403}:
        return _auth_words(status, endpoint)
    if status == 404:
        return (
            f"does not know the model `{model_name}`, or has no such address",
            "check the model name, and the base URL: it usually ends in /v1",
        )
    if status == 429:
        return "refused the call: too many requests, or no credit", "wait, or look at the limits of the account"
    if status >= 500:
        return "is in trouble", ""
    if 300 <= status < 400:
        return "sends the request elsewhere, which is not followed", "use the address it points at as the base URL"
    if is_context_length(problem):
        return "says that the input is too long for the model", "shorten the input, or choose a model that takes more"
    text = problem.text.lower()
    if "tool" in text or "function call" in text or (problem.param or "").startswith("tools"):
        return "refused the tools", f"choose a model that can call tools; `{model_name}` was asked"
    if "pooling type" in text:
        return "makes no vector of a text", "start the server with `--pooling mean`"
    return "refused the request", ""


def _auth_words(status: int, endpoint: Endpoint) -> tuple[str, str]:
    if endpoint.api_key is None:
        own = f"set {endpoint.variable}"
        other = "name the variable that holds its key: --api-key-env NAME; OPENAI_API_KEY goes to OPENAI_BASE_URL only"
        is_usual = endpoint.variable == "OPENAI_API_KEY" and endpoint.base_url != DEFAULT_BASE_URL
        return "wants a key, and none was sent", other if is_usual else own
    if status == 401:
        hint = f"check {endpoint.variable} (or the variable you named), and that it is for this base URL"
        return "refused the key", hint
    return "does not allow this", f"check the model name, and what the key in {endpoint.variable} may do"


def is_context_length(problem: StatusProblem) -> bool:
    """Return whether an answer says that the input is too long."""
    text = problem.text.lower()
    words = (
        *("context length", "context_length", "context window", "context size", "maximum context"),
        *("too many tokens", "prompt is too long", "exceed context limit"),
    )
    return "context_length" in (problem.code or "") or any(word in text for word in words)


def _quote(text: str, endpoint: Endpoint) -> str:
    """Return the service's own words as the end of a sentence: one line, cut, without the key."""
    cut = endpoint.redact(text)[: 8 * MAX_QUOTED]
    line = " ".join("".join(c if c.isprintable() else " " for c in cut).split())
    if not line:
        return ""
    return f": {line[:MAX_QUOTED]}{' …' if len(line) > MAX_QUOTED else ''}"


def _json(text: str) -> Value:
    try:
        value: Value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


_LIMITS = ("requests", "tokens", "input-tokens", "output-tokens")


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return seconds to wait, from `retry-after-ms`, from `Retry-After` as seconds or as a date (RFC 9110, 10.2.3), or
    from the limits of which nothing is left.

    A date is compared with the service's own `Date` where it sends one, so that a wrong local clock does no harm.
    None when neither header can be read; never negative.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return seconds
    until = _date(value) or _spent_until(headers)
    if until is None:
        return None
    return max(0.0, (until - (_date(headers.get("date")) or now or datetime.now(UTC))).total_seconds())


def _spent_until(headers: Mapping[str, str]) -> datetime | None:
    """Return when the last of the limits is there again of which nothing is left, as Anthropic says it."""
    ends = [
        _moment(headers.get(f"anthropic-ratelimit-{name}-reset"))
        for name in _LIMITS
        if headers.get(f"anthropic-ratelimit-{name}-remaining") == "0"
    ]
    return max((end for end in ends if end is not None), default=None)


def _moment(text: str | None) -> datetime | None:
    try:
        value = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _date(text: str | None) -> datetime | None:
    from email.utils import parsedate_to_datetime  # only here: hardly an answer says when to ask again

    try:
        value = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, OverflowError):
        return None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
