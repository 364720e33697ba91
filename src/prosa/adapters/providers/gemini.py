"""The Gemini wire: what Google's own interface for models takes and gives, as plain data.

In: a `ModelRequest` and the form that its model takes; an answer, whole or in pieces. Out: the body of a request; a
`ModelReply`. What comes from outside is looked at step by step, and what is no reply is an `ExchangeProblem`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from msgspec.structs import replace

from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem, problem_in_reply
from prosa.adapters.providers.request_shape import RequestShape, says
from prosa.adapters.providers.wire import (
    Wire,
    count,
    counted,
    listed,
    optional_text,
    parameters,
    plain_text,
    tool_call,
    usage,
    with_ids,
)
from prosa.data import Plain, Value, are_mappings
from prosa.regex import regex
from prosa.runtime.messages import Finish, Message, ModelReply, ModelRequest, ToolCall, ToolSpec, Usage
from prosa.runtime.parameters import squashed

UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode()
"""What the interface takes in the place of a signature for a tool call that another model made."""

_OPAQUE = "google"
_MARK = "_."
"""Stands before the name of a tool that begins with no letter; none of ours has a point."""

_NUMBERS = (
    *("temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "logprobs"),
    *("presencePenalty", "frequencyPenalty", "seed"),
)
_LISTS = ("stopSequences", "responseModalities", "safetySettings")
_OBJECTS = ("thinkingConfig", "responseSchema", "responseJsonSchema", "labels")
_OTHERS = ("responseLogprobs", "mediaResolution", "responseMimeType", "speechConfig", "serviceTier", "store")
_BESIDE = frozenset({"safetySettings", "serviceTier", "store", "labels"})
"""Parameters that stand beside the `generationConfig`, and not in it."""

_KNOWN: Mapping[str, str] = {squashed(name): name for name in (*_NUMBERS, *_LISTS, *_OBJECTS, *_OTHERS)} | {
    "maxtokens": "maxOutputTokens",
    "maxcompletiontokens": "maxOutputTokens",
    "stop": "stopSequences",
    "n": "candidateCount",
    "randomseed": "seed",
}
"""Parameters of the interface, and other names for the same."""

_STRUCTURE = frozenset(
    map(
        squashed,
        (
            *("contents", "systemInstruction", "toolConfig", "cachedContent", "automaticFunctionCalling"),
            *("httpOptions", "parallelToolCalls", "continuationToken", "automaticContinuation", "extraBody"),
            *("shouldReturnHttpResponse", "modelSelectionConfig", "routingConfig", "modelArmorConfig"),
        ),
    )
)
"""What makes a request what it is, and no program may set as a parameter (X7); that tools are called one at a time
cannot be asked for."""

_FORMAT_NAMES = ("responseMimeType", "responseSchema", "responseJsonSchema")
_BUDGETS = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
"""Tokens of thought that stand for a `reasoning_effort`, for the models that count them."""

_CUT = frozenset({"MAX_TOKENS", "CONTINUATION"})
_BLOCKED = frozenset(
    {
        *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"),
        *("IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "ESCALATION", "PUP_LIMITED_DISABLED", "MODEL_ARMOR"),
    }
)
_BROKEN: Mapping[str, str] = {
    "MALFORMED_FUNCTION_CALL": "sent a tool call that it could not write",
    "MALFORMED_RESPONSE": "sent a reply that it could not write",
    "UNEXPECTED_TOOL_CALL": "sent a call of a tool that was not offered",
    "TOO_MANY_TOOL_CALLS": "made too many tool calls of its own",
    "OTHER": "ended its reply without saying why",
}
"""Ends of a reply after which another attempt makes sense."""


def body(request: ModelRequest, shape: RequestShape, stream: bool) -> dict[str, Plain]:
    """Return the request. The address names the model and says whether the answer streams."""
    del stream
    requested = _parameters(request, shape)
    made = {name: requested.pop(name) for name in _BESIDE & requested.keys()}
    system = [message.content for message in request.messages if message.role == "system"]
    if system:
        made["systemInstruction"] = {"parts": [{"text": "\n\n".join(system)}]}
    if request.tools:
        made["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in request.tools]}]
    made["contents"] = list(_contents(request.messages, signed=shape.signed))
    if request.output is not None:
        for name in _FORMAT_NAMES:
            requested.pop(name, None)
        kind = "prompt" if shape.apart and request.tools else shape.output
        if kind != "prompt":
            requested["responseMimeType"] = "application/json"
        if kind == "json_schema":
            requested["responseJsonSchema"] = request.output.schema
    return {**made, "generationConfig": requested} if requested else made


def _parameters(request: ModelRequest, shape: RequestShape) -> dict[str, Plain]:
    """Return parameters under the names of the interface, and as they are those that it is not known to have."""
    made: dict[str, Plain] = {}
    for name, value in parameters(request, ("maxOutputTokens",) if shape.limits else ()).items():
        plain = squashed(name)
        if plain in _STRUCTURE:
            continue
        if plain == "reasoningeffort" and isinstance(value, str):
            made.setdefault("thinkingConfig", _thinking(value, request.model_name))
        elif (known := _KNOWN.get(plain)) is None:
            made[name] = value
        elif value is not None:
            made[known] = [value] if known == "stopSequences" and isinstance(value, str) else value
            _require_kind(known, made[known])
    return made


def _require_kind(name: str, value: Plain) -> None:
    """Raise `ExchangeProblem` for a parameter of another kind than the interface has."""
    if name in _NUMBERS and not isinstance(value, int | float) and not (isinstance(value, str) and _is_number(value)):
        expected = "a number"
    elif name in _LISTS and not isinstance(value, list | tuple):
        expected = "a list"
    elif name in _OBJECTS and not isinstance(value, Mapping):
        expected = "an object"
    else:
        return
    reason = f"was not called: the parameter `{name}` cannot be sent ({expected} is expected)"
    raise ExchangeProblem(reason, kind="bad-request")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _thinking(effort: str, model_name: str) -> dict[str, Plain]:
    """Return models up to 2.5 count the tokens of their thoughts; later ones know levels."""
    if "gemini-2" in model_name and effort in _BUDGETS:
        return {"thinkingBudget": _BUDGETS[effort]}
    return {"thinkingLevel": effort.upper()}


def _declaration(tool: ToolSpec) -> dict[str, Plain]:
    return {
        "name": wire_name(tool.name),
        "description": tool.description,
        "parametersJsonSchema": dict(tool.parameters),
    }


def wire_name(name: str) -> str:
    """Return the name of a tool as the interface takes it: it begins with a letter or an underscore."""
    return name if name[:1].isalpha() or name.startswith("_") else f"{_MARK}{name}"


def _contents(messages: Sequence[Message], *, signed: bool) -> Iterator[dict[str, Plain]]:
    """Yield the conversation. The results of one reply's calls stand together, in the turn of the user."""
    parts: dict[str, Mapping[str, Value]] = {}
    results: list[Plain] = []
    for message in messages:
        if message.role == "tool":
            call = parts.get(message.tool_call_id or "") or {}
            response = {"name": call.get("name", ""), "response": {"output": message.content}}
            results.append({"functionResponse": {**({"id": call["id"]} if "id" in call else {}), **response}})
            continue
        if results:
            yield {"role": "user", "parts": results}
            results = []
        if message.role == "user":
            yield {"role": "user", "parts": [{"text": _named(message)}]}
        elif message.role == "assistant":
            said_parts = _returned(message) or _model_parts(message, signed=signed)
            calls = [sent for part in said_parts if isinstance(sent := part.get("functionCall"), Mapping)]
            parts = {called.id: made for called, made in zip(message.tool_calls, calls, strict=True)}
            yield {"role": "model", "parts": said_parts}
    if results:
        yield {"role": "user", "parts": results}


