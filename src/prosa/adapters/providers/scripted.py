"""A provider that plays fixed replies (X16): for tests, for the demo, and for `--model scripted:FILE`.

Replies are dicts or a file of JSON lines, `{program?, content | tool_calls | error, usage?}`, played in order, per
program. A line that is not understood is a `ScriptProblem` with its place; when the replies are used up, it says so.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NoReturn, TypeAlias, get_args

from msgspec import Struct

from prosa.adapters.providers.kinds import KINDS, RETRYABLE_KINDS, is_free, is_retryable, kind_of_status
from prosa.data import Plain, Value
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import MOST_TOKENS, Finish, ModelReply, ModelRequest, ToolCall, Usage
from prosa.runtime.ports import OnText

__all__ = ["ScriptProblem", "ScriptedProvider", "ScriptedReply"]


class ScriptedProvider:
    """Plays replies in order. A program takes its own replies first, then those without a `program`.

    Replies that name a program can be taken by no other, so programs that run at the same time cannot take each
    other's, whatever runs first. Replies without a `program` go to the first program that asks: with several at once,
    name them. One `complete` consumes one reply, so an `error` is one failed attempt.

    ``replies``: dicts `{program?, content | tool_calls | refusal | error, usage?, model?, finish?}`, or the path of a
    file with one such object per line. ``content`` is a text or any JSON value; ``tool_calls`` a list of
    `{name, arguments, id?}`; ``error`` a text or `{message, kind?, status?, retry_after?}`; ``usage`` counts
    `input_tokens`, `output_tokens`, `cached_input_tokens`. Raises `ScriptProblem` for anything else.

    ``requests`` holds every request in the order of arrival.
    """

    def __init__(self, replies: str | os.PathLike[str] | Iterable[Mapping[str, Value]]) -> None:
        self.requests: list[ModelRequest] = []
        self._waiting: dict[str | None, deque[ScriptedReply]] = {}
        self._given: dict[str | None, int] = {}
        self._last_error: dict[str, str] = {}
        for reply in replies_of(replies):
            self._waiting.setdefault(reply.program, deque()).append(reply)
            self._given[reply.program] = self._given.get(reply.program, 0) + 1

    @property
    def remaining(self) -> int:
        """How many replies have not been used yet."""
        return sum(len(waiting) for waiting in self._waiting.values())

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Return the next reply for the program that asks. Raises its `error`, or kind ``missing`` when there is none
        left."""
        self.requests.append(request)
        chosen = self._take(request.program)
        await asyncio.sleep(0)  # as a real call would, lets others run
        if chosen.error is not None:
            self._last_error[request.program] = chosen.error.message
            raise _copy(chosen.error)
        assert chosen.reply is not None
        if on_text is not None and chosen.reply.content:
            on_text(chosen.reply.content)
        return chosen.reply

    async def aclose(self) -> None:
        """Nothing to release."""

    def _take(self, program: str) -> ScriptedReply:
        for name in (program, None):
            waiting = self._waiting.get(name)
            if waiting:
                return waiting.popleft()
        raise self._used_up(program)

    def _used_up(self, program: str) -> ProviderError:
        own, shared = self._given.get(program, 0), self._given.get(None, 0)
        others = sorted(name for name in self._waiting if name not in (None, program))
        message = (
            f"the script has no reply left for program `{program}`: it had {_count(own, 'reply', 'replies')} for it"
            f" and {shared} for any program"
        )
        if program in self._last_error:
            message += f"; the last one for it was the error: {self._last_error[program]}"
        hint = "add a line for every model call"
        if others:
            hint += f"; the script also names {', '.join(f'`{name}`' for name in others)}"
        return ProviderError(message, kind="missing", retryable=False, hint=hint, billable=False)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _copy(error: ProviderError) -> ProviderError:
    """Return a fresh exception: a raised one collects traceback and context."""
    return ProviderError(
        error.message,
        kind=error.kind,
        retryable=error.retryable,
        status=error.status,
        retry_after=error.retry_after,
        hint=error.hint,
        billable=error.billable,
    )


MAX_SCRIPT_BYTES = 64 * 1024 * 1024  # a script is written by hand or recorded in a test; more is a wrong file

