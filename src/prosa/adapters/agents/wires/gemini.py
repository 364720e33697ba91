"""Google's `generateContent`: what the service refuses in its own words, and what it answers, whole and as events."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, Required, TypedDict, cast

from prosa.adapters.agents.wires.exchange import (
    Answered,
    Conversation,
    Refusal,
    ServiceTurn,
    ServiceWire,
    ToolOffer,
    arguments_of,
    compact,
    merged,
    pieces,
    sse,
    text_of,
)
from prosa.adapters.agents.wires.shapes import Fields, Many, Misfit, Shape, misfit
from prosa.data import Value
from prosa.regex import regex
from prosa.runtime.messages import ToolCall

_NAME = regex(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_SNAKE = regex(r"_([a-z0-9])")
_HUMP = regex(r"([A-Z])")
_SIGNED = regex(r"gemini-(?:[3-9]|\d\d)")
"""Models that want the signatures of their thoughts back."""

_OPAQUE: Final = frozenset(
    {"args", "response", "parameters", "parametersJsonSchema", "responseSchema", "responseJsonSchema", "labels"}
)
"""Fields whose values have names of their own."""

SKIPPED: Final = base64.urlsafe_b64encode(b"skip_thought_signature_validator").decode()
"""What stands for the signature of a call that this service did not make."""

_BLOB: Final = Fields({}, {"mimeType": "string", "data": "string", "displayName": "string"})
_FILE: Final = Fields({}, {"mimeType": "string", "fileUri": "string", "displayName": "string"})
_CALL: Final = Fields(
    {"name": "string"}, {"id": "string", "args": "object", "partialArgs": "any", "willContinue": "any"}
)
_ANSWER: Final = Fields(
    {"name": "string", "response": "object"},
    {"id": "string", "parts": "array", "scheduling": "string", "willContinue": "boolean"},
)
_BESIDE: Final = (
    "thought",
    "thoughtSignature",
    "videoMetadata",
    "mediaResolution",
    "partMetadata",
    "mediaProcessing",
    "speechMetadata",
    "documentMetadata",
    "spreadsheetMetadata",
    "audioMetadata",
    "audioTranscription",
)
"""Fields of a part beside its data."""

_DATA: Final[Mapping[str, Shape]] = {
    "text": "string",
    "inlineData": _BLOB,
    "fileData": _FILE,
    "functionCall": _CALL,
    "functionResponse": _ANSWER,
    "executableCode": "object",
    "codeExecutionResult": "object",
    "toolCall": "object",
    "toolResponse": "object",
}
PART: Final = Fields({}, {**_DATA, **dict.fromkeys(_BESIDE, "any")})
_CONTENT: Final = Fields({}, {"role": "string", "parts": Many(PART)})
FUNCTION: Final = Fields(
    {"name": "string"},
    {
        "behavior": "string",
        "description": "string",
        "parameters": "object",
        "parametersJsonSchema": "any",
        "response": "object",
        "responseJsonSchema": "any",
    },
)
_TOOLS: Final = (
    "retrieval",
    "computerUse",
    "fileSearch",
    "googleSearch",
    "googleMaps",
    "codeExecution",
    "enterpriseWebSearch",
    "googleSearchRetrieval",
    "parallelAiSearch",
    "urlContext",
    "mcpServers",
    "exaAiSearch",
)
TOOL: Final = Fields({}, {"functionDeclarations": Many(FUNCTION), **dict.fromkeys(_TOOLS, "any")})
_NUMBERS: Final = ("temperature", "topP", "topK", "presencePenalty", "frequencyPenalty")
_INTEGERS: Final = ("candidateCount", "maxOutputTokens", "seed", "logprobs")
_OTHER_SETTINGS: Final = (
    "modelSelectionConfig",
    "responseJsonSchema",
    "audioTimestamp",
    "enableAffectiveDialog",
    "mediaResolution",
    "responseLogprobs",
    "responseModalities",
    "responseSchema",
    "routingConfig",
    "speechConfig",
    "thinkingConfig",
    "imageConfig",
    "enableEnhancedCivicAnswers",
    "responseFormat",
    "translationConfig",
    "audioTranscriptionConfig",
)
SETTINGS: Final = Fields(
    {},
    {
        **dict.fromkeys(_NUMBERS, "number"),
        **dict.fromkeys(_INTEGERS, "integer"),
        **dict.fromkeys(_OTHER_SETTINGS, "any"),
        "responseMimeType": "string",
        "stopSequences": Many("string"),
    },
)
_TOOL_CONFIG: Final = Fields(
    {}, {"functionCallingConfig": "object", "retrievalConfig": "object", "includeServerSideToolInvocations": "boolean"}
)
FIELDS: Final[Mapping[str, Shape]] = {
    "contents": Many(_CONTENT),
    "systemInstruction": _CONTENT,
    "tools": Many(TOOL),
    "toolConfig": _TOOL_CONFIG,
    "safetySettings": Many("object"),
    "generationConfig": SETTINGS,
    "cachedContent": "string",
    "serviceTier": "string",
    "store": "boolean",
    "labels": "object",
    "model": "string",
}
_COUNT_FIELDS: Final[Mapping[str, Shape]] = {
    "contents": Many(_CONTENT),
    "generateContentRequest": Fields({}, FIELDS),
}


class _Call(TypedDict, total=False):
    name: Required[str]
    id: str
    args: dict[str, Value]


class _Answer(TypedDict, total=False):
    name: Required[str]
    response: Required[dict[str, Value]]
    id: str


class _Part(TypedDict, total=False):
    functionCall: _Call
    functionResponse: _Answer
    text: str
    thought: Value
    thoughtSignature: Value


class _Content(TypedDict, total=False):
    role: str
    parts: list[_Part]


class _Function(TypedDict, total=False):
    name: Required[str]
    description: str
    parameters: dict[str, Value]
    parametersJsonSchema: Value


class _Tool(TypedDict, total=False):
    functionDeclarations: list[_Function]


class _Settings(TypedDict, total=False):
    maxOutputTokens: int
    responseJsonSchema: Value
    responseMimeType: str
    responseSchema: Value
    temperature: float


class _Prompt(TypedDict, total=False):
    """What is read of a body that has the shape; what is optional may be null."""

    contents: list[_Content]
    generationConfig: _Settings
    systemInstruction: _Content
    tools: list[_Tool]


class _Body(_Prompt, total=False):
    generateContentRequest: _Prompt


def camel(value: Value) -> Value:
    """Return a body with names as JSON of this service has them: it also takes ``system_instruction``."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    named = {_SNAKE.sub(lambda match: match[1].upper(), name): member for name, member in value.items()}
    return {name: member if name in _OPAQUE else camel(member) for name, member in named.items()}


