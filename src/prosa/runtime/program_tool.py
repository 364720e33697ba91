"""An imported program as a tool (L31): its name, its input schema, its own loop, its validated output."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from prosa.runtime.errors import InputRefused, LimitExceeded, OutputRefused, TemplateRefused
from prosa.runtime.messages import ToolSpec
from prosa.runtime.ports import ToolResult
from prosa.runtime.program import Program
from prosa.schema import lower

RunProgram: TypeAlias = Callable[[Program, Any], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class ProgramTool:
    """Runs a program when it is called and waits for it (L32)."""

    program: Program
    spec: ToolSpec
    wrapped: bool
    run: RunProgram
    kind: ClassVar[Literal["program"]] = "program"

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """The program's output as JSON. What its model or caller did wrong is a result, what broke is an exception."""
        given = arguments.get("value") if self.wrapped else dict(arguments)
        try:
            output = await self.run(self.program, given)
        except (InputRefused, LimitExceeded, OutputRefused, TemplateRefused) as error:
            return ToolResult(f"error: {self.program.name} failed: {error.message}", is_error=True)
        return ToolResult(json.dumps(output, ensure_ascii=False))


def program_tool(program: Program, name: str, run: RunProgram) -> ProgramTool:
    """The tool of an import. An input schema that is not an object's is wrapped, as APIs only know objects."""
    schema = program.input_schema
    if isinstance(schema, Mapping) and schema.get("type", "object") == "object":
        return ProgramTool(program, ToolSpec(name, program.description, _as_object(schema)), False, run)
    lowered = lower(schema)
    return ProgramTool(program, ToolSpec(name, program.description, lowered.schema), lowered.wrapped, run)


def _as_object(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", **schema} if "properties" in schema else {"type": "object", "properties": {}, **schema}
