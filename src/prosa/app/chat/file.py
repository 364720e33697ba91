"""The text of a chat during a turn: opened or created, with a message at its end, and replies below as they arrive,
with a heading for the next message (PA6, PW4).

In: a path, and replies as text. Out: the document, saved in one step or appended in whole lines. What cannot be written
there is saved beside it, and what others write meanwhile is kept.

All refusals happen before any model call. Replies are written in their order; later ones wait.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from prosa.adapters.files import RootedFiles, config_dir, find_root, replace_file
from prosa.adapters.files.append import Below, Joint, check_appendable, save_beside
from prosa.adapters.files.read import real_path
from prosa.adapters.files.trust_store import TrustStore
from prosa.app.options import Environment, Options
from prosa.dialects.front import read_front
from prosa.dialects.prapti.content import Escaping, escaped
from prosa.dialects.prapti.read import read
from prosa.dialects.prapti.write import (
    NewMessage,
    find_lines_below,
    heading,
    is_another,
    keeps,
    line_end,
    reply_note,
    says_the_same,
    separator,
    takes_replies,
)
from prosa.document import parse
from prosa.runtime.errors import RunError
from prosa.source import FileProblem, SourceText

if TYPE_CHECKING:
    from prosa.adapters.files.append import State
    from prosa.app.chat.answer import Reply, Spot
    from prosa.app.chat.prepare import Conversation
    from prosa.dialects.prapti import ChatMessage
    from prosa.records.summary import Summary
    from prosa.runtime.lower.prapti import Turn


GRACE_SECONDS = 1.0
"""How long a file may be away: some editors remove it for a moment when they save it."""

_STEP_SECONDS = 0.1


class ReplyPlace(Struct, frozen=True):
    """Where a reply goes: its turn and its number in it, and its heading."""

    turn: int
    number: int
    heading: str


def places(turns: Sequence[Turn]) -> tuple[ReplyPlace, ...]:
    """Return the replies of all turns in order: `@assistant`, `@assistant/1` and so on of several, `@assistant/NAME` of
    a participant, `@completion` behind a prompt."""
    return tuple(
        ReplyPlace(at, number, heading("assistant" if turn.mode == "chat" else "completion", _name(turn, number)))
        for at, turn in enumerate(turns)
        for number in range(1, turn.n + 1)
    )


def _name(turn: Turn, number: int) -> str | None:
    parts = [part for part in (turn.name, str(number) if turn.n > 1 else None) if part]
    return "-".join(parts) or None


class TextBelow(Struct):
    """Pieces below the text ``before``, each ending with a line feed."""

    path: Path
    before: str
    pieces: list[str] = field(default_factory=list)
    lost: bool = False
    state: State = "new"

    @property
    def text(self) -> str:
        """The chat and the pieces."""
        if not self.pieces:
            return self.before
        added = separator(self.before) + "".join(self.pieces)
        return self.before + added.replace("\n", line_end(self.before))

    def add(self, *pieces: str) -> None:
        """Put more below."""
        self.pieces += pieces

    def cut(self, count: int) -> None:
        """Take everything behind the first ``count`` pieces away."""
        del self.pieces[count:]

    def above(self) -> str:
        """Return the text above, which is not edited."""
        return self.before

    def finish(self) -> None:
        """Nothing is left to do."""


class Stream(Struct):
    """A streaming reply. ``text`` is the received text, ``taken`` how much of it is written or on its way; ``at`` is
    the number of pieces above it, None as long as nothing of it is written; ``cut`` is true if it was cut off."""

    place: ReplyPlace
    text: str = ""
    taken: int = 0
    at: int | None = None
    reply: Reply | None = None
    cut: Summary | None = None
    escaping: Escaping = field(default_factory=Escaping)


def show_nobody(place: ReplyPlace, text: str | None) -> None:
    """Show nothing."""
    del place, text


class Saved(Struct, frozen=True):
    """A reply that could not be written into its chat: why, its text, and the file it is in instead, if there is."""

    why: str
    beside: Path | None
    text: str


class Writing(Struct):
    """Writes replies below a chat whose text was ``before``. ``asks`` is the heading for the next message, ``prelude``
    are messages above the first reply. ``shown`` receives the written text, None if a reply restarts."""

    below: Below | TextBelow
    before: str
    asks: str
    waiting: list[Stream]
    prelude: Sequence[NewMessage] = ()
    shown: Callable[[ReplyPlace, str | None], None] = show_nobody
    begun: int = 0
    _headings: set[int] = field(default_factory=set)
    """The pieces that begin a message, by their numbers; those behind the last piece have been taken away."""

    def text(self, spot: Spot, piece: str) -> None:
        """Append a piece of a reply."""
        stream = self._stream(spot.turn, spot.number)
        stream.text += piece
        self._bring(stream)

    def again(self, spot: Spot) -> None:
        """Discard what has come of a reply."""
        stream = self._stream(spot.turn, spot.number)
        if stream.text:
            self._restart(stream)

    def reply(self, turn: int, reply: Reply) -> None:
        """Take a reply that is complete; ``turn`` is the place of its turn."""
        stream = self._stream(turn, reply.number or 1)
        if not reply.text.startswith(stream.text):
            self._restart(stream)
        stream.text, stream.reply = reply.text, reply
        while self.waiting and self.waiting[0].reply is not None:
            self._close(self.waiting[0])

    def cut(self, spot: Spot, text: str, summary: Summary) -> None:
        """Record a reply that was cut off and does not count. Its ``text`` stays, marked as cut."""
        stream = self._stream(spot.turn, spot.number)
        if not text.startswith(stream.text):
            self._restart(stream)
        stream.text, stream.cut = text, summary
        self._bring(stream)

    def finish(self) -> Saved | None:
        """Bring to its end what has come. Return what could not be written into the chat."""
        while self.waiting:
            self._close(self.waiting[0])
        if not self.begun:
            self.below.cut(0)
        return self._written()

    def show(self) -> Saved | None:
        """Write the prelude alone."""
        self._put_prelude()
        return self._written()

    def notices(self) -> list[str]:
        """Return what happened to the file meanwhile."""
        path, messages = self.below.path, []
        if self.below.lost:
            messages.append(f"{path} was replaced without the reply, so the reply was written again at its end")
        if self.below.state == "between":
            messages.append(f"{path} was edited below the reply: the reply is above your text")
        try:
            same = says_the_same(self.before + separator(self.before), self.below.above())
        except (OSError, FileProblem):
            same = True
        if not same:
            messages.append(f"{path} was edited meanwhile: the reply answers the earlier version")
        return messages

    def _stream(self, turn: int, number: int) -> Stream:
        return next(stream for stream in self.waiting if (stream.place.turn, stream.place.number) == (turn, number))

    def _bring(self, stream: Stream) -> None:
        """Write the finished part of the current reply."""
        if stream is not self.waiting[0] or stream.taken == len(stream.text):
            return
        piece, stream.taken = stream.text[stream.taken :], len(stream.text)
        self.shown(stream.place, piece)
        self._put(stream, stream.escaping.feed(piece))

    def _put(self, stream: Stream, lines: str) -> None:
        if not lines:
            return
        if stream.at is not None:
            self.below.add(lines)
            return
        self._put_prelude()
        stream.at = len(self.below.pieces)
        self.begun += 1
        self.below.add(self._heading(stream.place.heading), lines)

    def _put_prelude(self) -> None:
        for message in self.prelude:
            self.below.add(self._heading(heading(message.role, message.name)), f"{escaped(message.content)}\n")
        self.prelude = ()

    def _restart(self, stream: Stream) -> None:
        if stream.taken:
            self.shown(stream.place, None)
        if stream.at is not None:
            self.below.cut(stream.at)
            self.begun -= 1
        stream.text, stream.taken, stream.at, stream.escaping = "", 0, None, Escaping()

    def _close(self, stream: Stream) -> None:
        """End the reply whose turn it is, and write what has come of the next one."""
        self._bring(stream)
        self._put(stream, stream.escaping.finish())
        if stream.at is not None and (note := _note(stream)):
            self.below.add(f"\n{note}\n")
        if stream.reply is not None and stream.reply.tools:
            self.below.add(self._heading(heading("_tools")), f"{escaped(stream.reply.tools)}\n")
        self.waiting.pop(0)
        if self.waiting:
            self._bring(self.waiting[0])

    def _heading(self, line: str) -> str:
        self._headings.add(len(self.below.pieces))
        return f"{chr(10) if self.below.pieces else ''}{line}\n\n"

    def _written(self) -> Saved | None:
        replies = "".join(self.below.pieces)
        if replies:
            self.below.add(self._heading(self.asks))
        if self.below.state == "between":
            self.below.cut(len(self.below.pieces) - 1)  # an answer has text already
        try:
            self._finished()
        except (OSError, FileProblem) as problem:
            why = problem.reason if isinstance(problem, FileProblem) else problem.strerror or str(problem)
            return _saved(self.below.path, replies, why) if replies else None
        return None

    def _finished(self) -> None:
        """Everything is in the file, and reads as it was meant; else it is taken out again. Raises `OSError` and
        `FileProblem`."""
        self._finish_below()
        if not self._keeps_above():
            self.below.cut(0)
            self._finish_below()
            raise FileProblem(self.below.path, "changed", "it would change how the text above is read")

    def _keeps_above(self) -> bool:
        """Return whether the chat above is the same without the new text (X19)."""
        pieces = self.below.pieces
        if not pieces:
            return True
        above = self.below.above()
        above += separator(above)
        return keeps(above, above + "".join(pieces), sum(at < len(pieces) for at in self._headings))

    def _finish_below(self) -> None:
        """Finish the file; wait for one that is away."""
        until = time.monotonic() + GRACE_SECONDS
        while True:
            try:
                self.below.finish()
            except FileNotFoundError:
                if time.monotonic() > until:
                    raise
                time.sleep(_STEP_SECONDS)
            else:
                return


def _note(stream: Stream) -> str:
    """Return the comment below a reply, which is never sent (LA28)."""
    summary = stream.cut if stream.reply is None else stream.reply.summary
    if summary is None:
        return ""
    another = summary.answered_by if is_another(summary.model_name, summary.answered_by) else None
    return reply_note(another, cut=stream.cut is not None or summary.cut)


def _saved(path: Path, text: str, why: str) -> Saved:
    try:
        return Saved(why, save_beside(path, text), text)
    except OSError:
        return Saved(why, None, text)


TREE_TEMPLATE = ".praptistart.md"
USER_TEMPLATE = "start.md"
BUILT_IN = "### @user:\n\n"
ASKING = ("user", "prompt")


class Opened(Struct, frozen=True):
    """A chat. ``begins`` says that its text is that of a template and not in the file yet."""

    path: Path
    source: SourceText
    begins: bool
    max_size: int

    def with_message(self, message: str, speaker: str | None) -> SourceText:
        """Return the text with a message at its end, as it would be written."""
        text = self.source.text
        added = "".join(message_pieces(text, message, speaker))
        return SourceText(text + separator(text) + added, self.source.path, self.source.digest)

    def write(self, message: str | None, speaker: str | None) -> Below | None:
        """Update the file: a new one from the template, or the message below the text, and return the text written
        below. Raises `OSError` and `FileProblem`."""
        if self.begins:
            text = self.source.text if message is None else self.with_message(message, speaker).text
            replace_file(self.path, text, expect_digest=self.source.digest)
            return None
        below = Below(self.path, joint(), self.max_size)
        if message is not None:
            below.add(*message_pieces(self.source.text, message, speaker))
            below.finish()
        return below


def opened(path: Path, options: Options, environ: Mapping[str, str], max_size: int) -> Opened:
    """Return the chat at a path; a template where there is none, or an empty one. Raises `FileProblem`."""
    try:
        source = RootedFiles(max_size=max_size).read(path)
    except FileProblem as problem:
        if problem.kind != "missing" or path.is_symlink():
            raise
        if not path.parent.is_dir():
            raise FileProblem(path, "missing", f"the folder {path.parent} does not exist") from None
        source = SourceText("", str(path))
    return begun(path, source, options, environ, max_size)


def begun(path: Path, source: SourceText, options: Options, environ: Mapping[str, str], max_size: int) -> Opened:
    """Return a chat that was read; a template where it says nothing. Raises `FileProblem`."""
    if source.text.removeprefix("\ufeff").strip():
        return Opened(path, source, begins=False, max_size=max_size)
    mark = "\ufeff" if source.text.startswith("\ufeff") else ""
    text = mark + template(path, options, environ, max_size)
    return Opened(path, SourceText(text, str(path), source.digest), begins=True, max_size=max_size)


def template(path: Path, options: Options, environ: Mapping[str, str], max_size: int) -> str:
    """Return how a chat begins: `.praptistart.md` in its folder or one above it, within the root; `start.md` in the
    folder of the user's settings; else an empty message of the user. Raises `FileProblem`."""
    root = real_path(options.root or find_root(path))
    folder = real_path(path.parent)
    for parent in (folder, *folder.parents):
        if (parent / TREE_TEMPLATE).is_file():
            return _text(RootedFiles(root, max_size=max_size).read(parent / TREE_TEMPLATE))
        if parent == root:
            break
    own = config_dir(environ) / USER_TEMPLATE
    return _text(RootedFiles(max_size=max_size).read(own)) if own.is_file() else BUILT_IN


