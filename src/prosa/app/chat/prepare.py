"""A chat made ready: the files that configure it, what it may use, its commands, its messages as they would be sent
(P2–P14, PA9, PA17, X7).

In: a chat, the user's options, what the user grants. Out: a `Conversation`, or `ProgramRefused` with all errors.
Nothing is sent or written. A tool is used where the user grants it and the chat asks for it; a trusted chat grants what
it names itself. A plugin is code that runs with the user's rights: nothing is imported before it is allowed by name.

Files in the tree are only searched between the root and the folder of the chat; a named file that is missing is an
error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict, replace

from prosa.adapters.files import RootedFiles, config_dir, find_root
from prosa.adapters.files.read import real_path
from prosa.app.options import Environment, Options
from prosa.app.permission import is_trusted
from prosa.app.run.load import load_program
from prosa.app.settings import size_limit
from prosa.data import Value
from prosa.diagnostics import Problem, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.front import read_front
from prosa.dialects.markdownlang.fields import site_form
from prosa.dialects.prapti.commands import BUILT_IN, PLUGIN_API, PLUGIN_GROUP, Plugin, Registry, fenced
from prosa.dialects.prapti.configuration import TREE_FILE, USER_FILES, Layer, inspected, is_config_root
from prosa.dialects.prapti.fields import BUILT_IN_PLUGINS, loads
from prosa.dialects.prapti.perform import CHOOSES_SITES, CHOOSES_TOOLS, misspelled, perform
from prosa.dialects.prapti.read import read
from prosa.dialects.prapti.write import NewMessage
from prosa.document import parse
from prosa.rules.policy import Policy, diagnosed, ordered
from prosa.runtime.errors import ProgramRefused, RunError
from prosa.runtime.lower.prapti import lower, spoken
from prosa.runtime.messages import Message
from prosa.runtime.ports import NamedBy, Origin, ServerConfig
from prosa.runtime.prompt import spoken_to
from prosa.runtime.skill import skills_text

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from prosa.app.run.skills import LoadedSkill
    from prosa.diagnostics import Diagnostic
    from prosa.dialects.prapti import ChatModel
    from prosa.dialects.prapti.configuration import EffectiveValue, LayerKind
    from prosa.dialects.prapti.perform import Performed
    from prosa.runtime.lower.prapti import Lowered, Turn
    from prosa.runtime.program import Program
    from prosa.source import Files, SourceText


class ReadLayer(Struct, frozen=True):
    """A layer, and what its reader finds wrong."""

    layer: Layer
    diagnostics: tuple[Diagnostic, ...]


def read_layer(
    kind: LayerKind, source: SourceText, *, trusted: bool = False, follows: bool = False, legacy: bool = False
) -> ReadLayer:
    """Return the layer that a source makes."""
    front = read_front(source)
    model, problems = read(front, parse(source, body=front.body), legacy=legacy)
    diagnostics = diagnosed((*front.problems, *problems), source, Policy())
    return ReadLayer(Layer(kind, model, trusted, follows), tuple(diagnostics))


def layers_below(
    path: Path, files: Files, root: Path, *, user_dir: Path, named: Sequence[Path] = (), default: bool = True
) -> tuple[ReadLayer, ...]:
    """Return the layers that lie below a chat: user, tree from the root to the leaf, then those that a flag names.

    ``default`` False leaves out all but the named. Raises `FileProblem` for a file that cannot be read.
    """
    layers: list[ReadLayer] = []
    if default:
        layers += _user(user_dir)
        layers += _tree(path, files, root)
    layers += [read_layer("given", RootedFiles().read(file)) for file in named]
    return tuple(layers)


def include_files(root: Path, user_dir: Path, max_size: int) -> Mapping[str, Files]:
    """Return what each kind of layer may include from (PA11): the root of the chat; the user's own file its own
    folder."""
    tree = RootedFiles(root, max_size=max_size)
    return {"tree": tree, "given": tree, "document": tree, "user": RootedFiles(user_dir, max_size=max_size)}


def _user(folder: Path) -> list[ReadLayer]:
    paths = (folder / name for name in USER_FILES)
    return [
        read_layer("user", RootedFiles().read(path), trusted=True, follows=True) for path in paths if path.is_file()
    ]


def _tree(path: Path, files: Files, root: Path) -> list[ReadLayer]:
    """From the root to the folder of the chat; a file that says so is the first one."""
    layers: list[ReadLayer] = []
    folder = real_path(path.parent)
    for parent in (folder, *folder.parents):
        if (parent / TREE_FILE).is_file():
            layers.insert(0, read_layer("tree", files.read(_short_path(parent / TREE_FILE, path, folder))))
            if is_config_root(layers[0].layer.model):
                break
        if parent == root:
            break
    return layers


def _short_path(file: Path, path: Path, folder: Path) -> Path:
    """Return a file as the user would name it: relative where the chat was named so."""
    if path.is_absolute():
        return file
    ups = len(folder.relative_to(file.parent).parts)
    return path.parent.joinpath(*[".."] * ups, file.name)


PYTHON = "python"
SERVER = "mcp:"
SITE = "mdh:"

WAYS = (
    "a tool is `python`, `mcp:NAME=COMMAND`, `mcp:NAME=URL`, `mdh:URL`, or the file of a program such as `weather.md`"
)


class Tools(Struct, frozen=True):
    """Tools that a chat may call. ``names`` are as they were granted."""

    python: bool = False
    programs: tuple[Program, ...] = ()
    servers: tuple[ServerConfig, ...] = ()
    sites: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def granted(specs: Iterable[str], load: Callable[[str], Program], *, written: Iterable[str] = ()) -> Tools:
    """Return the tools that the user grants, ``specs`` as arguments and ``written`` in a file with the rights of the
    user; ``load`` reads a program. Raises `RunError` for anything but a tool."""
    tools, arguments = Tools(), tuple(specs)
    for spec in dict.fromkeys((*arguments, *written)):
        if spec == PYTHON:
            tools = replace(tools, python=True)
        elif spec.startswith(SERVER):
            by: NamedBy = "argument" if spec in arguments else "trust"
            tools = replace(tools, servers=(*tools.servers, _server(spec, by)))
        elif spec.startswith(SITE):
            tools = replace(tools, sites=(*tools.sites, _site(spec)))
        elif spec.endswith((".md", ".markdown")):
            tools = replace(tools, programs=(*tools.programs, load(spec)))
        else:
            raise RunError(f"there is no tool `{spec[:64]}`", hint=WAYS)
        tools = replace(tools, names=(*tools.names, spec))
    return tools


def chosen(tools: Tools, wanted: Sequence[str] | None) -> tuple[Tools, tuple[str, ...]]:
    """Return the granted tools that a chat requests (None: all of them), and the names of the others it requests."""
    if wanted is None:
        return tools, ()
    named = {*wanted, *(name.partition("=")[0] for name in wanted if name.startswith(SERVER))}
    programs = tuple(
        program for program in tools.programs if _is_wanted((program.name, program.file, *_paths(program)), wanted)
    )
    servers = tuple(server for server in tools.servers if _is_wanted((server.name, f"{SERVER}{server.name}"), named))
    python = tools.python and PYTHON in wanted
    known = {name for program in programs for name in (program.name, program.file, *_paths(program))}
    known |= {name for server in servers for name in (server.name, f"{SERVER}{server.name}")}
    known |= {PYTHON} if python else set()
    sites = tuple(site for site in tools.sites if f"{SITE}{site}" in wanted)
    beyond = tuple(name for name in wanted if name not in known and name not in tools.names)
    return Tools(python, programs, servers, sites, tuple(name for name in wanted if name not in beyond)), beyond


def _is_wanted(names: Iterable[str], wanted: Collection[str]) -> bool:
    return any(name in wanted for name in names)


def _paths(program: Program) -> tuple[str, ...]:
    return (str(Path(program.folder) / program.file),)


def wanted_by(tools: Sequence[str] | None, sites: Sequence[str] | None, granted: Tools) -> tuple[str, ...] | None:
    """Return the names that a chat wants, None for everything granted. Its `mdh` line names sites, as `mdh:URL` in its
    `tools` line does; without a `tools` line it chooses among sites only."""
    if sites is None:
        return None if tools is None else tuple(tools)
    others = tools if tools is not None else (name for name in granted.names if not name.startswith(SITE))
    return tuple(dict.fromkeys((*others, *(f"{SITE}{url}" for url in sites))))


def _site(spec: str) -> str:
    url = spec.removeprefix(SITE)
    if wrong := site_form(url):
        raise RunError(f"the site `{spec[:200]}` {wrong}", hint=WAYS)
    return url


def _server(spec: str, by: NamedBy) -> ServerConfig:
    name, is_given, target = spec.removeprefix(SERVER).partition("=")
    if not name or not is_given or not target.strip():
        raise RunError(f"the MCP server `{spec[:64]}` needs a name and a command", hint=WAYS)
    if target.startswith(("http://", "https://")):
        return ServerConfig(name, url=target, origin=Origin(by))
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise RunError(f"the command of the MCP server `{name}` cannot be read: {error}", hint=WAYS) from None
    return ServerConfig(name, command=words[0], args=tuple(words[1:]), origin=Origin(by))


def load_plugins(names: Iterable[str]) -> Mapping[str, Plugin]:
    """Return the plugins of these names. Raises `RunError` for one that is not installed, or that cannot be used."""
    wanted = tuple(dict.fromkeys(names))
    if not wanted:
        return {}
    installed = _installed()
    return {name: _load(name, installed) for name in wanted}


def without_output() -> contextlib.AbstractContextManager[object]:
    """Return what plugins print meanwhile goes to stderr: on stdout is nothing but the result."""
    return contextlib.redirect_stdout(sys.stderr)


def _installed() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group=PLUGIN_GROUP))


def _load(name: str, installed: list[EntryPoint]) -> Plugin:
    points = {point.value: point for point in installed if point.name == name}
    if not points:
        names = sorted({point.name for point in installed})
        near = nearest(name, names)
        hint = f"did you mean `{near}`?" if near else f"installed are {', '.join(names) or 'none'}"
        raise RunError(f"the plugin `{name[:64]}` is not installed", hint=hint)
    if len(points) > 1:
        raise RunError(f"several packages offer the plugin `{name}`: {', '.join(sorted(points))}")
    try:
        with without_output():
            plugin = next(iter(points.values())).load()
    except Exception as error:  # plugin code: whatever it raises, it cannot be used
        raise RunError(f"the plugin `{name}` cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(plugin, Plugin):
        raise RunError(f"the plugin `{name}` is of the type `{type(plugin).__name__}`, not a Plugin")
    if plugin.api != PLUGIN_API:
        raise RunError(f"the plugin `{name}` is made for version {plugin.api} of plugins; this is {PLUGIN_API}")
    if plugin.name != name:
        raise RunError(f"the plugin `{name}` calls itself `{plugin.name}`")
    return plugin


_TOLD = ("message-heading-text",)
"""Hints that are shown before a chat is sent: text meant as a message belongs to the one above it."""


class ChatOptions(Struct, frozen=True):
    """The user's options for a chat, besides `Options`.

    ``config_files`` are read after all others; ``default_config`` False leaves those others out. ``tools`` and
    ``plugins`` are granted. ``trusted`` gives the chat the rights of the user, as `prosa trust` does, and carries out
    the lines of what it includes (PA11). ``legacy`` reads headings and configuration in code (PA1). ``force`` answers
    even if the last message is not a question (PA17). ``n`` overrides the chat's own number of replies. With
    ``looking`` nothing will be sent, so errors are not fatal. ``skills`` are skills, or folders of them, that the
    model may load (X32).
    """

    config_files: tuple[Path, ...] = ()
    default_config: bool = True
    tools: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    trusted: bool = False
    legacy: bool = False
    force: bool = False
    n: int | None = None
    looking: bool = False
    skills: tuple[Path, ...] = ()


NO_OPTIONS = ChatOptions()
"""What holds where the user chose nothing."""


class Conversation(Struct, frozen=True):
    """A chat ready to be answered.

    ``turns`` are the requested answers, in their order; if there are none, ``nothing`` says why. ``answered`` is a
    digest of the messages to answer, which changes with any edit. ``shown`` are hidden messages that commands add to
    the file. ``values`` is the configuration in effect; ``diagnostics`` are warnings, and errors if the chat ignores
    them. ``spoken`` are all messages, for any responder, under the names in the file. ``skills`` are those that the
    model may load.
    """

    path: Path
    source: SourceText
    model: ChatModel
    turns: tuple[Turn, ...]
    nothing: str
    tools: Tools
    values: Mapping[str, EffectiveValue]
    shown: tuple[NewMessage, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    trusted: bool = False
    dry_run: bool = False
    spoken: tuple[Message, ...] = ()
    skills: tuple[LoadedSkill, ...] = ()

    @property
    def sent(self) -> tuple[Turn, ...]:
        """The turns with the text about skills, as they are sent first."""
        offer = skills_text([skill.skill for skill in self.skills])
        return tuple(replace(turn, messages=spoken_to(turn.messages, offer)) for turn in self.turns)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the first turn."""
        if not self.turns:
            return ()
        first = self.sent[0]
        return first.messages if first.mode == "chat" else (Message("user", first.prompt),)

    @property
    def parameters(self) -> Mapping[str, Value]:
        """The parameters of the first turn."""
        return self.turns[0].parameters if self.turns else {}

    @property
    def model_name(self) -> str | None:
        """The model that the chat names, None where it leaves that to the user."""
        return self.turns[0].model_name if self.turns else None

    @property
    def provider(self) -> str | None:
        """The provider that the chat names."""
        return self.turns[0].provider if self.turns else None

    @property
    def n(self) -> int:
        """How many replies the first turn gives."""
        return self.turns[0].n if self.turns else 0

    @property
    def answered(self) -> str:
        """A digest of everything that is answered."""
        text = json.dumps([asdict(turn) for turn in self.turns], ensure_ascii=True, sort_keys=True, default=_plain)
        return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Value) -> Value:
    return asdict(value) if isinstance(value, Struct) else str(value)


