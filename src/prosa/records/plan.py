"""What a run would do, without doing it: prompts, tools, imports, the schema as sent, limits, effects.

In: a program, who would answer it and, if there is one, its input. Out: a `Plan`. No server is started, no site
visited and no model asked, so the tools of sites are known by prefix only, and so are those of MCP servers that the
program does not name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import asdict, replace

from prosa.data import Plain, Value
from prosa.dialects.markdownlang.fields import ACTION_PREFIX, VISIT_TOOL, server_tool_name, tool_name
from prosa.records.estimate import Estimate, EstimateInputs, Models, estimate, tool_tokens
from prosa.runtime.accept import accept_input, render_body
from prosa.runtime.limits import Limits
from prosa.runtime.mail import mail_specs, ticket_spec
from prosa.runtime.messages import Message, ModelRequest, ToolSpec
from prosa.runtime.output import Contract, OutputContract, contract_of
from prosa.runtime.parameters import most_output
from prosa.runtime.ports import ServerConfig
from prosa.runtime.program import OutputForm, Program, program_tool_spec, reachable, server_tool_spec, worded
from prosa.runtime.prompt import Transcript, messages
from prosa.runtime.python_tool import PYTHON_SPEC
from prosa.runtime.skill import skill_specs
from prosa.schema import Lowered
from prosa.schema.lower import without_booleans

AS_IT_IS = Lowered({}, False, False)
"""What is sent of a schema where the output is text."""

NO_CREDENTIALS: Mapping[str, str] = MappingProxyType({})


class PlannedTool(Struct, frozen=True):
    """A tool the model would be offered. For the tools of a server or a site that are not known ``name`` is the prefix
    they will share. ``tokens`` is about what it has in each request, None where that is not known; ``server`` is the
    MCP server whose it is."""

    name: str
    kind: str
    description: str
    tokens: int | None = None
    server: str | None = None

    def as_dict(self) -> dict[str, Value]:
        """Return plain data; ``server`` only for the tools of one."""
        return {name: value for name, value in asdict(self).items() if name != "server" or value is not None}


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

    @property
    def tool_tokens(self) -> int:
        """About how many tokens the tools that are known have in each request."""
        return sum(tool.tokens or 0 for tool in self.tools)

    @property
    def server_tokens(self) -> dict[str, int | None]:
        """The same by MCP server; None for one whose tools are not known before it starts."""
        by_server: dict[str, int | None] = {}
        for tool in self.tools:
            if tool.server is not None:
                before = by_server.get(tool.server, 0)
                by_server[tool.server] = None if tool.tokens is None or before is None else before + tool.tokens
        return by_server

    def as_dict(self) -> dict[str, Plain]:
        """Return plain data for ``--format json``."""
        return {
            "program": self.program,
            "file": self.file,
            "model": self.model_name,
            "service": self.service,
            "messages": [{"role": message.role, "content": message.content} for message in self.messages],
            "tools": [tool.as_dict() for tool in self.tools],
            "tool_tokens": {"known": self.tool_tokens, "servers": self.server_tokens},
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


def plan(
    program: Program,
    input_value: Value,
    *,
    has_input: bool,
    service: str,
    facts: EstimateInputs | None = None,
    credentials: Mapping[str, str] = NO_CREDENTIALS,
    refused: str = "",
) -> Plan:
    """Return the plan of a program and of everything it imports, with an estimate of the cost where there are facts for
    one. ``credentials`` says in words what is sent to MCP servers, by URL; ``refused`` why a run would end before it
    begins. Raises what a run with this input would raise first."""

    def planned(current: Program, input_value: Value, *, has_input: bool) -> Plan:
        made = _plan(current, input_value, has_input=has_input, service=service, facts=facts, credentials=credentials)
        return replace(made, effects=(f"would end before it starts: {refused}",)) if refused else made

    own = planned(program, input_value, has_input=has_input)
    imports = (planned(reached, None, has_input=False) for reached in reachable(program)[1:])
    first = first_request(program, own.messages) if has_input else None
    return replace(own, imports=tuple(imports), estimate=facts and estimate(program, first, facts))


def _plan(
    program: Program,
    input_value: Value,
    *,
    has_input: bool,
    service: str,
    facts: EstimateInputs | None,
    credentials: Mapping[str, str],
) -> Plan:
    models = facts.models if facts else None
    contract = contract_of(program)
    wire = contract.wire if isinstance(contract, OutputContract) else AS_IT_IS
    return Plan(
        program=program.name,
        file=program.file,
        model_name=program.model_name,
        service=service,
        messages=first_messages(program, input_value, contract) if has_input else (),
        tools=tuple(_tools(program, models)),
        output_schema=without_booleans(wire.schema),
        strict=wire.strict,
        wrapped=wire.wrapped,
        lowered=wire.notes,
        limits=_limits(program, facts),
        effects=tuple(_effects(program, service, credentials)),
        form=program.form,
        unavailable=program.unavailable,
    )


def _limits(program: Program, facts: EstimateInputs | None) -> Limits:
    """Return the limits, with the bound on an answer that is asked for where the program and the user set none."""
    unsaid = facts.unsaid.get(program.model_name) if facts else None
    asked = most_output(program.parameters, program.limits.output_tokens)
    return program.limits if unsaid is None or asked is not None else replace(program.limits, output_tokens=unsaid)


def first_messages(program: Program, input_value: Value, contract: Contract | None = None) -> tuple[Message, ...]:
    """Return the messages of the first iteration, as a run would send them."""
    contract = contract or contract_of(program)
    body = "" if program.conversation else render_body(program, accept_input(program, input_value))
    return messages(program, contract, body, Transcript(), (), final=program.limits.iterations == 1)


def first_request(program: Program, sent: tuple[Message, ...]) -> ModelRequest:
    """Return the first request of a run but for its tools, which are known when it runs."""
    contract = contract_of(program)
    return ModelRequest(program.model_name, sent, output=contract.format, parameters=program.parameters)


def _tools(program: Program, models: Models | None) -> list[PlannedTool]:
    def planned(spec: ToolSpec, kind: str, words: str | None = None, server: str | None = None) -> PlannedTool:
        tokens = tool_tokens(spec, program.model_name, models)
        return PlannedTool(spec.name, kind, spec.description if words is None else words, tokens, server)

    tools = [planned(PYTHON_SPEC, "python", "CPython in the WebAssembly sandbox")] if program.python else []
    tools += [planned(spec, kind) for kind, spec in skill_specs(program.skills)]
    tools += [planned(spec, "mail") for spec in mail_specs(program)]
    imports = ((imported, program_tool_spec(imported, tool_name(imported.name))[0]) for imported in program.imports)
    tools += [
        planned(ticket_spec(spec) if imported.name in program.tickets else spec, "program")
        for imported, spec in imports
    ]
    for server in program.servers:
        if server.tools is not None and server.waits:
            specs = (server_tool_spec(worded(server.name, tool)) for tool in server.tools)
            tools += [planned(spec, "mcp", server=server.name) for spec in specs]
        else:
            tools += _unknown_tools(server)
    return tools + (_site_tools(program.sites) if program.sites else [])


def _unknown_tools(server: ServerConfig) -> list[PlannedTool]:
    """Return the tools of a server that says only when it runs what parameters they have."""
    if server.tools is None:
        words = f"every tool of {_reach(server)}"
        return [PlannedTool(server_tool_name(server.name, ""), "mcp", words, server=server.name)]
    return [
        PlannedTool(server_tool_name(server.name, tool.name), "mcp", tool.description or "", server=server.name)
        for tool in server.tools
    ]


def _site_tools(sites: tuple[str, ...]) -> list[PlannedTool]:
    goes = PlannedTool(VISIT_TOOL, "action", f"visits the pages of {', '.join(sites)}")
    return [goes, PlannedTool(ACTION_PREFIX, "action", "every action of the page that the run is on")]


def _effects(program: Program, service: str, credentials: Mapping[str, str]) -> list[str]:
    limits = program.limits
    effects = [f"asks {program.model_name} at most {limits.iterations} times ({service})"]
    effects += [_start(server, credentials) for server in program.servers if server.tools != ()]
    if program.python:
        memory = limits.python_memory // (1024 * 1024)
        effects.append(f"may run Python in the sandbox ({limits.python_timeout:g} s, {memory} MB a call)")
    for skill in program.skills:
        if skill.files:
            effects.append(f"may read what is below {skill.folder}, the folder of the skill {skill.name}")
        if skill.scripts:
            many = f"{len(skill.scripts)} scripts" if len(skill.scripts) > 1 else skill.scripts[0]
            effects.append(f"may run {many} of the skill {skill.name} in the sandbox")
    effects += list(_mail(program))
    effects += [
        f"may call {imported.name}{' and not wait for it' if imported.name in program.tickets else ''}"
        for imported in program.imports
    ]
    if program.sites:
        effects.append(f"reads pages and calls actions of {', '.join(program.sites)}")
        effects.append("changes something there only with --allow-actions, --allow-action ID, or a yes on a terminal")
    return effects


def _mail(program: Program) -> Iterator[str]:
    """Yield what a program does with mailboxes (L47)."""
    box = program.mailbox
    if box is None:
        return
    yield f"receives messages from the mailbox {box.name}"
    answers = "who wrote to it" if box.sends is None else ""
    known = [*(f"the mailbox {address}" for address in program.addresses), *([answers] if answers else [])]
    if known:
        yield f"may send messages to {', '.join(known)}"


def _start(server: ServerConfig, credentials: Mapping[str, str]) -> str:
    sent = credentials.get(server.url or "")
    return (
        f"starts {_reach(server)}{f' {sent}' if sent else ''}"
        f"{', when one of its tools is called' if server.waits else ''}"
    )


def _reach(server: ServerConfig) -> str:
    if server.url is not None:
        return f"the MCP server {server.name} at {server.url}"
    return f"the MCP server {server.name} by running: {' '.join((server.command or '', *server.args))}"
