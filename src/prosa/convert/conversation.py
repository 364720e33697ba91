"""Conversations as the text of a chat, and back (P2–P14, PA6). Values only.

In: messages. Out: a body with their headings, in which any content stays text; and the messages in such a body as they
would be sent, hidden and disabled ones marked by their role. Nothing is included and no command is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from prosa.convert.neutral import Piece, Said
from prosa.data import Value
from prosa.dialects.front import read_front
from prosa.dialects.prapti.content import sent_text
from prosa.dialects.prapti.escape import escaped
from prosa.dialects.prapti.model import HEAD_ROLE, ChatModel
from prosa.dialects.prapti.read import read
from prosa.dialects.prapti.write import heading
from prosa.document import parse
from prosa.source import SourceText, Span

BODY = "=body"
"""The field of a chat that holds the wording of its author: comments, configuration lines, blank space."""

OFF = "//"
"""Prefix of the role of a disabled message."""


def chat_model(source: SourceText, body: Span) -> ChatModel:
    """Return the chat in a part of a source."""
    return read(read_front(source), parse(source, body=body))[0]


def messages_of(model: ChatModel) -> tuple[Said, ...]:
    """Return the messages of a chat; text before the first heading counts as one unless it is blank."""
    return tuple(
        Said(sent_text(each, model.document, {}), f"{OFF if each.disabled else ''}{each.role}", each.name)
        for each in model.messages
        if each.heading is not None or each.content.strip()
    )


def conversation_in(text: str) -> tuple[tuple[Said, ...], dict[str, Mapping[str, Value]]]:
    """Return the messages in the body of a chat, and what its author worded otherwise than `chat_body` would."""
    said = messages_of(chat_model(SourceText(text), Span(0, len(text))))
    return said, {} if chat_body(said) == text.removeprefix("\n") else {"chat": {BODY: text}}


def body_of(piece: Piece) -> str:
    """Return the messages of a piece as the body of a chat, in the author's wording if it means the same."""
    worded = piece.own_of("chat").get(BODY)
    if isinstance(worded, str) and _says(worded, piece.said):
        return worded
    return chat_body(piece.said)


def _says(text: str, said: Sequence[Said]) -> bool:
    return messages_of(chat_model(SourceText(text), Span(0, len(text)))) == tuple(said)


def chat_body(said: Sequence[Said], head: Sequence[str] = ()) -> str:
    """Return the text of a chat with these first lines."""
    blocks = ["\n".join(head)] if head else []
    for each in said:
        if each.role == HEAD_ROLE:
            blocks.append(_escaped(each.text))
            continue
        blocks.append(_heading(each))
        if each.text.strip():
            blocks.append(_escaped(each.text))
    return "\n\n".join(blocks) + "\n" if blocks else ""


@lru_cache(maxsize=32)
def _escaped(text: str) -> str:
    """Return a text as it is written below a heading. Cached, since every conversion writes or compares chats
    with it."""
    return escaped(text)


def _heading(each: Said) -> str:
    role = each.role or "user"
    line = heading(role.removeprefix(OFF), each.name)
    return line.replace("### ", f"### {OFF}", 1) if role.startswith(OFF) else line
