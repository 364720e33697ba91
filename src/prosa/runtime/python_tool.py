"""The built-in tool ``python`` (L22): the sandbox as a tool of a program, and what a program in the sandbox gives.

In: code, within the limits of one program. Out: what it printed, no longer than a tool result may be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar, Literal, cast

from prosa.data import Value
from prosa.runtime.limits import Limits
from prosa.runtime.messages import ToolSpec
from prosa.runtime.ports import Sandbox, SandboxResult, SteadyTool, ToolResult

PYTHON_SPEC = ToolSpec(
    name="python",
    description=(
        "Runs Python code in a sandbox: the standard library, a temporary directory, no network. "
        "Every call starts a fresh interpreter. Print what you want to see."
    ),
    parameters={
        "type": "object",
        "properties": {"code": {"type": "string", "description": "the program to run"}},
        "required": ["code"],
        "additionalProperties": False,
    },
)

PREFERRED_PYTHON = "the `python` tool"
"""The preference of a program that names the built-in interpreter (L24, LA17)."""


class PythonTool(SteadyTool, frozen=True):
    """The sandbox as a tool, within the limits of one program (L23)."""

    sandbox: Sandbox
    limits: Limits
    spec: ClassVar[ToolSpec] = PYTHON_SPEC
    kind: ClassVar[Literal["python"]] = "python"

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Run ``arguments["code"]``."""
        del path
        limits = self.limits
        code = cast("str", arguments["code"])  # by its schema
        ran = await self.sandbox.run(code, timeout=limits.python_timeout, memory=limits.python_memory)
        return result_of(ran, limits)


def result_of(ran: SandboxResult, limits: Limits) -> ToolResult:
    """Return what a program in the sandbox printed, within the limit of a tool result."""
    stdout, stderr = _fit(ran.stdout, limits.tool_result // 2), _fit(ran.stderr, limits.tool_result // 4)
    content = json.dumps({"stdout": stdout, "stderr": stderr, "error": ran.error}, ensure_ascii=False)
    return ToolResult(content, is_error=ran.error is not None)


def _fit(text: str, limit: int) -> str:
    """Output small enough that the JSON around it stays whole."""
    if len(text) <= limit // 4 or len(encoded := text.encode("utf-8", "replace")) <= limit:
        return text
    return encoded[:limit].decode("utf-8", "ignore") + f"\n[cut: {len(encoded)} bytes of output, {limit} shown]\n"
