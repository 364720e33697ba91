"""`prosa show`: the parsed content of a document, as an outline for people or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.app.check.check import CheckOptions
from prosa.app.check.gather import gather_named
from prosa.app.check.show import ShownDocument, payload_of, show_groups
from prosa.cli.argument_types import chosen_dialect, size_in_bytes
from prosa.cli.console import Console
from prosa.cli.documents import add_hidden_options, add_reading_options, say_skipped
from prosa.cli.errors import OK, say
from prosa.cli.parser import WrongUse
from prosa.diagnostics.nearest import UnknownName

if TYPE_CHECKING:
    from prosa.dialects.ymj.payload import Extracted
    from prosa.render.outline import ShownFacts, Structure
    from prosa.rules.engine import CheckedDocument


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `show`."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and folders; - is standard input")
    add_reading_options(parser)
    add_hidden_options(parser)
    parser.add_argument(
        "--format", choices=("text", "json", "jsonl"), default="text", help="how to print (default: text)"
    )
    parser.add_argument("--stdin-filename", metavar="NAME", help="the name to give standard input")
    parser.add_argument(
        "--host", metavar="NAME", help="print what this host reads at PATH: claude, codex, copilot, cursor or gemini"
    )
    group = parser.add_argument_group("payload of a YMJ record")
    group.add_argument("--payload", action="store_true", help="write the payload alone, decoded, byte for byte")
    group.add_argument(
        "--selector", metavar="SELECTOR", help="use this selector instead of the record's own, such as first_fenced:csv"
    )
    group.add_argument(
        "--fallback-body", action="store_true", help="use the whole body if nothing is selected or found"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """Return 0, also for documents with findings, which are part of the output; 1 if one cannot be read."""
    _require_payload(args)
    if args.host is not None:
        return _show_host(args, console)
    named = gather_named(
        args.paths,
        console.read_bytes,
        stdin_name=args.stdin_filename,
        root=args.root,
        max_size=size_in_bytes(args.max_size),
        agents=not args.skip_hidden,
    )
    say_skipped(named.skipped, args, console)
    options = CheckOptions(chosen_dialect(args.dialect), args.strict)
    shown = show_groups(named.groups, options, console.environ)
    if shown.unread and not shown.documents:
        raise shown.unread[0]
    if not shown.documents:
        raise WrongUse(f"no documents in {', '.join(args.paths)}")
    if args.payload and not shown.unread:
        return _write_payload(shown.documents, args, console)
    _print(shown.documents, args.format, console)
    for problem in shown.unread:
        say(console, str(problem), cause=problem)
    return int(bool(shown.unread))


def _show_host(args: argparse.Namespace, console: Console) -> int:
    """Print what a host reads at a path. Raises `WrongUse` for a host that is not known."""
    from prosa.app.check.host_view import host_view
    from prosa.render.hosts import host_object, render_host
    from prosa.render.json import dump

    if len(args.paths) > 1:
        raise WrongUse("--host shows one path", hint="name one file or folder")
    try:
        view = host_view(args.host, Path(args.paths[0]))
    except UnknownName as error:
        raise WrongUse(f"unknown host {args.host!r}", hint=error.hint) from None
    if args.format == "text":
        console.out(render_host(view))
    else:
        console.out(dump(host_object(view), indent=2 if args.format == "json" else None))
    return OK


def _require_payload(args: argparse.Namespace) -> None:
    """Refuse what makes no sense with or without ``--payload``. Raises `WrongUse`."""
    flag = "--selector" if args.selector is not None else "--fallback-body" if args.fallback_body else ""
    if flag and not args.payload:
        raise WrongUse(f"{flag} is about the payload", hint="add --payload")
    if args.payload and len(args.paths) > 1:
        raise WrongUse("--payload writes the payload of one record", hint="name one file")
    if args.payload and args.format != "text":
        raise WrongUse("--payload writes the payload as it is", hint="leave --format out")


def _write_payload(documents: Sequence[ShownDocument], args: argparse.Namespace, console: Console) -> int:
    """Write the bytes; 1 where there are none, 2 where the user's selector cannot be used."""
    if len(documents) != 1:
        raise WrongUse("--payload writes the payload of one record", hint="name one file")
    path = documents[0].path
    extracted = payload_of(documents[0], args.selector, fallback_body=args.fallback_body)
    if extracted is None:
        raise WrongUse(f"{path} is not a YMJ record and has no payload", hint="--as ymj reads it as one")
    if extracted.data is not None:
        console.out_bytes(extracted.data)
        return OK
    if args.selector is not None and extracted.failure in ("unknown", "bad"):
        raise WrongUse(f"--selector {args.selector}: {_words(extracted)}", hint=_forms())
    hint = "--selector chooses a part of the body, --fallback-body gives all of it"
    return say(console, f"{path}: {_words(extracted)}", hint if extracted.failure == "missing" else "")


def _words(extracted: Extracted) -> str:
    """Return why there is no payload."""
    words = {
        "unknown": f"there is no selector of the type `{extracted.reason}`",
        "bad": f"the selector {extracted.reason}",
        "costly": f"the selector takes too long: {extracted.reason}",
        "encoding": f"the payload cannot be decoded: {extracted.reason}",
    }
    return words.get(extracted.failure, extracted.reason)


def _forms() -> str:
    from prosa.dialects.ymj.selectors import SELECTORS

    return f"selectors are {', '.join(row.form for row in SELECTORS)}"


def _facts(document: ShownDocument) -> ShownFacts:
    """Return the facts of a document, with those that its reader cannot know."""
    from prosa.render.outline import document_facts

    facts = document_facts(document.document, document.diagnostics, inherited=document.inherited)
    own = facts.own
    if own["dialect"] == "skill_md" and document.reaches is not None:
        own["reaches"] = [reach.facts() for reach in document.reaches]
    elif own["dialect"] == "mdh":
        own["md_url"] = document.md_url
    return facts


def _structure(checked: CheckedDocument) -> Structure:
    """Return the headings and links of its Markdown."""
    from prosa.render.outline import Structure

    document, line_of = checked.reading.document, checked.front.source.position
    return Structure(
        [(heading.level, heading.plain, line_of(heading.span.start).line) for heading in document.headings],
        [(link.destination, line_of(link.span.start).line) for link in document.links],
    )


def _print(shown: Sequence[ShownDocument], form: str, console: Console) -> None:
    from prosa.render.json import dump

    if form == "json" and len(shown) > 1:
        raise WrongUse(f"--format json shows one document, and there are {len(shown)}", hint="use --format jsonl")
    if form == "json":
        console.out(dump(_facts(shown[0]).as_dict(), indent=2))
    elif form == "jsonl":
        console.out("\n".join(dump(_facts(document).as_dict()) for document in shown))
    else:
        from prosa.render.outline import render_outline

        console.out("\n\n".join(render_outline(_facts(document), _structure(document.document)) for document in shown))
