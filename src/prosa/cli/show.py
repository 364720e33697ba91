"""`prosa show`: what a reader understands of a document, as an outline for people or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prosa.adapters.files.walk import Skipped
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import STDIN, Group, gather, read_stdin
from prosa.cli.check_options import add_hidden_options, add_reading_options, chosen_dialect, size_in_bytes
from prosa.cli.console import Console
from prosa.cli.errors import say
from prosa.cli.parser import WrongUse
from prosa.cli.skipped import say_skipped
from prosa.rules.engine import Checked, CheckedDocument
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.dialects.magi.meta import Lent
    from prosa.rules.subject import Corpus, Facts


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `show`."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and folders; - is standard input")
    add_reading_options(parser)
    add_hidden_options(parser)
    parser.add_argument(
        "--format", choices=("text", "json", "jsonl"), default="text", help="how to print (default: text)"
    )
    parser.add_argument("--stdin-filename", metavar="NAME", help="what standard input is called")


def run(args: argparse.Namespace, console: Console) -> int:
    """0, whatever is wrong in the documents; their findings are part of what is shown. 1 when one cannot be read."""
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
    if unread and len(unread) == sum(len(group.paths) for group in groups):
        raise unread[0]
    shown = [facts for group in groups for facts in _facts(group, args, console)]
    if not shown:
        raise WrongUse(f"no documents in {', '.join(args.paths)}")
    _print(shown, args.format, console)
    for problem in unread:
        say(console, str(problem))
    return int(bool(unread))


def _unreadable(group: Group) -> Iterator[FileProblem]:
    """The documents of a group that cannot be read; the others are shown all the same."""
    for path in group.paths:
        try:
            group.files.read(path)
        except FileProblem as problem:
            yield problem


def _facts(group: Group, args: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    """The facts of every document of a group that can be read."""
    from prosa.render.facts import document_facts

    options = CheckOptions(chosen_dialect(args.dialect), args.strict)
    checked = Checker.of(options, console.environ).check(group, keep=True)
    shown = {
        each.real: document_facts(each, checked.of(each.front.source), lent=_lent(each, checked))
        for each in checked.documents
    }
    return [facts | _url(real, facts, checked) for real, facts in shown.items()]


def _lent(document: CheckedDocument, checked: Checked) -> dict[str, Lent[Any]]:
    """What meta files of its project lend to a document (X33)."""
    if checked.corpus is None or not any("globs" in each.extra for each in _known(checked.corpus)):
        return {}
    from prosa.rules.meta_files import lent_in

    return lent_in(checked.corpus, document.real, document.reading)


def _known(corpus: Corpus) -> Iterator[Facts]:
    yield from corpus.entries.values()
    yield from corpus.metas.values()


def _url(real: Path, facts: dict[str, Any], checked: Checked) -> dict[str, Any]:
    """The URL of an MDH node, where it belongs to a site (HA2)."""
    if facts["dialect"] != "mdh" or checked.corpus is None:
        return {}
    from prosa.rules.mdh.site import md_urls

    return {"md_url": md_urls(checked.corpus).get(real)}


def _print(shown: list[dict[str, Any]], form: str, console: Console) -> None:
    from prosa.render.json import dump

    if form == "json" and len(shown) > 1:
        raise WrongUse(f"--format json shows one document, and there are {len(shown)}", hint="use --format jsonl")
    if form == "json":
        console.out(dump(shown[0], indent=2))
    elif form == "jsonl":
        console.out("\n".join(dump(each) for each in shown))
    else:
        from prosa.render.outline import render_outline

        console.out("\n\n".join(render_outline(each) for each in shown))