SHAPE = "{program?, content | tool_calls | refusal | error, usage?, model?, finish?}"
_KEYS = frozenset({"program", "content", "tool_calls", "refusal", "error", "usage", "model", "finish"})
_CALL_KEYS = frozenset({"name", "arguments", "id"})
_ERROR_KEYS = frozenset({"message", "kind", "status", "retry_after"})
_FINISHES: Mapping[str, Finish] = {name: name for name in get_args(Finish)}
# The names of the summary (L43) and of both model APIs mean the same counts.
_USAGE_KEYS = {
    "input_tokens": "input_tokens",
    "input": "input_tokens",
    "prompt_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "output": "output_tokens",
    "completion_tokens": "output_tokens",
    "cached_input_tokens": "cached_input_tokens",
    "cached": "cached_input_tokens",
    "cached_tokens": "cached_input_tokens",
}
_FREE_KINDS = frozenset({"auth", "bad-request", "rate-limit", "missing"})
"""What costs nothing where a script names no status (X26)."""

_IGNORED_USAGE_KEYS = frozenset({"total", "total_tokens"})

Refuse: TypeAlias = Callable[[str], NoReturn]


class ScriptProblem(ProviderError):
    """A script that cannot be read. ``path`` is None for replies given as values; ``line`` counts from 1."""

    def __init__(self, path: str | None, line: int | None, message: str) -> None:
        place = f"{path}:{line}" if path and line else path or f"reply {line}"
        super().__init__(f"{place}: {message}", kind="malformed", retryable=False, hint=f"a reply is {SHAPE}")
        self.path = path
        self.line = line


class ScriptedReply(Struct, frozen=True):
    """One reply of a script: an answer or an error. ``program`` is None when it is for any program."""

    program: str | None
    reply: ModelReply | None
    error: ProviderError | None


def replies_of(source: str | os.PathLike[str] | Iterable[Mapping[str, Value]]) -> tuple[ScriptedReply, ...]:
    """Read a script file (a path) or take replies as values. Raises `ScriptProblem`."""
    if isinstance(source, str | os.PathLike):
        return _read_file(os.fspath(source))
    return tuple(_reply(item, number, _refuse_at(None, number)) for number, item in enumerate(source, 1))


