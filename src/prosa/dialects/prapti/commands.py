"""Commands of chats and responders: what one is, how a plugin offers more (P5, P10, P11, PA12, PW5), and those that
every chat has.

A plugin is a value of type `Plugin` behind an entry point of the group `prosa.plugins`. Its commands have exact names
below its own (`weather.today` of the plugin `weather`). A document names a kind of responder, never an endpoint (X7).
Nothing here runs anything.

`include FILE` and `include.code FILE [LANGUAGE]` give the text of a file, or a fence around it that no line of it can
close. A path is relative to the file that names it and stays inside the allowed roots. Included text is data: nothing
in it is a heading, and its configuration lines are text unless the user allows them. The links of a chat are those of
any Markdown document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, field

from prosa.data import JsonError, Value, parse_json
from prosa.diagnostics.nearest import nearest
from prosa.dialects.prapti.fields import BUILT_IN_PLUGINS
from prosa.dialects.prapti.model import ChatModel, ConfigLine
from prosa.document import Def, Ref
from prosa.regex import regex
from prosa.source import FileProblem, Files, SourceText, Span

Mode: TypeAlias = Literal["chat", "completion"]

CHAT_ROLES = ("user", "assistant", "system")
TEXT_ROLES = ("prompt", "completion")

DEFAULT_RESPONDER = "default"
"""The responder if none is pushed: a chat with the user's default."""

MAX_RESPONDERS = 64
"""Responders of one chat; a conversation with more is a mistake in a loop that wrote it."""


class Kind(Struct, frozen=True):
    """A kind of responder: its names, what it sends, and its provider unless the chat names another."""

    names: tuple[str, ...]
    mode: Mode
    provider: str | None = None

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles whose messages it takes."""
        return CHAT_ROLES if self.mode == "chat" else TEXT_ROLES


CHAT = Kind(("chat", "program", "openai.chat"), "chat")
COMPLETION = Kind(("completion", "koboldcpp.text"), "completion")

KINDS: tuple[Kind, ...] = (CHAT, COMPLETION, Kind(("local.openai.chat",), "chat", "local"))


def kind_named(name: str) -> Kind | None:
    """Return the kind of that exact name."""
    return next((kind for kind in KINDS if name in kind.names), None)


def kind_names() -> tuple[str, ...]:
    """Return all names."""
    return tuple(name for kind in KINDS for name in kind.names)


class Responders(Struct, frozen=True):
    """The responders of a chat in the order they were made, and those that were pushed; the last one answers."""

    known: Mapping[str, Kind] = field(default_factory=lambda: {DEFAULT_RESPONDER: CHAT})
    stack: tuple[str, ...] = (DEFAULT_RESPONDER,)

    def with_new(self, name: str, kind: Kind) -> Responders:
        """Return one more; a name that is known means the new one."""
        return Responders({**self.known, name: kind}, self.stack)

    def pushed(self, name: str) -> Responders:
        """Return a copy with another responder on top."""
        return Responders(self.known, (*self.stack, name))

    def popped(self) -> Responders:
        """Without the last one that was pushed."""
        return Responders(self.known, self.stack[:-1])

    @property
    def active(self) -> str:
        """Who answers."""
        return self.stack[-1] if self.stack else DEFAULT_RESPONDER


PLUGIN_GROUP = "prosa.plugins"
"""The group of entry points in which plugins are found."""

PLUGIN_API = 1
"""The API version of this module for plugins; a plugin for another one is refused."""

MAX_OUTPUT = 1024 * 1024
"""Characters that one command may put into a message; more is no text for a conversation."""


class PluginCall(Struct, frozen=True):
    """A call of a plugin's command: ``args`` is the text after its name, ``path`` the file that contains it."""

    args: str
    path: str


class PluginCommand(Struct, frozen=True):
    """A plugin's command. ``run`` returns the text that replaces the line, possibly empty. With ``final_only`` it runs
    only in the last message of a chat: for commands with external effects."""

    run: Callable[[PluginCall], str]
    final_only: bool = False


class Plugin(Struct, frozen=True):
    """What an entry point names. ``commands`` are by their name behind that of the plugin."""

    name: str
    commands: Mapping[str, PluginCommand]
    api: int = PLUGIN_API


class Call(Struct, frozen=True):
    """A call of a built-in command. ``follows`` is true if included text may hold commands; ``plugins`` are the names
    that the user allows."""

    line: ConfigLine
    source: SourceText
    files: Files
    responders: Responders
    plugins: tuple[str, ...] = ()
    follows: bool = False


Shown: TypeAlias = Literal["tree", "plugins"]


class Outcome(Struct, frozen=True):
    """The result of a command: the text that replaces it, the responders, the output to show beside the conversation,
    or the reason for failing. ``included`` is a file whose own lines are to be carried out."""

    text: str = ""
    responders: Responders | None = None
    shows: Shown | None = None
    problem: str = ""
    note: str = ""
    included: SourceText | None = None


