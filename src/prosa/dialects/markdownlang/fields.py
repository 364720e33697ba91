"""The fields of a program, its servers and its limits, as tables (L2–L8, L18, LA9, LA19).

`limits` and its names are ours: the specification says only that limits are configurable (LA7, LA19).
"""

from __future__ import annotations

from prosa.dialects.fields import Field
from prosa.dialects.markdownlang.sites import FIELD, site_form
from prosa.dialects.quantity import count_form, count_or_none_form, size_form, time_form


def _not_empty(text: str) -> str | None:
    return None if text.strip() else "is empty"


def _model_form(text: str) -> str | None:
    """The name of a model has a letter; a number or a truth value was meant for something else."""
    if not text.strip():
        return "is empty"
    if text.strip() in ("true", "false") or not any(each.isalpha() for each in text):
        return f"is the name of a model, as in `gpt-4o`, found {text[:40]}"
    return None


PROGRAM: tuple[Field, ...] = (
    Field("name", "string", required=True, why="other programs and the summary call it by this name"),
    Field(
        "description",
        "string",
        required=True,
        missing="missing-description",
        wanted="a sentence that says what it does",
    ),
    Field(
        "input",
        "schema",
        required=True,
        wanted="a JSON Schema",
        why="write `input: {type: object}` for a program that takes nothing",
    ),
    Field(
        "output",
        "schema",
        required=True,
        missing="missing-output",
        wanted="a JSON Schema",
        why="a run answers with JSON of this schema",
    ),
    Field("imports", "strings", form=_not_empty),
    Field("mcp_servers", "mappings"),
    Field(FIELD, "strings", form=site_form),
    Field("model", "string", form=_model_form),
    Field("python", "mapping"),
    Field("limits", "mapping"),
)

SERVER: tuple[Field, ...] = (
    Field("name", "string", required=True, why="its tools are called `mcp__NAME__TOOL`"),
    Field("command", "string", form=_not_empty),
    Field("args", "strings"),
    Field("env", "string-map"),
    Field("url", "string", form=_not_empty),
    Field("transport", "string", choices=("auto", "stdio", "streamable-http", "sse")),
    Field("disabled", "boolean"),
)

PYTHON: tuple[Field, ...] = (
    Field("timeout", "quantity", form=time_form),
    Field("memory", "quantity", form=size_form),
)

LIMITS: tuple[Field, ...] = (
    Field("iterations", "quantity", form=count_form),
    Field("timeout", "quantity", form=time_form),
    Field("retries", "quantity", form=count_or_none_form),
    Field("tool_result", "quantity", form=size_form),
    Field("concurrency", "quantity", form=count_form),
)
