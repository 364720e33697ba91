"""Batches of OpenAI: a file of requests goes up, a batch is made of it, files of results come back (X29).

In: requests. Out: what became of each. Statuses of a batch: validating, in_progress, finalizing, then completed,
expired, cancelled or failed; a request that did not come to its turn stands in the file of errors. A batch is found
again by its metadata.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path
from typing import Literal

from prosa.adapters.providers import chat, responses
from prosa.adapters.providers.batch_service import FileBody, ServiceBatches, number
from prosa.adapters.providers.completion import shaped
from prosa.adapters.providers.endpoint import DEFAULT_BASE_URL, Endpoint
from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem, error_from_exchange, error_from_status
from prosa.adapters.providers.request_shape import NEW_LIMIT, RequestShape
from prosa.adapters.providers.wire import decode, encode, optional_text
from prosa.data import Value
from prosa.records.batch import BatchBounds, LineResult, RemoteBatch, RoundPart
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import ModelReply, ModelRequest

BOUNDS = BatchBounds(50_000, 200_000_000)
PAGE = 100
MOST_PAGES = 100
"""Pages of batches that are looked through for one that was lost; the newest come first."""

_ENDED = frozenset(("completed", "expired", "cancelled"))
_AGAIN = frozenset(("batch_expired", "batch_cancelled"))
_WIRES = {"chat": chat.WIRE, "responses": responses.WIRE}
MARK = "prosa_wave"
"""The name of the metadata by which a batch is found again."""


class OpenAIBatches(ServiceBatches):
    """Meets the port `ProviderBatches`. ``api`` chooses the wire format of the requests."""

    bounds = BOUNDS

    def __init__(self, endpoint: Endpoint, *, api: Literal["chat", "responses"] = "chat") -> None:
        super().__init__(endpoint, {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {})
        self._wire = _WIRES[api]
        own = endpoint.base_url == DEFAULT_BASE_URL
        self._shape = RequestShape(limits=(NEW_LIMIT,)) if own else RequestShape()

    @property
    def _address(self) -> str:
        """What requests are about, as lines and batches name it."""
        return f"/v1{self._wire.path}"

    def line(self, custom_id: str, request: ModelRequest) -> bytes:
        """Return one request as it is sent."""
        try:
            body = self._wire.body(shaped(request, self._shape), self._shape, False)
            return encode({"custom_id": custom_id, "method": "POST", "url": self._address, "body": body})
        except ExchangeProblem as problem:
            raise error_from_exchange(problem, self._endpoint) from None

    async def upload(self, part: RoundPart, lines: Path) -> str:
        """Send a file of requests, and return its id."""
        boundary = os.urandom(16).hex()
        name = f"prosa-{part.id}.jsonl"
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--{boundary}\r\n'
            f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        )
        body = FileBody(lines, head.encode(), f"\r\n--{boundary}--\r\n".encode())
        answer = await self._http.send("/files", body, f"multipart/form-data; boundary={boundary}")
        return self._id(answer)

    async def create(self, part: RoundPart, lines: Path, file: str) -> str:
        """Begin a batch, and return its id."""
        del lines
        metadata = {MARK: part.id, "prosa_batch": part.batch}
        asked = {"input_file_id": file, "endpoint": self._address, "completion_window": "24h"}
        return self._id(await self._http.post("/batches", {**asked, "metadata": metadata}))

    async def find(self, part: RoundPart, known: Collection[str]) -> list[RemoteBatch]:
        """Return the batch with the mark of this part."""
        query = {"limit": str(PAGE)}
        for _ in range(MOST_PAGES):
            page = await self._http.get("/batches", query)
            data = [batch for batch in _list(page.get("data")) if isinstance(batch, Mapping)]
            for batch in data:
                metadata = batch.get("metadata")
                is_ours = isinstance(metadata, Mapping) and metadata.get(MARK) == part.id
                if is_ours and optional_text(batch.get("id")) not in known:
                    return [self._remote(batch)]
            if not data or page.get("has_more") is not True:
                break
            query["after"] = str(data[-1].get("id"))
        return []

    async def state(self, remote: str) -> RemoteBatch:
        """Return how far a batch is."""
        return self._remote(await self._http.get(f"/batches/{remote}"))

    def _remote(self, batch: Mapping[str, Value]) -> RemoteBatch:
        status, counts = optional_text(batch.get("status")), batch.get("request_counts")
        done = sum(number(counts, name) for name in ("completed", "failed"))
        if status == "failed":
            return RemoteBatch(self._id(batch), "refused", done, reason=self._endpoint.redact(_why(batch)))
        if status not in _ENDED:
            return RemoteBatch(self._id(batch), "working", done)
        files = tuple(str(batch[name]) for name in ("output_file_id", "error_file_id") if batch.get(name))
        return RemoteBatch(self._id(batch), "ended", done, files, cancelled=status == "cancelled")

    async def results(self, remote: RemoteBatch) -> AsyncIterator[LineResult]:
        """Yield what became of the requests."""
        for file in remote.results:
            async for line in self._http.lines(f"/files/{file}/content"):
                yield self._result(line)

    def _result(self, line: bytes) -> LineResult:
        try:
            entry = decode(line)
            name, error = str(entry.get("custom_id")), entry.get("error")
            if isinstance(error, Mapping):
                code = optional_text(error.get("code"))
                words = optional_text(error.get("message")) or code or "no reason"
                return LineResult(name, None, self._endpoint.redact(words)[:1000], code in _AGAIN)
            reply = self._reply(entry.get("response"))
        except (ExchangeProblem, StatusProblem, ProviderError) as problem:
            failure = _told(problem, self._endpoint)
            return LineResult(_name(line), None, failure.message, failure.retryable)
        return LineResult(name, self._endpoint.secrets.reply(reply))

    def _reply(self, response: Value) -> ModelReply:
        """Raise `ExchangeProblem` and `StatusProblem` for a request that was not answered."""
        if not isinstance(response, Mapping):
            raise ExchangeProblem("sent a line without a response", retryable=True)
        status, body = response.get("status_code"), response.get("body")
        if not isinstance(status, int) or status >= 300:
            raise StatusProblem(status if isinstance(status, int) else 500, {}, json.dumps(body))
        if not isinstance(body, Mapping):
            raise ExchangeProblem("sent a line without a reply", retryable=True)
        return self._wire.reply(body)

    async def cancel(self, remote: str) -> None:
        """Ask the service to cancel the requests that it has not started."""
        await self._http.post(f"/batches/{remote}/cancel")


def _told(problem: Exception, endpoint: Endpoint) -> ProviderError:
    if isinstance(problem, StatusProblem):
        return error_from_status(problem, endpoint, "")
    if isinstance(problem, ExchangeProblem):
        return error_from_exchange(problem, endpoint)
    assert isinstance(problem, ProviderError)
    return problem


def _name(line: bytes) -> str:
    try:
        return str(decode(line).get("custom_id"))
    except ExchangeProblem:
        return ""


def _list(value: Value) -> list[Value]:
    return value if isinstance(value, list) else []


def _why(batch: Mapping[str, Value]) -> str:
    """Return why a batch was refused, with the line where there is one."""
    errors = batch.get("errors")
    data = _list(errors.get("data")) if isinstance(errors, Mapping) else []
    first = data[0] if data and isinstance(data[0], Mapping) else {}
    words = optional_text(first.get("message")) or optional_text(first.get("code")) or ""
    return f"line {first['line']}: {words}" if first.get("line") else words
