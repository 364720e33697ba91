"""The tools that were called for a reply, as Markdown that a person can read later: data, never sent again.

In: the messages of the last request. Out: text in which everything that a model or a tool wrote stands
in a fence, so that none of it can be structure.
"""

from __future__ import annotations

from collections.abc import Iterable

from prosa.dialects.prapti.commands import fenced
from prosa.runtime.messages import Message

MAX_SHOWN = 16 * 1024
"""Characters of one call or one result that are kept; the model saw more."""


def tool_record(messages: Iterable[Message]) -> str:
    """Return the calls in their order, each with what it gave; empty where no tool was called."""
    results = {message.tool_call_id: message.content for message in messages if message.role == "tool"}
    calls = (call for message in messages for call in message.tool_calls)
    parts = [
        f"`{call.name}` was called with\n\n{_fenced(call.arguments or '{}', 'json')}\n\nand gave"
        f"\n\n{_fenced(results.get(call.id, ''), 'text')}"
        for call in calls
    ]
    return "\n\n".join(parts)


def _fenced(text: str, language: str) -> str:
    kept = text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}\n[cut: {len(text):,} characters]"
    return fenced(kept.replace("\r\n", "\n").replace("\r", "\n"), language)
