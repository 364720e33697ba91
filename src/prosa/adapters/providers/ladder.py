"""What a service refused, remembered: how output is asked for (LA4), and the shape of the messages (X24).

What comes in: the refusals of one provider object. What goes out: the form of the next request. The bound on an answer
has two names, of which a service may know one only (X26). Output steps down
grammar → json_schema → json_object → prompt, on a 400 that speaks of the format. Two user messages in a row, the system
role and several tool calls in one message are given up when the service says that it does not take them, and only where
the request has them. Tools are never taken away; nothing is remembered before the lower form worked.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.providers.failures import StatusProblem, is_context_length
from prosa.regex import regex
from prosa.runtime.messages import Message, ModelRequest

FormatKind: TypeAlias = Literal["grammar", "json_schema", "json_object", "prompt"]
"""How output is asked for; ``grammar`` is for an engine that decodes by LLGuidance (`prosa.schema.decodable`)."""

CallsKind: TypeAlias = Literal["several", "one", "apart"]
"""Tool calls of one message: as they are; one each, and only one is asked for; one each."""

_LEVELS: tuple[FormatKind, ...] = ("grammar", "json_schema", "json_object", "prompt")
_DOWN: dict[FormatKind, FormatKind] = dict(pairwise(_LEVELS))

_FORMAT_WORDS = (
    "response_format",
    "response format",
    "text.format",
    "json_schema",
    "json schema",
    "json_object",
    "json mode",
    "schema",
    "structured output",
    "guided",
    "grammar",
    "output_config",
    "output format",
)
_TOOL_WORDS = ("for function", "tools[", "tools.", "tool_choice", "does not support tools")
NEW_LIMIT, OLD_LIMIT = "max_completion_tokens", "max_tokens"
ANY_LIMIT = (NEW_LIMIT, OLD_LIMIT)
"""Both names for the most tokens of an answer: a service that does not know one of them may pass over it in silence,
and then only the other one bounds."""

_LIMIT_STATUSES = frozenset({400, 422})
_LARGE_WORDS = ("too large", "at most", "less than or equal", "must be <=", "in the completion")
_SCHEMA_WORDS = ("format.schema", "invalid schema", "invalid_json_schema", "unsupported schema", "schema is not")


_TOO_MUCH = regex(r"max_tokens: (\d{1,9}) > (\d{1,9})")
_NO_ROOM = regex(r"exceed context limit: (\d{1,9}) \+ (\d{1,9}) > (\d{1,9})")

_APART_WORDS = ("function calling with a response mime type", "tool use with a response mime type")
_SIGNATURE_WORDS = ("thought_signature", "thought signature", "thoughtsignature")
_SHAPE_STATUSES = frozenset({400, 422, 500})  # a chat template that raises is a 500 at some servers
_USER_WORDS = ("alternat", "consecutive", "in a row", "same role", "after user", "successive")
_SYSTEM_WORDS = ("system", "developer instruction", "only user and assistant", "unsupported role", "unknown role")
_CALL_WORDS = ("single tool", "one tool", "parallel tool", "multiple tool", "several tool", "parallel function")
_PREFILL_WORDS = (
    "prefill",
    "last role",
    "last message",
    "final message",
    "end of the list",
    "end with",
    "must be user",
)


class Form(Struct, frozen=True):
    """How a request is put: the output format, whether a stream asks for its usage, the shape of the messages, the
    names under which a bound on the answer is sent. ``most`` is the bound of a service that wants one, ``room``
    what its context window leaves for one answer. ``apart`` asks for a format only where no tools are offered,
    ``signed`` marks tool calls that another model made."""

    output: FormatKind = "json_schema"
    stream_usage: bool = True
    joined_users: bool = False
    system_role: bool = True
    calls: CallsKind = "several"
    limits: tuple[str, ...] = ANY_LIMIT
    most: int | None = None
    room: int | None = None
    apart: bool = False
    signed: bool = False


FIRST = Form()
"""How a request is put to a model that has refused nothing."""


class Refusals:
    """The memory of one provider object, per model name; a refused schema is remembered for that schema only.
    ``first`` is the form of a model that has refused nothing."""

    def __init__(self, first: Form = FIRST) -> None:
        self._first = first
        self._formats: dict[tuple[str, str | None], FormatKind] = {}
        self._forms: dict[str, Form] = {}

    def form(self, request: ModelRequest) -> Form:
        """Return the highest form that this model has not refused."""
        known: list[FormatKind] = [self._first.output]
        if self._formats:
            keys = ((request.model_name, None), (request.model_name, _schema_key(request)))
            known += [self._formats[key] for key in keys if key in self._formats]
        return replace(self._forms.get(request.model_name, self._first), output=max(known, key=_LEVELS.index))

    def remember(self, request: ModelRequest, form: Form, refused: Sequence[StatusProblem]) -> None:
        """Keep a form that worked after refusals."""
        if not refused:
            return
        form = replace(form, room=None)
        self._forms[request.model_name] = form if form.limits else replace(form, limits=self.form(request).limits)
        if form.output != self._first.output:
            key = _schema_key(request) if any(map(_is_about_this_schema, refused)) else None
            self._formats[request.model_name, key] = form.output


def next_form(form: Form, request: ModelRequest, problem: StatusProblem, *, streams: bool) -> Form | None:
    """Return the form to try after a refusal, or None when the refusal is about something else."""
    if request.max_output is not None and form.most is None and problem.status in _LIMIT_STATUSES:
        names = _next_limits(form.limits, f"{problem.param} {problem.raw}".lower())
        if names is not None:
            return replace(form, limits=names)
    if problem.status == 400 and (other := _next_google(form, request, problem.raw.lower())) is not None:
        return other
    if form.most is not None and (smaller := _smaller(form, problem)) is not None:
        return smaller
    if is_context_length(problem):
        return None
    if problem.status == 400:
        if streams and form.stream_usage and "stream_options" in f"{problem.param} {problem.raw}":
            return replace(form, stream_usage=False)
        forced = form.most is not None and not request.tools and "tool_choice" in problem.raw
        if request.output is not None and form.output in _DOWN and (forced or _is_about_format(problem)):
            return replace(form, output=_DOWN[form.output])
    return _next_shape(form, request.messages, problem) if problem.status in _SHAPE_STATUSES else None


def _next_google(form: Form, request: ModelRequest, text: str) -> Form | None:
    """Return the form without what the interface of Google refuses in words of its own."""
    if not form.apart and request.tools and request.output is not None and _says(text, _APART_WORDS):
        return replace(form, apart=True)
    if not form.signed and _says(text, _SIGNATURE_WORDS):
        return replace(form, signed=True)
    return replace(form, limits=()) if form.limits and "maxoutputtokens" in text else None


def _smaller(form: Form, problem: StatusProblem) -> Form | None:
    """Return a form with a lower bound on the answer, where a service that wants a bound says how much it takes."""
    if found := _TOO_MUCH.search(problem.text):
        most = int(found[2])
        return replace(form, most=most) if 0 < most < min(form.most or most, int(found[1])) else None
    if found := _NO_ROOM.search(problem.text):
        room = int(found[3]) - int(found[1])
        return replace(form, room=room) if 0 < room < int(found[2]) else None
    return None


def _next_limits(names: tuple[str, ...], text: str) -> tuple[str, ...] | None:
    """Return the names to try after a complaint about a bound; None where it is about something else.

    A model that cannot write so much keeps to less by itself, and is asked without a bound.
    """
    speaks = NEW_LIMIT in text or OLD_LIMIT in text or "max_output_tokens" in text
    if names and _says(text, _LARGE_WORDS) and (speaks or "in the completion" in text):
        return ()
    if not speaks:
        return None
    if names == ANY_LIMIT:
        return (OLD_LIMIT,) if OLD_LIMIT not in text else (NEW_LIMIT,)
    return (OLD_LIMIT,) if names == (NEW_LIMIT,) else None


def _next_shape(form: Form, messages: Sequence[Message], problem: StatusProblem) -> Form | None:
    """Return the form without what the service does not take, where the messages have it."""
    text = f"{problem.code} {problem.param} {problem.raw}".lower()
    if form.calls == "one" and "parallel_tool_calls" in text:
        return replace(form, calls="apart")
    if form.calls == "several" and _says(text, _CALL_WORDS) and any(len(each.tool_calls) > 1 for each in messages):
        return replace(form, calls="one")
    if not form.joined_users and _says(text, _USER_WORDS) and _has_neighbours(messages):
        return replace(form, joined_users=True)
    if form.system_role and _says(text, _SYSTEM_WORDS) and any(each.role == "system" for each in messages):
        return replace(form, system_role=False)
    return None


def is_prefill_refusal(problem: StatusProblem) -> bool:
    """Return whether an answer says that the last message must not be one of the assistant."""
    text = f"{problem.code} {problem.param} {problem.raw}".lower()
    return problem.status in _SHAPE_STATUSES and _says(text, _PREFILL_WORDS)


def _has_neighbours(messages: Sequence[Message]) -> bool:
    """Return whether two user messages stand in a row, or would without the system message between them."""
    said = [each.role for each in messages if each.role != "system"]
    return any(pair == ("user", "user") for pair in pairwise(said))


def _says(text: str, words: Sequence[str]) -> bool:
    return any(word in text for word in words)


def _is_about_format(problem: StatusProblem) -> bool:
    param = problem.param or ""
    if param.startswith(("response_format", "text")):
        return True
    if param.startswith(("tool", "messages", "input")):
        return False
    text = f"{problem.code} {problem.raw}".lower()
    return any(word in text for word in _FORMAT_WORDS) and not any(word in text for word in _TOOL_WORDS)


def _is_about_this_schema(problem: StatusProblem) -> bool:
    text = f"{problem.code} {problem.raw}".lower()
    return any(word in text for word in _SCHEMA_WORDS)


def _schema_key(request: ModelRequest) -> str:
    return "" if request.output is None else json.dumps(request.output.schema, sort_keys=True, default=str)
