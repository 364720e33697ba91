"""Streaming replies, written below a chat: headings, escaped lines, and a heading for the next message (PA6, PW4).

In: pieces of replies, of several at a time if several are requested. Out: the file, at every moment the original chat
and the beginning of the new text. Replies are written in their order; later ones wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from prosa.adapters.files.append import Below, save_beside
from prosa.dialects.prapti.content import Escaping, escaped
from prosa.dialects.prapti.write import (
    NewMessage,
    heading,
    is_another,
    keeps,
    lead,
    line_end,
    reply_note,
    says_the_same,
)
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.adapters.files.append import State
    from prosa.app.chat.answer import Reply, Spot
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
        added = lead(self.before) + "".join(self.pieces)
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
        path, found = self.below.path, []
        if self.below.lost:
            found.append(f"{path} was replaced without the reply, so the reply was written again at its end")
        if self.below.state == "between":
            found.append(f"{path} was edited below the reply: the reply is above your text")
        try:
            same = says_the_same(self.before + lead(self.before), self.below.above())
        except (OSError, FileProblem):
            same = True
        if not same:
            found.append(f"{path} was edited meanwhile: the reply answers the earlier version")
        return found

    def _stream(self, turn: int, number: int) -> Stream:
        return next(each for each in self.waiting if (each.place.turn, each.place.number) == (turn, number))

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
        above += lead(above)
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