def prepare(
    path: Path,
    options: Options,
    environment: Environment,
    asked: ChatOptions = NO_OPTIONS,
    *,
    source: SourceText | None = None,
) -> Conversation:
    """Read a chat with its configuration and carry it out. ``source`` is its text where it is not that of the file.

    Raises `FileProblem`, `ProgramRefused` for errors in the chat or its configuration, and `RunError` for a plugin, a
    tool or a provider that there is not.
    """
    work = _preparing(path, options, environment, asked, source)
    done, lowered = work.carried_out()
    own = work.tools(done, lowered)
    tools, beyond = chosen(own, wanted_by(lowered.tools, lowered.sites, own))
    diagnostics = work.diagnostics(lowered, beyond, done)
    if lowered.halts and not asked.looking and any(diagnostic.severity == "error" for diagnostic in diagnostics):
        raise ProgramRefused(diagnostics, "the chat has errors, so nothing was sent")
    turns = tuple(replace(turn, n=asked.n or turn.n) for turn in lowered.turns)
    return Conversation(
        path=path,
        source=work.source,
        model=work.layers[-1].layer.model,
        turns=turns,
        nothing=lowered.nothing,
        tools=tools,
        values=done.values,
        shown=tuple(_shown(done, work.registry)),
        diagnostics=diagnostics,
        trusted=work.trusted,
        dry_run=lowered.dry_run,
        spoken=spoken(done),
        skills=_skills(asked.skills, options, environment),
    )


