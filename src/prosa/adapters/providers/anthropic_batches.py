"""Message batches of Anthropic: requests go up in one body, a file of results comes back (X29).

In: requests. Out: what became of each. A batch is in_progress, canceling or ended. It has no metadata: one whose id was
lost is known by the time and the number of its requests, and for sure by its results, which name them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from prosa.adapters.providers import messages
from prosa.adapters.providers.batch_service import FileBody, ServiceBatches, number
from prosa.adapters.providers.completion import shaped
from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.failures import ExchangeProblem, error_from_exchange, error_of, problem_in_reply
from prosa.adapters.providers.wire import decode, encode, optional_text
from prosa.data import Value
from prosa.records.batch import BatchBounds, LineResult, RemoteBatch, RoundPart
from prosa.runtime.messages import ModelRequest

VERSION = "2023-06-01"
BOUNDS = BatchBounds(100_000, 256_000_000)
PAGE = 1000
MOST_PAGES = 100
SKEW = timedelta(minutes=15)
"""How far the clocks of this machine and of the service may be apart."""

_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")
_NEVER = frozenset(("invalid_request_error", "not_found_error", "permission_error", "request_too_large"))
"""Errors of a request that another attempt does not mend."""

_HEAD, _TAIL = b'{"requests":[', b"]}"


class AnthropicBatches(ServiceBatches):
    """Meets the port `ProviderBatches`."""

    bounds = BatchBounds(BOUNDS.lines, BOUNDS.size - len(_HEAD) - len(_TAIL))

    def __init__(self, endpoint: Endpoint) -> None:
        key = {"x-api-key": endpoint.api_key} if endpoint.api_key else {}
        super().__init__(endpoint, {"anthropic-version": VERSION, **key})

    def line(self, custom_id: str, request: ModelRequest) -> bytes:
        """Return one request as it is sent."""
        try:
            form = messages.FIRST_SHAPE
            return encode({"custom_id": custom_id, "params": messages.WIRE.body(shaped(request, form), form, False)})
        except ExchangeProblem as problem:
            raise error_from_exchange(problem, self._endpoint) from None

    async def upload(self, part: RoundPart, lines: Path) -> str:
        """Do nothing: the requests go with the batch."""
        del part, lines
        return ""

    async def create(self, part: RoundPart, lines: Path, file: str) -> str:
        """Begin a batch, and return its id."""
        del part, file
        body = FileBody(lines, _HEAD, _TAIL, b",")
        return self._id(await self._http.send("/messages/batches", body, "application/json"))

    async def find(self, part: RoundPart, known: Collection[str]) -> list[RemoteBatch]:
        """Return the batches of this number of requests that were made since this part was written down."""
        since = datetime.fromisoformat(part.created) - SKEW
        query = {"limit": str(PAGE)}
        batches: list[RemoteBatch] = []
        for _ in range(MOST_PAGES):
            page = await self._http.get("/messages/batches", query)
            listed = page.get("data")
            data = [batch for batch in (listed if isinstance(listed, list) else ()) if isinstance(batch, Mapping)]
            recent = [batch for batch in data if _time(batch.get("created_at"), since) >= since]
            same = [
                batch for batch in recent if _lines(batch) == part.lines and optional_text(batch.get("id")) not in known
            ]
            batches += [self._remote(batch, is_sure=False) for batch in same]
            if len(recent) < len(data) or page.get("has_more") is not True or not page.get("last_id"):
                break  # the newest come first
            query["after_id"] = str(page["last_id"])
        return batches

    async def state(self, remote: str) -> RemoteBatch:
        """Return how far a batch is."""
        return self._remote(await self._http.get(f"/messages/batches/{remote}"))

    def _remote(self, batch: Mapping[str, Value], *, is_sure: bool = True) -> RemoteBatch:
        name, counts = self._id(batch), batch.get("request_counts")
        done = _lines(batch) - number(counts, "processing")
        if batch.get("processing_status") != "ended":
            return RemoteBatch(name, "working", done, is_sure=is_sure)
        cancelled = bool(batch.get("cancel_initiated_at")) and number(counts, "canceled") > 0
        return RemoteBatch(name, "ended", done, (name,), cancelled=cancelled, is_sure=is_sure)

    async def results(self, remote: RemoteBatch) -> AsyncIterator[LineResult]:
        """Yield what became of the requests."""
        for name in remote.results:
            async for line in self._http.lines(f"/messages/batches/{name}/results"):
                yield self._result(line)

    def _result(self, line: bytes) -> LineResult:
        name = ""
        try:
            entry = decode(line)
            name, result = str(entry.get("custom_id")), entry.get("result")
            if not isinstance(result, Mapping):
                raise ExchangeProblem("sent a line without a result", retryable=True)
            kind = result.get("type")
            if kind in ("expired", "canceled"):
                return LineResult(name, None, f"the request was {kind}", again=True)
            if kind != "succeeded":
                raise _failure(result.get("error"))
            message = result.get("message")
            if not isinstance(message, Mapping):
                raise ExchangeProblem("sent a line without a message", retryable=True)
            return LineResult(name, self._endpoint.secrets.reply(messages.WIRE.reply(message)))
        except ExchangeProblem as problem:
            error = error_from_exchange(problem, self._endpoint)
            return LineResult(name, None, error.message, error.retryable)

    async def cancel(self, remote: str) -> None:
        """Ask the service to cancel the requests that it has not started."""
        await self._http.post(f"/messages/batches/{remote}/cancel")


def _failure(error: Value) -> ExchangeProblem:
    """Return what a line says went wrong: an error of the service, which is wrapped in one more."""
    problem = problem_in_reply(error)
    if error_of(error).type in _NEVER:
        problem.retryable = False
    return problem


def _lines(batch: Mapping[str, Value]) -> int:
    return sum(number(batch.get("request_counts"), name) for name in _COUNTS)


def _time(value: Value, otherwise: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return otherwise
    return moment if moment.tzinfo else otherwise