def _named(message: Message) -> str:
    """Return the text; the interface has no place for a name, so that it is the first line."""
    return f"{message.name}:\n{message.content}" if message.name else message.content


def _returned(message: Message) -> list[dict[str, Value]] | None:
    """Return the parts of a reply as the service sent them, with their signatures; None for a reply of another
    service."""
    try:
        value = json.loads(message.opaque) if message.opaque else None
    except (ValueError, RecursionError):
        return None
    parts = value.get(_OPAQUE) if isinstance(value, dict) else None
    if not are_mappings(parts):
        return None
    names = [call.get("name") for part in parts if isinstance(call := part.get("functionCall"), dict)]
    return parts if names == [wire_name(call.name) for call in message.tool_calls] else None


def _model_parts(message: Message, *, signed: bool) -> list[dict[str, Value]]:
    """Return a reply that this service did not make. Of several calls only the first has a signature."""
    made: list[dict[str, Value]] = [{"text": _named(message)}] if message.content or not message.tool_calls else []
    for at, call in enumerate(message.tool_calls):
        part: dict[str, Value] = {"functionCall": {"name": wire_name(call.name), "args": _arguments(call)}}
        if signed and at == 0:
            part["thoughtSignature"] = UNSIGNED
        made.append(part)
    return made


def _arguments(call: ToolCall) -> Value:
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"arguments": call.arguments}


