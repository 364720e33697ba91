"""`prosa check`: diagnostics for documents and what they import, and fixes. Parses, has `app.check` do it, prints."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import STDIN, Group, gather_named, judged_by
from prosa.cli.argument_types import chosen_dialect, size_in_bytes
from prosa.cli.console import Console
from prosa.cli.documents import (
    add_folder_options,
    add_hidden_options,
    add_reading_options,
    add_work_options,
    say_skipped,
)
from prosa.cli.errors import say
from prosa.cli.parser import WrongUse
from prosa.cli.progress import progress
from prosa.cli.reports import LINKED, REPORTS, Reported, report_files, write_reports
from prosa.diagnostics import Diagnostic, Severity
from prosa.diagnostics.nearest import UnknownName
from prosa.dialects.table import WHICH_DOCUMENTS
from prosa.rules.policy import SPECIFICATIONS
from prosa.settings.environment import given_here
from prosa.source import TextFiles

if TYPE_CHECKING:
    from prosa.app.check.baseline import Baseline
    from prosa.app.check.fix import Change, Fixes

MANY = 200
"""Documents from which on a status line is worth showing."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `check`."""
    parser.add_argument(
        "paths", nargs="*", default=[], metavar="PATH", help="files and folders (default: .); - is standard input"
    )
    add_reading_options(parser)
    add_folder_options(parser)
    add_hidden_options(parser)
    parser.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="RULES",
        help="report only these rules: names, codes, beginnings of codes",
    )
    parser.add_argument("--ignore", action="append", default=[], metavar="RULES", help="do not report these rules")
    parser.add_argument(
        "--profile",
        choices=tuple(SPECIFICATIONS),
        help="check against a specification alone; agentskills: SKILL.md files, by the rules of Agent Skills; "
        "mda: .mda files, and what is compiled from them",
    )
    parser.add_argument("--fix", action="store_true", help="apply the fixes that are safe")
    parser.add_argument("--unsafe-fixes", action="store_true", help="also apply fixes that may change a meaning")
    parser.add_argument("--diff", action="store_true", help="show what fixes would change, and write nothing")
    parser.add_argument("--dry-run", action="store_true", help="say what --fix would do; write nothing")
    parser.add_argument(
        "--format", choices=REPORTS, default="text", metavar="FORMAT", help=f"how to print: {', '.join(REPORTS)}"
    )
    parser.add_argument(
        "--report", action="append", default=[], metavar="FORMAT=FILE", help="also write this format to a file"
    )
    parser.add_argument(
        "--fail-on",
        choices=(*(severity.value for severity in Severity), "never"),
        default=Severity.ERROR.value,
        help="the least severity that makes the exit status 1 (default: error)",
    )
    _about_signatures(parser)
    group = parser.add_argument_group("large repositories")
    group.add_argument("--baseline", metavar="FILE", help="report only findings that this file does not hold")
    group.add_argument(
        "--write-baseline",
        nargs="?",
        const="",
        metavar="FILE",
        help="write the present findings into FILE (default: that of --baseline, else prosa-baseline.json)",
    )
    group.add_argument(
        "--changed-since", metavar="REV", help="check only documents that changed since this revision of git"
    )
    parser.add_argument("--statistics", action="store_true", help="print counts for each rule instead of findings")
    parser.add_argument(
        "--context-tokens",
        action="store_true",
        help="print the tokens that each host loads at PATH before the first word",
    )
    parser.add_argument("--stdin-filename", metavar="NAME", help="the name to give standard input; imports start there")
    parser.add_argument("-w", "--watch", action="store_true", help="check again whenever a document changes")
    add_work_options(parser)


