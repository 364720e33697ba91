"""The two wire formats as the fake server writes them: Chat Completions and Responses, whole and as event streams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.model_server.behaviour import Behaviour

CREATED = 1_700_000_000


def dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def error_body(entry: Behaviour) -> bytes:
    """An error as both APIs write it."""
    if entry.raw is not None:
        return entry.raw.encode()
    kind = "server_error" if entry.status >= 500 or entry.status == 200 else "invalid_request_error"
    return dump({"error": {"message": entry.message, "type": kind, "param": entry.param, "code": entry.code}})


def _calls(entry: Behaviour) -> list[tuple[str, str, str]]:
    made = []
    for number, call in enumerate(entry.tool_calls, 1):
        arguments = call.get("arguments", {})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        made.append((call.get("id") or f"call_{number}", call["name"], text))
    return made


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


# --- Chat Completions


def _chat_usage(entry: Behaviour) -> dict[str, Any]:
    given, made, cached = entry.counts
    return {
        "prompt_tokens": given,
        "completion_tokens": made,
        "total_tokens": _sum(given, made),
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _sum(given: Any, made: Any) -> Any:
    """The total of counts, which may be none."""
    return given + made if isinstance(given, int) and isinstance(made, int) else given


def _chat_finish(entry: Behaviour) -> str:
    return entry.finish or ("tool_calls" if entry.tool_calls else "stop")


def chat_body(entry: Behaviour, model: str) -> bytes:
    """A whole chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": entry.text or None, "refusal": entry.refusal}
    if entry.tool_calls:
        message["tool_calls"] = [
            {"id": made, "type": "function", "function": {"name": name, "arguments": arguments}}
            for made, name, arguments in _calls(entry)
        ]
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": _chat_finish(entry), "logprobs": None}
    if entry.fault == "missing_message":
        del choice["message"]
    answer: dict[str, Any] = {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": CREATED,
        "model": entry.model or model,
        "choices": [] if entry.fault == "empty_choices" else [choice],
    }
    if entry.usage is not None:
        answer["usage"] = _chat_usage(entry)
    return dump(answer)


def chat_events(entry: Behaviour, model: str, *, with_usage: bool) -> list[bytes]:
    """A chat completion as `data:` events, ending with `[DONE]`."""
    head = {
        "id": "chatcmpl-fake",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": entry.model or model,
    }

    def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return b"data: " + dump({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}) + b"\n\n"

    events = []
    if entry.fault not in {"empty_choices", "missing_message"}:
        events.append(event({"role": "assistant", "content": ""}))
        events += [event({"content": piece}) for piece in _pieces(entry.text, entry.piece)]
        events += [event({"refusal": piece}) for piece in _pieces(entry.refusal or "", entry.piece)]
        for index, (made, name, arguments) in enumerate(_calls(entry)):
            function = {"name": name, "arguments": ""}
            events.append(
                event({"tool_calls": [{"index": index, "id": made, "type": "function", "function": function}]})
            )
            for piece in _pieces(arguments, entry.piece):
                events.append(event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
        events.append(event({}, _chat_finish(entry)))
    if with_usage and entry.usage is not None:
        events.append(b"data: " + dump({**head, "choices": [], "usage": _chat_usage(entry)}) + b"\n\n")
    events.append(b"data: [DONE]\n\n")
    return events


# --- Responses


def _response_items(entry: Behaviour) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    if entry.text:
        parts.append({"type": "output_text", "text": entry.text, "annotations": []})
    if entry.refusal:
        parts.append({"type": "refusal", "refusal": entry.refusal})
    if parts or not entry.tool_calls:
        items.append(
            {"type": "message", "id": "msg_fake", "status": "completed", "role": "assistant", "content": parts}
        )
    for made, name, arguments in _calls(entry):
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{made}",
                "status": "completed",
                "call_id": made,
                "name": name,
                "arguments": arguments,
            }
        )
    return items


def response_value(entry: Behaviour, model: str) -> dict[str, Any]:
    """A whole response. `finish` "length" and "content_filter" make it incomplete."""
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(entry.finish or "")
    given, made, cached = entry.counts
    answer: dict[str, Any] = {
        "id": "resp_fake",
        "object": "response",
        "created_at": CREATED,
        "model": entry.model or model,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "output": [] if entry.fault == "empty_choices" else _response_items(entry),
    }
    if entry.usage is not None:
        answer["usage"] = {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": _sum(given, made),
        }
    if entry.fault == "missing_message":
        del answer["output"]
    return answer


def response_body(entry: Behaviour, model: str) -> bytes:
    return dump(response_value(entry, model))


def response_events(entry: Behaviour, model: str) -> list[bytes]:
    """A response as named events, ending with `response.completed` or `response.incomplete`."""
    events: list[bytes] = []

    def emit(name: str, **more: Any) -> None:
        data = dump({"type": name, "sequence_number": len(events), **more})
        events.append(b"event: " + name.encode() + b"\ndata: " + data + b"\n\n")

    whole = response_value(entry, model)
    emit("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(whole.get("output", [])):
        open_item = {**item, "status": "in_progress"}
        open_item.update({"arguments": ""} if item["type"] == "function_call" else {"content": []})
        emit("response.output_item.added", output_index=index, item=open_item)
        if item["type"] == "function_call":
            for piece in _pieces(item["arguments"], entry.piece):
                emit("response.function_call_arguments.delta", item_id=item["id"], output_index=index, delta=piece)
            emit(
                "response.function_call_arguments.done",
                item_id=item["id"],
                output_index=index,
                arguments=item["arguments"],
            )
        for place, part in enumerate(item.get("content", [])):
            kind, text = ("refusal", part["refusal"]) if part["type"] == "refusal" else ("output_text", part["text"])
            where = {"item_id": item["id"], "output_index": index, "content_index": place}
            for piece in _pieces(text, entry.piece):
                emit(f"response.{kind}.delta", **where, delta=piece)
            emit(f"response.{kind}.done", **where, **{"refusal" if kind == "refusal" else "text": text})
        emit("response.output_item.done", output_index=index, item=item)
    emit("response.incomplete" if whole["status"] == "incomplete" else "response.completed", response=whole)
    return events
