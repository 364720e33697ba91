"""One turn of a chat, for every door: a message is added, the chat is answered, the replies are values (P2, PA6, PW4).

In: a chat as a file or a text, a message, the caller's options, a listener. Out: a `ChatResult`. The file only changes
on request. All refusals happen before anything is written or sent; a model's reply is never lost, and the received
part of an interrupted one is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files.lock import Locked, lock_of
from prosa.app.chat.answer import Reply, answer
from prosa.app.chat.file import (
    Opened,
    Saved,
    TextBelow,
    Writing,
    add_message,
    begun,
    below_file,
    keep_trust,
    locked_words,
    lost_words,
    opened,
    require_takes_replies,
    require_writable,
    show_nobody,
    writing_below,
)
from prosa.app.chat.prepare import ChatOptions, Conversation, prepare, require_something
from prosa.app.options import Environment, Options
from prosa.app.run.jobs import Progress
from prosa.app.settings import size_limit
from prosa.regex import regex
from prosa.render.text import render_headline
from prosa.runtime.errors import RunError
from prosa.runtime.events import Listener, ignore
from prosa.runtime.lower.prapti import MAX_REPLIES
from prosa.runtime.messages import Message
from prosa.source import SourceText

if TYPE_CHECKING:
    from prosa.app.chat.file import ReplyPlace
    from prosa.records.summary import Summary
    from prosa.runtime.ports import Provider

TEXT = Path("chat.md")
"""The name of a chat that is a text: it is read like a file of the working directory."""

NAME = regex(r"[\w.-]+")


class ChatResult(Struct, frozen=True):
    """The result of a turn.

    ``replies`` are in the order of the chat; ``messages`` are all messages, the replies last, under the names in the
    chat; ``text`` is the chat with the message, the replies and a heading for the next message. ``error`` says why the
    replies could not be written to the file; they are not lost.
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


class TurnRequest(Struct, frozen=True):
    """The request of a turn: the user's options, the ``speaker`` of the added message, and whether the file is
    written.

    ``shown`` receives the pieces of replies as they are written, None if one restarts; ``listener`` the events.
    ``provider`` replaces the model service; ``progress`` tracks the turn. ``color`` enables colours in problems of the
    chat. ``nowhere`` is the message about a reply that could not be saved.
    """

    options: Options
    environment: Environment
    asked: ChatOptions
    speaker: str | None = None
    write: bool = False
    provider: Provider | None = None
    listener: Listener = ignore
    shown: Callable[[ReplyPlace, str | None], None] = show_nobody
    progress: Progress | None = None
    color: bool = False
    nowhere: str = "it could be saved nowhere"

    @property
    def limit(self) -> int:
        """Bytes of the largest chat."""
        return size_limit(self.options.max_size, self.environment.settings)


class Turn(Struct):
    """A turn that has been opened: the chat with its message, ready to be answered.

    ``is_new`` is true if the chat was created and waits for its first message; then there is no ``conversation``.
    ``lost`` is the text of a model that could not be written to the file.
    """

    path: Path
    request: TurnRequest
    conversation: Conversation | None = None
    is_new: bool = False
    replies: list[Reply] = field(default_factory=list)
    lost: Saved | None = None

    @property
    def ready(self) -> Conversation:
        """The conversation. Only a new chat without a message has none."""
        assert self.conversation is not None
        return self.conversation

    def show(self) -> None:
        """Write what commands want to be shown, where there is nothing to answer. Raises `RunError`."""
        if self.ready.shown and self.request.write:
            saved = writing_below(self.ready, below_file(self.path, self.request.limit)).show()
            if saved is not None:
                raise RunError(self._lost_words(saved))

    async def answered(self, options: Options | None = None) -> ChatResult:
        """Get the replies to the chat. The received text is in the file at the end, whatever ended the run.
        Raises `RunError`."""
        request, conversation = self.request, self.ready
        below = (
            below_file(self.path, request.limit) if request.write else TextBelow(self.path, conversation.source.text)
        )
        writing = writing_below(conversation, below)
        writing.shown = request.shown
        names = [turn.name for turn in conversation.turns]

        def done(reply: Reply) -> None:
            self.replies.append(reply)
            writing.reply(names.index(reply.name), reply)

        try:
            replies = await answer(
                conversation,
                options or request.options,
                request.environment,
                on_text=writing.text,
                on_again=writing.again,
                on_reply=done,
                on_cut=writing.cut,
                listener=request.listener,
                progress=request.progress,
                provider=request.provider,
            )
        except BaseException:
            if error := self._finish(writing):
                request.environment.notice(f"note: {error.message}")
            raise
        error = self._finish(writing)
        if not isinstance(below, TextBelow):
            keep_trust(conversation.source, below, request.environment, request.limit)
        if error is None and replies and not writing.begun and request.write:
            request.environment.notice(f"note: {self.path}: the reply is empty, so nothing was written")
        text = TextBelow(self.path, conversation.source.text, below.pieces).text
        return ChatResult(tuple(replies), _said(conversation, replies), text, error)

    def _finish(self, writing: Writing) -> RunError | None:
        """Bring to the file what has come, and tell what happened to it; why that could not be."""
        self.lost = writing.finish()
        if not self.request.write:
            return None
        tell = self.request.environment.notice
        for notice in writing.notices():
            tell(f"note: {notice}")
        if self.lost is None:
            return None
        return RunError(self._lost_words(self.lost))

    def _lost_words(self, saved: Saved) -> str:
        return lost_words(self.path, saved, nowhere=self.request.nowhere)


