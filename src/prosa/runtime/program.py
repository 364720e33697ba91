"""A program: the only form that the loop sees, from any dialect, and programs and tools of servers as specifications of
tools. `lower/<dialect>.py` makes it; nothing is started here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Value
from prosa.dialects.markdownlang.fields import server_tool_name
from prosa.runtime.limits import Limits
from prosa.runtime.messages import Message, ToolSpec
from prosa.runtime.ports import UNNAMED, Body, NamedTool, Origin, ServerConfig, ServerTool
from prosa.schema import lower
from prosa.source.remembered import remembered

if TYPE_CHECKING:
    from prosa.runtime.skill import Skill


OutputForm: TypeAlias = Literal["json", "text", "markdown", "image-url"]
"""What an output is: a value that satisfies the output schema, the reply as it is, or the URL of an image (M34)."""


class Mailbox(Struct, frozen=True):
    """The mailbox that a program declares (L47). ``sends`` are the addresses that it may write to; None means those of
    its imports, and the senders that it answers. ``expires`` is how many seconds a message waits in it, None for no
    limit."""

    name: str
    sends: tuple[str, ...] | None = None
    expires: float | None = None


class Program(Struct, frozen=True):
    """Something that can be run.

    ``file`` is its file name, for the summary; ``folder`` where its MCP servers start, ``body_line`` the line of the
    file on which the template starts. ``imports`` are the programs it may call, each with its own imports (L29).
    ``sites`` are URLs of pages whose actions are tools (X15). ``input_schema`` and ``output_schema`` are JSON Schemas.
    ``preferred`` names the tools to prefer for computing, in words for the model, if the author requests it (L24);
    ``asks_python`` is whether the document mentions ``python``, which every program has.

    ``form`` is the form of the output; only json uses the output schema. ``instructions`` stand before the description
    in the system message. A ``conversation`` is sent in place of system message and rendered body. ``parameters`` go
    into every request under these names (M31). ``rejections`` is how many answers may be rejected before the run ends
    (M32); None leaves that to the iterations. ``classified`` marks a document as `confidential` or `secret`: its runs
    are not stored on disk unless the user allows it (X25). ``skills`` are those that it follows or may load (X32).
    ``mailbox`` is its own, if any; ``tickets`` are the names of its background imports: a call of one gives a ticket,
    and its output comes as a message. ``origin`` says who named the document, and ``needs_agreement`` that the
    agreement gates its runs (X7, X47).
    """

    name: str
    description: str
    template: Body
    input_schema: Mapping[str, Value] | bool
    output_schema: Mapping[str, Value] | bool
    model_name: str
    limits: Limits = field(default_factory=Limits)
    imports: tuple[Program, ...] = ()
    servers: tuple[ServerConfig, ...] = ()
    sites: tuple[str, ...] = ()
    python: bool = True
    asks_python: bool = True
    preferred: str = ""
    file: str = ""
    folder: str = "."
    body_line: int = 1
    form: OutputForm = "json"
    conversation: tuple[Message, ...] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    instructions: str = ""
    rejections: int | None = None
    classified: bool = False
    skills: tuple[Skill, ...] = ()
    mailbox: Mailbox | None = None
    tickets: tuple[str, ...] = ()
    origin: Origin = UNNAMED
    needs_agreement: bool = False

    @property
    def addresses(self) -> tuple[str, ...]:
        """The mailboxes that the program may write to without answering a message."""
        if self.mailbox is None:
            return ()
        if self.mailbox.sends is not None:
            return self.mailbox.sends
        return tuple(program.mailbox.name for program in self.imports if program.mailbox is not None)

    @property
    def unavailable(self) -> tuple[str, ...]:
        """What its skills ask for and cannot have here, in words."""
        return tuple(f"{skill.name} asks for {words}" for skill in self.skills for words in skill.unavailable)

    @property
    def uses_python(self) -> bool:
        """Whether the sandbox has a use: for code of the model, or for scripts of skills."""
        return self.python or any(skill.scripts for skill in self.skills)

    @property
    def has_tools(self) -> bool:
        """Whether the model is offered any tool."""
        return bool(self.python or self.imports or self.servers or self.sites or self.skills or self.mailbox)


@remembered
def reachable(program: Program) -> tuple[Program, ...]:
    """Return the program and all its direct and indirect imports: each once, importing ones first.

    Shared imports are shared values, so a walk along every path would take exponential time.
    """
    programs: dict[int, Program] = {}
    waiting = [program]
    while waiting:
        current = waiting.pop()
        if id(current) not in programs:
            programs[id(current)] = current
            waiting.extend(reversed(current.imports))
    return tuple(programs.values())


def with_model(program: Program, model_name: str) -> Program:
    """Return the program and everything it imports with another model (X16); the same program where all have it."""
    if all(reached.model_name == model_name for reached in reachable(program)):
        return program
    done: dict[int, Program] = {}

    def changed(current: Program) -> Program:
        if id(current) not in done:
            imports = tuple(changed(imported) for imported in current.imports)
            done[id(current)] = replace(current, model_name=model_name, imports=imports)
        return done[id(current)]

    return changed(program)


def worded(server: str, named: NamedTool, own: ServerTool | None = None) -> ServerTool:
    """Return a tool as the program declares it, with the server's values for undeclared parts."""
    own = own or ServerTool(server, named.name, "", {"type": "object"})
    return ServerTool(
        server,
        named.name,
        own.description if named.description is None else named.description,
        own.parameters if named.parameters is None else named.parameters,
        own.read_only if named.read_only is None else named.read_only,
    )


def server_tool_spec(tool: ServerTool) -> ToolSpec:
    """Return the specification of a server's tool."""
    origin = ("mcp", tool.server, tool.name)
    return ToolSpec(server_tool_name(tool.server, tool.name), tool.description, tool.parameters, origin)


def program_tool_spec(program: Program, name: str) -> tuple[ToolSpec, bool]:
    """Return the specification of an import. An input schema that is not an object's is wrapped, since APIs only
    accept objects; then the second value is True."""
    schema = program.input_schema
    if isinstance(schema, Mapping) and schema.get("type", "object") == "object":
        return ToolSpec(name, program.description, _as_object(schema)), False
    lowered = lower(schema)
    return ToolSpec(name, program.description, lowered.schema), lowered.wrapped


def _as_object(schema: Mapping[str, Value]) -> Mapping[str, Value]:
    return {"type": "object", **schema} if "properties" in schema else {"type": "object", "properties": {}, **schema}


class SkillText(Struct, frozen=True):
    """The template of a program that is one skill: the request, or the instructions filled with it where they take
    arguments, as agents fill them."""

    skill: Skill | None = None

    @property
    def text(self) -> str:
        """What stands for it in a digest."""
        return "{{ .request }}" if self.skill is None else self.skill.instructions

    def render(self, data: Value, *, schema: Mapping[str, Value] | bool | None = None) -> str:
        """Return the user message. ``data`` has satisfied the input schema."""
        del schema
        request = data.get("request") if isinstance(data, dict) else None
        text = request if isinstance(request, str) else ""
        return text if self.skill is None else self.skill.text(text)


def takes_request(template: Body) -> bool:
    """Return whether a program is a skill, or a request alone: its input is one text."""
    return isinstance(template, SkillText)
