"""`prosa show`: what a reader understands of a document, as an outline for people or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import STDIN, Group, gather, read_stdin
from prosa.cli.console import Console
from prosa.cli.errors import OK, say
from prosa.cli.options import add_hidden_options, add_reading_options, chosen_dialect, size_in_bytes
from prosa.cli.parser import WrongUse
from prosa.cli.skipped import say_skipped
from prosa.data import Value
from prosa.rules.engine import Checked, CheckedDocument
from prosa.source import FileProblem
from prosa.source.files import Skipped

if TYPE_CHECKING:
    from prosa.dialects.magi.meta import Lent
    from prosa.dialects.ymj.payload import Extracted
    from prosa.render.outline import Structure
    from prosa.rules.subject import Corpus, Facts

    _Shown: TypeAlias = tuple[dict[str, Value], Structure]


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `show`."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and folders; - is standard input")
    add_reading_options(parser)
    add_hidden_options(parser)
    parser.add_argument(
        "--format", choices=("text", "json", "jsonl"), default="text", help="how to print (default: text)"
    )
    parser.add_argument("--stdin-filename", metavar="NAME", help="what standard input is called")
    group = parser.add_argument_group("payload of a YMJ record")
    group.add_argument("--payload", action="store_true", help="write the payload alone, decoded, byte for byte")
    group.add_argument("--selector", metavar="SELECTOR", help="in place of the record's own, first_fenced:csv say")
    group.add_argument("--fallback-body", action="store_true", help="the whole body where nothing is selected or found")


def run(args: argparse.Namespace, console: Console) -> int:
    """0, whatever is wrong in the documents; their findings are part of what is shown. 1 when one cannot be read."""
    _require_payload(args)
    stdin = read_stdin(console.read_bytes, args.stdin_filename) if STDIN in args.paths else None
    skipped = Skipped()
    groups = gather(
        args.paths,
        root=args.root,
        max_size=size_in_bytes(args.max_size),
        stdin=stdin,
        agents=not args.skip_hidden,
        skipped=skipped,
    )
    say_skipped(skipped, args, console)
    unread = [problem for group in groups for problem in _unreadable(group)]
    if args.payload and not unread:
        return _write_payload(groups, args, console)
    if unread and len(unread) == sum(len(group.paths) for group in groups):
        raise unread[0]
    shown = [facts for group in groups for facts in _facts(group, args, console)]
    if not shown:
        raise WrongUse(f"no documents in {', '.join(args.paths)}")
    _print(shown, args.format, console)
    for problem in unread:
        say(console, str(problem))
    return int(bool(unread))


def _require_payload(args: argparse.Namespace) -> None:
    """Refuses what makes no sense with or without ``--payload``. Raises `WrongUse`."""
    given = "--selector" if args.selector is not None else "--fallback-body" if args.fallback_body else ""
    if given and not args.payload:
        raise WrongUse(f"{given} is about the payload", hint="add --payload")
    if args.payload and len(args.paths) > 1:
        raise WrongUse("--payload writes the payload of one record", hint="name one file")
    if args.payload and args.format != "text":
        raise WrongUse("--payload writes the payload as it is", hint="leave --format out")


def _write_payload(groups: Sequence[Group], args: argparse.Namespace, console: Console) -> int:
    """Writes the bytes; 1 where there are none, 2 where the user's selector cannot be used."""
    from prosa.dialects.table import YMJ
    from prosa.dialects.ymj.payload import payload_bytes

    documents = [each for group in groups for each in _checked(group, args, console).documents]
    if len(documents) != 1:
        raise WrongUse("--payload writes the payload of one record", hint="name one file")
    (document,) = documents
    path = document.front.source.path
    model = document.reading.model_of(YMJ)
    if model is None:
        raise WrongUse(f"{path} is no YMJ record and has no payload", hint="--as ymj reads it as one")
    found = payload_bytes(model, args.selector, fallback_body=args.fallback_body)
    if found.data is not None:
        console.out_bytes(found.data)
        return OK
    if args.selector is not None and found.failure in ("unknown", "bad"):
        raise WrongUse(f"--selector {args.selector}: {_words(found)}", hint=_forms())
    hint = "--selector chooses a part of the body, --fallback-body gives all of it"
    return say(console, f"{path}: {_words(found)}", hint if found.failure == "missing" else "")


def _words(found: Extracted) -> str:
    """Why there is no payload."""
    words = {
        "unknown": f"there is no selector of the type `{found.reason}`",
        "bad": f"the selector {found.reason}",
        "costly": f"the selector takes too long: {found.reason}",
        "encoding": f"the payload cannot be decoded: {found.reason}",
    }
    return words.get(found.failure, found.reason)


def _forms() -> str:
    from prosa.dialects.ymj.selectors import SELECTORS

    return f"selectors are {', '.join(row.form for row in SELECTORS)}"


def _unreadable(group: Group) -> Iterator[FileProblem]:
    """The documents of a group that cannot be read; the others are shown all the same."""
    for path in group.paths:
        try:
            group.files.read(path)
        except FileProblem as problem:
            yield problem


def _facts(group: Group, args: argparse.Namespace, console: Console) -> list[_Shown]:
    """The facts of every document of a group that can be read, and the structure of its Markdown."""
    from prosa.render.facts import document_facts

    checked = _checked(group, args, console)
    shown: list[_Shown] = []
    for each in checked.documents:
        facts = document_facts(each, checked.of(each.front.source), lent=_lent(each, checked))
        shown.append((facts | _url(each.real, facts, checked), _structure(each)))
    return shown


def _structure(each: CheckedDocument) -> Structure:
    from prosa.render.outline import Structure

    document, line_of = each.reading.document, each.front.source.position
    return Structure(
        [(heading.level, heading.plain, line_of(heading.span.start).line) for heading in document.headings],
        [(link.destination, line_of(link.span.start).line) for link in document.links],
    )


def _checked(group: Group, args: argparse.Namespace, console: Console) -> Checked:
    options = CheckOptions(chosen_dialect(args.dialect), args.strict)
    return Checker.of(options, console.environ).check(group, keep=True)


def _lent(document: CheckedDocument, checked: Checked) -> dict[str, Lent[Value]]:
    """What meta files of its project lend to a document (X33)."""
    if checked.corpus is None or not any("globs" in each.extra for each in _known(checked.corpus)):
        return {}
    from prosa.rules.meta_files import lent_in

    return lent_in(checked.corpus, document.real, document.reading)


def _known(corpus: Corpus) -> Iterator[Facts]:
    yield from corpus.entries.values()
    yield from corpus.metas.values()


def _url(real: Path, facts: dict[str, Value], checked: Checked) -> dict[str, Value]:
    """The URL of an MDH node, where it belongs to a site (HA2)."""
    if facts["dialect"] != "mdh" or checked.corpus is None:
        return {}
    from prosa.rules.mdh.site import md_urls

    return {"md_url": md_urls(checked.corpus).get(real)}


def _print(shown: list[_Shown], form: str, console: Console) -> None:
    from prosa.render.json import dump

    if form == "json" and len(shown) > 1:
        raise WrongUse(f"--format json shows one document, and there are {len(shown)}", hint="use --format jsonl")
    if form == "json":
        console.out(dump(shown[0][0], indent=2))
    elif form == "jsonl":
        console.out("\n".join(dump(facts) for facts, _ in shown))
    else:
        from prosa.render.outline import render_outline

        console.out("\n\n".join(render_outline(facts, structure) for facts, structure in shown))
