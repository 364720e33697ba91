"""The messages of one iteration (L10, L11, L13, X24).

In: a program, its rendered body or its conversation, what was rejected so far. Out: the messages to send. Their number,
order and roles depend on the program and the transcript alone; rendered data is only ever the text of the user message.
"""

from __future__ import annotations

from collections.abc import Sequence

from prosa.runtime.contract import Contract
from prosa.runtime.messages import Message
from prosa.runtime.program import Program
from prosa.runtime.sequence import sequence
from prosa.runtime.skill import skills_text
from prosa.runtime.transcript import Transcript

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
        notice = _joined(skills_text(program.skills), contract.rule, *_notices(program, rejected, final=final))
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
    skills = skills_text(program.skills)
    return _joined(program.instructions, program.description, skills, preferred, contract.rule, *notices)


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
