"""Chats as they would be sent, in another form, and new chats of such files: what `prosa chat` exports and imports.

In: a conversation with its configuration, or the text of a file. Out: text. Unlike a conversion this applies other
files, leaves out unsent parts, and makes a chat that can continue.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal, TypeAlias

from prosa.app.chat.prepare import Conversation
from prosa.convert.exchange import chat_text, llm, openai, record
from prosa.dialects.prapti.write import NewMessage

ExchangeForm: TypeAlias = Literal["openai", "ymj", "llm"]


def export_chat(conversation: Conversation, form: ExchangeForm) -> str:
    """Return the messages in a form."""
    messages = spoken(conversation)
    if form == "openai":
        return openai.export(messages)
    if form == "llm":
        model = conversation.values.get("vars.model")
        return llm.export(messages, model.value if model is not None and isinstance(model.value, str) else None)
    return record.export(conversation.source.text, PurePath(conversation.path).stem, messages)


def spoken(conversation: Conversation) -> list[NewMessage]:
    """Return all messages, for writing."""
    return [NewMessage(message.role, message.content, message.name) for message in conversation.spoken]


def import_chat(form: ExchangeForm, text: str, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of a new chat, and what could not be kept. ``name`` is the file. Raises `ExchangeProblem`."""
    if form == "ymj":
        return record.read(text, name)
    imported = openai.read(text) if form == "openai" else llm.read(text)
    return chat_text(imported), imported.notes
