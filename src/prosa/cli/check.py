"""`prosa check`: diagnostics for documents and what they import. Thin: gather, check, render."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from prosa.cli.check_options import add_reading_options, chosen_dialect, size_in_bytes
from prosa.cli.console import Console
from prosa.cli.documents import STDIN, gather, read_stdin
from prosa.cli.parser import WrongUse
from prosa.diagnostics import Diagnostic, Severity
from prosa.diagnostics.nearest import nearest
from prosa.rules.engine import check_documents
from prosa.rules.rank import ordered
from prosa.rules.table import RULES, is_selector

FORMATS = ("text", "json", "jsonl", "github")


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `check`."""
    parser.add_argument(
        "paths", nargs="*", default=[], metavar="PATH", help="files and folders (default: .); - is standard input"
    )
    add_reading_options(parser)
    parser.add_argument(
        "--select", action="append", default=[], metavar="RULES", help="report only these: names, codes, ML03"
    )
    parser.add_argument("--ignore", action="append", default=[], metavar="RULES", help="do not report these")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to print (default: text)")
    parser.add_argument("--statistics", action="store_true", help="print how often each rule was broken instead")
    parser.add_argument("--stdin-filename", metavar="NAME", help="what standard input is called; imports start there")


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when nothing is an error, 1 otherwise. Raises `WrongUse` when there is nothing to check."""
    paths = args.paths or [STDIN if args.stdin_filename else "."]
    stdin = read_stdin(console, args.stdin_filename) if STDIN in paths else None
    groups = gather(paths, root=args.root, max_size=size_in_bytes(args.max_size), stdin=stdin)
    count = sum(len(group.paths) for group in groups)
    if count == 0:
        raise WrongUse(
            f"no documents in {', '.join(paths)}", hint="prosa check looks for .md, .markdown, .mda and .ymj"
        )
    found: list[Diagnostic] = []
    select, ignore = selectors(args.select), selectors(args.ignore)
    for group in groups:
        checked = check_documents(
            group.paths,
            group.files,
            dialect=chosen_dialect(args.dialect),
            strict=args.strict,
            select=select,
            ignore=ignore,
        )
        found += checked.diagnostics
    _print(ordered(found), count, args, console)
    return int(any(each.severity is Severity.ERROR for each in found))


def selectors(values: Sequence[str]) -> tuple[str, ...]:
    """Rule names and beginnings of codes, given several times or with commas. Raises `WrongUse` for an unknown one."""
    names = tuple(name.strip() for value in values for name in value.split(",") if name.strip())
    for name in names:
        if not is_selector(name):
            guess = nearest(name, (*(rule.name for rule in RULES), *(rule.code for rule in RULES)))
            raise WrongUse(f"unknown rule {name!r}", hint=f"did you mean {guess}?" if guess else "see: prosa explain")
    return names


def _print(found: Sequence[Diagnostic], count: int, args: argparse.Namespace, console: Console) -> None:
    text = _statistics(found, args.format) if args.statistics else _findings(found, count, args.format, console)
    if text:
        console.out(text)
    if args.format == "text":
        from prosa.render.text import render_summary

        console.out(render_summary(found, count))


def _findings(found: Sequence[Diagnostic], count: int, form: str, console: Console) -> str:
    if form == "json":
        from prosa.render.json import render_json

        return render_json(found, count)
    if form == "jsonl":
        from prosa.render.json import render_jsonl

        return render_jsonl(found)
    if form == "github":
        from prosa.render.github import render_github

        return render_github(found)
    from prosa.render.text import render_text

    text = render_text(found, color=console.color)
    return f"{text}\n" if text else ""


def _statistics(found: Sequence[Diagnostic], form: str) -> str:
    from prosa.render.text import render_statistics

    if form != "text":
        from prosa.render.json import dump, statistics_objects

        return dump(statistics_objects(found), indent=2)
    return render_statistics(found)