def _skills(named: Sequence[Path], options: Options, environment: Environment) -> tuple[LoadedSkill, ...]:
    """Return the skills that the user named. Raises `FileProblem`, `ProgramRefused`, and `RunError` for two of one
    name."""
    if not named:
        return ()
    from prosa.app.run.skills import load_skills

    return load_skills(named, options, environment.settings)


class _Preparing(Struct, frozen=True):
    """Everything that was read for a chat."""

    path: Path
    root: Path
    user_dir: Path
    source: SourceText
    layers: tuple[ReadLayer, ...]
    registry: Registry
    trusted: bool
    options: Options
    environment: Environment
    asked: ChatOptions

    def carried_out(self) -> tuple[Performed, Lowered]:
        files = include_files(self.root, self.user_dir, size_limit(self.options.max_size, self.environment.settings))
        with without_output():
            done = perform([layer.layer for layer in self.layers], self.registry, files)
        return done, lower(done, assistant_names=self._names_of_assistants(), force=self.asked.force)

    def _names_of_assistants(self) -> bool:
        """Return whether the service takes names of assistants: OpenAI's own does, others may refuse them (PA18)."""
        base_url = (
            self.options.base_url
            or self.environment.environ.get("OPENAI_BASE_URL")
            or self.environment.settings.base_url
        )
        return not base_url and not self.options.is_here and self.options.provider in (None, "openai")

    def tools(self, done: Performed, lowered: Lowered) -> Tools:
        """Return the granted tools: by flags, and by lines of a file with the rights of the user (X7)."""
        tools = (lowered.tools or ()) if self._is_own(done.values.get(CHOOSES_TOOLS)) else ()
        sites = (lowered.sites or ()) if self._is_own(done.values.get(CHOOSES_SITES)) else ()
        return granted(self.asked.tools, self._program, written=(*tools, *(f"{SITE}{url}" for url in sites)))

    def _is_own(self, line: EffectiveValue | None) -> bool:
        """Return whether a line has the rights of the user: it stands itself in a file that has them."""
        trusted = [layer.layer.model.source for layer in self.layers if layer.layer.trusted]
        return line is not None and line.line.variable is None and any(line.source is text for text in trusted)

    def _program(self, spec: str) -> Program:
        if spec in self.asked.tools:
            options = replace(self.options, root=self.options.root or find_root(Path(spec)))
            return load_program(Path(spec), options, self.environment.settings)
        return load_program(self.path.parent / spec, self.options, self.environment.settings, within=self.root)

    def diagnostics(self, lowered: Lowered, beyond: tuple[str, ...], done: Performed) -> tuple[Diagnostic, ...]:
        """Return the problems that change what is sent, in the order of the files."""
        diagnostics = [diagnostic for layer in self.layers for diagnostic in layer.diagnostics]
        for complaint in (*done.complaints, *lowered.complaints, *misspelled(done.values)):
            diagnostics += diagnosed((complaint.problem,), complaint.source, Policy())
        for name in beyond:
            by_site = name.startswith(SITE) and name.removeprefix(SITE) in (lowered.sites or ())
            line = done.values[CHOOSES_SITES if by_site else CHOOSES_TOOLS]
            note = f"grant it: --tool {name}, or if you trust the chat: prosa trust {self.path}"
            text = f"the tool `{name[:64]}` is not granted, so the model is not offered it"
            problem = Problem("refused-configuration", text, line.line.value_span, (note,), severity=Severity.WARNING)
            diagnostics += diagnosed((problem,), line.source, Policy())
        heavy = (Severity.ERROR, Severity.WARNING)
        return ordered(
            diagnostic for diagnostic in diagnostics if diagnostic.severity in heavy or diagnostic.rule in _TOLD
        )


