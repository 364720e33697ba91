"""`prosa chat`: answers the last message of a chat and writes the reply below it; everything else about a chat file.

In: a chat, and perhaps a message. Out: the reply in the file, and on stdout where no person has seen it arrive; what
else is to be said on stderr.
"""

from __future__ import annotations

import argparse

from prosa.cli.chat.arguments import add_arguments, message_from, require_sense
from prosa.cli.console import Console
from prosa.cli.run.resuming import completed


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `prosa chat`."""
    add_arguments(parser)


parse = completed


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when the chat is answered, or nothing was to be answered."""
    require_sense(args)
    if args.exported or args.imported:
        from prosa.cli.chat import exchange

        return exchange.export(args, console) if args.exported else exchange.bring_in(args, console)
    if args.watch:
        from prosa.cli.chat.turn import watch_chat

        return watch_chat(args, console)
    if args.inspect:
        from prosa.cli.chat.show import show

        return show(args, console, None)
    message = message_from(args, console)
    if args.dry_run:
        from prosa.cli.chat.show import show

        return show(args, console, message)
    from prosa.cli.chat.turn import turn

    return turn(args, console, message)
