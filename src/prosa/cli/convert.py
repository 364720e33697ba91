"""`prosa convert`: documents of one form made into another, with a report of what came of every part (X31)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.argument_types import size_in_bytes
from prosa.cli.console import Console
from prosa.cli.documents import add_format
from prosa.cli.errors import FAILED, OK, say
from prosa.cli.parser import WrongUse
from prosa.convert.table import ONE_WAY, ORIGINS, ROWS, TARGETS, known_form
from prosa.diagnostics.nearest import UnknownName

if TYPE_CHECKING:
    from prosa.app.convert.convert import ConvertOptions, Result
    from prosa.convert.neutral import FormName
    from prosa.source import SourceText

WAYS = "--from promptfoo --to test, or --from mda --to agents-md"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `convert`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="documents, or folders of skills; - is standard input")
    forms = ", ".join(ROWS)
    parser.add_argument(
        "--to",
        dest="target",
        required=True,
        metavar="FORM",
        help=f"one of {forms}; test, of a promptfoo configuration; "
        "agents-md, claude-md, mcp-server-md, of an MDA document",
    )
    parser.add_argument(
        "--from", dest="origin", metavar="FORM", help="what the documents are (default: by name and shape)"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE|DIR",
        help="write here (default: one result to stdout, several beside their sources)",
    )
    parser.add_argument("--wrap", action="store_true", help="wrap a skill around a program, which stays as it is")
    parser.add_argument("--report", choices=("text", "json"), default="text", help="how to print the report, on stderr")
    parser.add_argument("--strict", action="store_true", help="fail when anything is lost")
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    parser.add_argument("--diff", action="store_true", help="show what would be written, and write nothing")
    parser.add_argument("--dry-run", action="store_true", help="name what would be written, and write nothing")
    add_format(parser)
    parser.add_argument("--max-size", default="10MB", metavar="SIZE", help="largest document (default: 10MB)")


def run(args: argparse.Namespace, console: Console) -> int:
    """0; 1 where a document could not be read, converted or written, and with `--strict` where anything is lost."""
    from prosa.app.convert.convert import convert_documents

    if args.diff and args.format != "text":
        raise WrongUse("--diff prints a diff; it has no --format", hint="--dry-run --format json has the results")
    options = _options(args)
    sources, failed = _sources(args, options, console)
    results = convert_documents(sources, options)
    failed += _say_problems(results, console)
    failed += _put(results, args, options, console)
    if args.format == "json":
        _print(results, console, written=not args.dry_run)
    else:
        _say_report(results, args.report, console)
    lost = any(result.report.loses for result in results)
    return FAILED if failed or (args.strict and lost) else OK


def _options(args: argparse.Namespace) -> ConvertOptions:
    from prosa.app.convert.convert import ConvertOptions, is_folder

    if args.output == "-":
        if args.wrap or args.target == "test" or len(args.files) > 1:
            raise WrongUse("--output -: several files do not fit standard output", hint="--output DIR/")
        args.output = None
    into = args.output is not None and is_folder(args.output, len(args.files))
    if args.wrap and args.target != "skill":
        raise WrongUse("--wrap makes skills", hint="--to skill --wrap")
    if args.wrap and not into and args.output is not None:
        raise WrongUse(f"--output {args.output}: --wrap writes a folder", hint=f"--output {args.output}/")
    if into and Path(args.output).exists() and not Path(args.output).is_dir():
        raise WrongUse(f"--output {args.output} is a file, and there are several results", hint="name a folder")
    return ConvertOptions(
        target=args.target if args.target in TARGETS else _form("--to", args.target),
        origin=args.origin if args.origin in ORIGINS else _form("--from", args.origin) if args.origin else None,
        output=Path(args.output) if args.output is not None else None,
        into=into,
        wrap=args.wrap,
        max_size=size_in_bytes(args.max_size),
    )


def _form(flag: str, name: str) -> FormName:
    try:
        return known_form(name)
    except UnknownName as error:
        if name in ONE_WAY:
            raise WrongUse(f"{flag} {name}: {ONE_WAY[name]}", hint=WAYS) from None
        raise WrongUse(f"{flag} {name}: no such form", hint=f"{error.hint}; forms are {', '.join(ROWS)}") from None


def _sources(args: argparse.Namespace, options: ConvertOptions, console: Console) -> tuple[list[SourceText], int]:
    """Return the documents that can be read, and how many cannot."""
    from prosa.app.check.gather import STDIN, read_stdin
    from prosa.app.convert.convert import read_sources
    from prosa.source import FileProblem

    paths = [Path(name) for name in dict.fromkeys(args.files) if name != STDIN]
    sources = list(read_sources(paths, options.max_size))
    if STDIN in args.files:
        if options.origin is None:
            raise WrongUse("standard input has no name to tell its form by", hint="add --from FORM")
        sources.append(read_stdin(console.read_bytes, None))
    problems = [item for item in sources if isinstance(item, FileProblem)]
    if problems and len(problems) == len(sources):
        raise problems[0]
    for problem in problems:
        say(console, str(problem), cause=problem)
    return [item for item in sources if not isinstance(item, FileProblem)], len(problems)


def _say_problems(results: Sequence[Result], console: Console) -> int:
    wrong = [result for result in results if result.problem]
    for result in wrong:
        say(console, result.problem, result.hint)
    return len(wrong)


def _put(results: Sequence[Result], args: argparse.Namespace, options: ConvertOptions, console: Console) -> int:
    """Print or write the results, and return how many could not be written."""
    from prosa.app.convert.convert import blocked, write_results

    folder = options.output if options.into else None
    files = [file for result in results for file in result.files]
    for file in files:
        if file.path is None and not (args.diff or args.dry_run or args.format == "json"):
            console.out(file.text, end="")
        elif args.diff:
            from prosa.render.diff import render_diff

            console.out(render_diff(str(file.path or "<stdout>"), _there(file.path), file.text), end="")
    if args.diff or args.dry_run:
        reasons = [blocked(file.path, folder, force=args.force) for file in files if file.path is not None]
        if args.dry_run and args.format == "text":
            for file in files:
                console.out(f"would write: {file.path or '<stdout>'}")
        return _refuse([why for why in reasons if why], console)
    refused = write_results(results, folder, force=args.force, on_written=lambda path: console.note(f"wrote {path}"))
    return _refuse(refused, console)


def _print(results: Sequence[Result], console: Console, *, written: bool) -> None:
    """Print the results as JSON: their files, those without a path with their text, and the report."""
    from prosa.render.conversion import reports_data
    from prosa.render.json import dump

    done = [result for result in results if not result.problem]
    files = [
        {"path": str(file.path)} if file.path is not None else {"path": None, "text": file.text}
        for result in done
        for file in result.files
    ]
    report = reports_data([result.report for result in done])
    console.out(dump({"files": files, "written": written, "report": report}, indent=2))


def _refuse(refused: Sequence[str], console: Console) -> int:
    for words in refused:
        hint = "--force replaces it; or give another --output" if " exists;" in words else ""
        say(console, words, hint, cause="not-written")
    return len(refused)


def _there(path: Path | None) -> str:
    """Return the text that a file has now; empty where there is none."""
    from prosa.app.text_files import read_given

    return read_given(path) if path is not None and path.is_file() else ""


def _say_report(results: Sequence[Result], form: str, console: Console) -> None:
    from prosa.render.conversion import report_lines, reports_data
    from prosa.render.json import dump

    done = [result.report for result in results if not result.problem]
    if form == "json":
        console.err(dump(reports_data(done)))
        return
    for report in done:
        for line in report_lines(report):
            console.note(line)