def _preparing(
    path: Path, options: Options, environment: Environment, asked: ChatOptions, source: SourceText | None
) -> _Preparing:
    root = RootedFiles(options.root or find_root(path)).root or path.parent
    user_dir = config_dir(environment.environ)
    files = RootedFiles(root, max_size=size_limit(options.max_size, environment.settings))
    source = source or RootedFiles(max_size=files.max_size).read(path)
    trusted = asked.trusted or is_trusted(source, environment.environ)
    below = layers_below(path, files, root, user_dir=user_dir, named=asked.config_files, default=asked.default_config)
    document = read_layer("document", source, trusted=trusted, follows=asked.trusted, legacy=asked.legacy)
    layers = (*below, document)
    registry = Registry(BUILT_IN, _plugins(layers, asked))
    return _Preparing(path, root, user_dir, source, layers, registry, trusted, options, environment, asked)


def _plugins(layers: tuple[ReadLayer, ...], asked: ChatOptions) -> Mapping[str, Plugin]:
    """Return the plugins that the user allows: by a flag, and those that a file with the user's rights loads."""
    trusted = [layer.layer.model for layer in layers if layer.layer.trusted]
    named = [loads(line) for model in trusted for line in model.actions if line.name == "plugins.load"]
    return load_plugins((*asked.plugins, *(name for name in named if name and name not in BUILT_IN_PLUGINS)))


def _shown(done: Performed, registry: Registry) -> list[NewMessage]:
    """Return what commands want to be shown, as hidden messages."""
    texts = {"tree": inspected(done.values), "plugins": "\n".join(registry.names)}
    names = {"tree": "inspect", "plugins": "plugins"}
    return [
        NewMessage("_prapti", fenced(texts[fromkey], "text"), names[fromkey]) for fromkey in dict.fromkeys(done.shows)
    ]


def require_something(conversation: Conversation) -> None:
    """Raise `RunError` where there is nothing to answer (PA17), and where the chat says that nothing is to be sent."""
    if conversation.dry_run:
        hint = "take the line out, or look at what would be sent: --dry-run"
        raise RunError(f"{conversation.path}: `dry_run` is set, so nothing is sent", hint=hint)
    if not conversation.turns:
        hint = "write below a `### @user:` heading at the end of the file"
        raise RunError(f"{conversation.path}: {conversation.nothing}", hint=hint)
