"""`$ARGUMENTS`: what a user types behind the name of a skill or a command, as a parameter of a template.

In: a text. Out: a template with the parameter `arguments`, and the text again.
"""

from __future__ import annotations

from prosa.convert.literal import spelled, spells
from prosa.data import Value
from prosa.regex import regex

ARGUMENTS: dict[str, Value] = {
    "type": "object",
    "properties": {"arguments": {"type": "string"}},
    "required": ["arguments"],
}
_NAME = regex(r"\$ARGUMENTS(?![\w\[])|\$\{ARGUMENTS\}")
_ACTION = "{{ .arguments }}"


def as_template(text: str) -> tuple[str, dict[str, Value]] | None:
    """Return the text as a template, with its input; None where it does not speak of arguments."""
    pieces = _NAME.split(text)
    if len(pieces) == 1:
        return None
    return _ACTION.join(map(spelled, pieces)), ARGUMENTS


def as_arguments(template: str) -> str | None:
    """Return the text that a template is of; None where it does more than to place the arguments."""
    pieces = [spells(piece) for piece in template.split(_ACTION)]
    return None if None in pieces else "$ARGUMENTS".join(each for each in pieces if each is not None)