async def take_turn(document: Path | SourceText, message: str | None, request: TurnRequest) -> ChatResult:
    """Answer a chat once. Raises `RunError`, also where there is nothing to answer; `FileProblem`; and ValueError for
    options that contradict each other."""
    with open_turn(document, message, request, required=True) as turn:
        return await turn.answered()


@contextmanager
def open_turn(
    document: Path | SourceText, message: str | None, request: TurnRequest, *, required: bool = False
) -> Iterator[Turn]:
    """Open a turn, and hold the lock of the file during it. With ``required`` it raises `RunError` if there is nothing
    to answer, before anything is written."""
    require_sense(document, message, request)
    if isinstance(document, SourceText):
        yield _in_memory(TEXT, begun(TEXT, document, *_places(request)), message, request, required=required)
    elif not request.write:
        yield _in_memory(document, opened(document, *_places(request)), message, request, required=required)
    else:
        try:
            with lock_of(document, request.environment.environ):
                yield _in_file(document, message, request, required=required)
        except Locked:
            raise locked_words(document) from None


def require_sense(document: Path | SourceText, message: str | None, request: TurnRequest) -> None:
    """Raise ValueError for options that contradict each other, or can mean nothing."""
    if request.write and isinstance(document, SourceText):
        raise ValueError("replies are written into a chat that is a file, and this is a text")
    if message is not None and not message.strip():
        raise ValueError("the message is empty")
    if request.speaker is not None and not NAME.fullmatch(request.speaker):
        raise ValueError(f"{request.speaker!r}: a name is made of letters, digits, `_`, `.` and `-`")
    if request.asked.n is not None and not 1 <= request.asked.n <= MAX_REPLIES:
        raise ValueError(f"n is {request.asked.n}; there are 1 to {MAX_REPLIES} replies")


def _places(request: TurnRequest) -> tuple[Options, Mapping[str, str], int]:
    return request.options, request.environment.environ, request.limit


def _in_memory(path: Path, chat: Opened, message: str | None, request: TurnRequest, *, required: bool) -> Turn:
    require_takes_replies(chat)
    source = chat.source if message is None else chat.with_message(message, request.speaker)
    return Turn(path, request, _ready(path, request, source, required=required))


def _in_file(path: Path, message: str | None, request: TurnRequest, *, required: bool) -> Turn:
    """Return the same in the file: what can be refused is refused before anything is written, and commands run once."""
    environment, limit = request.environment, request.limit
    chat = opened(path, *_places(request))
    require_writable(chat)
    if chat.begins and message is None and not required:
        chat.write(None, None)
        return Turn(path, request, is_new=True)
    source = chat.source if message is None else chat.with_message(message, request.speaker)
    conversation = _ready(path, request, source, required=required)
    if message is not None:
        add_message(chat, message, request.speaker, environment, limit)
        conversation = replace(conversation, source=opened(path, *_places(request)).source)
    return Turn(path, request, conversation)


def _ready(path: Path, request: TurnRequest, source: SourceText, *, required: bool) -> Conversation:
    """Return the conversation, and report problems of a chat that is still answered. Raises what `prepare` does."""
    conversation = prepare(path, request.options, request.environment, request.asked, source=source)
    if required:
        require_something(conversation)
    for diagnostic in conversation.diagnostics:
        request.environment.notice(render_headline(diagnostic, color=request.color))
    return conversation


def _said(conversation: Conversation, replies: list[Reply]) -> tuple[Message, ...]:
    """Return all messages."""
    return (
        *conversation.spoken,
        *(Message("assistant", reply.text, name=reply.name) for reply in replies if reply.text),
    )
