"""The Message Batches endpoints of Anthropic as their reference describes them, in memory.

A batch is made of requests with a `custom_id` and `params`; it has no metadata. Each request is validated on its own,
and results come shuffled, a line each, once the batch has ended.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.batch_services.service import Asked, Refusal, Service

MAX_REQUESTS = 100_000
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


@dataclass
class Anthropic(Service):
    """`answer(custom_id, params)` says what comes of a request: a reply, an int for a status, or "expired"."""

    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    results: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def authorized(self, asked: Asked) -> bool:
        return asked.headers.get("x-api-key") == self.key and asked.headers.get("anthropic-version") == "2023-06-01"

    def refused(self, refusal: Refusal) -> dict[str, Any]:
        return {"type": "error", "error": {"type": refusal.kind, "message": refusal.message}, "request_id": "req_1"}

    def handle(self, asked: Asked) -> Any:
        match (asked.method, *asked.path.strip("/").split("/")[1:]):
            case ("POST", "messages", "batches"):
                return self._create(json.loads(asked.body))
            case ("GET", "messages", "batches"):
                return self._list(asked.query)
            case ("GET", "messages", "batches", name):
                return self._progressed(self._found(self.batches, name))
            case ("GET", "messages", "batches", name, "results"):
                if self._found(self.batches, name)["processing_status"] != "ended":
                    raise Refusal(404, "results are not available yet", "not_found_error")
                return b"".join(json.dumps(each).encode() + b"\n" for each in self.results[name])
            case ("POST", "messages", "batches", name, "cancel"):
                return self._cancel(self._found(self.batches, name))
        raise Refusal(404, "Not found", "not_found_error")

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        requests = body.get("requests")
        if set(body) != {"requests"} or not requests or len(requests) > MAX_REQUESTS:
            raise Refusal(400, "requests: between 1 and 100000 are required", "invalid_request_error")
        names = [each.get("custom_id", "") for each in requests]
        if len(set(names)) < len(names) or not all(map(_ID.match, names)):
            raise Refusal(400, "requests: custom_id is no id, or not unique", "invalid_request_error")
        if any(set(each) != {"custom_id", "params"} for each in requests):
            raise Refusal(400, "requests: Extra inputs are not permitted", "invalid_request_error")
        name, now = self.new("msgbatch"), datetime.now(UTC)
        made = {
            "id": name,
            "type": "message_batch",
            "processing_status": "in_progress",
            "request_counts": self._counts(processing=len(requests)),
            "ended_at": None,
            "created_at": now.isoformat(),
            "expires_at": (now + timedelta(days=1)).isoformat(),
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": None,
        }
        self.batches[name], self.requests[name] = made, requests
        return dict(made)

    def _counts(self, **known: int) -> dict[str, int]:
        return dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0) | known

    def _list(self, query: dict[str, str]) -> dict[str, Any]:
        known = list(reversed(self.batches.values()))
        limit = int(query.get("limit", 20))
        if not 1 <= limit <= 1000:
            raise Refusal(400, "limit: between 1 and 1000", "invalid_request_error")
        names = [each["id"] for each in known]
        start = names.index(query["after_id"]) + 1 if "after_id" in query else 0
        page = known[start : start + min(limit, self.page)]
        first, last = (page[0]["id"], page[-1]["id"]) if page else (None, None)
        more = start + len(page) < len(known)
        return {"data": page, "has_more": more, "first_id": first, "last_id": last}

    def _progressed(self, batch: dict[str, Any]) -> dict[str, Any]:
        if batch["processing_status"] != "ended" and self.works:
            self._run(batch)
        return dict(batch)

    def _run(self, batch: dict[str, Any]) -> None:
        found, counts = [], self._counts()
        for each in self.requests[batch["id"]]:
            cancelled = batch["processing_status"] == "canceling"
            result = {"type": "canceled"} if cancelled else self._result(each["custom_id"], each["params"])
            counts[result["type"]] += 1
            found.append({"custom_id": each["custom_id"], "result": result})
        random.Random(18).shuffle(found)
        self.results[batch["id"]] = found
        batch |= {"processing_status": "ended", "request_counts": counts, "ended_at": datetime.now(UTC).isoformat()}
        batch["results_url"] = f"https://api.anthropic.com/v1/messages/batches/{batch['id']}/results"

    def _result(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("stream") or "max_tokens" not in params or not params.get("messages"):
            return self._errored("invalid_request_error", "max_tokens: Field required")
        answer = self.answer(name, params)
        if answer == "expired":
            return {"type": "expired"}
        if isinstance(answer, int):
            kind = "api_error" if answer >= 500 else "invalid_request_error"
            return self._errored(kind, "Internal server error" if answer >= 500 else "output_config: invalid")
        self.paid.append(name)
        message = {
            "id": self.new("msg"),
            "type": "message",
            "role": "assistant",
            "model": params["model"],
            "content": [{"type": "text", "text": json.dumps(answer), "citations": None}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }
        return {"type": "succeeded", "message": message}

    def _errored(self, kind: str, words: str) -> dict[str, Any]:
        error = {"type": kind, "message": words}
        return {"type": "errored", "error": {"type": "error", "error": error, "request_id": "req_2"}}

    def _cancel(self, batch: dict[str, Any]) -> dict[str, Any]:
        if batch["processing_status"] == "ended":
            raise Refusal(400, "the batch has ended", "invalid_request_error")
        batch |= {"processing_status": "canceling", "cancel_initiated_at": datetime.now(UTC).isoformat()}
        return dict(batch)
