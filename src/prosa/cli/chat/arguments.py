"""Arguments of `prosa chat`, and the choices they make. In: arguments. Out: values, or `WrongUse`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.app.options import CommandOptions
from prosa.cli.argument_types import add_output, count
from prosa.cli.console import Console
from prosa.cli.options import add_journal, add_limits, add_model, add_options, add_otel, add_recording, add_sites
from prosa.cli.parser import WrongUse
from prosa.regex import regex

if TYPE_CHECKING:
    from prosa.app.chat.prepare import ChatOptions

FORMS = ("openai", "ymj", "llm")
_NAME = regex(r"[\w.-]+")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add all of them."""
    parser.add_argument(
        "file", type=Path, nargs="?", metavar="FILE", help="the chat; a missing or empty file starts a new one"
    )
    parser.add_argument("stdin", nargs="?", choices=("-",), metavar="-", help="add standard input as a message")
    parser.add_argument("--message", metavar="TEXT", help="add a message of the user first")
    parser.add_argument("--as", dest="speaker", metavar="NAME", help="the name of its author: ### @user/NAME:")
    parser.add_argument("-w", "--watch", action="store_true", help="answer whenever the file is saved, until Ctrl-C")
    parser.add_argument("--dry-run", action="store_true", help="print the messages that would be sent; send nothing")
    parser.add_argument("--inspect", action="store_true", help="print the configuration in effect; send nothing")
    parser.add_argument("--force", action="store_true", help="send even if the last message is not the user's")
    parser.add_argument("--format", dest="form", choices=("text", "json"), default="text", help="how to print")
    _add_chat(parser.add_argument_group("configuration and rights"))
    _add_exchange(parser.add_argument_group("other forms"))
    add_model(parser)
    add_options(parser, CommandOptions, "provider", provider="the provider, overriding the chat")
    add_limits(parser)
    add_sites(parser, named=False)
    add_recording(parser)
    add_otel(parser)
    add_journal(parser, "chat")
    parser.add_argument("--summary", action="store_true", help="print the execution summary as JSON on stderr")
    parser.add_argument("--events", metavar="jsonl[:FILE]", help="write every event as a JSON line to stderr or FILE")
    add_options(parser, CommandOptions, "stream", stream="stream replies, overriding the chat")
    parser.add_argument("--no-progress", action="store_true", help="show neither a status line nor the reply on stderr")


def _add_chat(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--config-file",
        dest="config_files",
        action="append",
        type=Path,
        metavar="FILE",
        help="configuration, read last",
    )
    group.add_argument("--no-default-config", action="store_true", help="read no other configuration files")
    group.add_argument(
        "--tool",
        dest="tools",
        action="append",
        metavar="TOOL",
        help="grant python, mcp:NAME=COMMAND, mdh:URL or PROGRAM.md",
    )
    group.add_argument(
        "--skill",
        dest="skills",
        action="append",
        type=Path,
        metavar="DIR",
        help="offer this skill, or all skills in a folder, by name and description",
    )
    group.add_argument("--plugin", dest="plugins", action="append", metavar="NAME", help="allow a plugin")
    group.add_argument(
        "--trusted", action="store_true", help="give the chat, and the files it includes, your permissions"
    )
    group.add_argument("--legacy", action="store_true", help="also read headings and configuration inside code")
    group.add_argument("-n", "--replies", dest="n", type=count, metavar="N", help="how many replies to ask for")


def _add_exchange(group: argparse._ArgumentGroup) -> None:
    forms = ", ".join(FORMS)
    group.add_argument("--export", dest="exported", choices=FORMS, metavar="FORM", help=f"print the chat as {forms}")
    add_output(group, "write that here instead of to stdout")
    group.add_argument(
        "--import",
        dest="imported",
        nargs=2,
        metavar=("FORM", "FROM"),
        help="create FILE, a new chat, from FROM (-: standard input)",
    )


def chat_choices(args: argparse.Namespace) -> ChatOptions:
    """Return what the user chose for the chat."""
    from prosa.app.chat.prepare import ChatOptions
    from prosa.runtime.lower.prapti import MAX_REPLIES

    if args.n is not None and args.n > MAX_REPLIES:
        raise WrongUse(f"-n {args.n}: at most {MAX_REPLIES} replies")
    return ChatOptions(
        config_files=tuple(args.config_files or ()),
        default_config=not args.no_default_config,
        tools=tuple(args.tools or ()),
        plugins=tuple(args.plugins or ()),
        trusted=args.trusted,
        legacy=args.legacy,
        force=args.force,
        n=args.n,
        skills=tuple(args.skills or ()),
    )


def require_sense(args: argparse.Namespace) -> None:
    """Refuse flags that contradict each other. Raises `WrongUse`."""
    modes = ("exported", "imported", "watch", "dry_run", "inspect")
    flags = {"exported": "--export", "imported": "--import", "dry_run": "--dry-run"}
    chosen = [flags.get(mode, f"--{mode}") for mode in modes if getattr(args, mode)]
    if len(chosen) > 1:
        raise WrongUse(f"{chosen[0]} and {chosen[1]} do different things: give one of them")
    if args.watch and args.force:
        raise WrongUse("--watch with --force would answer its own replies without end")
    if args.message is not None and args.stdin:
        raise WrongUse("--message and - both give a message: give one of them")
    if chosen and chosen[0] not in ("--dry-run",) and (args.message is not None or args.stdin):
        raise WrongUse(f"{chosen[0]} takes no message")
    if args.has_output and not args.exported:
        raise WrongUse("--output needs --export", hint="the reply is written into the chat")
    if args.speaker is not None and not _NAME.fullmatch(args.speaker):
        raise WrongUse(f"--as {args.speaker}: a name is made of letters, digits, `_`, `.` and `-`")
    if str(args.file) == "-":
        raise WrongUse("a chat is a file, not standard input", hint="prosa chat FILE - adds standard input")


def message_from(args: argparse.Namespace, console: Console) -> str | None:
    """Return the message to add: that of the flag, with `-` that on standard input, else None. Raises `WrongUse`."""
    if args.message is not None:
        if not args.message.strip():
            raise WrongUse("--message: the message is empty")
        return str(args.message)
    if not args.stdin:
        return None
    from prosa.cli.run.input import content_of

    text = content_of("-", console, args.max_size)
    if not text.strip():
        raise WrongUse("standard input is empty, so there is no message to add")
    return text
