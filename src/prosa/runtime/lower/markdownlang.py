"""A closure of markdownlang programs → one `Program` with its imports below it.

In: a closure without errors. Out: what the loop sees. The base of relative MCP servers is the folder of the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from prosa.corpus.embedding import looks_classified
from prosa.data import Value
from prosa.dialects.markdownlang import ProgramModel, ServerModel
from prosa.dialects.markdownlang.fields import server_prefix
from prosa.dialects.markdownlang.model import (
    BUILT_IN_SERVER,
    LimitsModel,
    MailboxModel,
    SchemaModel,
    ServerToolModel,
)
from prosa.graph.closure import Closure, LoadedProgram
from prosa.runtime.limits import Limits
from prosa.runtime.ports import NamedTool, Origin, ServerConfig
from prosa.runtime.program import Mailbox, Program
from prosa.runtime.python_tool import PREFERRED_PYTHON
from prosa.source.text import with_line_feeds
from prosa.template import Template

RAISABLE = frozenset({"iterations", "python_timeout", "python_memory"})
"""The limits that front matter may raise, to their ceilings; it may only lower the others (X9)."""

ANYTHING: Mapping[str, Value] = {}
"""The schema of an input or output that a program does not declare (LA2)."""


def lower(
    closure: Closure,
    *,
    default_model: str,
    model: str | None = None,
    base: Limits | None = None,
    chosen: Mapping[str, Value] | None = None,
    skills: Mapping[Path, Program] | None = None,
    named: Path | None = None,
) -> Program:
    """Return the root program of a closure, each imported program lowered once; ``skills`` are those of the skills
    that it imports, by the real path of their file.

    ``model`` overrides every program's own, ``default_model`` none (X16). Limits are ``base``, then those of the
    program, then those ``chosen`` by the user for this run (X9). ``named`` is the root of a program that the user
    named in the call, including its imports inside (X7); without it a document named the program.
    """
    base = base or Limits()
    done: dict[Path, Program] = dict(skills or {})
    for path in _imported_first(closure):
        loaded = closure.programs[path]
        reached = [imported for imported in loaded.imports if imported.path in done and imported.path]
        imports = tuple(done[imported.path] for imported in reached if imported.path)
        tickets = tuple(done[imported.path].name for imported in reached if imported.path and not imported.ref.wait)
        limits = replace(base, **(_asked(loaded.model.limits, base) | dict(chosen or {})))
        origin = _origin(loaded, named is not None and (path == closure.root.path or path.is_relative_to(named)))
        program = _program(loaded, imports, model or loaded.model.model_name or default_model, limits, origin)
        done[path] = replace(program, tickets=tickets) if tickets else program
    return done[closure.root.path]


def _imported_first(closure: Closure) -> list[Path]:
    """Return the programs the root reaches, each after everything it imports; without recursion, as chains may be
    long."""
    order: list[Path] = []
    seen: set[Path] = set()
    stack = [(closure.root.path, False)]
    while stack:
        path, ready = stack.pop()
        if ready:
            order.append(path)
        elif path not in seen:
            seen.add(path)
            stack.append((path, True))
            stack += [(target, False) for target in closure.edges[path] if target not in seen]
    return order


def _origin(loaded: LoadedProgram, named: bool) -> Origin:
    """Return where a program stands, and who named it."""
    source = loaded.model.source
    return Origin("argument" if named else "document", source.path, source.digest)


def _program(
    loaded: LoadedProgram, imports: tuple[Program, ...], model_name: str, limits: Limits, origin: Origin
) -> Program:
    read = loaded.model
    return Program(
        name=read.name,
        description=read.description,
        template=_sent(read.template),
        input_schema=_schema(read.input),
        output_schema=_schema(read.output),
        model_name=model_name,
        limits=limits,
        imports=imports,
        servers=tuple(
            _server(server, replace(origin, line=read.source.position(server.span.start).line))
            for server in read.mcp_servers
            if not server.disabled and not server.built_in
        ),
        sites=read.mdh,
        preferred=_preferred(read),
        asks_python=_asks_python(read),
        file=read.file_name,
        folder=str(loaded.path.parent),
        body_line=read.source.position(read.body_offset).line,
        classified=looks_classified(read.source.text),
        mailbox=_mailbox(read.mailbox),
        parameters=read.sampling,
        origin=origin,
        needs_agreement=True,
    )


def _sent(template: Template | None) -> Template:
    """Return the template with line feeds: a prompt is the same whatever line ends a checkout has."""
    if template is None:
        return Template("")
    return Template(with_line_feeds(template.text)) if "\r" in template.text else template


def _mailbox(model: MailboxModel | None) -> Mailbox | None:
    return None if model is None else Mailbox(model.name, model.sends, model.expires)


def _preferred(model: ProgramModel) -> str:
    """Return the tools that a server named `python-interpreter` makes preferred: its own, or the built-in one (L24,
    LA17)."""
    named = next(
        (server for server in model.mcp_servers if server.name == BUILT_IN_SERVER and not server.disabled), None
    )
    if named is None:
        return ""
    return PREFERRED_PYTHON if named.built_in else f"the tools that begin with `{server_prefix(named.name)}`"


def _asks_python(model: ProgramModel) -> bool:
    limits = model.limits.python_timeout, model.limits.python_memory
    return limits != (None, None) or any(server.built_in for server in model.mcp_servers if not server.disabled)


def _schema(model: SchemaModel | None) -> Mapping[str, Value] | bool:
    if model is None or not isinstance(model.value, dict | bool):
        return ANYTHING
    return model.value


def _asked(model: LimitsModel, base: Limits) -> dict[str, Value]:
    """Return the limits in front matter; those without a ceiling never exceed the user's."""
    asked = {name: value for name in model.__struct_fields__ if (value := getattr(model, name)) is not None}
    return {name: value if name in RAISABLE else _within(value, getattr(base, name)) for name, value in asked.items()}


def _within(asked: float, most: float | None) -> float:
    return asked if most is None else min(asked, most)


def _server(model: ServerModel, origin: Origin) -> ServerConfig:
    return ServerConfig(
        name=model.name,
        command=model.command,
        args=model.args,
        env=model.env,
        url=model.url,
        transport=model.transport,
        tools=None if model.tools is None else tuple(map(_tool, model.tools)),
        origin=origin,
    )


def _tool(model: ServerToolModel) -> NamedTool:
    parameters = None if model.parameters is None else {"type": "object", **model.parameters}
    return NamedTool(model.name, model.description, parameters, model.read_only)
