"""A program: the only thing the loop sees, whatever dialect it was written in. `lower/<dialect>.py` makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from prosa.runtime.limits import Limits
from prosa.runtime.ports import ServerConfig

if TYPE_CHECKING:
    from prosa.template import Template


@dataclass(frozen=True, slots=True)
class Program:
    """Something that can be run.

    ``file`` is its file name, for the summary; ``folder`` where its MCP servers start, ``body_line``
    the line of the file on which the template begins. ``imports`` are the programs
    it may call, each with its own imports (L29). ``input_schema`` and ``output_schema`` are JSON Schemas.
    ``preferred`` names the tools to prefer for computing, in words for the model, where the author asks for it (L24).
    """

    name: str
    description: str
    template: Template
    input_schema: Mapping[str, Any] | bool
    output_schema: Mapping[str, Any] | bool
    model_name: str
    limits: Limits = field(default_factory=Limits)
    imports: tuple[Program, ...] = ()
    servers: tuple[ServerConfig, ...] = ()
    python: bool = True
    preferred: str = ""
    file: str = ""
    folder: str = "."
    body_line: int = 1

    @property
    def uses_python(self) -> bool:
        """Whether this program or one it may reach is offered the ``python`` tool."""
        return self.python or any(imported.uses_python for imported in self.imports)


def with_model(program: Program, model_name: str) -> Program:
    """The program and everything it imports with another model (X16)."""
    imports = tuple(with_model(imported, model_name) for imported in program.imports)
    return replace(program, model_name=model_name, imports=imports)
