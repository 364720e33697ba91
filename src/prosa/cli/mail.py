"""`prosa mail`: mailboxes of programs. Thin: open, query, print (L47).

`prosa mail` lists them, `prosa mail NAME` the content of one, `prosa mail send NAME JSON` sends. A mailbox named
`send` is written as `./send`.
"""

from __future__ import annotations

import argparse
import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from prosa.cli.argument_types import count, store_place
from prosa.cli.console import Console
from prosa.cli.errors import OK
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.records.run import StorePlace
    from prosa.runtime.mail import MessageFilter, MessageRecord

SHOWN = 50
SEND = "send"
EXAMPLE = """prosa mail send NAME '{"text": "hello"}'"""
_FILTERS = {"sender": "--from", "since": "--since", "where": "--where", "text": "--text", "dead": "--dead"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `prosa mail`."""
    parser.add_argument(
        "words", nargs="*", metavar="NAME | send NAME JSON", help="a mailbox; or send JSON, @FILE or - to one"
    )
    chosen = parser.add_argument_group("which messages")
    chosen.add_argument("--from", dest="sender", metavar="SENDER", help="those of a program, or of `user`")
    chosen.add_argument("--since", metavar="WHEN", help="sent since: 7d, 12h, or a date")
    chosen.add_argument("--text", metavar="TEXT", help="with a text in the payload, in any case")
    chosen.add_argument("--where", metavar="EXPRESSION", help="that meet a condition, such as 'payload.urgent = true'")
    chosen.add_argument("--dead", action="store_true", help="dead letters, which are not delivered again")
    chosen.add_argument("--limit", type=count, default=SHOWN, metavar="N", help=f"the last N ({SHOWN})")
    chosen.add_argument("-w", "--watch", action="store_true", help="print messages as they arrive, until Ctrl-C")
    parser.add_argument("--retry", metavar="ID", help="deliver a dead letter again")
    parser.add_argument("--store", type=store_place, metavar="PATH|URL", help="the store of messages (default: yours)")
    parser.add_argument("--format", choices=("text", "json", "jsonl"), default="text", help="how to print (text)")


def run(args: argparse.Namespace, console: Console) -> int:
    """0. Raises `RunError` for a mailbox, a message or a store that is not there or cannot be used."""
    from prosa.app.journal.place import store_of

    _require_sense(args)
    place = store_of(args.store, console.environ)
    if args.retry is not None:
        return _retry(args, place, console)
    if args.words[:1] == [SEND]:
        return _send(args, place, console)
    if args.watch:
        return _watch(args, place, console)
    if args.words or _filters(args):
        return _list(args, place, console)
    return _boxes(args, place, console)


def _filters(args: argparse.Namespace) -> list[str]:
    """Return the flags that choose among messages."""
    return [flag for name, flag in _FILTERS.items() if getattr(args, name)]


def _require_sense(args: argparse.Namespace) -> None:
    sends, filters = args.words[:1] == [SEND], _filters(args)
    if sends and len(args.words) != 3:
        what = "which mailbox, and what?" if len(args.words) < 3 else "one mailbox and one payload"
        raise WrongUse(what, hint="prosa mail send NAME JSON; a mailbox called send is ./send")
    if not sends and len(args.words) > 1:
        raise WrongUse("one mailbox is read at a time", hint="to send: prosa mail send NAME JSON")
    if sends and (filters or args.watch or args.retry):
        raise WrongUse(f"{(*filters, '--watch')[0]} selects existing messages and cannot be used with send")
    if args.retry is not None and (args.words or filters or args.watch):
        raise WrongUse("--retry takes one message and no other option")
    if args.watch and not args.words:
        raise WrongUse("which mailbox?", hint="prosa mail NAME --watch")


def _boxes(args: argparse.Namespace, place: StorePlace, console: Console) -> int:
    from prosa.app.mail.post import box_list
    from prosa.render.json import dump
    from prosa.render.rows import boxes_table

    countses = box_list(place)
    if args.format == "json":
        console.out(dump({"mailboxes": [counts.as_dict() for counts in countses]}, indent=2))
    elif args.format == "jsonl":
        for counts in countses:
            console.out(dump(counts.as_dict()))
    elif countses:
        console.out(boxes_table(countses))
    else:
        console.err("no messages")
    return OK


def _list(args: argparse.Namespace, place: StorePlace, console: Console) -> int:
    from prosa.app.mail.post import message_list
    from prosa.render.json import dump
    from prosa.render.rows import message_lines

    records = message_list(place, _chosen(args))
    if args.format == "json":
        console.out(dump({"messages": [record.for_people() for record in records]}, indent=2))
        return OK
    for record in records:
        console.out(dump(record.for_people()) if args.format == "jsonl" else "\n".join(message_lines(record)))
    if not records and args.format == "text":
        console.err("no messages")
    return OK


def _watch(args: argparse.Namespace, place: StorePlace, console: Console) -> int:
    from prosa.app.mail.post import coming
    from prosa.app.run.world import system_clock
    from prosa.render.json import dump
    from prosa.render.rows import message_lines

    def show(record: MessageRecord) -> None:
        console.out("\n".join(message_lines(record)) if args.format == "text" else dump(record.for_people()))

    async def work() -> None:
        async for record in coming(place, _chosen(args), system_clock()):
            show(record)

    asyncio.run(work())
    return OK


def _send(args: argparse.Namespace, place: StorePlace, console: Console) -> int:
    from prosa.app.mail.post import send_message
    from prosa.cli.run.input import parse_input
    from prosa.render.json import dump

    _, name, text = args.words
    sent = send_message(
        place,
        name,
        parse_input(text, console, what="the payload", example="""prosa mail send NAME '{"text": "hello"}'"""),
    )
    console.out(dump(sent.for_people(), indent=2) if args.format == "json" else sent.id)
    return OK


def _retry(args: argparse.Namespace, place: StorePlace, console: Console) -> int:
    from prosa.app.mail.post import retry_message
    from prosa.render.json import dump

    record = retry_message(place, args.retry)
    if args.format == "text":
        console.note(f"{record.id} waits again in {record.mailbox}")
    else:
        console.out(dump(record.for_people(), indent=2 if args.format == "json" else None))
    return OK


def _chosen(args: argparse.Namespace) -> MessageFilter:
    """Raise `WrongUse`, and `MailRefused` for a name that no mailbox has."""
    from prosa.corpus.where import WhereError, parse_where
    from prosa.runtime.mail import MessageFilter, address_of

    try:
        where = None if args.where is None else parse_where(args.where, bare=True)
    except WhereError as error:
        raise WrongUse(f"--where: {error}") from None
    return MessageFilter(
        mailbox=address_of(args.words[0]) if args.words else None,
        sender=args.sender,
        after=None if args.since is None else _moment(args.since),
        text=args.text,
        where=where,
        states=("dead",) if args.dead else (),
        limit=args.limit,
    )


def _moment(text: str) -> str:
    from prosa.app.journal.history import moment

    try:
        return moment(text, datetime.now(UTC))
    except ValueError:
        hint = "an age such as 7d or 12h, or a date such as 2026-03-01"
        raise WrongUse(f"--since {text[:40]}: that is not a moment", hint=hint) from None
