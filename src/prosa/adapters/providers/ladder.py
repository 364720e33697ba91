"""What a service refused, remembered: how output is asked for steps down json_schema → json_object → prompt (LA4).

What comes in: the 400 answers of one provider object. What goes out: the form of the next request. Only a 400 that
speaks of the output format steps down; tools are never taken away; nothing is remembered before the lower form worked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from prosa.adapters.providers.failures import StatusProblem, is_context_length
from prosa.runtime.messages import ModelRequest

FormatKind: TypeAlias = Literal["json_schema", "json_object", "prompt"]
_DOWN: dict[FormatKind, FormatKind] = {"json_schema": "json_object", "json_object": "prompt"}
_LEVEL: dict[FormatKind, int] = {"json_schema": 0, "json_object": 1, "prompt": 2}

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
)
_TOOL_WORDS = ("for function", "tools[", "tools.", "tool_choice", "does not support tools")
_SCHEMA_WORDS = ("invalid schema", "invalid_json_schema", "unsupported schema", "schema is not")


@dataclass(frozen=True, slots=True)
class Form:
    """How a request is put: the output format, and whether a stream asks for its usage."""

    output: FormatKind = "json_schema"
    stream_usage: bool = True


class Refusals:
    """The memory of one provider object, per model name; a refused schema is remembered for that schema only."""

    def __init__(self) -> None:
        self._formats: dict[tuple[str, str | None], FormatKind] = {}
        self._no_stream_usage: set[str] = set()

    def form(self, request: ModelRequest) -> Form:
        """The highest form that this model has not refused."""
        known: list[FormatKind] = ["json_schema"]
        if self._formats:
            keys = ((request.model_name, None), (request.model_name, _schema_key(request)))
            known += [self._formats[key] for key in keys if key in self._formats]
        return Form(max(known, key=_LEVEL.__getitem__), request.model_name not in self._no_stream_usage)

    def remember(self, request: ModelRequest, form: Form, refused: StatusProblem | None) -> None:
        """Keeps a form that worked after a refusal."""
        if refused is None:
            return
        if not form.stream_usage:
            self._no_stream_usage.add(request.model_name)
        if form.output != "json_schema":
            key = _schema_key(request) if _is_about_this_schema(refused) else None
            self._formats[request.model_name, key] = form.output


def next_form(form: Form, request: ModelRequest, problem: StatusProblem, *, streams: bool) -> Form | None:
    """The form to try after a refusal, or None when the refusal is about something else."""
    if problem.status != 400 or is_context_length(problem):
        return None
    if streams and form.stream_usage and "stream_options" in f"{problem.param} {problem.raw}":
        return replace(form, stream_usage=False)
    if request.output is not None and form.output in _DOWN and _is_about_format(problem):
        return replace(form, output=_DOWN[form.output])
    return None


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
