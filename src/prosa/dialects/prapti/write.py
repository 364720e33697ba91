"""A new chat as text: messages under their headings, one blank line around each (P3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to write. ``content`` is text that holds no message heading of its own."""

    role: str
    content: str = ""
    name: str | None = None


def heading(role: str, name: str | None = None) -> str:
    """The heading line of a message, without its line end."""
    return f"### @{role}{f'/{name}' if name else ''}:"


def write(messages: Sequence[NewMessage], *, head: str = "") -> str:
    """The text of a chat that begins with ``head``, configuration lines say."""
    blocks = [head.strip()] if head.strip() else []
    for message in messages:
        blocks.append(heading(message.role, message.name))
        if message.content.strip():
            blocks.append(message.content.strip())
    return "\n\n".join(blocks) + "\n"
