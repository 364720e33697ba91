"""Secrets taken out of a recording, and a run compared with what is left (X27).

In: a recording and a function that marks the secrets of a text as `[redacted:…]`, with the first digits of their
SHA-256. Out: the recording without them. A text of a later run agrees with a marked one where its own words in these
places have these digits: the pattern is not needed again, and none is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Value
from prosa.records.recording import RecordedReply, Recording
from prosa.regex import regex

S = TypeVar("S", bound=Struct)
Mark: TypeAlias = Callable[[str], str]

_MARKED = regex(r"\[redacted:([0-9a-f]{8})\]")
MAX_SECRET = 4_096
"""Maximum characters of one secret; its end is not searched for beyond that."""


def marked(secret: str) -> str:
    """Return what stands in place of a secret."""
    return f"[redacted:{_digits(secret)}]"


def _digits(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:8]


_SECRET = frozenset(
    (
        *("reply", "result", "error", "attempts", "origins", "tool_calls"),
        *("content", "arguments", "refusal", "message", "hint"),
    )
)
"""Parts of a recorded call in which secrets may stand: not names, ids and addresses."""


def redacted(recording: Recording, mark: Mark) -> Recording:
    """Return the recording with every secret marked: in messages, replies, arguments, results and errors."""
    replies = {path: _call(each, mark) for path, each in recording.replies.items()}
    results = {path: _marked(each, mark) for path, each in recording.results.items()}
    return replace(recording, replies=replies, results=results, redacted=True)


def _call(call: RecordedReply, mark: Mark) -> RecordedReply:
    named = {name: call.request[name] for name in ("program", "model")}
    return replace(_marked(call, mark), request={**_value(call.request, mark), **named})


def _marked(part: S, mark: Mark) -> S:
    changed = {name: _value(getattr(part, name), mark) for name in part.__struct_fields__ if name in _SECRET}
    return replace(part, **changed)


def _value(value: Value, mark: Mark) -> Value:
    if isinstance(value, str):
        return _text(value, mark)
    if isinstance(value, Struct):
        return _marked(value, mark)
    if isinstance(value, Mapping):
        return {key: _value(each, mark) for key, each in value.items()}
    return type(value)(_value(each, mark) for each in value) if isinstance(value, list | tuple) else value


def _text(text: str, mark: Mark) -> str:
    """Return the text without secrets. One that is JSON is looked at as what it says, too: a secret may be escaped in
    it."""
    found = mark(text)
    if found[:1] not in ("{", "[", '"') or "\\" not in found:
        return found
    try:
        value = json.loads(found)
    except (ValueError, RecursionError):
        return found
    inside = _value(value, mark)
    return found if inside == value else json.dumps(inside, ensure_ascii=False)


def agree(recorded: Value, now: Value) -> bool:
    """Return whether a value of a later run is the recorded one, secrets taken out or not."""
    if not isinstance(recorded, str) or not isinstance(now, str) or "[redacted:" not in recorded:
        return bool(recorded == now)
    first, *rest = _MARKED.split(recorded)
    if not now.startswith(first):
        return False
    at = len(first)
    for index in range(0, len(rest), 2):
        digits, words = rest[index : index + 2]
        end = _end(now, at, digits, words, last=index + 2 == len(rest))
        if end is None:
            return False
        at = end + len(words)
    return at == len(now)


def _end(text: str, start: int, digits: str, words: str, *, last: bool) -> int | None:
    """Return where a secret ends that begins at ``start``: what follows it is ``words``."""
    if last:
        ends = [len(text) - len(words)] if text.endswith(words) and len(text) - len(words) >= start else []
    else:
        ends = [at for at in range(start, min(len(text), start + MAX_SECRET) + 1) if text.startswith(words, at)]
    mark = f"[redacted:{digits}]"
    return next((end for end in ends if text[start:end] == mark or _digits(text[start:end]) == digits), None)
