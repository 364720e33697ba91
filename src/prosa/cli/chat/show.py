"""`prosa chat --dry-run` and `--inspect`: what would be sent, what is configured. Nothing is sent or written."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.app.chat.file import opened
from prosa.cli.chat.arguments import chat_choices
from prosa.cli.chat.replies import shown
from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.errors import OK
from prosa.cli.options import options_from

if TYPE_CHECKING:
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

    choices, around = options_from(args, console.environ), environment_of(console, args.file)
    found = opened(args.file, choices, around.environ, size_limit(choices.max_size, around.settings))
    source = found.source if message is None else found.with_message(message, args.speaker)
    conversation = prepare(args.file, choices, around, replace(chat_choices(args), looking=args.inspect), source=source)
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
