"""One turn of a chat for a program that calls: a message is added, the chat is answered, the replies are values (M41's
way, for chats).

In: a chat as a file or a text, a message, what the caller chose. Out: a `ChatResult`. The file is left alone unless it
is to be written; nothing is printed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.app.chat.answer import Reply, answer
from prosa.app.chat.file import (
    TextBelow,
    add_message,
    begun,
    below_file,
    keep_trust,
    lock_of,
    locked_words,
    lost_words,
    opened,
    require_takes_replies,
    require_writable,
    size_limit,
    writing_below,
)
from prosa.app.chat.prepare import ChatOptions, Conversation, prepare, require_something
from prosa.app.options import Environment, Options
from prosa.runtime.errors import RunError
from prosa.runtime.events import Listener, ignore
from prosa.source import SourceText

if TYPE_CHECKING:
    from prosa.app.chat.file import Opened
    from prosa.app.chat.writing import Writing
    from prosa.runtime.messages import Message
    from prosa.runtime.ports import Provider
    from prosa.runtime.summary import Summary

TEXT = Path("chat.md")
"""What a chat that is a text is called: it is read as a file of the working directory would be."""

_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class ChatResult:
    """What became of a turn.

    ``replies`` are in the order of the chat; ``messages`` are all that was said, the replies last, under the names in
    the chat; ``text`` is the chat with the message, the replies and a heading for what is said next. ``error`` says why
    the replies do not stand in the file, where they were to be written; they are not lost.
    """

    replies: tuple[Reply, ...]
    messages: tuple[Message, ...]
    text: str
    error: RunError | None = None

    @property
    def reply(self) -> str:
        """The text of the first reply."""
        return self.replies[0].text

    @property
    def summary(self) -> Summary:
        """The summary of the first reply; each of ``replies`` has its own."""
        return self.replies[0].summary


@dataclass(frozen=True, slots=True)
class ChatMeans:
    """How a chat is answered: what the user chose, ``speaker`` whose message is added, ``provider`` in place of the
    model service, who hears events, and whether the file is written."""

    choices: Options
    around: Environment
    asked: ChatOptions
    speaker: str | None = None
    provider: Provider | None = None
    listener: Listener = ignore
    write: bool = False


def require_sense(document: Path | SourceText, message: str | None, means: ChatMeans) -> None:
    """Raises ValueError for options that contradict each other, or can mean nothing."""
    from prosa.runtime.lower.prapti import MAX_REPLIES

    if means.write and isinstance(document, SourceText):
        raise ValueError("replies are written into a chat that is a file, and this is a text")
    if message is not None and not message.strip():
        raise ValueError("the message is empty")
    if means.speaker is not None and not _NAME.fullmatch(means.speaker):
        raise ValueError(f"{means.speaker!r}: a name is made of letters, digits, `_`, `.` and `-`")
    if means.asked.n is not None and not 1 <= means.asked.n <= MAX_REPLIES:
        raise ValueError(f"n is {means.asked.n}; there are 1 to {MAX_REPLIES} replies")


async def take_turn(document: Path | SourceText, message: str | None, means: ChatMeans) -> ChatResult:
    """Answers a chat once. Raises `RunError`, `FileProblem`, and ValueError for options that contradict each other."""
    from prosa.adapters.files.lock import Locked

    require_sense(document, message, means)
    if not means.write:
        return await _in_memory(document, message, means)
    assert isinstance(document, Path)
    try:
        with lock_of(document, means.around.environ):
            return await _in_file(document, message, means)
    except Locked:
        raise locked_words(document) from None


async def _in_memory(document: Path | SourceText, message: str | None, means: ChatMeans) -> ChatResult:
    path = document if isinstance(document, Path) else TEXT
    found = _opened(document, means)
    require_takes_replies(found)
    source = _with_message(found, message, means.speaker)
    conversation = _ready(path, means, source)
    below = TextBelow(path, source.text)
    writing = writing_below(conversation, below)
    replies = await _answered(conversation, writing, means)
    writing.finish()
    return ChatResult(replies, _said(conversation, replies), below.text)


async def _in_file(path: Path, message: str | None, means: ChatMeans) -> ChatResult:
    """The same in the file: what can be refused is refused before anything is written, and commands run once."""
    around, limit = means.around, size_limit(means.choices, means.around)
    found = _opened(path, means)
    require_writable(found)
    source = _with_message(found, message, means.speaker)
    conversation = _ready(path, means, source)
    if message is not None:
        add_message(found, message, means.speaker, around, limit)
        conversation = replace(conversation, source=_opened(path, means).source)
    below = below_file(path, limit)
    writing = writing_below(conversation, below)
    try:
        replies = await _answered(conversation, writing, means)
    except BaseException:
        _settled(writing, means)
        raise
    error = _settled(writing, means)
    keep_trust(conversation.source, below, around, limit)
    text = TextBelow(path, conversation.source.text, below.pieces).text
    return ChatResult(replies, _said(conversation, replies), text, error)


async def _answered(conversation: Conversation, writing: Writing, means: ChatMeans) -> tuple[Reply, ...]:
    names = [each.name for each in conversation.turns]
    replies = await answer(
        conversation,
        means.choices,
        means.around,
        on_text=writing.text,
        on_again=writing.again,
        on_reply=lambda reply: writing.reply(names.index(reply.name), reply),
        on_cut=writing.cut,
        listener=means.listener,
        provider=means.provider,
    )
    return tuple(replies)


def _settled(writing: Writing, means: ChatMeans) -> RunError | None:
    """Brings to the file what has come, and tells what happened to it; why that could not be."""
    saved = writing.finish()
    for notice in writing.notices():
        means.around.notice(f"note: {notice}")
    if saved is None:
        return None
    error = RunError(lost_words(writing.below.path, saved))
    means.around.notice(f"note: {error.message}")
    return error


def _opened(document: Path | SourceText, means: ChatMeans) -> Opened:
    choices, environ, limit = means.choices, means.around.environ, size_limit(means.choices, means.around)
    if isinstance(document, Path):
        return opened(document, choices, environ, limit)
    return begun(TEXT, document, choices, environ, limit)


def _with_message(found: Opened, message: str | None, speaker: str | None) -> SourceText:
    return found.source if message is None else found.with_message(message, speaker)


def _ready(path: Path, means: ChatMeans, source: SourceText) -> Conversation:
    """The conversation. Raises what `prepare` does, and `RunError` where there is nothing to answer."""
    from prosa.render.text import render_headline

    conversation = prepare(path, means.choices, means.around, means.asked, source=source)
    require_something(conversation)
    for diagnostic in conversation.diagnostics:
        means.around.notice(render_headline(diagnostic, color=False))
    return conversation


def _said(conversation: Conversation, replies: tuple[Reply, ...]) -> tuple[Message, ...]:
    """All that was said."""
    from prosa.runtime.messages import Message

    return (*conversation.spoken, *(Message("assistant", each.text, name=each.name) for each in replies if each.text))
