"""The ordered record of a run's conversation after the opening messages. It only grows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from prosa.runtime.messages import Message, ModelReply, ToolCall
from prosa.runtime.ports import ToolResult

EMPTY_ANSWER = "(an empty answer)"


class Transcript(Struct, frozen=True):
    """The messages of the assistant, and the answers of tools and the runtime, oldest first."""

    messages: tuple[Message, ...] = ()

    def with_tool_calls(self, reply: ModelReply, results: Sequence[ToolResult]) -> Transcript:
        """Return the reply with tool calls, then one result per call in the order of the calls."""
        answers = tuple(_answer(call, result) for call, result in zip(reply.tool_calls, results, strict=True))
        asked = Message("assistant", reply.content, reply.tool_calls, opaque=reply.opaque)
        return Transcript((*self.messages, asked, *answers))

    def with_rejected(self, content: str, feedback: str) -> Transcript:
        """Return an answer that was not accepted, kept as the assistant's message, and why, as a message of the user
        (LA8).

        Services read a last message of the assistant as the beginning of their own answer, so the reasons come last.
        An empty message is refused by some.
        """
        answer = Message("assistant", content if content.strip() else EMPTY_ANSWER)
        return Transcript((*self.messages, answer, Message("user", feedback)))


def _answer(call: ToolCall, result: ToolResult) -> Message:
    return Message("tool", result.content, tool_call_id=call.id)
