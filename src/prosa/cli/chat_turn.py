"""One turn of a chat: a message is added, the chat is answered, the reply stands in the file and on stdout.

In: arguments. Out: an exit status. Whatever can be refused is refused before a model is asked; what a model has said is
never lost, and what has come when a run breaks off stays.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prosa.app.chat.file import (
    add_message,
    below_file,
    keep_trust,
    lock_of,
    locked_words,
    lost_words,
    opened,
    require_writable,
    size_limit,
    writing_below,
)
from prosa.cli.chat_arguments import chat_choices
from prosa.cli.chat_summary import Course, print_summary
from prosa.cli.console import Console, PipeClosed
from prosa.cli.errors import OK
from prosa.cli.run_arguments import choices_from
from prosa.cli.surroundings import surroundings
from prosa.runtime.errors import RunError

if TYPE_CHECKING:
    from prosa.adapters.files.append import Below
    from prosa.app.chat.answer import Reply
    from prosa.app.chat.prepare import Conversation
    from prosa.app.chat.writing import Saved, Writing
    from prosa.app.options import Environment, Options
    from prosa.cli.watch import Watch


def turn(args: argparse.Namespace, console: Console, message: str | None = None, *, quiet: bool = False) -> int:
    """Answers the chat once. ``quiet`` says nothing where there is nothing to answer. 0 when all went well or nothing
    was to be done; what goes wrong is raised, after the summary has been printed (L44)."""
    from prosa.app.run.world import system_clock
    from prosa.cli.run import words
    from prosa.cli.watch import watch

    clock = system_clock()
    course = Course(clock.now(), clock.monotonic())
    try:
        name = args.file.stem or "chat"
        with watch(console, name, events=args.events, debug=args.debug, progress=not args.no_progress) as at:
            try:
                _Turn.of(args, console, at, course, quiet=quiet).take(message)
            except BaseException as error:
                at.ended(words(error))
                raise
    except PipeClosed:
        print_summary(args, console, course, None)
        raise
    except BaseException as error:
        print_summary(args, console, course, words(error))
        raise
    if course.is_asked:
        print_summary(args, console, course, None)
    return OK


def warn(conversation: Conversation, tell: Callable[[str], None], *, color: bool) -> None:
    """Says what is wrong in a chat that is answered all the same."""
    from prosa.render.text import render_headline

    for diagnostic in conversation.diagnostics:
        tell(render_headline(diagnostic, color=color))


@dataclass(frozen=True, slots=True)
class _Turn:
    """One turn being taken."""

    args: argparse.Namespace
    console: Console
    at: Watch
    course: Course
    choices: Options
    around: Environment
    quiet: bool

    @classmethod
    def of(cls, args: argparse.Namespace, console: Console, at: Watch, course: Course, *, quiet: bool) -> _Turn:
        around = surroundings(console, args.file, at.notice)
        return cls(args, console, at, course, choices_from(args), around, quiet)

    def take(self, message: str | None) -> None:
        """All of it, while no other process takes a turn in the same chat."""
        from prosa.adapters.files.lock import Locked

        try:
            with lock_of(self.args.file, self.around.environ):
                found = opened(self.args.file, self.choices, self.around.environ, self._limit)
                require_writable(found)
                if found.begins and message is None:
                    found.write(None, None)
                    self.at.notice(f"{self.args.file}: a new chat; write your message at its end, then run this again")
                    return
                if message is not None:
                    add_message(found, message, self.args.speaker, self.around, self._limit)
                self._answer()
        except Locked:
            raise locked_words(self.args.file) from None

    @property
    def _limit(self) -> int:
        return size_limit(self.choices, self.around)

    def _answer(self) -> None:
        """Has the chat answered, where there is something to answer (PA17)."""
        from prosa.app.chat.prepare import prepare
        from prosa.app.run.service import settle
        from prosa.cli.chat_show import print_turns

        conversation = prepare(self.args.file, self.choices, self.around, chat_choices(self.args))
        warn(conversation, self.at.notice, color=self.console.color_err and self.args.events is None)
        below = below_file(self.args.file, self._limit)
        if conversation.dry_run:
            self.at.notice(f"{self.args.file}: `dry_run` is set, so nothing was sent")
            print_turns(conversation, self.console, self.args.form)
        elif conversation.turns:
            choices = settle(self.choices, self.around)
            self.course.is_asked = True
            self._run(conversation, choices, below)
        elif conversation.shown:
            self._settle(writing_below(conversation, below).show())
        elif not self.quiet:
            self.at.notice(f"{self.args.file}: {conversation.nothing}; nothing was sent")

    def _run(self, conversation: Conversation, choices: Options, below: Below) -> None:
        """Asks; what has come is in the file in the end, whatever ended it."""
        from prosa.app.chat.answer import answer
        from prosa.cli.chat_live import Live, is_live
        from prosa.cli.chat_result import deliver
        from prosa.cli.stopping import run_stoppable

        writing = writing_below(conversation, below)
        replies: list[Reply] = []
        names = [each.name for each in conversation.turns]

        def done(reply: Reply) -> None:
            replies.append(reply)
            writing.reply(names.index(reply.name), reply)

        live = Live(self.console, len(writing.waiting)) if is_live(self.args, self.console) else None
        if live is not None:
            writing.shown = live
            self.at.status = replace(self.at.status, enabled=False)
        work = answer(
            conversation,
            choices,
            self.around,
            on_text=writing.text,
            on_again=writing.again,
            on_reply=done,
            on_cut=writing.cut,
            listener=self.at,
            course=self.course.runs,
        )
        try:
            run_stoppable(work)
        except BaseException:
            saved = writing.finish()
            if live is not None:
                live.end()
            self._tell(writing)
            if saved is not None:
                self.at.notice(f"note: {_lost(self.args, saved)}")
                if saved.beside is None:
                    self.console.out(saved.text, end="")
            raise
        saved = writing.finish()
        if live is not None:
            live.end()
        keep_trust(conversation.source, below, self.around, self._limit)
        deliver(
            self.args, self.console, replies, lost=saved is not None and saved.beside is None, live=live is not None
        )
        self._tell(writing)
        self._settle(saved, is_empty=bool(replies) and not writing.begun)

    def _tell(self, writing: Writing) -> None:
        for notice in writing.notices():
            self.at.notice(f"note: {notice}")

    def _settle(self, saved: Saved | None, *, is_empty: bool = False) -> None:
        """Raises `RunError` for a reply that is not in the chat."""
        if saved is not None:
            raise RunError(_lost(self.args, saved))
        if is_empty:
            self.at.notice(f"note: {self.args.file}: the reply is empty, so nothing was written")


def _lost(args: argparse.Namespace, saved: Saved) -> str:
    return lost_words(args.file, saved, nowhere="it could be saved nowhere, and is printed")