class GeminiAssembly:
    """Puts a reply together from its pieces, of which a whole answer is one."""

    def __init__(self) -> None:
        self.complete = False
        self._parts: list[dict[str, Value]] = []
        self._reason: str | None = None
        self._words = ""
        self._blocked: str | None = None
        self._usage = Usage()
        self._model: str | None = None
        self._candidates = 0

    def feed(self, event: str, data: Mapping[str, Value]) -> str:
        """Take one piece, and return the text that it adds. Raise `ExchangeProblem` for an error."""
        if data.get("error") or event == "error":
            raise problem_in_reply(data)
        self._model = optional_text(data.get("modelVersion")) or self._model
        if isinstance(data.get("usageMetadata"), Mapping):
            self._usage = _usage(data["usageMetadata"])
        feedback = data.get("promptFeedback")
        if isinstance(feedback, Mapping) and (why := optional_text(feedback.get("blockReason"))) is not None:
            self._blocked = f"{why}{_ratings(feedback)}"
        candidates = data.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        return self._candidate(candidate) if isinstance(candidate, Mapping) else ""

    def _candidate(self, candidate: Mapping[str, Value]) -> str:
        self._candidates += 1
        self._reason = optional_text(candidate.get("finishReason")) or self._reason
        self._words = _ratings(candidate) or self._words
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, Mapping) else None
        return "".join([self._part(part) for part in listed(parts, "parts")])

    def _part(self, part: Mapping[str, Value]) -> str:
        last = self._parts[-1] if self._parts else {}
        if part.keys() == {"text"} == last.keys():
            last["text"] = plain_text(last["text"]) + plain_text(part["text"])
        else:
            self._parts.append(dict(part))
        return _text(part)

    def finish(self) -> ModelReply:
        """Return the reply, or the reason why there is none.

        Raises `ExchangeProblem`, and `StatusProblem` for a request that the service took and then refused.
        """
        if not self._candidates:
            if self._blocked is None:
                raise ExchangeProblem("sent a reply without candidates", retryable=True)
            return self._made((), "filter", f"the prompt was blocked: {self._blocked}")
        if self._reason == "MISSING_THOUGHT_SIGNATURE":
            raise StatusProblem(400, {}, "the reply ended: MISSING_THOUGHT_SIGNATURE of a function call")
        if (broken := _BROKEN.get(self._reason or "")) is not None:
            raise ExchangeProblem(broken, retryable=True)
        if self._reason is None and not self._parts:
            raise ExchangeProblem("sent a reply without content", retryable=True)
        if self._reason is None and not self.complete:
            raise ExchangeProblem("ended the stream before the reply was complete", kind="network", retryable=True)
        if self._reason in _BLOCKED:
            return self._made((), "filter", f"the answer was blocked: {self._reason}{self._words}")
        calls = with_ids([self._call(part["functionCall"]) for part in self._parts if "functionCall" in part])
        finish: Finish = "length" if self._reason in _CUT else "tool_calls" if calls else "stop"
        return self._made(calls, finish, None)

    def _call(self, value: Value) -> ToolCall:
        call = value if isinstance(value, Mapping) else {}
        name = call.get("name")
        known = name.removeprefix(_MARK) if isinstance(name, str) else None
        arguments = call.get("args")
        return tool_call(call.get("id"), known, arguments if isinstance(arguments, Mapping) else {})

    def _made(self, calls: tuple[ToolCall, ...], finish: Finish, refusal: str | None) -> ModelReply:
        return ModelReply(
            content="".join(map(_text, self._parts)),
            tool_calls=calls,
            usage=self._usage,
            model_name=None if self._model is None else self._model.removeprefix("models/"),
            finish=finish,
            refusal=refusal,
            opaque=json.dumps({_OPAQUE: self._parts}, ensure_ascii=False) if calls else "",
        )


