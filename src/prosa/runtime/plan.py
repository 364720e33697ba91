"""What a run would do, told without doing it: prompts, tools, imports, the schema as sent, limits, effects.

In: a program, who would answer it and, if there is one, its input. Out: a `Plan`. No server is started, no site
visited and no model asked, so the tools of MCP servers and of sites are known by prefix only.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import asdict, replace

from prosa.data import Value
from prosa.dialects.markdownlang.names import ACTION_PREFIX, VISIT_TOOL, server_tool_name, tool_name
from prosa.runtime.accept import accept_input, render_body
from prosa.runtime.contract import Contract, contract_of
from prosa.runtime.estimate import Estimate, Facts, estimate
from prosa.runtime.limits import Limits
from prosa.runtime.messages import Message, ModelRequest
from prosa.runtime.output import OutputContract
from prosa.runtime.ports import ServerConfig
from prosa.runtime.program import OutputForm, Program, reachable
from prosa.runtime.prompt import messages
from prosa.runtime.skill import skill_specs
from prosa.runtime.transcript import Transcript
from prosa.schema import Lowered

AS_IT_IS = Lowered({}, False, False)
"""What is sent of a schema where the output is text."""


class PlannedTool(Struct, frozen=True):
    """A tool the model would be offered. For the tools of a server or a site ``name`` is the prefix they
    will share."""

    name: str
    kind: str
    description: str


class Plan(Struct, frozen=True):
    """Everything that is known of a run before it. ``messages`` is empty where no input was given.

    ``service`` says in words who answers. ``imports`` are all programs the run may reach, each once, and have none of
    their own: which program may call which is in their tools; ``estimate`` is of the whole run. ``unavailable`` is what
    skills ask for and cannot have here.
    """

    program: str
    file: str
    model_name: str
    service: str
    messages: tuple[Message, ...]
    tools: tuple[PlannedTool, ...]
    output_schema: Mapping[str, Value]
    strict: bool
    wrapped: bool
    lowered: tuple[str, ...]
    limits: Limits
    effects: tuple[str, ...]
    imports: tuple[Plan, ...] = ()
    estimate: Estimate | None = None
    unavailable: tuple[str, ...] = ()
    form: OutputForm = "json"

    def as_dict(self) -> dict[str, Value]:
        """Plain data for ``--format json``."""
        return {
            "program": self.program,
            "file": self.file,
            "model": self.model_name,
            "service": self.service,
            "messages": [{"role": message.role, "content": message.content} for message in self.messages],
            "tools": [asdict(tool) for tool in self.tools],
            "response_format": {
                "schema": self.output_schema,
                "strict": self.strict,
                "wrapped": self.wrapped,
                "lowered": list(self.lowered),
                **({} if self.form == "json" else {"form": self.form}),
            },
            "limits": asdict(self.limits),
            "effects": list(self.effects),
            **({"unavailable": list(self.unavailable)} if self.unavailable else {}),
            "imports": [imported.as_dict() for imported in self.imports],
            **({} if self.estimate is None else {"estimate": self.estimate.as_dict()}),
        }


def plan(program: Program, given: Value, *, has_input: bool, service: str, facts: Facts | None = None) -> Plan:
    """The plan of a program and of everything it imports, with an estimate of the cost where there are facts for one.
    Raises what a run with this input would raise first."""
    own = _plan(program, given, has_input=has_input, service=service)
    imports = (_plan(each, None, has_input=False, service=service) for each in reachable(program)[1:])
    first = first_request(program, own.messages) if has_input else None
    return replace(own, imports=tuple(imports), estimate=facts and estimate(program, first, facts))


def _plan(program: Program, given: Value, *, has_input: bool, service: str) -> Plan:
    contract = contract_of(program)
    wire = contract.wire if isinstance(contract, OutputContract) else AS_IT_IS
    return Plan(
        program=program.name,
        file=program.file,
        model_name=program.model_name,
        service=service,
        messages=first_messages(program, given, contract) if has_input else (),
        tools=tuple(_tools(program)),
        output_schema=wire.schema,
        strict=wire.strict,
        wrapped=wire.wrapped,
        lowered=wire.notes,
        limits=program.limits,
        effects=tuple(_effects(program, service)),
        form=program.form,
        unavailable=tuple(f"{each.name} asks for {words}" for each in program.skills for words in each.unavailable),
    )


def first_messages(program: Program, given: Value, contract: Contract | None = None) -> tuple[Message, ...]:
    """The messages of the first iteration, as a run would send them."""
    contract = contract or contract_of(program)
    body = "" if program.conversation else render_body(program, accept_input(program, given))
    return messages(program, contract, body, Transcript(), (), final=program.limits.iterations == 1)


def first_request(program: Program, sent: tuple[Message, ...]) -> ModelRequest:
    """The first request of a run but for its tools, which are known when it runs."""
    contract = contract_of(program)
    return ModelRequest(program.model_name, sent, output=contract.format, parameters=program.parameters)


def _tools(program: Program) -> list[PlannedTool]:
    tools = [PlannedTool("python", "python", "CPython in the WebAssembly sandbox")] if program.python else []
    skills = skill_specs(program.skills)
    tools += [PlannedTool(spec.name, kind, spec.description) for kind, spec in skills]
    tools += [PlannedTool(tool_name(each.name), "program", each.description) for each in program.imports]
    tools += [_server_tools(server) for server in program.servers]
    return tools + (_site_tools(program.sites) if program.sites else [])


def _site_tools(sites: tuple[str, ...]) -> list[PlannedTool]:
    goes = PlannedTool(VISIT_TOOL, "action", f"goes from page to page of {', '.join(sites)}")
    return [goes, PlannedTool(ACTION_PREFIX, "action", "every action of the page that the run is on")]


def _server_tools(server: ServerConfig) -> PlannedTool:
    return PlannedTool(server_tool_name(server.name, ""), "mcp", f"every tool of {_reach(server)}")


def _effects(program: Program, service: str) -> list[str]:
    limits = program.limits
    effects = [f"asks {program.model_name} at most {limits.iterations} times ({service})"]
    effects += [f"starts {_reach(server)}" for server in program.servers]
    if program.python:
        memory = limits.python_memory // (1024 * 1024)
        effects.append(f"may run Python in the sandbox ({limits.python_timeout:g} s, {memory} MB a call)")
    for skill in program.skills:
        if skill.files:
            effects.append(f"may read what is below {skill.folder}, the folder of the skill {skill.name}")
        if skill.scripts:
            many = f"{len(skill.scripts)} scripts" if len(skill.scripts) > 1 else skill.scripts[0]
            effects.append(f"may run {many} of the skill {skill.name} in the sandbox")
    effects += [f"may call {imported.name}" for imported in program.imports]
    if program.sites:
        effects.append(f"reads pages and calls actions of {', '.join(program.sites)}")
        effects.append("changes something there only with --allow-actions, --allow-action ID, or a yes on a terminal")
    return effects


def _reach(server: ServerConfig) -> str:
    if server.url is not None:
        return f"the MCP server {server.name} at {server.url}"
    return f"the MCP server {server.name} by running: {' '.join((server.command or '', *server.args))}"
