"""The preparation of an input before any model call: defaults, validation, rendering (L12, L15, X13).

In: a program and a value. Out: the data as the program sees it, the text of the user message; or the reason for
refusing it.
"""

from __future__ import annotations

from collections.abc import Mapping

from prosa.data import Value
from prosa.runtime.errors import InputRefused, TemplateRefused
from prosa.runtime.program import Program
from prosa.schema import Defaults, Schema
from prosa.source.remembered import remembered
from prosa.template import TemplateError

compiled = remembered(Schema)
"""The schema of inputs; a batch asks for the same one for each row."""

_defaults = remembered(Defaults)


def accept_input(program: Program, input_value: Value) -> Value:
    """Return the input with the schema's defaults filled in (X13). Raises `InputRefused` (L12)."""
    data = _defaults(program.input_schema).fill(input_value)
    problems = compiled(program.input_schema).problems(data, input_value)
    if not problems:
        return data
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    raise InputRefused(
        f"the input of {program.name} is not valid: {first.pointer or '(root)'}: {first.message}{more}",
        [(problem.pointer, problem.keyword, problem.message) for problem in problems],
        hint=f"run: prosa run {program.file} --help" if program.file else "",
    )


def render_body(program: Program, data: Value) -> str:
    """Return the text of the user message. Raises `TemplateRefused` with the place in the file."""
    schema = program.input_schema if isinstance(program.input_schema, Mapping) else None
    try:
        return program.template.render(data, schema=schema)
    except TemplateError as error:
        where = f"{program.file or program.name}:{program.body_line + error.line - 1}:{error.column}"
        raise TemplateRefused(f"{where}: {error.message}") from error