def _refusal(body: dict[str, Value], headers: Mapping[str, str], path: str) -> Refusal | None:
    del headers
    counts = path.endswith(":countTokens")
    fault = misfit(body, Fields({}, _COUNT_FIELDS if counts else FIELDS))
    if fault is not None:
        return Refusal(_worded(fault))
    asked = _asked(body)
    model = path.rpartition("/")[2].partition(":")[0]
    why = _contents(asked.get("contents") or (), model) or _tools(asked) or _settings(asked)
    return None if why is None else Refusal(why)


def _asked(body: Mapping[str, Value]) -> _Prompt:
    """Return what a body of the right shape asks, for the tokens of which it may be inside."""
    whole = cast("_Body", body)
    return whole.get("generateContentRequest") or whole


def _worded(fault: Misfit) -> str:
    where = _snake(".".join(_place(fault)))
    start = "Invalid JSON payload received."
    if fault.problem == "unknown":
        at = f" at '{where}'" if where else ""
        return f'{start} Unknown name "{fault.name}"{at}: Cannot find field.'
    if fault.problem == "missing":
        return f"* GenerateContentRequest.{where}.{_snake(fault.name)}: [FIELD_INVALID] must be set"
    kinds = {"string": "TYPE_STRING", "integer": "TYPE_INT32", "number": "TYPE_DOUBLE", "boolean": "TYPE_BOOL"}
    kind = kinds.get(fault.expected)
    detail = f"({kind}), {compact(fault.found)}" if kind else f"expected {fault.expected}"
    return f"Invalid value at '{where}' {detail}"


def _place(fault: Misfit) -> list[str]:
    parts: list[str] = []
    for step in fault.place:
        if isinstance(step, int):
            parts[-1] += f"[{step}]"
        else:
            parts.append(step)
    return parts


def _snake(name: str) -> str:
    return _HUMP.sub(lambda match: f"_{match[1].lower()}", name)


