"""A new chat as text: messages under their headings, one blank line around each (P3); and what stands below a reply."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_ENDS_COMMENT = re.compile(r"[<>]|(?<=-)-")


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to write. ``content`` is text that holds no message heading of its own."""

    role: str
    content: str = ""
    name: str | None = None


def heading(role: str, name: str | None = None) -> str:
    """The heading line of a message, without its line end."""
    return f"### @{role}{f'/{name}' if name else ''}:"


def is_another(asked: str, answered_by: str | None) -> bool:
    """Whether another model answered than was asked for. A dated name of the same model (`gpt-4o-2024-08-06` for
    `gpt-4o`) is no other."""
    return answered_by is not None and answered_by != asked and not answered_by.startswith(f"{asked}-")


def reply_note(answered_by: str | None = None, *, cut: bool = False) -> str:
    """The comment below a reply that says by whom it is and that it was cut off; empty where neither is to be said.

    Comments are never sent (PA13), and no text in it ends this one.
    """
    said: dict[str, Any] = {"answered_by": answered_by} if answered_by is not None else {}
    if cut:
        said["cut"] = True
    if not said:
        return ""
    text = _ENDS_COMMENT.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(said))
    return f"<!-- reply {text} -->"


def write(messages: Sequence[NewMessage], *, head: str = "") -> str:
    """The text of a chat that begins with ``head``, configuration lines say."""
    blocks = [head.strip()] if head.strip() else []
    for message in messages:
        blocks.append(heading(message.role, message.name))
        if message.content.strip():
            blocks.append(message.content.strip())
    return "\n\n".join(blocks) + "\n"