def _text(source: SourceText) -> str:
    return source.text.removeprefix("\ufeff") or BUILT_IN


def message_pieces(text: str, message: str, speaker: str | None) -> list[str]:
    """Return the message in its written form: under the empty message of the user at the end, or under a new
    heading."""
    last = _messages(text)[-1]
    waits = last.known_role in ASKING and not last.disabled and not last.content.strip()
    content = f"{escaped(message)}\n"
    if waits and speaker in (None, last.name):
        return [content]
    return [f"{heading('user', speaker or user_name(text))}\n\n", content]


def user_name(text: str) -> str | None:
    """Return the name under which the user spoke last."""
    return next(
        (message.name for message in reversed(_messages(text)) if message.known_role == "user" and message.sent), None
    )


def _messages(text: str) -> tuple[ChatMessage, ...]:
    source = SourceText(text)
    front = read_front(source)
    return read(front, parse(source, body=front.body))[0].messages


def joint() -> Joint:
    """Return how text joins a chat."""
    return Joint(separator, line_end, find_lines_below, whole="### @")


def locked_words(path: Path) -> RunError:
    """Return what to say where another process holds the lock."""
    return RunError(f"{path}: another `prosa chat` is answering it, so nothing was sent", hint="wait until it is done")


def require_takes_replies(chat: Opened) -> None:
    """Refuse a chat in which a reply could change what stands above it (X19). Raises `RunError`."""
    if not takes_replies(chat.source.text):
        why = (
            "`---` opens front matter that never ends, and a line `---` in a reply would end it and take the chat away"
        )
        hint = "close the front matter with a line that is exactly `---`, or write `***` where a rule is meant"
        raise RunError(f"{chat.path}:1: {why}, so nothing was sent", hint=hint)


