"""The kinds of responders, and which of them answers (P5, PA12). A document names a kind, never an endpoint (X7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["chat", "completion"]

CHAT_ROLES = ("user", "assistant", "system")
TEXT_ROLES = ("prompt", "completion")

DEFAULT_RESPONDER = "default"
"""Who answers where no responder is pushed: a chat with whoever the user chose."""

MAX_RESPONDERS = 64
"""Responders of one chat; a conversation with more is a mistake in a loop that wrote it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of responder: its names, what it sends, and the provider that it asks unless the chat names another."""

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
    """The kind of that exact name."""
    return next((kind for kind in KINDS if name in kind.names), None)


def kind_names() -> tuple[str, ...]:
    """All names."""
    return tuple(name for kind in KINDS for name in kind.names)


@dataclass(frozen=True, slots=True)
class Responders:
    """The responders of a chat in the order they were made, and those that were pushed; the last one answers."""

    known: Mapping[str, Kind] = field(default_factory=lambda: {DEFAULT_RESPONDER: CHAT})
    stack: tuple[str, ...] = (DEFAULT_RESPONDER,)

    def with_new(self, name: str, kind: Kind) -> Responders:
        """One more; a name that is known means the new one."""
        return Responders({**self.known, name: kind}, self.stack)

    def pushed(self, name: str) -> Responders:
        """With another one that answers."""
        return Responders(self.known, (*self.stack, name))

    def popped(self) -> Responders:
        """Without the last one that was pushed."""
        return Responders(self.known, self.stack[:-1])

    @property
    def active(self) -> str:
        """Who answers."""
        return self.stack[-1] if self.stack else DEFAULT_RESPONDER
