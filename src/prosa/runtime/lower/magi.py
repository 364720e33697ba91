"""An ai-script block of a MAGI document → one `Program` and its input (M23–M36).

In: a script without errors, the text that is sent of its document, and what the user chose. Out: what the loop sees.
Prompt, context and a reader's text are data: nothing in them is read as a template. A script has no tools unless the
user grants them (X15).
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from prosa.data import Value
from prosa.dialects.magi.fields import OUTPUT_FORMATS
from prosa.dialects.magi.model import Script
from prosa.regex import regex
from prosa.runtime.limits import Limits
from prosa.runtime.program import OutputForm, Program
from prosa.template import Template

MAX_RETRY_TIMES = 9
"""Corrections that a block may ask for: with the first answer, the ten iterations of a run."""

BODY = Template("{{ with .context }}{{ . }}\n{{ end }}{{ .prompt }}{{ with .text }}\n\n{{ . }}{{ end }}")
TEXT = "The text that was entered:"

_RUN = regex(r"`{3,}")
_FORMS: Mapping[str, OutputForm] = {"json": "json", "text": "text", "markdown": "markdown", "image-url": "image-url"}
_WISHES = {
    "text": "Answer in plain text.",
    "markdown": "Answer in Markdown. Write it as it is to stand in the document, not inside a fence.",
}


class Granted(Struct, frozen=True):
    """What the user chose for a script: the model, parameters as sent, limits, and whether it may run Python;
    ``classified`` is as in `Program`."""

    model_name: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    python: bool = False
    classified: bool = False


def lower(script: Script, granted: Granted) -> Program:
    """Return the program of a script. Its name is the address of the block, so that scripted replies can name it
    (MA9)."""
    fields = script.fields
    schema = fields.value("output-schema")
    return Program(
        name=script.address,
        description="",
        template=BODY,
        input_schema=True,
        output_schema=schema if isinstance(schema, dict) else {},
        model_name=granted.model_name,
        limits=granted.limits,
        python=granted.python,
        form=form_of(script),
        parameters=granted.parameters,
        instructions=_instructions(script),
        rejections=retry_times(script),
        classified=granted.classified,
    )


def given(script: Script, context: str, text: str = "") -> dict[str, Value]:
    """Return the input of the program: the part of the document that is sent (MA11), the prompt, and the
    reader's input (M37)."""
    return {"context": context, "prompt": script.fields.text("prompt") or "", "text": _framed(text) if text else ""}


def form_of(script: Script) -> OutputForm:
    """Return the form of the result (M34, MA14). An unknown format is a request in words, and its result is text."""
    return _FORMS.get(script.output_format or "", "text")


def retry_times(script: Script) -> int:
    """Return how often the model may correct an answer that is not valid: `retry-times`, capped (M32, MA14)."""
    asked = script.fields.value("retry-times")
    return min(asked, MAX_RETRY_TIMES) if isinstance(asked, int) else 0


def _instructions(script: Script) -> str:
    """Return the system prompt of the author, then the format (M30, M34)."""
    wanted = script.output_format
    wish = _WISHES.get(wanted, "") if wanted else ""
    if wanted and wanted not in OUTPUT_FORMATS:
        wish = f"The format that is wanted for the answer: {wanted}"
    return "\n\n".join(part for part in (script.fields.text("system-prompt") or "", wish) if part)


def _framed(text: str) -> str:
    """Return the text of a reader in a fence that is longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(text)), default=2))
    return f"{TEXT}\n\n{fence}text\n{text.rstrip()}\n{fence}"
