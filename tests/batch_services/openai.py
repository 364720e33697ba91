"""The Batch and Files endpoints of OpenAI as their reference describes them, in memory.

A file has lines with `custom_id`, `method`, `url` and `body`; a batch is validated as a whole before anything runs.
Results come shuffled, in the file of outputs or in that of errors.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from tests.batch_services.service import Asked, Refusal, Service

MAX_LINES = 50_000
MAX_FILE = 200_000_000
PAGE = 20


@dataclass
class OpenAI(Service):
    """`answer(custom_id, body)` says what comes of a line: a reply, an int for a status, or "expired"."""

    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    max_lines: int = MAX_LINES

    def authorized(self, asked: Asked) -> bool:
        return asked.headers.get("authorization") == f"Bearer {self.key}"

    def handle(self, asked: Asked) -> Any:
        parts = asked.path.strip("/").split("/")[1:]
        match (asked.method, *parts):
            case ("POST", "files"):
                return self._upload(asked)
            case ("GET", "files", name, "content"):
                return self._found(self.contents, name)
            case ("POST", "batches"):
                return self._create(json.loads(asked.body))
            case ("GET", "batches"):
                return self._list(asked.query)
            case ("GET", "batches", name):
                return self._progressed(self._found(self.batches, name))
            case ("POST", "batches", name, "cancel"):
                return self._cancel(self._found(self.batches, name))
            case ("POST", "chat", "completions"):
                body = json.loads(asked.body)
                self.live.append(body)
                return self._completion(body, self.answer("live", body))
        raise Refusal(404, "Invalid URL", "invalid_request_error")

    def _upload(self, asked: Asked) -> dict[str, Any]:
        head = f"Content-Type: {asked.headers['content-type']}\r\n\r\n".encode()
        message = BytesParser(policy=HTTP).parsebytes(head + asked.body)
        fields = {part.get_param("name", header="content-disposition"): part for part in message.iter_parts()}
        if set(fields) != {"purpose", "file"} or fields["purpose"].get_content().strip() != "batch":
            raise Refusal(400, "'purpose' must be 'batch' and 'file' is required", "invalid_request_error")
        name = fields["file"].get_filename()
        content = fields["file"].get_payload(decode=True)
        if not name or not name.endswith(".jsonl") or len(content) > MAX_FILE:
            raise Refusal(400, "Invalid file format for Batch API. Must be .jsonl", "invalid_request_error")
        return self._file(content, name, "batch")

    def _file(self, content: bytes, name: str, purpose: str) -> dict[str, Any]:
        made = {
            "id": self.new("file"),
            "object": "file",
            "bytes": len(content),
            "created_at": self.now(),
            "filename": name,
            "purpose": purpose,
            "status": "processed",
        }
        self.files[made["id"]], self.contents[made["id"]] = made, content
        return made

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        if set(body) - {"input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after"}:
            raise Refusal(400, "Unknown parameter", "invalid_request_error")
        if body.get("completion_window") != "24h" or body.get("endpoint") not in (
            "/v1/chat/completions",
            "/v1/responses",
        ):
            raise Refusal(400, "Invalid value: 'completion_window' or 'endpoint'", "invalid_request_error")
        metadata = body.get("metadata") or {}
        if len(metadata) > 16 or any(len(k) > 64 or len(v) > 512 for k, v in metadata.items()):
            raise Refusal(400, "Invalid metadata", "invalid_request_error")
        file = self.files.get(body.get("input_file_id", ""))
        if file is None or file["purpose"] != "batch":
            raise Refusal(400, "Invalid input_file_id", "invalid_request_error")
        made = {
            "id": self.new("batch"),
            "object": "batch",
            "endpoint": body["endpoint"],
            "errors": None,
            "input_file_id": file["id"],
            "completion_window": "24h",
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "created_at": self.now(),
            "expires_at": self.now() + 86400,
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
            "metadata": metadata,
        }
        self.batches[made["id"]] = made
        return dict(made)

    def _list(self, query: dict[str, str]) -> dict[str, Any]:
        known = sorted(self.batches.values(), key=lambda each: (-each["created_at"], each["id"]), reverse=False)
        known = list(reversed(self.batches.values()))
        limit = int(query.get("limit", PAGE))
        if not 1 <= limit <= 100:
            raise Refusal(400, "Invalid 'limit'", "invalid_request_error")
        names = [each["id"] for each in known]
        start = names.index(query["after"]) + 1 if "after" in query else 0
        page = known[start : start + min(limit, self.page)]
        more = start + len(page) < len(known)
        first, last = (page[0]["id"], page[-1]["id"]) if page else (None, None)
        return {"object": "list", "data": page, "first_id": first, "last_id": last, "has_more": more}

    def _progressed(self, batch: dict[str, Any]) -> dict[str, Any]:
        """One step further with each look, where the service goes on at all."""
        if batch["status"] == "validating":
            batch["status"] = "failed" if self._wrong(batch) else "in_progress"
        elif batch["status"] in ("in_progress", "cancelling") and self.works:
            self._run(batch)
        return dict(batch)

    def _wrong(self, batch: dict[str, Any]) -> bool:
        lines = self.contents[batch["input_file_id"]].splitlines()
        errors = [("empty_file", "The batch has no requests", None)] if not lines else []
        if len(lines) > self.max_lines:
            errors.append(("too_many_tasks", f"more than {self.max_lines} requests", None))
        seen, models = set(), set()
        for number, line in enumerate(lines, 1):
            try:
                found = json.loads(line)
            except ValueError:
                errors.append(("invalid_json_line", "This line is not parseable as valid JSON.", number))
                continue
            wrong = set(found) != {"custom_id", "method", "url", "body"} or found["method"] != "POST"
            if wrong or found["url"] != batch["endpoint"] or found["custom_id"] in seen or "stream" in found["body"]:
                errors.append(("invalid_request", "The request is not valid.", number))
            seen.add(found.get("custom_id"))
            models.add(found.get("body", {}).get("model"))
        if len(models) > 1:
            errors.append(("mismatched_model", "The provided model does not match the model of this batch", None))
        if self.refuse_batches:
            errors.append(("token_limit_exceeded", "Enqueued token limit reached", None))
        batch["request_counts"]["total"] = len(lines)
        if errors:
            data = [{"code": code, "message": words, "param": None, "line": line} for code, words, line in errors]
            batch["errors"] = {"object": "list", "data": data}
        return bool(errors)

    def _run(self, batch: dict[str, Any]) -> None:
        outputs, errors = [], []
        cancelled, expired = batch["status"] == "cancelling", False
        for line in self.contents[batch["input_file_id"]].splitlines():
            asked = json.loads(line)
            found = "cancelled" if cancelled else self.answer(asked["custom_id"], asked["body"])
            made = {"id": self.new("batch_req"), "custom_id": asked["custom_id"], "response": None, "error": None}
            if found in ("expired", "cancelled"):
                expired = expired or found == "expired"
                made["error"] = {"code": f"batch_{found}", "message": f"This request could not be executed: {found}."}
                errors.append(made)
                continue
            self.paid.append(asked["custom_id"])
            status = found if isinstance(found, int) else 200
            body = self._error(status) if status != 200 else self._completion(asked["body"], found)
            made["response"] = {"status_code": status, "request_id": self.new("req"), "body": body}
            (outputs if status == 200 else errors).append(made)
        chance = random.Random(18)
        chance.shuffle(outputs)
        for name, lines in (("output_file_id", outputs), ("error_file_id", errors)):
            if lines:
                content = b"".join(json.dumps(each).encode() + b"\n" for each in lines)
                batch[name] = self._file(content, f"{batch['id']}_{name}.jsonl", "batch_output")["id"]
        batch["request_counts"] |= {"completed": len(outputs), "failed": len(errors)}
        batch["status"] = "cancelled" if cancelled else "expired" if expired else "completed"
        batch["completed_at" if batch["status"] == "completed" else f"{batch['status']}_at"] = self.now()

    def _cancel(self, batch: dict[str, Any]) -> dict[str, Any]:
        if batch["status"] not in ("validating", "in_progress", "finalizing"):
            raise Refusal(409, "Cannot cancel a batch that is over", "invalid_request_error")
        batch["status"], batch["cancelling_at"] = "cancelling", self.now()
        return dict(batch)

    def _completion(self, body: dict[str, Any], content: Any) -> dict[str, Any]:
        message = {"role": "assistant", "refusal": None, "content": None}
        calls = content.get("tool_calls") if isinstance(content, dict) else None
        message |= {"tool_calls": calls} if calls else {"content": json.dumps(content)}
        return {
            "id": self.new("chatcmpl"),
            "object": "chat.completion",
            "created": self.now(),
            "model": body["model"],
            "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls" if calls else "stop"}
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }

    def _error(self, status: int) -> dict[str, Any]:
        words = "The server had an error" if status >= 500 else "Invalid schema for response_format"
        return {
            "error": {
                "message": words,
                "type": "server_error" if status >= 500 else "invalid_request_error",
                "param": None,
                "code": None,
            }
        }
