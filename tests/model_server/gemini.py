"""Google's interface as the fake server speaks it: what it refuses, in its words, and what it answers.

Both directions are held against the types of the service's own library, which know every field. Tool calls carry ids
and signatures of thoughts that a client must hand back as they were, as the models of the third generation want it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.model_server.behaviour import Behaviour

PATH = re.compile(r"/v1(?:alpha|beta)?/models/([^/:?]+):(generateContent|streamGenerateContent)(\?alt=sse)?$")
MISSING = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance."
)
SKIP = base64.urlsafe_b64encode(b"skip_thought_signature_validator").decode()
_STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"} | {
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_FINISH = {"length": "MAX_TOKENS", "content_filter": "SAFETY", "stop": "STOP", "tool_calls": "STOP"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_FIELDS = {
    "contents": "Content",
    "systemInstruction": "Content",
    "tools": "Tool",
    "toolConfig": "ToolConfig",
    "safetySettings": "SafetySetting",
    "generationConfig": "GenerationConfig",
    "serviceTier": None,
    "store": None,
    "labels": None,
}


@cache
def _types() -> Any:
    from google.genai import types

    return types


def model_of(path: str) -> str:
    """The model that a path names; empty for none."""
    found = PATH.search(path)
    return unquote(found[1]) if found else ""


def streams(path: str) -> bool:
    """Whether a path asks for pieces."""
    return ":streamGenerateContent" in path


# --- what comes in


def key_refusal(headers: Mapping[str, str], key: str) -> Behaviour | None:
    """What the service answers to a call without the right key."""
    given = headers.get("x-goog-api-key")
    if given is None:
        why = "Method doesn't allow unregistered callers (callers without established identity)."
        return Behaviour(status=403, message=why)
    if given == key:
        return None
    wrong = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": given}
    said = "API key not valid. Please pass a valid API key."
    return Behaviour(status=400, message=said, raw=_error(400, said, wrong))


def refusal(body: Mapping[str, Any], refuses: set[str], model: str) -> str | None:
    """The sentence of a 400, or None for a request that is well."""
    unknown = [name for name in body if name not in _FIELDS]
    if unknown:
        return f'Invalid JSON payload received. Unknown name "{unknown[0]}": Cannot find field.'
    for name, kind in _FIELDS.items():
        value = body.get(name)
        if kind is not None and value is not None and (problem := _unlike(value, kind, name)):
            return problem
    asked = body.get("generationConfig") or {}
    names = [each["name"] for tool in body.get("tools") or () for each in tool.get("functionDeclarations") or ()]
    return (
        _conversation(body.get("contents") or [], model, signed="unsigned" in refuses)
        or _tools(names)
        or _format(asked)
        or _unsupported(refuses, body, asked, names, model)
    )


def _unlike(value: Any, kind: str, place: str) -> str | None:
    from pydantic import ValidationError

    try:
        for each in value if isinstance(value, list) else [value]:
            getattr(_types(), kind).model_validate(each)
    except ValidationError as problem:
        first = problem.errors()[0]
        if first["type"] == "extra_forbidden":
            where = re.sub(r"(?<!^)(?=[A-Z])", "_", place).lower()
            return (
                f"Invalid JSON payload received. Unknown name \"{first['loc'][-1]}\" at '{where}': Cannot find field."
            )
        return f"Invalid value at '{place}.{'.'.join(map(str, first['loc']))}': {first['msg']}"
    return None


def _conversation(contents: list[Any], model: str, *, signed: bool) -> str | None:
    if not contents:
        return "* GenerateContentRequest.contents: contents is not specified"
    calls: list[Mapping[str, Any]] = []
    before = None
    for at, content in enumerate(contents):
        parts = content.get("parts") or []
        if content.get("role") not in {"user", "model"}:
            return "Please use a valid role: user, model."
        if not parts or any(len(part.keys() - {"thoughtSignature", "thought"}) != 1 for part in parts):
            return f"* GenerateContentRequest.contents[{at}].parts: each part must have one initialized field"
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if calls and len(answers) != len(calls):
            return (
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )
        if answers and not calls:
            return "Please ensure that function response turn comes immediately after a function call turn."
        for call, answer in zip(calls, answers, strict=True):
            if call["name"] != answer.get("name") or call.get("id") != answer.get("id"):
                return f"functionResponse {answer} does not answer functionCall {call}"
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        if calls and (content["role"] != "model" or before != "user"):
            return "Please ensure that function call turn comes immediately after a user turn."
        if calls and (problem := _signatures(parts, signed=signed)):
            return problem
        before = content["role"]
    if calls:
        return "Please ensure that function response turn comes immediately after a function call turn."
    return None if before == "user" else "Please ensure that single turn requests end with a user role."


def _signatures(parts: list[Mapping[str, Any]], *, signed: bool) -> str | None:
    """The first call of a turn has the signature that came with it; for one that never had any there is a word."""
    first = next(part for part in parts if "functionCall" in part)
    given = first.get("thoughtSignature")
    if given is None:
        return MISSING if signed or first["functionCall"].get("id") else None
    known = given.rstrip("=").replace("+", "-").replace("/", "_")
    wanted = {SKIP.rstrip("="), signature(first["functionCall"]).rstrip("=")}
    return None if known in wanted else "Corrupted thought signature."


def signature(call: Mapping[str, Any]) -> str:
    """The signature that this fake gives to a call: it holds the name and the arguments."""
    said = json.dumps([call["name"], call.get("args")], sort_keys=True)
    return base64.urlsafe_b64encode(f"\xff{said}".encode()).decode()


def _tools(names: list[str]) -> str | None:
    wrong = next((name for name in names if not _NAME.fullmatch(name)), None)
    if wrong is not None:
        return f"GenerateContentRequest.tools[0].function_declarations: Invalid function name {wrong!r}."
    return "Duplicate function declaration found" if len(set(names)) < len(names) else None


def _format(asked: Mapping[str, Any]) -> str | None:
    if "responseJsonSchema" in asked and asked.get("responseMimeType") != "application/json":
        return "* GenerateContentRequest.generation_config.response_json_schema: only allowed when mimetype is JSON"
    if "responseJsonSchema" in asked and "responseSchema" in asked:
        return "response_schema and response_json_schema are mutually exclusive"
    return None


def _unsupported(
    refuses: set[str], body: Mapping[str, Any], asked: Mapping[str, Any], names: list[str], model: str
) -> str | None:
    is_json = asked.get("responseMimeType") == "application/json"
    if "tools-and-json" in refuses and names and is_json:
        return "Function calling with a response mime type: 'application/json' is unsupported"
    if "json_schema" in refuses and "responseJsonSchema" in asked:
        return "* GenerateContentRequest.generation_config.response_json_schema: the schema is not supported"
    if "json_object" in refuses and is_json and "responseJsonSchema" not in asked:
        return f"JSON mode is not enabled for models/{model}"
    if "system" in refuses and "systemInstruction" in body:
        return f"Developer instruction is not enabled for models/{model}"
    most = asked.get("maxOutputTokens") or 0
    if "large" in refuses and most > 1000:
        return (
            f"Unable to submit request because it has a maxOutputTokens value of {most} but the supported range is "
            "from 1 (inclusive) to 1001 (exclusive). Update the value and try again."
        )
    return f"Function calling is not enabled for models/{model}" if "tools" in refuses and names else None


# --- what goes out


def error_body(entry: Behaviour) -> bytes:
    """An error as the service writes it."""
    if entry.raw is not None:
        return entry.raw.encode()
    return _error(500 if entry.status == 200 else entry.status, entry.message).encode()


def models(request: Any, names: Sequence[str], key: str | None) -> tuple[int, str, bytes]:
    """The list of models, one to a page, with one that makes vectors in it."""
    refused = key_refusal(request.headers, key) if key is not None else None
    if refused is not None:
        return refused.status, "application/json", error_body(refused)
    at = int(dict(parse_qsl(urlsplit(request.path).query)).get("pageToken", "0"))
    all_of_them = [*((name, "generateContent") for name in names), ("embedding", "embedContent")]
    name, method = all_of_them[at]
    made = {"name": f"models/{name}", "inputTokenLimit": 1048576, "supportedGenerationMethods": [method]}
    more = {"nextPageToken": str(at + 1)} if at + 1 < len(all_of_them) else {}
    return 200, "application/json", json.dumps({"models": [made], **more}).encode()


def _error(status: int, message: str, *details: Mapping[str, Any]) -> str:
    said = {"code": status, "message": message, "status": _STATUS.get(status, "UNKNOWN"), "details": list(details)}
    return json.dumps({"error": said}, ensure_ascii=False)


def body(entry: Behaviour, model: str) -> bytes:
    """A whole answer."""
    return _checked({**_answer(entry, [_candidate(entry, list(_parts(entry)), ends=True)]), **_head(entry, model)})


def events(entry: Behaviour, model: str) -> list[bytes]:
    """The same in pieces; the last one says why it ended, and each has the counts so far."""
    made = []
    parts = [piece for part in _parts(entry) for piece in _cut(part, entry.piece)]
    for at in range(max(1, len(parts))):
        ends = at + 1 >= len(parts)
        answer = _answer(entry, [_candidate(entry, parts[at : at + 1], ends=ends)])
        made.append(b"data: " + _checked({**answer, **_head(entry, model)}) + b"\r\n\r\n")
    return made


def _head(entry: Behaviour, model: str) -> dict[str, Any]:
    head: dict[str, Any] = {"modelVersion": entry.model or model, "responseId": "fake"}
    if entry.usage is not None:
        given, made, cached = entry.counts
        thoughts = entry.usage.get("thought_tokens", 0)
        counts = {"promptTokenCount": given, "candidatesTokenCount": made - thoughts, "totalTokenCount": given + made}
        more = {"cachedContentTokenCount": cached, "thoughtsTokenCount": thoughts}
        head["usageMetadata"] = counts | {name: value for name, value in more.items() if value}
    return head


def _answer(entry: Behaviour, candidates: list[dict[str, Any]]) -> dict[str, Any]:
    if entry.finish == "blocked":
        return {"promptFeedback": {"blockReason": "SAFETY"}}
    return {} if entry.fault == "empty_choices" else {"candidates": candidates}


def _candidate(entry: Behaviour, parts: list[dict[str, Any]], *, ends: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if entry.fault == "missing_message":
        return {"index": 0}
    if not parts:
        made["content"] = {"role": "model"}
    if ends:
        made["finishReason"] = "SAFETY" if entry.refusal else _FINISH.get(entry.finish or "stop", entry.finish)
        if entry.refusal:
            made["safetyRatings"] = [{"category": entry.refusal, "probability": "HIGH", "blocked": True}]
    return made


def _parts(entry: Behaviour) -> Iterator[dict[str, Any]]:
    if entry.text:
        yield {"text": "Let me think.", "thought": True}
        yield {"text": entry.text}
    for number, call in enumerate(entry.tool_calls, 1):
        arguments = call.get("arguments", {})
        given = json.loads(arguments) if isinstance(arguments, str) else dict(arguments)
        made = {"name": call["name"], "args": given, "id": call.get("id") or f"{call['name']}-{number}"}
        yield {"functionCall": made} | ({"thoughtSignature": signature(made)} if number == 1 else {})


def _cut(part: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    if part.keys() != {"text"}:
        yield part
        return
    for start in range(0, len(part["text"]), size):
        yield {"text": part["text"][start : start + size]}


def _checked(answer: dict[str, Any]) -> bytes:
    """The answer, once the types of the service know all of it."""
    _types().GenerateContentResponse.model_validate(answer)
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
