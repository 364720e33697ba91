"""The raw completion wire: a prompt in, the text that follows it out (PA12). Only `@prompt` messages of chats use it.

What comes in: a `ModelRequest` whose one message is the prompt. It knows no roles, no tools and no output schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prosa.adapters.providers.failures import ExchangeProblem, problem_in_reply
from prosa.adapters.providers.ladder import Form
from prosa.adapters.providers.wire import Wire, count, optional_text, parameters, text_of, usage
from prosa.runtime.messages import Finish, ModelReply, ModelRequest
from prosa.runtime.usage import Usage

_FINISH: dict[str, Finish] = {"length": "length", "content_filter": "filter"}


def body(request: ModelRequest, form: Form, stream: bool) -> dict[str, Any]:
    """The request."""
    prompt = "\n\n".join(message.content for message in request.messages)
    made: dict[str, Any] = {**parameters(request), "model": request.model_name, "prompt": prompt}
    if stream:
        made["stream"] = True
        if form.stream_usage:
            made["stream_options"] = {"include_usage": True}
    return made


def reply(value: Mapping[str, Any]) -> ModelReply:
    """Reads a whole completion."""
    if value.get("error"):
        raise problem_in_reply(value)
    choice = _choice(value)
    if choice is None:
        raise ExchangeProblem("sent a reply without choices", retryable=True)
    return _reply(text_of(choice.get("text")), choice.get("finish_reason"), _usage(value), value.get("model"))


class CompletionAssembly:
    """Puts a streamed completion together."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reason: str | None = None
        self._usage = Usage()
        self._model: str | None = None
        self.complete = False

    def feed(self, event: str, data: Mapping[str, Any]) -> str:
        """Takes one chunk; gives the text it adds."""
        if data.get("error") or event == "error":
            raise problem_in_reply(data)
        self._model = self._model or optional_text(data.get("model"))
        if isinstance(data.get("usage"), Mapping):
            self._usage = _usage(data)
        choice = _choice(data)
        if choice is None:
            return ""
        self._reason = optional_text(choice.get("finish_reason")) or self._reason
        text = text_of(choice.get("text"))
        self._text.append(text)
        return text

    def finish(self) -> ModelReply:
        """The reply, or the reason why there is none."""
        if self._reason is None and not self.complete:
            raise ExchangeProblem("ended the stream before the reply was complete", kind="network", retryable=True)
        return _reply("".join(self._text), self._reason, self._usage, self._model)


def _choice(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else None


def _reply(text: str, reason: Any, counts: Usage, model: Any) -> ModelReply:
    finish = _FINISH.get(reason, "stop") if isinstance(reason, str) else "stop"
    return ModelReply(text, (), counts, optional_text(model), finish)


def _usage(value: Mapping[str, Any]) -> Usage:
    counts = value.get("usage")
    return usage(count(counts, "prompt_tokens"), count(counts, "completion_tokens"), 0)


WIRE = Wire("/completions", body, reply, CompletionAssembly)