def _about_signatures(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("signed documents")
    group.add_argument(
        "--keys",
        action="append",
        default=[],
        metavar="[DOMAIN=]FILE",
        help="verify signatures of MDA documents with the public keys in a file (mda-keys.json)",
    )
    group.add_argument("--trust-policy", metavar="FILE", help="which signers make an MDA document trusted, as JSON")


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when nothing is as bad as `--fail-on` says, 1 otherwise. Raises `WrongUse` when there is nothing to check."""
    if args.context_tokens:
        return _context_tokens(args, console)
    report_files(args.report)  # invalid settings are reported before any check
    if args.watch:
        from prosa.cli.watch_documents import watch_documents

        return watch_documents(args, console, lambda: _once(args, console, named_groups(args, console)))
    return _once(args, console, named_groups(args, console))


def _context_tokens(args: argparse.Namespace, console: Console) -> int:
    """Print what each host loads at a path before the first word."""
    from prosa.app.check.host_view import host_views
    from prosa.render.hosts import host_object, render_tokens
    from prosa.render.json import dump

    if len(args.paths) > 1:
        raise WrongUse("--context-tokens takes one path")
    views = host_views(Path(args.paths[0] if args.paths else "."))
    if args.format == "json":
        console.out(dump([host_object(view, texts=False) for view in views], indent=2))
    else:
        console.out(render_tokens(views))
    return 0


def named_groups(args: argparse.Namespace, console: Console) -> tuple[Group, ...]:
    """Return the documents that a command line names. Raises `WrongUse` when there are none."""
    paths = args.paths or [STDIN if args.stdin_filename else "."]
    named = gather_named(
        paths,
        console.read_bytes,
        stdin_name=args.stdin_filename,
        root=args.root,
        max_size=size_in_bytes(args.max_size),
        gitignore=args.gitignore,
        agents=not args.skip_hidden,
        manifests=True,
        given=given_here(console.environ),
    )
    say_skipped(named.skipped, args, console)
    if not named.count:
        raise WrongUse(f"no documents in {', '.join(paths)}", hint=WHICH_DOCUMENTS)
    groups = judged_by(args.profile, named.groups) if args.profile else named.groups
    if not groups:
        names = " or ".join(SPECIFICATIONS[args.profile].file_names)
        raise WrongUse(f"no {names} in {', '.join(paths)}", hint=f"--profile {args.profile} judges {names} alone")
    return groups


def _once(args: argparse.Namespace, console: Console, groups: Sequence[Group]) -> int:
    known = _known(args)
    if (args.keys or args.trust_policy) and (args.fix or args.unsafe_fixes or args.diff or args.dry_run):
        raise WrongUse("--keys and --trust-policy verify, and fix nothing", hint="fix first, then sign and verify")
    if args.changed_since is not None:
        groups = _changed(groups, args.changed_since, console)
    count = sum(len(group.paths) for group in groups)
    with checker(args, console, count) as how:
        if args.fix or args.unsafe_fixes or args.diff or args.dry_run:
            return _fix(groups, how, args, console, known)
        diagnostics = _verified(groups, how, args) if args.keys or args.trust_policy else how.diagnostics(groups)
    if args.write_baseline is not None:
        return _write_baseline(known, diagnostics, groups, console)
    return judge(diagnostics, groups, args, console, known)


def _verified(groups: Sequence[Group], how: Checker, args: argparse.Namespace) -> tuple[Diagnostic, ...]:
    """Return the findings, with signatures verified by keys in files. Raises `WrongUse`."""
    from prosa.app.check.verify import UnusableTrust, trust_of, verified_diagnostics

    try:
        return verified_diagnostics(how, groups, trust_of(args.keys, args.trust_policy))
    except UnusableTrust as error:
        raise WrongUse(str(error), hint=error.hint) from None


def _known(args: argparse.Namespace) -> Baseline | None:
    """Return the baseline of a command line. Raises `WrongUse` and `FileProblem`."""
    if args.baseline is None and args.write_baseline is None:
        return None
    from prosa.app.check.baseline import DEFAULT_NAME, open_baseline

    if args.write_baseline is not None and (args.fix or args.unsafe_fixes or args.diff or args.dry_run):
        raise WrongUse("--write-baseline writes what is found, and fixes nothing", hint="fix first, then write it")
    if args.write_baseline is not None and (args.select or args.ignore or args.profile):
        hint = "a choice of rules that lasts belongs into prosa.toml"
        raise WrongUse("--write-baseline writes the findings of all rules of the project", hint=hint)
    if args.write_baseline and Path(args.write_baseline).is_dir():
        hint = f"name the folder first: prosa check {args.write_baseline} --write-baseline"
        raise WrongUse(f"--write-baseline {args.write_baseline}: that is a folder", hint=hint)
    name = args.write_baseline or args.baseline or DEFAULT_NAME
    return open_baseline(Path(name), new=args.write_baseline is not None)


def _changed(groups: Sequence[Group], revision: str, console: Console) -> Sequence[Group]:
    """Return the documents that changed, and say how many. Raises `WrongUse`."""
    from prosa.app.check.changed import UnknownRevision, changed_groups

    try:
        changed = changed_groups(groups, revision)
    except UnknownRevision as error:
        raise WrongUse(f"--changed-since: {error}") from None
    console.note(f"{changed.count:,} of {_count(changed.of, 'document')} changed since {revision}")
    return changed.groups


def _write_baseline(
    known: Baseline | None, diagnostics: Sequence[Diagnostic], groups: Sequence[Group], console: Console
) -> int:
    """Write the findings, and say what is in the file now."""
    assert known is not None
    written = known.replaced(diagnostics, groups)
    kept = f"{known.path} holds {_count(written.count, 'finding')}"
    console.out(f"{kept}: {written.new:,} new, {written.dropped:,} stale ones dropped.")
    return 0


def judge(
    diagnostics: Sequence[Diagnostic],
    groups: Sequence[Group],
    args: argparse.Namespace,
    console: Console,
    known: Baseline | None,
) -> int:
    """Report what is found, or what of it is new, and return the exit status."""
    if known is None:
        report(diagnostics, groups, args, console)
        return failed(diagnostics, args.fail_on)
    parts = known.split(diagnostics, groups)
    chosen = bool(args.select or args.ignore or args.profile)
    report(parts.new, groups, args, console, parts.known, 0 if chosen else parts.stale)
    return failed(parts.new, args.fail_on)


@contextlib.contextmanager
def checker(args: argparse.Namespace, console: Console, count: int) -> Iterator[Checker]:
    """Return how to check ``count`` documents, with a status line on a terminal. Raises `WrongUse`."""
    options = CheckOptions(
        chosen_dialect(args.dialect),
        args.strict,
        args.select,
        args.ignore,
        jobs=args.jobs,
        cache=args.cache,
        profile=args.profile,
    )
    with progress(console, wanted=count >= MANY) as status:
        done = _Done(count, status.show)
        try:
            how = Checker.of(options, console.environ, done if status.enabled else None)
        except UnknownName as error:
            raise WrongUse(f"unknown {error.what} {error.name!r}", hint=error.hint) from None
        yield replace(how, hashes=False)  # what is printed shows none


class _Done(Struct):
    """Counts documents on the status line."""

    total: int
    show: Callable[[str], None]
    count: int = 0

    def __call__(self, more: int, /) -> None:
        self.count += more
        self.show(f"checked {min(self.count, self.total):,} of {self.total:,} documents")


def failed(diagnostics: Sequence[Diagnostic], least: str) -> int:
    """1 when anything found is at least as severe as ``least``, else 0; `never` is 0 always."""
    severities = [severity.value for severity in Severity]
    bad = severities[: severities.index(least) + 1] if least in severities else []
    return int(any(diagnostic.severity.value in bad for diagnostic in diagnostics))


def report(
    diagnostics: Sequence[Diagnostic],
    groups: Sequence[Group],
    args: argparse.Namespace,
    console: Console,
    known: Sequence[Diagnostic] = (),
    stale: int | None = None,
) -> None:
    """Print the findings in the requested format; under a baseline, ``known`` and ``stale`` are as in `Reported`."""
    paths = [str(path) for group in groups for path in group.paths]
    files = report_files(args.report)
    is_linked = not LINKED.isdisjoint((args.format, *(form for form, _ in files)))
    reported = Reported(diagnostics, paths, _documentation(console) if is_linked else "", known, stale)
    write_reports(files, reported)
    text = (
        _statistics(diagnostics, args.format)
        if args.statistics
        else _text(diagnostics, groups, console)
        if args.format == "text"
        else REPORTS[args.format](reported)
    )
    if text:
        console.out(text, styled=args.format == "text")
    if args.format == "text":
        from prosa.render.text import render_summary

        console.out(render_summary(diagnostics, len(paths)))
    if stale is not None:
        more = f"; {stale:,} of its entries are stale: --write-baseline drops them" if stale else ""
        say_known = f"The baseline holds {_count(len(known), 'finding')} of these documents{more}."
        (console.out if args.format == "text" else console.note)(say_known)


def _documentation(console: Console) -> str:
    """Return where pages of rules are, as the user's settings or the release say."""
    from prosa.app.settings import documentation_address  # only here: most checks read no settings of the user

    return documentation_address(console.environ)


def _fix(
    groups: Sequence[Group], how: Checker, args: argparse.Namespace, console: Console, known: Baseline | None
) -> int:
    """Apply fixes, also of known findings, and report the remaining ones that are new. Return 1 if an error remains, if
    a file could not be written, and with `--diff` if there is a difference."""
    from prosa.app.check.fix import fix_groups, write_changes

    if args.diff and args.format != "text":
        raise WrongUse("--diff prints a diff; it has no --format")
    fixes = fix_groups(groups, how, unsafe=args.unsafe_fixes)
    for dropped in fixes.dropped:
        diagnostic = dropped.diagnostic
        where = f"{diagnostic.path}:{diagnostic.start.line}"
        console.warn(f"fix not applied: {where}: {diagnostic.message} [{diagnostic.rule}]: {dropped.reason}")
    if args.diff:
        return _show(fixes.changes, console)
    refused = {} if args.dry_run else write_changes(fixes.changes)
    for words in refused.values():
        say(console, words, cause="not-written")
    if any(isinstance(group.files, TextFiles) for group in groups):
        new = fixes.left if known is None else known.split(fixes.left, groups).new
        _print_stdin(groups, fixes, console)
        return int(bool(failed(new, args.fail_on) or refused))
    status = int(bool(judge(fixes.left, groups, args, console, known) or refused))
    written = [change for change in fixes.changes if change.path not in refused]
    if args.format == "text" and written:
        count = sum(change.fixes for change in written)
        verb = "Would fix" if args.dry_run else "Fixed"
        console.out(f"{verb} {_count(count, 'problem')} in {_count(len(written), 'document')}.")
    return status


def _show(changes: Sequence[Change], console: Console) -> int:
    from prosa.render.diff import render_diff

    for change in changes:
        console.out(render_diff(str(change.path), change.before.text, change.after), end="")
    count = sum(change.fixes for change in changes)
    console.note(f"Would fix {_count(count, 'problem')}." if count else "Nothing to fix.")
    return int(bool(changes))


def _print_stdin(groups: Sequence[Group], fixes: Fixes, console: Console) -> None:
    """Print the text of standard input on standard output, fixed or not, and the remaining findings on standard
    error."""
    if fixes.left:
        from prosa.render.text import render_text

        console.err(render_text(fixes.left, color=console.color_err))
    for group in groups:
        if isinstance(group.files, TextFiles):
            fixed = next((change.after for change in fixes.changes if change.is_stdin), group.files.source.text)
            console.out(fixed, end="")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _text(diagnostics: Sequence[Diagnostic], groups: Sequence[Group], console: Console) -> str:
    from prosa.render.text import render_text

    if not diagnostics:
        return ""
    from prosa.app.check.digest import digest

    summary = digest(diagnostics, groups)
    text = render_text(summary.shown, color=console.color, brief=summary.brief)
    return "\n\n".join((text, *summary.advice)) + "\n"


def _statistics(diagnostics: Sequence[Diagnostic], form: str) -> str:
    from prosa.render.text import render_statistics

    if form != "text":
        from prosa.render.json import dump, statistics_objects

        return dump(statistics_objects(diagnostics), indent=2)
    return render_statistics(diagnostics)
