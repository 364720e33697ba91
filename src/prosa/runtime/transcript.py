"""The ordered record of a run's conversation after the opening messages. It only grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prosa.runtime.messages import Message, ModelReply, ToolCall
from prosa.runtime.ports import ToolResult


@dataclass(frozen=True, slots=True)
class Transcript:
    """Assistant and tool messages, oldest first."""

    messages: tuple[Message, ...] = ()

    def with_tool_calls(self, reply: ModelReply, results: Sequence[ToolResult]) -> Transcript:
        """The reply that asked for tools, then one result per call in the order of the calls."""
        answers = tuple(_answer(call, result) for call, result in zip(reply.tool_calls, results, strict=True))
        return Transcript((*self.messages, Message("assistant", reply.content, reply.tool_calls), *answers))

    def with_rejected(self, content: str) -> Transcript:
        """An answer that was not accepted, kept as the assistant's message (LA8)."""
        return Transcript((*self.messages, Message("assistant", content)))


def _answer(call: ToolCall, result: ToolResult) -> Message:
    return Message("tool", result.content, tool_call_id=call.id)
