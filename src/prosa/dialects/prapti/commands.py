"""Commands of chats and responders: what one is, and how a plugin offers more (P5, P10, P11, PA12, PW5).

A plugin is a value of type `Plugin` behind an entry point of the group `prosa.plugins`. Its commands have exact names
below its own (`weather.today` of the plugin `weather`). A document names a kind of responder, never an endpoint (X7).
Nothing here runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from prosa.data import Value
from prosa.dialects.prapti.model import ConfigLine
from prosa.source import Files, SourceText

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
        found = self.plugins[plugin].commands.get(own) if plugin in self.plugins else None
        return None if found is None else _of_plugin(name, found)

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