def require_writable(chat: Opened) -> None:
    """Refuse a chat that the reply could not be written to. Raises `RunError` and `FileProblem`."""
    require_takes_replies(chat)
    try:
        if chat.source.digest:
            check_appendable(chat.path)
        elif not os.access(chat.path if chat.path.exists() else chat.path.absolute().parent, os.W_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        text = f"{chat.path}: may not be written ({error.strerror or error}), so nothing was sent"
        hint = "make it writable, or look at what would be sent: --dry-run"
        raise RunError(text, hint=hint) from None


def add_message(chat: Opened, message: str, speaker: str | None, environment: Environment, max_size: int) -> None:
    """Write a message of the user into the file. Raises `RunError`."""
    try:
        below = chat.write(message, speaker)
    except OSError as error:
        why = f"the message could not be written ({error.strerror or error})"
        raise RunError(f"{chat.path}: {why}, so nothing was sent") from None
    if below is not None:
        keep_trust(chat.source, below, environment, max_size)


def keep_trust(before: SourceText, below: Below, environment: Environment, max_size: int) -> None:
    """Keep a chat trusted if only Prosa's text was added: neither the user's message nor a model's reply can be a line
    that configures (X7, PW2)."""
    path = below.path
    try:
        store = TrustStore(config_dir(environment.environ))
        if store.trusts(path, before.digest) and below.follows(before.text):
            store.renew(path, RootedFiles(max_size=max_size).read(path).digest)
    except (OSError, FileProblem, RunError) as problem:
        environment.notice(f"note: {path} is no longer trusted: {problem}")


def writing_below(conversation: Conversation, below: Below | TextBelow) -> Writing:
    """Return the writer of the replies of a conversation, and the heading for the next message."""
    return Writing(
        below=below,
        before=conversation.source.text,
        asks=_next_heading(conversation),
        waiting=[Stream(place) for place in places(conversation.turns)],
        prelude=conversation.shown,
    )


def below_file(path: Path, max_size: int) -> Below:
    """Return the end of the file of a chat."""
    return Below(path, joint(), max_size)


def lost_words(path: Path, saved: Saved, *, nowhere: str = "it could be saved nowhere") -> str:
    """Return what became of a reply that is not in its chat."""
    where = f"it is saved in {saved.beside}" if saved.beside else nowhere
    return f"{path}: the reply could not be written there ({saved.why}); {where}"


def _next_heading(conversation: Conversation) -> str:
    """Return the heading for the next message, of the same speaker."""
    if any(turn.mode == "completion" for turn in conversation.turns):
        return heading("prompt")
    return heading("user", user_name(conversation.source.text))