class Command(Struct, frozen=True):
    """A command under its exact name. With ``final_only`` it runs only in the last message."""

    name: str
    run: Callable[[Call], Outcome]
    final_only: bool = False


class Registry(Struct, frozen=True):
    """The commands of one chat. ``plugins`` are those that the user allows, by name."""

    built_in: Mapping[str, Command]
    plugins: Mapping[str, Plugin] = field(default_factory=dict)

    def find(self, name: str) -> Command | None:
        """Return the command of exactly that name (PW5)."""
        if name in self.built_in:
            return self.built_in[name]
        plugin, _, own = name.rpartition(".")
        command = self.plugins[plugin].commands.get(own) if plugin in self.plugins else None
        return None if command is None else _of_plugin(name, command)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that works."""
        own = (f"{plugin.name}.{name}" for plugin in self.plugins.values() for name in plugin.commands)
        return (*self.built_in, *own)


def _of_plugin(name: str, command: PluginCommand) -> Command:
    def run(call: Call) -> Outcome:
        try:
            text: Value = command.run(PluginCall(call.line.args, call.source.path))
        except Exception as error:  # plugin code: whatever it raises is a failed command
            return Outcome(problem=f"the command `{name}` failed: {type(error).__name__}: {error}")
        if not isinstance(text, str):
            return Outcome(problem=f"the command `{name}` gave {type(text).__name__}, not text")
        if len(text) > MAX_OUTPUT:
            return Outcome(problem=f"the command `{name}` gave {len(text):,} characters; the limit is {MAX_OUTPUT:,}")
        return Outcome(text)

    return Command(name, run, command.final_only)


# The commands that every chat has, one row each; including `include` and the references it creates (P10, PA11, PW3).

INCLUDES = ("include", "include.code")
"""The actions that put a file into a message (PA11)."""


def references(model: ChatModel) -> tuple[Ref, ...]:
    """Return the included files, relative to the chat."""
    targets = (included(line) for line in model.actions if line.name in INCLUDES)
    return tuple(Ref("include", target[0], "path", target[1]) for target in targets if target is not None)


def definitions(model: ChatModel) -> tuple[Def, ...]:
    """Return nothing: a chat has no name but its path."""
    del model
    return ()


def included(line: ConfigLine) -> tuple[str, Span] | None:
    """Return the file that an action includes, and where it is written: JSON text, or the first word."""
    written, start = line.args[: _file_end(line.args)], line.value_span.start
    if not written.startswith('"'):
        return (written, Span(start, start + len(written))) if written else None
    try:
        target = parse_json(written)
    except JsonError:
        return None
    if not isinstance(target, str) or not target:
        return None
    return target, Span(start + 1, start + len(written) - 1)


def surplus(line: ConfigLine) -> tuple[str, Span] | None:
    """Return what an action that includes is given beyond its file and language, and where it is written."""
    rest = line.args[_file_end(line.args) :].lstrip()
    if line.name == "include.code":
        rest = "".join(rest.split(maxsplit=1)[1:])
    return (" ".join(rest.split()), Span(line.value_span.end - len(rest), line.value_span.end)) if rest else None


ONE_FILE = "one line includes one file; a name with spaces stands in double quotes"
"""What to do about a `surplus`."""


def _file_end(args: str) -> int:
    """Return the offset behind the file in the arguments of an action that includes."""
    if args.startswith('"'):
        return args.find('"', 1) + 1 or len(args)
    return len(args.split(maxsplit=1)[0]) if args else 0


MAX_DEPTH = 16
"""Files that include files, in a row: the depth of imports (X9)."""

_RUN = regex(r"`{3,}")
_LANGUAGE = regex(r"[\w+#.-]{1,32}")
_LINE_BREAK = regex(r"\r\n|\n|\r")


def include(call: Call) -> Outcome:
    """Return the text of a file."""
    source = _read(call)
    return source if isinstance(source, Outcome) else Outcome(_plain(source), included=source if call.follows else None)


def include_code(call: Call) -> Outcome:
    """Return the text of a file in a fence; the language is named, or the suffix of the file."""
    source = _read(call)
    if isinstance(source, Outcome):
        return source
    rest = call.line.args[_file_end(call.line.args) :].split()
    language = rest[0] if rest else Path(source.path).suffix.lstrip(".")
    if language and not _LANGUAGE.fullmatch(language):
        return Outcome(
            problem=f"`{language[:32]}` is not a language for a fence", note="write `% include.code FILE python`"
        )
    return Outcome(fenced(_plain(source), language))


def fenced(text: str, language: str = "") -> str:
    """Return a text in a fence that is longer than any run of backticks in it."""
    mark = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(text)), default=2))
    return f"{mark}{language}\n{text}\n{mark}" if text else f"{mark}{language}\n{mark}"


def _read(call: Call) -> SourceText | Outcome:
    target = included(call.line)
    if target is None:
        return Outcome(problem=f"`{call.line.name}` names no file", note=f'write `% {call.line.name} "FILE"`')
    if (more := surplus(call.line)) is not None:
        return Outcome(problem=f"`{more[0][:64]}` is not included: `{call.line.name}` takes one file", note=ONE_FILE)
    path = Path(call.source.path).parent / target[0]
    try:
        source = call.files.read(path)
    except FileProblem as problem:
        note = "a path is relative to the file that names it"
        why = "there is no such file" if problem.kind == "missing" else f"it {problem.reason}"
        return Outcome(problem=f"`{target[0]}` is not included: {why}", note=note)
    if len(source.text) > MAX_OUTPUT:
        size = f"it has {len(source.text):,} characters; the limit is {MAX_OUTPUT:,}"
        return Outcome(problem=f"`{target[0]}` is not included: {size}")
    return source


def _plain(source: SourceText) -> str:
    """Return the text with plain line feeds, without a byte-order mark and without blank lines at its end."""
    return _LINE_BREAK.sub("\n", source.text.removeprefix("\ufeff")).rstrip("\n")


_NAME = regex(r"[\w.-]{1,64}")


def load_plugin(call: Call) -> Outcome:
    """Implement `plugins.load NAME`: nothing to do for a built-in or allowed plugin; any other is refused (X7)."""
    name = _first(call)
    if not name:
        return Outcome(problem="`plugins.load` names no plugin", note="write `% plugins.load NAME`")
    if len(_words(call)) > 1:
        return Outcome(problem="`plugins.load` takes one plugin", note="write one `% plugins.load NAME` for each")
    if name in BUILT_IN_PLUGINS or name in call.plugins:
        return Outcome()
    note = f"allow it yourself: --plugin {name}, or if you trust the document: prosa trust {call.source.path}"
    return Outcome(problem=f"a document cannot load a plugin: `{name}`", note=note)


def list_plugins(call: Call) -> Outcome:
    """Return `plugins.list`: the plugins and commands there are, shown beside the conversation."""
    del call
    return Outcome(shows="plugins")


def inspect(call: Call) -> Outcome:
    """Return `inspect`: the configuration in effect, shown beside the conversation."""
    del call
    return Outcome(shows="tree")


def new_responder(call: Call) -> Outcome:
    """Return `responder.new NAME KIND`."""
    words = _words(call)
    if len(words) != 2 or not _NAME.fullmatch(words[0]):
        return Outcome(problem="`responder.new` needs a name and a kind", note="write `% responder.new NAME KIND`")
    kind = kind_named(words[1])
    if kind is None:
        near = nearest(words[1], kind_names())
        note = f"did you mean `{near}`?" if near else f"there are {', '.join(kind_names())}"
        return Outcome(problem=f"there is no kind of responder `{words[1][:64]}`", note=note)
    if len(call.responders.known) >= MAX_RESPONDERS:
        return Outcome(problem=f"a chat has at most {MAX_RESPONDERS} responders")
    return Outcome(responders=call.responders.with_new(words[0], kind))


def push_responder(call: Call) -> Outcome:
    """Return `responder.push NAME`: from here on it answers."""
    name = _first(call)
    known = tuple(call.responders.known)
    if name not in known:
        near = nearest(name, known)
        note = f"did you mean `{near}`?" if near else f"make it first: `% responder.new {name or 'NAME'} chat`"
        return Outcome(problem=f"there is no responder `{name[:64]}`", note=note)
    if len(call.responders.stack) >= MAX_RESPONDERS:
        return Outcome(problem=f"at most {MAX_RESPONDERS} responders can be pushed")
    return Outcome(responders=call.responders.pushed(name))


def pop_responder(call: Call) -> Outcome:
    """Return `responder.pop`: the one that answered before answers again."""
    if len(call.responders.stack) < 2:
        return Outcome(problem="`responder.pop` without a `responder.push` before it")
    return Outcome(responders=call.responders.popped())


COMMANDS: tuple[Command, ...] = (
    Command("include", include),
    Command("include.code", include_code),
    Command("inspect", inspect, final_only=True),
    Command("plugins.list", list_plugins, final_only=True),
    Command("plugins.load", load_plugin),
    Command("responder.new", new_responder),
    Command("responder.pop", pop_responder),
    Command("responder.push", push_responder),
)

BUILT_IN = {command.name: command for command in COMMANDS}


def _words(call: Call) -> list[str]:
    return [word.strip('"') for word in call.line.args.split()]


def _first(call: Call) -> str:
    words = _words(call)
    return words[0] if words else ""
