"""The messages of one iteration, and the transcript that they contain (L10, L11, L13, X24).

In: a program, its contract, its rendered body, what was said so far. Out: the messages in the order in which every
service accepts them. A transcript only grows.

The number, order and roles of messages depend on the program and the transcript alone; rendered data is only ever the
text of the user message.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from prosa.runtime.messages import Message, ModelReply, ToolCall, sequence
from prosa.runtime.output import Contract
from prosa.runtime.ports import ToolResult
from prosa.runtime.program import Program

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


FINAL_RULE = "This is the last iteration: no tools are available any more. Give the final answer now."
PREFER_RULE = "Prefer {tools} for calculations, data processing and algorithms."


def messages(
    program: Program,
    contract: Contract,
    body: str,
    transcript: Transcript,
    rejected: Sequence[str],
    *,
    final: bool,
) -> tuple[Message, ...]:
    """System message, the one user message or the conversation, then the transcript: in the order of X24.

    A conversation has its own system messages; what else there is to say stands below them, in the same message.
    """
    if program.conversation:
        notice = _joined(_skills(program), contract.rule, *_notices(program, rejected, final=final))
        return sequence((*program.conversation, *_system(notice), *transcript.messages))
    system = system_text(program, contract, rejected, final=final)
    return sequence((*_system(system), Message("user", body), *transcript.messages))


def spoken_to(conversation: Sequence[Message], notice: str) -> tuple[Message, ...]:
    """Return a conversation with a text added below its own system messages."""
    return sequence((*conversation, *_system(notice))) if notice else tuple(conversation)


def system_text(program: Program, contract: Contract, rejected: Sequence[str], *, final: bool) -> str:
    """Instructions, description, skills, hints, the output schema, then what was wrong with the previous answer
    (L13)."""
    preferred = PREFER_RULE.format(tools=program.preferred) if program.preferred else ""
    notices = _notices(program, rejected, final=final)
    return _joined(program.instructions, program.description, _skills(program), preferred, contract.rule, *notices)


def _skills(program: Program) -> str:
    if not program.skills:
        return ""
    from prosa.runtime.skill import skills_text

    return skills_text(program.skills)


def _notices(program: Program, rejected: Sequence[str], *, final: bool) -> list[str]:
    """Return the notices that change between iterations. The end of tools is only mentioned if there were some."""
    notices = [feedback(rejected)] if rejected else []
    return [*notices, FINAL_RULE] if final and program.has_tools else notices


def _system(text: str) -> tuple[Message, ...]:
    return (Message("system", text),) if text else ()


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def feedback(rejected: Sequence[str]) -> str:
    """Return the message to the model about a refused answer (L13, LA8)."""
    lines = "\n".join(f"- {problem}" for problem in rejected)
    return f"Your previous answer was not accepted. Correct this and answer again:\n{lines}"