def reply(value: Mapping[str, Value]) -> ModelReply:
    """Read a whole answer. Raises what `GeminiAssembly.finish` does."""
    assembly = GeminiAssembly()
    assembly.feed("", value)
    assembly.complete = True
    return assembly.finish()


FIRST_SHAPE = RequestShape(limits=("maxOutputTokens",))
"""How a model is asked that has refused nothing."""


def _text(part: Mapping[str, Value]) -> str:
    """Return what a part says to the reader; thoughts are not for him."""
    return "" if part.get("thought") is True else plain_text(part.get("text"))


@counted
def _usage(value: Value) -> Usage:
    """Thoughts are billed as output, and what tools of the service read as input."""
    input_tokens = count(value, "promptTokenCount") + count(value, "toolUsePromptTokenCount")
    made = count(value, "candidatesTokenCount") + count(value, "thoughtsTokenCount")
    return usage(input_tokens, made, count(value, "cachedContentTokenCount"))


def _ratings(value: Mapping[str, Value]) -> str:
    """Return the reasons for a block, in brackets; empty if none are given."""
    blocked = [item for item in listed(value.get("safetyRatings"), "safetyRatings") if item.get("blocked") is True]
    names = [name for item in blocked if (name := optional_text(item.get("category"))) is not None]
    return f" ({', '.join(names)})" if names else ""


# What an answer that is no success says about another attempt.

_SIGNATURE_WORDS = ("thought_signature", "thought signature", "thoughtsignature")
_KEY_WORDS = ("api_key_invalid", "api key not valid", "api key expired", "api_key_expired")
_SECONDS = regex(r"^([0-9]+(?:\.[0-9]+)?)s$")


def refusal(problem: StatusProblem) -> StatusProblem:
    """Return the same refusal with what only this interface says in the places where it is looked for.

    A wrong key is a 400 here. How long to wait stands in the body (`RetryInfo`); a limit per day is none that waiting
    within a run helps against.
    """
    text, status, headers = problem.raw.lower(), problem.status, dict(problem.headers)
    if status == 400 and any(word in text for word in _KEY_WORDS):
        status = 401
    if status == 429 and "perday" in text:
        headers["x-should-retry"] = "false"
    if status in {429, 503} and "retry-after" not in headers and (seconds := _retry_delay(problem.raw)) is not None:
        headers["retry-after"] = seconds
    return StatusProblem(status, headers, problem.raw)


def _retry_delay(raw: str) -> str | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    error = value.get("error") if isinstance(value, Mapping) else None
    details = error.get("details") if isinstance(error, Mapping) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(delay, str) and (match := _SECONDS.match(delay)):
            return match[1]
    return None


def _path(model_name: str, stream: bool) -> str:
    folder, _, name = model_name.rpartition("/")
    if folder not in ("models", "tunedModels"):
        folder, name = "models", model_name
    return f"/{folder}/{quote(name, safe='')}:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}"


def _key(key: str) -> dict[str, str]:
    return {"x-goog-api-key": key}


def _downgrade(shape: RequestShape, request: ModelRequest, problem: StatusProblem) -> RequestShape | None:
    """Return the shape that marks tool calls of other models, where the interface misses their signatures."""
    del request
    misses = problem.status == 400 and says(problem.raw.lower(), _SIGNATURE_WORDS)
    return replace(shape, signed=True) if misses and not shape.signed else None


WIRE = Wire(_path, body, reply, GeminiAssembly, version="v1beta", key=_key, refusal=refusal, downgrade=_downgrade)
