"""The messages of one iteration (L10, L11, L13).

In: a program, its rendered body, what was rejected so far. Out: system and user message. The number, order and roles
of messages depend on the program and the transcript alone; rendered data is only ever the text of the user message.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from prosa.runtime.messages import Message
from prosa.runtime.output import OutputContract
from prosa.runtime.program import Program
from prosa.runtime.transcript import Transcript

ANSWER_RULE = (
    "Answer with one JSON value that satisfies the JSON Schema below, and with nothing else: no prose, no fence."
)
WRAP_RULE = 'Put the value into an object under the single key "value": {"value": …}.'
EMPTY_RULE = "If there is nothing to return, answer {}."
FINAL_RULE = "This is the last iteration: no tools are available any more. Give the final answer now."
PREFER_RULE = "Prefer {tools} for calculations, data processing and algorithms."


def messages(
    program: Program,
    contract: OutputContract,
    body: str,
    transcript: Transcript,
    rejected: Sequence[str],
    *,
    final: bool,
) -> tuple[Message, ...]:
    """System message, the one user message, then the transcript."""
    system = system_text(program, contract, rejected, final=final)
    return (Message("system", system), Message("user", body), *transcript.messages)


def system_text(program: Program, contract: OutputContract, rejected: Sequence[str], *, final: bool) -> str:
    """Description, hints, the output schema, then what was wrong with the previous answer (L13)."""
    parts = [program.description]
    if program.preferred:
        parts.append(PREFER_RULE.format(tools=program.preferred))
    parts.append(_schema_text(contract))
    if rejected:
        parts.append(_feedback(rejected))
    if final:
        parts.append(FINAL_RULE)
    return "\n\n".join(parts)


def _schema_text(contract: OutputContract) -> str:
    rules = [ANSWER_RULE]
    if contract.wire.wrapped:
        rules.append(WRAP_RULE)
    elif contract.schema.valid({}):
        rules.append(EMPTY_RULE)
    return " ".join(rules) + "\n\n" + json.dumps(contract.raw, ensure_ascii=False, indent=2)


def _feedback(rejected: Sequence[str]) -> str:
    lines = "\n".join(f"- {problem}" for problem in rejected)
    return f"Your previous answer was not accepted. Correct this and answer again:\n{lines}"