def _contents(contents: Sequence[_Content], model: str) -> str | None:
    if not contents:
        return "* GenerateContentRequest.contents: contents is not specified\n"
    calls: list[_Call] = []
    before = ""
    for at, content in enumerate(contents):
        role, parts = content.get("role") or "user", content.get("parts") or []
        why = _parts(at, role, parts) or _answers(calls, parts)
        if why is not None:
            return why
        calling = [part for part in parts if part.get("functionCall") is not None]
        calls = [part["functionCall"] for part in calling]
        if calls and (role != "model" or before != "user"):
            return (
                "Please ensure that function call turn comes immediately after a user turn or a function response turn."
            )
        if calling and (why := _signature_problem(calling[0], at, model)):
            return why
        before = role
    if calls or before == "model":
        return "Please ensure that multiturn requests end with a user role or a function response."
    return None


def _parts(at: int, role: str, parts: Sequence[_Part]) -> str | None:
    if role not in ("user", "model", "function"):
        return "Please use a valid role: user, model."
    if not parts:
        return f"* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty.\n"
    for index, part in enumerate(parts):
        names = [name for name, member in part.items() if name in _DATA and member is not None]
        place = f"contents[{at}].parts[{index}]"
        if not names and "thoughtSignature" not in part:
            return (
                f"* GenerateContentRequest.{place}.data: required oneof field 'data' must have one initialized field\n"
            )
        if len(names) > 1:
            return f"Invalid value at '{place}' (oneof), oneof field 'data' is already set. Cannot set '{names[1]}'"
    return None


def _answers(calls: Sequence[_Call], parts: Sequence[_Part]) -> str | None:
    """Return what is wrong between the calls of the turn before and the answers of this one."""
    answers = [answer for part in parts if (answer := part.get("functionResponse")) is not None]
    if answers and not calls:
        return "Please ensure that function response turn comes immediately after a function call turn."
    if len(answers) != len(calls):
        return (
            "Please ensure that the number of function response parts is equal to the number of function call parts of "
            "the function call turn."
        )
    for call, answer in zip(calls, answers, strict=True):
        ids = (call.get("id"), answer.get("id"))
        if call["name"] != answer["name"] or (all(ids) and ids[0] != ids[1]):
            return f"Function response '{answer['name']}' does not match function call '{call['name']}'."
    return None


def _signature_problem(first: _Part, at: int, model: str) -> str | None:
    """Check the signature of the first call of a turn."""
    signature = first.get("thoughtSignature")
    if signature is None:
        if not _SIGNED.match(model):
            return None
        name = first["functionCall"]["name"]
        return (
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
            "correctly, and missing thought_signature may lead to degraded model performance. Additional data, "
            f"function call `default_api:{name}` , position {at + 1}."
        )
    known = signature.rstrip("=").replace("+", "-").replace("/", "_") if isinstance(signature, str) else ""
    call = first["functionCall"]
    wanted = {SKIPPED.rstrip("="), _signature(call["name"]).rstrip("=")}
    return None if known in wanted else "Corrupted thought signature."


def _signature(name: str) -> str:
    """Return the signature that this service gives to a call: a text made of its name."""
    return base64.urlsafe_b64encode(f"scripted {name}".encode()).decode()


def _tools(body: _Prompt) -> str | None:
    names = [offer["name"] for tool in body.get("tools") or () for offer in tool.get("functionDeclarations") or ()]
    for at, name in enumerate(names):
        if not _NAME.fullmatch(name):
            return (
                f"* GenerateContentRequest.tools[0].function_declarations[{at}].name: [FIELD_INVALID] Invalid function "
                "name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), "
                "dots (.), colons (:), or dashes (-), with a maximum length of 128.\n"
            )
    twice = next((name for name in names if names.count(name) > 1), None)
    return None if twice is None else f"Duplicate function declaration found: {twice}"


def _settings(body: _Prompt) -> str | None:
    asked: _Settings = body.get("generationConfig") or {}
    place = "* GenerateContentRequest.generation_config"
    for name in ("responseSchema", "responseJsonSchema"):
        if asked.get(name) is not None and asked.get("responseMimeType") not in ("application/json", "text/x.enum"):
            return (
                f"{place}.{_snake(name)}: only allowed when mime_type is set to a supported value: application/json\n"
            )
    if asked.get("responseSchema") is not None and asked.get("responseJsonSchema") is not None:
        return f"{place}: response_schema and response_json_schema are mutually exclusive\n"
    if not 0 <= (asked.get("temperature") or 0) <= 2:
        return f"{place}.temperature: temperature must be in the range [0.0, 2.0].\n"
    if (asked.get("maxOutputTokens") or 1) < 1:
        return f"{place}.max_output_tokens: max_output_tokens must be positive.\n"
    return None


