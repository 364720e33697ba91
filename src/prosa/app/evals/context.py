"""Context files as suites: `AGENTS.md`, a rule, a custom agent, a command, or the MCP servers of `.mcp.json`, tried on
cases with it and without it (X34, X38).

In: a file that the user named, and cases that they named or that stand in `evals/evals.json` beside it. Out: a suite
for the one runner of tests. In Prosa's own loop instructions stand in the system message, a command is expanded as its
hosts do it, and servers are started if the user permits it. An agent gets the file where its host reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.agents.known import known_agent
from prosa.app.agents.task import AgentChoice, AgentRefused
from prosa.app.check.gather import Group
from prosa.app.evals.cases import CaseMaker, terms_of
from prosa.app.evals.skills import named_cases
from prosa.app.evals.suite import Suite
from prosa.app.options import Environment, Options
from prosa.app.run.skills import skills_program
from prosa.corpus.embedding import looks_classified
from prosa.data import JsonError, Value, items_of, parse_json
from prosa.dialects.context.hosts import Kind, Use, host_named, uses_of
from prosa.dialects.context.places import is_agent_file
from prosa.dialects.dialect import Hints
from prosa.dialects.reading import open_document
from prosa.dialects.table import CASES, CONTEXT
from prosa.runtime.errors import RunError
from prosa.runtime.lower.skill_md import lower, skill_of
from prosa.runtime.ports import Origin, ServerConfig
from prosa.runtime.program import Program
from prosa.source import Files, SourceText

_KINDS: Mapping[str, Kind] = {
    ".mdc": "rule",
    ".instructions.md": "rule",
    ".agent.md": "agent",
    ".chatmode.md": "agent",
    ".prompt.md": "command",
}
"""What a file is by its name, where no host reads it at its path."""

_TRIED: tuple[Kind, ...] = ("instructions", "rule", "agent", "command", "servers")


def is_context_subject(path: Path) -> bool:
    """Return whether a path names a file that steers agents and can be tried: by its name and its place."""
    name = path.absolute().as_posix()
    return is_agent_file(name) and path.suffix in (".md", ".mdc", ".json")


def kind_of(path: Path) -> Kind:
    """Return what a file is to its hosts."""
    uses = uses_of(path.absolute().as_posix())
    if uses:
        return uses[0].place.kind
    return next((kind for suffix, kind in _KINDS.items() if path.name.endswith(suffix)), "instructions")


def cases_of(path: Path, named: Path | None) -> Path:
    """Return the file with the cases of a subject. Raises `RunError` where there is none."""
    cases_path = named if named is not None else path.parent / CASES
    if not cases_path.is_file():
        hint = f"write them into {path.parent / CASES}, or name a file: --cases FILE; see: prosa explain evals"
        raise RunError(f"{cases_path}: no such file of cases to try {path.name} on", hint=hint)
    return cases_path


def context_suite(
    path: Path, group: Group, options: Options, environment: Environment, cases: Path, *, in_agent: bool = False
) -> Suite:
    """Return a context file with its cases. Raises `FileProblem`, and `RunError` for what cannot be tried."""
    kind = kind_of(path)
    if kind not in _TRIED:
        raise RunError(
            f"{path}: what it is to its host ({kind}) is not tried on cases", hint=f"what can: {', '.join(_TRIED)}"
        )
    model = named_cases(cases)
    maker = CaseMaker(path.parent, group.files, in_agent, f"the folder of {path.name}")
    subject = _Subject(path, kind, options, environment)
    plain = replace(subject.plain(), name=f"{_name(path)}-without")
    classified = looks_classified(group.files.read(path).text)
    return Suite(
        path=cases,
        cases=tuple(maker.case(case, model) for case in model.evals),
        program=replace(subject.program(path, group.files), classified=classified),
        program_path=path,
        root=group.root,
        files=group.files,
        terms=terms_of(model, path.parent),
        load=lambda place, files: replace(subject.program(place, files or group.files), classified=classified),
        classified=classified,
        label=f"with {path.name}",
        without=replace(plain, classified=classified),
        without_label=f"without {path.name}",
        place=subject.place,
    )


def _name(path: Path) -> str:
    """Return what the program of a context file is called."""
    return path.name.lstrip(".").partition(".")[0].lower() or "context"


class _Subject(Struct, frozen=True):
    """A context file that is tried."""

    path: Path
    kind: Kind
    options: Options
    environment: Environment

    def plain(self) -> Program:
        """Return the program of a request alone."""
        return skills_program((), self.options, self.environment.settings)

    def program(self, path: Path, files: Files) -> Program:
        """Return the program of a request with the file. Raises `FileProblem`, and `RunError` for servers that cannot
        be read."""
        source, plain = files.read(path), self.plain()
        if self.kind == "servers":
            return replace(plain, name=_name(path), servers=servers_in(source))
        body = _body(source)
        if self.kind != "command":
            return replace(plain, name=_name(path), instructions=body)
        reading = open_document(SourceText(source.text, f"{path.parent}/SKILL.md"))
        fields = {field.key.text: field for field in reading.front.fields or ()}
        skill = skill_of(reading.model, fields, path.parent, ())  # type: ignore[arg-type]
        program = lower(
            [replace(skill, name=_name(path), chosen=True)], model_name=plain.model_name, limits=plain.limits
        )
        return replace(program, python=plain.python)

    def place(self, agent: AgentChoice) -> str:
        """Return where an agent reads the file, in its workspace. Raises `AgentRefused` where it does not."""
        known = known_agent(agent.name)
        if self.kind in ("command", "servers"):
            what = "a command" if self.kind == "command" else "an MCP server"
            hint = "leave --agent out: Prosa's own loop expands commands and starts servers"
            raise AgentRefused(f"{self.path}: {what} is not tried in an agent", hint=hint)
        path = self.path.absolute().as_posix()
        own = [use for use in uses_of(path) if use.host is host_named(agent.name) and use.place.kind == self.kind]
        if own and self.kind != "instructions":
            return _below(own[0], path)
        if self.kind != "instructions":
            message = f"{known.title} reads no such {self.kind} at {self.path}"
            raise AgentRefused(message, hint=f"`prosa show {self.path} --host NAME` says what a host reads")
        return next((name for name in known.context if path.endswith(f"/{name}")), known.context[0])


def _below(use: Use, path: str) -> str:
    """Return the part of a path that a host looks for, below any folder."""
    first = use.place.globs.partition("/")[0].partition("|")[0]
    return path[path.rindex(f"/{first}/") + 1 :]


def _body(source: SourceText) -> str:
    document = open_document(source, Hints(explicit=CONTEXT.name)).document
    return source.text[document.body.start : document.body.end].strip("\r\n")


def servers_in(source: SourceText) -> tuple[ServerConfig, ...]:
    """Return the MCP servers that a file for hosts declares. Raises `RunError` for a file without any."""
    try:
        data = parse_json(source.text)
    except JsonError as error:
        raise RunError(f"{source.path}:{error.line}: no JSON: {error.message}") from None
    named: Value = (data.get("mcpServers") or data.get("servers")) if isinstance(data, dict) else None
    if not isinstance(named, dict) or not named:
        raise RunError(f"{source.path}: it declares no MCP server", hint='as in: {"mcpServers": {"NAME": {…}}}')
    return tuple(_server(name, server, source) for name, server in named.items())


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None


def _server(name: str, server: Value, source: SourceText) -> ServerConfig:
    words = server if isinstance(server, dict) else {}
    command, url, args = _text(words.get("command")), _text(words.get("url")), words.get("args", [])
    texts = tuple(arg for arg in items_of(args) if isinstance(arg, str))
    if not isinstance(args, list) or len(texts) < len(args) or (command is None) == (url is None):
        raise RunError(f"{source.path}: the server {name[:60]!r} has neither a `command` nor a `url` that can be used")
    at = source.text.find(f'"{name}"')
    origin = Origin("document", source.path, source.digest, source.position(max(at, 0)).line)
    env = words.get("env")
    values = {key: str(value) for key, value in env.items()} if isinstance(env, dict) else None
    return ServerConfig(name, command=command, args=texts, env=values, url=url, origin=origin)
