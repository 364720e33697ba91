"""`prosa chat --export` and `--import`: a chat as messages of the OpenAI API, a YMJ record, logs of `llm`; and back.

In: a chat, or a file of one of these forms. Out: text on stdout or in a file; a new chat. An existing file is never
overwritten with a chat, and lossy conversions are reported.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from prosa.cli.chat.arguments import FORMS
from prosa.cli.chat.show import ready
from prosa.cli.console import Console
from prosa.cli.errors import OK
from prosa.cli.parser import WrongUse
from prosa.source import FileProblem


def export(args: argparse.Namespace, console: Console) -> int:
    """Print the chat in another form, or write it to ``--output``."""
    from prosa.app.convert.chats import export_chat
    from prosa.cli.run.delivery import require_writable

    if not args.file.exists():
        raise FileProblem(args.file, "missing", "no such file")
    require_writable(args.output)
    text = export_chat(ready(args, console), args.exported)
    if args.output is None:
        console.out(text, end="")
        return OK
    from prosa.app.text_files import write_output

    write_output(args.output, text)
    return OK


def bring_in(args: argparse.Namespace, console: Console) -> int:
    """Make a new chat of a file in another form. Raises `WrongUse` where there is a chat already."""
    from prosa.app.convert.chats import import_chat
    from prosa.app.text_files import write_new
    from prosa.cli.run.input import content_of
    from prosa.convert.exchange import ExchangeProblem

    form, origin = args.imported
    if form not in FORMS:
        raise WrongUse(f"--import {form}: unknown form", hint=f"known are {', '.join(FORMS)}")
    if args.file.exists():
        raise WrongUse(f"{args.file} exists; nothing was written", hint="name a new file")
    if not args.file.parent.is_dir():
        raise WrongUse(f"{args.file}: the folder {args.file.parent} does not exist")
    content = content_of(origin if origin == "-" else f"@{origin}", console, args.max_size)
    try:
        text, notes = import_chat(form, content, Path(origin).name)
    except ExchangeProblem as problem:
        raise WrongUse(f"{'standard input' if origin == '-' else origin}: {problem}") from None
    if not write_new(args.file, text):
        raise WrongUse(f"{args.file} exists; nothing was written", hint="name a new file")
    for note in notes:
        console.note(f"note: {note}")
    console.note(f"wrote {args.file}")
    return OK
