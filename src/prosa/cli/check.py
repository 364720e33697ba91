"""`prosa check`: diagnostics for documents and what they import, and fixes. Thin: gather, check, fix, render."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from prosa.app.check.gather import STDIN, Group, gather, read_stdin
from prosa.cli.check_options import add_folder_options, add_reading_options, add_work_options, size_in_bytes
from prosa.cli.checking import Checking, checking
from prosa.cli.console import Console
from prosa.cli.parser import WrongUse
from prosa.diagnostics import Diagnostic, Severity
from prosa.rules.rank import ordered

FORMATS = ("text", "json", "jsonl", "sarif", "github", "junit")


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `check`."""
    parser.add_argument(
        "paths", nargs="*", default=[], metavar="PATH", help="files and folders (default: .); - is standard input"
    )
    add_reading_options(parser)
    add_folder_options(parser)
    parser.add_argument(
        "--select", action="append", default=[], metavar="RULES", help="report only these: names, codes, ML03"
    )
    parser.add_argument("--ignore", action="append", default=[], metavar="RULES", help="do not report these")
    parser.add_argument("--fix", action="store_true", help="apply the fixes that are safe")
    parser.add_argument("--unsafe-fixes", action="store_true", help="apply those too that may change a meaning")
    parser.add_argument("--diff", action="store_true", help="show what fixes would change, and write nothing")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to print (default: text)")
    parser.add_argument("--statistics", action="store_true", help="print how often each rule was broken instead")
    parser.add_argument("--stdin-filename", metavar="NAME", help="what standard input is called; imports start there")
    parser.add_argument("--watch", action="store_true", help="check again whenever a document changes")
    add_work_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when nothing is an error, 1 otherwise. Raises `WrongUse` when there is nothing to check."""
    if args.watch:
        from prosa.cli.watch_documents import watch_documents

        return watch_documents(args, console, lambda: _once(args, console, named_groups(args, console)))
    return _once(args, console, named_groups(args, console))


def named_groups(args: argparse.Namespace, console: Console) -> tuple[Group, ...]:
    """The documents that a command line names. Raises `WrongUse` when there are none."""
    paths = args.paths or [STDIN if args.stdin_filename else "."]
    stdin = read_stdin(console.read_bytes, args.stdin_filename) if STDIN in paths else None
    groups = gather(paths, root=args.root, max_size=size_in_bytes(args.max_size), stdin=stdin, gitignore=args.gitignore)
    if not any(group.paths for group in groups):
        hint = "Prosa looks for .md, .markdown, .mda and .ymj that git does not ignore"
        raise WrongUse(f"no documents in {', '.join(paths)}", hint=hint)
    return groups


def _once(args: argparse.Namespace, console: Console, groups: Sequence[Group]) -> int:
    fixes = args.fix or args.unsafe_fixes or args.diff
    count = sum(len(group.paths) for group in groups)
    with checking(args, console, count) as how:
        if fixes:
            from prosa.cli.fixing import fix_groups

            return fix_groups(groups, how, args, console)
        found = diagnostics(groups, how)
    report(found, groups, args, console)
    return failed(found)


def diagnostics(groups: Sequence[Group], how: Checking) -> tuple[Diagnostic, ...]:
    """What is found in all groups, in reading order; what is wrong with their settings first."""
    settings = [each for group in groups for each in group.project.diagnostics]
    return (*settings, *ordered(each for group in groups for each in how.check(group).diagnostics))


def failed(found: Sequence[Diagnostic]) -> int:
    """1 when anything found is an error, else 0."""
    return int(any(each.severity is Severity.ERROR for each in found))


def report(found: Sequence[Diagnostic], groups: Sequence[Group], args: argparse.Namespace, console: Console) -> None:
    """Prints what was found in the format asked for."""
    paths = [str(path) for group in groups for path in group.paths]
    text = _statistics(found, args.format) if args.statistics else _findings(found, paths, args.format, console)
    if text:
        console.out(text)
    if args.format == "text":
        from prosa.render.text import render_summary

        console.out(render_summary(found, len(paths)))


def _findings(found: Sequence[Diagnostic], paths: Sequence[str], form: str, console: Console) -> str:
    if form == "json":
        from prosa.render.json import render_json

        return render_json(found, len(paths))
    if form == "jsonl":
        from prosa.render.json import render_jsonl

        return render_jsonl(found)
    if form == "sarif":
        from prosa import __version__
        from prosa.render.sarif import render_sarif

        return render_sarif(found, __version__)
    if form == "junit":
        from prosa.render.junit import render_junit

        return render_junit(found, paths)
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
