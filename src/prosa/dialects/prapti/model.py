"""The typed reading of a chat (P2–P14). Everything carries its span; nothing is executed.

A chat is a sequence of messages; the first is always the hidden `_head`, what stands before the first message heading.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import Value
from prosa.document import Document
from prosa.source import SourceText, Span

ConfigKind: TypeAlias = Literal["assign", "action"]

HEAD_ROLE = "_head"
"""The role of what stands before the first message heading (P4)."""

PUBLIC_ROLES = ("user", "assistant", "system", "prompt", "completion")
"""Roles that a responder takes (P5, PA12); they compare without regard to case (PA15)."""

MODEL_ROLES = ("assistant", "completion")
"""Roles whose messages a model writes."""

SAMPLING = ("temperature", "top_p", "max_tokens", "n", "stream")
"""The only assignments that take effect in an assistant's message: a model wrote it (PA6)."""


class ConfigLine(Struct, frozen=True):
    """One configuration line (P9), or several of a `%%` command (PA14).

    An assignment has ``key`` and ``value``, or ``variable`` where the right side is `var(NAME)`; an action has ``name``
    and ``args``. ``raw`` is what follows the percent signs. ``last_only`` is the `!` in front: only run in the final
    message. ``span`` covers whole lines without the last line end; ``name_span`` and ``value_span`` lie inside it.
    """

    kind: ConfigKind
    raw: str
    span: Span
    name_span: Span
    value_span: Span
    key: str | None = None
    value: Value = None
    variable: str | None = None
    name: str | None = None
    args: str = ""
    disabled: bool = False
    last_only: bool = False
    quoted: bool = False


class ChatMessage(Struct, frozen=True):
    """One message. ``role`` is as written; ``heading`` is the span of its heading line, None for `_head`.

    ``content`` is the text of the message without its configuration lines; ``unread`` are enabled ones that are not a
    command; ``removed`` are all lines outside its text, including disabled ones. ``colon`` is true if the heading has
    one.
    """

    role: str
    name: str | None
    disabled: bool
    heading: Span | None
    role_span: Span
    body: Span
    content: str
    config: tuple[ConfigLine, ...]
    colon: bool = True
    unread: tuple[Span, ...] = ()
    removed: tuple[Span, ...] = ()

    @property
    def known_role(self) -> str:
        """The role as it is compared."""
        return self.role.lower()

    @property
    def by_model(self) -> bool:
        """Whether a model wrote the message (PA6)."""
        return self.known_role in MODEL_ROLES

    @property
    def hidden(self) -> bool:
        """Whether the role begins with an underscore: read for configuration, never sent (P6)."""
        return self.role.startswith("_")

    @property
    def sent(self) -> bool:
        """Whether role, hidden and disabled let the message through to a model (P6, P8, PA12)."""
        return not self.hidden and not self.disabled and self.known_role in PUBLIC_ROLES

    def in_effect(self) -> tuple[ConfigLine, ...]:
        """Return the configuration lines that count: none of a disabled message (P8), sampling only of an assistant
        (PA6)."""
        if self.disabled or not self.config:
            return ()
        enabled = (line for line in self.config if not line.disabled)
        if self.by_model:
            enabled = (line for line in enabled if line.key in SAMPLING)
        return tuple(enabled)


class ChatModel(Struct, frozen=True):
    """A chat. ``messages`` begin with `_head`. ``opaque`` are configuration lines inside code, which are text (PA1)."""

    source: SourceText
    document: Document
    messages: tuple[ChatMessage, ...]
    opaque: tuple[Span, ...] = ()

    @property
    def assignments(self) -> tuple[ConfigLine, ...]:
        """All assignments in effect, in document order, overridden ones included."""
        return tuple(line for message in self.messages for line in message.in_effect() if line.kind == "assign")

    @property
    def actions(self) -> tuple[ConfigLine, ...]:
        """All actions in effect, in document order."""
        return tuple(line for message in self.messages for line in message.in_effect() if line.kind == "action")