def _read_file(path: str) -> tuple[ScriptedReply, ...]:
    try:
        data = Path(path).read_bytes()
        text = data.decode().removeprefix("\ufeff")
    except OSError as problem:
        raise ScriptProblem(path, None, f"the script cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError:
        raise ScriptProblem(path, None, "the script is not UTF-8 text") from None
    if len(data) > MAX_SCRIPT_BYTES:
        raise ScriptProblem(path, None, f"the script has {len(data)} bytes; the limit is {MAX_SCRIPT_BYTES}")
    replies = []
    # Only LF and CRLF end a line: other line separators are allowed inside a JSON string.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            refuse = _refuse_at(path, number)
            replies.append(_reply(_decode(line, refuse), number, refuse))
    return tuple(replies)


def _refuse_at(path: str | None, line: int) -> Refuse:
    def refuse(message: str) -> NoReturn:
        raise ScriptProblem(path, line, message)

    return refuse


def _decode(line: str, refuse: Refuse) -> Value:
    def constant(name: str) -> NoReturn:
        refuse(f"{name} is not JSON")

    try:
        value: Value = json.loads(line, parse_constant=constant)
    except ValueError as problem:
        refuse(f"expected one JSON object per line: {problem}")
    except RecursionError:
        refuse("the value is nested too deeply")
    return value


def _reply(item: Plain, number: int, refuse: Refuse) -> ScriptedReply:
    if not isinstance(item, Mapping):
        refuse(f"expected an object, found {_kind(item)}")
    unknown = sorted(set(map(str, item)) - _KEYS)
    if unknown:
        refuse(f"unknown key `{unknown[0]}`")
    program = _text(item, "program", refuse)
    if "error" in item:
        if {"content", "tool_calls", "refusal"} & set(item):
            refuse("`error` must be alone; found it beside a reply")
        return ScriptedReply(program, None, _error(item["error"], refuse))
    if not {"content", "tool_calls", "refusal"} & set(item):
        refuse("expected one of `content`, `tool_calls`, `refusal`, `error`")
    return ScriptedReply(program, _answer(item, number, refuse), None)


def _answer(item: Mapping[str, Plain], number: int, refuse: Refuse) -> ModelReply:
    calls = _calls(item.get("tool_calls"), number, refuse)
    refusal = _text(item, "refusal", refuse)
    usual: Finish = "refusal" if refusal is not None else "tool_calls" if calls else "stop"
    finish = _FINISHES.get(_text(item, "finish", refuse) or usual)
    if finish is None:
        refuse(f"`finish` is one of {', '.join(_FINISHES)}")
    return ModelReply(
        content=_content(item, refuse),
        tool_calls=calls,
        usage=_usage(item.get("usage"), refuse),
        model_name=_text(item, "model", refuse),
        finish=finish,
        refusal=refusal,
    )


def _content(item: Mapping[str, Plain], refuse: Refuse) -> str:
    """Text stands for itself, any other value for its JSON. Beside tool calls a null is no content, as on the wire."""
    content = item.get("content", "")
    if isinstance(content, str):
        return content
    if content is None and "tool_calls" in item:
        return ""
    return _dump(content, "content", refuse)


def _calls(value: Plain, number: int, refuse: Refuse) -> tuple[ToolCall, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        refuse(f"`tool_calls` is a list, found {_kind(value)}")
    return tuple(_call(call, f"call_{number}_{place}", refuse) for place, call in enumerate(value, 1))


def _call(call: Plain, made_id: str, refuse: Refuse) -> ToolCall:
    if not isinstance(call, Mapping) or not isinstance(name := call.get("name"), str):
        refuse("a tool call is {name, arguments, id?}")
    unknown = sorted(set(map(str, call)) - _CALL_KEYS)
    if unknown:
        refuse(f"unknown key `{unknown[0]}` in a tool call; it has name, arguments and id")
    arguments = call.get("arguments", {})
    text = arguments if isinstance(arguments, str) else _dump(arguments, "arguments", refuse)
    return ToolCall(id=_text(call, "id", refuse) or made_id, name=name, arguments=text)


def _usage(value: Plain, refuse: Refuse) -> Usage:
    if value is None:
        return Usage()
    if not isinstance(value, Mapping):
        refuse(f"`usage` is an object, found {_kind(value)}")
    counts: dict[str, int] = {}
    for key, count in value.items():
        if key in _IGNORED_USAGE_KEYS:
            continue
        if key not in _USAGE_KEYS:
            refuse(f"unknown key `{key}` in `usage`; it has input_tokens, output_tokens and cached_input_tokens")
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= MOST_TOKENS:
            refuse(f"`usage.{key}` is a count from 0 to {MOST_TOKENS:,}, found {_kind(count)}")
        counts[_USAGE_KEYS[key]] = count
    return Usage(**counts)


def _error(value: Plain, refuse: Refuse) -> ProviderError:
    """Return an error to raise. Without kind and status it counts as a server in trouble, so it is retried."""
    if isinstance(value, str):
        value = {"message": value}
    if not isinstance(value, Mapping) or not isinstance(message := value.get("message", ""), str):
        refuse("`error` is a text or {message, kind?, status?, retry_after?}")
    unknown = sorted(set(map(str, value)) - _ERROR_KEYS)
    if unknown:
        refuse(f"unknown key `{unknown[0]}` in `error`; it has {', '.join(sorted(_ERROR_KEYS))}")
    status, wait = value.get("status"), value.get("retry_after")
    if status is not None and (not isinstance(status, int) or not 100 <= status <= 599):
        refuse("`error.status` is an HTTP status from 100 to 599")
    if wait is not None and (isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 <= wait < math.inf):
        refuse("`error.retry_after` is a number of seconds")
    kind = _text(value, "kind", refuse) or ("server" if status is None else kind_of_status(status))
    if kind not in KINDS:
        refuse(f"`error.kind` is one of {', '.join(sorted(KINDS))}")
    retryable = kind in RETRYABLE_KINDS if status is None or value.get("kind") else is_retryable(status)
    message = message or "the scripted model service failed"
    free = kind in _FREE_KINDS if status is None else is_free(status, own_words=True)
    return ProviderError(message, kind=kind, retryable=retryable, status=status, retry_after=wait, billable=not free)


def _text(item: Mapping[str, Plain], key: str, refuse: Refuse) -> str | None:
    value = item.get(key)
    if value is not None and not isinstance(value, str):
        refuse(f"`{key}` is a text, found {_kind(value)}")
    return value


def _dump(value: Plain, key: str, refuse: Refuse) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        refuse(f"`{key}` cannot be written as JSON: {problem}")


def _kind(value: Plain) -> str:
    names = {type(None): "null", bool: "a truth value", int: "a number", float: "a number", str: "a text"}
    return names.get(type(value), "a list" if isinstance(value, list | tuple) else "an object")