def _read(body: Mapping[str, Value]) -> Conversation:
    asked = _asked(body)
    turns = []
    for content in asked.get("contents") or ():
        parts = content.get("parts") or ()
        calls, results = [], []
        for at, part in enumerate(parts):
            call, answer = part.get("functionCall"), part.get("functionResponse")
            if call is not None:
                calls.append(
                    ToolCall(call.get("id") or f"{call['name']}_{at}", call["name"], compact(call.get("args") or {}))
                )
            if answer is not None:
                results.append((answer.get("id") or f"{answer['name']}_{at}", compact(answer["response"])))
        visible = [part for part in parts if not part.get("thought")]
        role: Literal["user", "assistant"] = "assistant" if content.get("role") == "model" else "user"
        turns.append(ServiceTurn(role, text_of(visible), tuple(calls), tuple(results)))
    tools = [
        ToolOffer(offer["name"], offer.get("description") or "", _schema(offer))
        for tool in asked.get("tools") or ()
        for offer in tool.get("functionDeclarations") or ()
    ]
    system = text_of((asked.get("systemInstruction") or {}).get("parts"))
    return Conversation(system, tuple(tools), merged(turns))


def _schema(function: _Function) -> Mapping[str, Value]:
    schema = function.get("parametersJsonSchema")
    return schema if schema and isinstance(schema, Mapping) else function.get("parameters") or {}


_FINISHES: Final = {"length": "MAX_TOKENS", "filter": "SAFETY", "refusal": "SAFETY"}


def _said(answered: Answered) -> Iterator[dict[str, Value]]:
    reply = answered.reply
    if reply.content:
        yield {"text": reply.content}
    for at, call in enumerate(reply.tool_calls):
        made: dict[str, Value] = {"id": call.id, "name": call.name, "args": arguments_of(call)}
        yield {"functionCall": made} | ({"thoughtSignature": _signature(call.name)} if at == 0 else {})


def _content(answered: Answered, parts: list[Value], *, ends: bool) -> dict[str, Value]:
    usage = answered.usage
    candidate: dict[str, Value] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if ends:
        candidate["finishReason"] = _FINISHES.get(answered.reply.finish, "STOP")
    counts: dict[str, Value] = {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens,
        "totalTokenCount": usage.total_tokens,
    }
    cached: dict[str, Value] = (
        {"cachedContentTokenCount": usage.cached_input_tokens} if usage.cached_input_tokens else {}
    )
    return {
        "candidates": [candidate],
        "usageMetadata": {**counts, **cached},
        "modelVersion": answered.model,
        "responseId": f"scripted-{answered.number}",
    }


def _whole(answered: Answered) -> dict[str, Value]:
    return _content(answered, list(_said(answered)), ends=True)


def _events(answered: Answered) -> Iterator[bytes]:
    cut: list[Value] = []
    for part in _said(answered):
        text = part.get("text")
        cut += [{"text": piece} for piece in pieces(text)] if isinstance(text, str) else [part]
    for at in range(max(1, len(cut))):
        yield sse(_content(answered, cut[at : at + 1], ends=at + 1 >= len(cut)), end="\r\n\r\n")


_STATUSES: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def _error(refusal: Refusal) -> dict[str, Value]:
    status = _STATUSES.get(refusal.status, "INTERNAL" if refusal.status >= 500 else "INVALID_ARGUMENT")
    error: dict[str, Value] = {"code": refusal.status, "message": refusal.message, "status": status}
    if refusal.code:
        reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": refusal.code}
        error["details"] = [{**reason, "domain": "googleapis.com"}]
    return {"error": error}


def _model(name: str) -> dict[str, Value]:
    return {
        "name": f"models/{name}",
        "displayName": name,
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }


GEMINI: Final = ServiceWire(
    name="gemini",
    counted=("systemInstruction", "tools", "contents"),
    refusal=_refusal,
    read=_read,
    whole=_whole,
    events=_events,
    error=_error,
    models=lambda names: {"models": [_model(name) for name in names]},
    model=_model,
    count=lambda tokens: {"totalTokens": tokens},
)
