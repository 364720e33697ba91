"""What `prosa chat` prints: the replies of a turn as they arrive and at its end; with `--dry-run` what would be sent,
with `--inspect` what is configured, both without sending or writing anything.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.chat.file import opened
from prosa.cli.chat.arguments import chat_choices
from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.errors import OK
from prosa.cli.options import options_from
from prosa.data import Value

if TYPE_CHECKING:
    from prosa.app.chat.answer import Reply
    from prosa.app.chat.file import ReplyPlace
    from prosa.app.chat.prepare import Conversation


def show(args: argparse.Namespace, console: Console, message: str | None) -> int:
    """Print the messages, or with ``--inspect`` the configuration, of the chat as it is or would begin."""
    conversation = ready(args, console, message)
    if args.inspect:
        _print_values(conversation, console, args.form)
        return OK
    if not conversation.turns:
        console.err(f"{args.file}: {conversation.nothing}; nothing would be sent")
    print_turns(conversation, console, args.form)
    return OK


def ready(args: argparse.Namespace, console: Console, message: str | None = None) -> Conversation:
    """Return the conversation, without a trace in the file. Raises what `prosa.app.chat.prepare` does, but nothing for
    errors where only the configuration is looked at: then it is needed most."""
    from prosa.app.chat.prepare import prepare
    from prosa.app.settings import size_limit
    from prosa.render.text import render_headline

    options, environment = options_from(args, console.environ), environment_of(console, args.file)
    chat = opened(args.file, options, environment.environ, size_limit(options.max_size, environment.settings))
    source = chat.source if message is None else chat.with_message(message, args.speaker)
    conversation = prepare(
        args.file, options, environment, replace(chat_choices(args), looking=args.inspect), source=source
    )
    for diagnostic in conversation.diagnostics:
        console.err(render_headline(diagnostic, color=console.color_err))
    return conversation


def print_turns(conversation: Conversation, console: Console, form: str) -> None:
    """Print the messages of every turn."""
    from prosa.cli.run.delivery import as_json
    from prosa.render.turns import turns_data, turns_text

    if form == "json":
        console.out(as_json(turns_data(conversation.sent)))
    elif conversation.turns:
        text = turns_text(conversation.sent)
        console.out(shown(text) if console.stdout.isatty() else text)


def _print_values(conversation: Conversation, console: Console, form: str) -> None:
    from prosa.cli.run.delivery import as_json
    from prosa.dialects.prapti.configuration import as_rows, inspected

    if form == "json":
        console.out(as_json(as_rows(conversation.values)))
    elif conversation.values:
        console.out(inspected(conversation.values))


def is_live(args: argparse.Namespace, console: Console) -> bool:
    """Return whether the console shows live replies and no other output."""
    return console.shows_progress and not args.no_progress and not args.debug and args.events != "jsonl"


class LiveReplies(Struct):
    """Shows the pieces of replies; of ``several`` each stands below its heading."""

    console: Console
    several: int = 1
    _at: ReplyPlace | None = None
    _open: bool = False

    def __call__(self, place: ReplyPlace, text: str | None) -> None:
        """Show a piece; None says that the reply begins anew."""
        if text is None:
            self.end()
            self.console.note("note: the reply was interrupted and restarts")
            return
        if place is not self._at:
            self.end()
            self._at = place
            if self.several > 1:
                self.console.err(f"{place.heading}\n")
        self.console.err(shown(text), end="")
        self._open = not text.endswith("\n")

    def end(self) -> None:
        """End a line that is open."""
        if self._open:
            self.console.err("")
            self._open = False


def shown(text: str) -> str:
    """Return text without what a terminal would obey, its lines kept."""
    from prosa.render.plain import safe_source

    return "\n".join(map(safe_source, text.replace("\r\n", "\n").split("\n")))


# A reply that could be saved nowhere is always printed.


def deliver(args: argparse.Namespace, console: Console, replies: Sequence[Reply], *, lost: bool, live: bool) -> None:
    """Print them. ``live`` says that a terminal has shown them, ``lost`` that they are in no file."""
    on_terminal = console.stdout.isatty()
    if args.form == "json":
        from prosa.cli.run.delivery import as_json

        console.out(as_json({"file": str(args.file), "replies": [_data(reply) for reply in replies]}))
    elif lost or not (on_terminal and live):
        text = as_text(replies)
        console.out(shown(text) if on_terminal else text, end="")


def as_text(replies: Sequence[Reply]) -> str:
    """Return one reply as it is; several below their names. Ends with a line feed."""
    if len(replies) == 1:
        return _ended(replies[0].text)
    return "\n".join(f"{_title(reply)}\n\n{_ended(reply.text)}" for reply in replies)


def _title(reply: Reply) -> str:
    from prosa.dialects.prapti.write import heading

    parts = [part for part in (reply.name, str(reply.number) if reply.number else None) if part]
    return heading("assistant", "-".join(parts))


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"


def _data(reply: Reply) -> dict[str, Value]:
    data = {"name": reply.name, "number": reply.number, "text": reply.text}
    models = {"model": reply.summary.model_name, "answered_by": reply.summary.answered_by}
    return {**data, **models, **({"cut": True} if reply.summary.cut else {})}
