"""Fixes on the command line: `--fix`, `--unsafe-fixes`, `--diff`. In: groups of documents. Out: files replaced, or a
diff, or the fixed text of standard input; and what is left to do by hand.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from prosa.app.check.gather import Group
from prosa.cli.check import failed, report
from prosa.cli.checking import Checking
from prosa.cli.console import Console
from prosa.cli.writing import Change, write_changes
from prosa.diagnostics import Diagnostic
from prosa.rules.fix import Fixed, fix_documents
from prosa.rules.rank import ordered
from prosa.source import TextFiles


def fix_groups(groups: Sequence[Group], how: Checking, args: argparse.Namespace, console: Console) -> int:
    """Fixes, and reports what is left. 1 when an error is left, when a file could not be written, and with `--diff`
    when there is a difference."""
    if args.diff and args.format != "text":
        from prosa.cli.parser import WrongUse

        raise WrongUse("--diff prints a diff; it has no --format")
    done: list[tuple[Group, Fixed]] = []
    for group in groups:
        found = how.check(group).diagnostics
        done.append((group, _fixed(group, found, how, unsafe=args.unsafe_fixes)))
    for _, fixed in done:
        for dropped in fixed.dropped:
            each = dropped.diagnostic
            console.err(
                f"fix not applied: {each.path}:{each.start.line}: {each.message} [{each.rule}]: {dropped.reason}"
            )
    changes = [change for group, fixed in done for change in _changes(group, fixed.texts)]
    left = (*(each for group in groups for each in group.project.diagnostics), *ordered(_left(done)))
    if args.diff:
        return _show(changes, done, console)
    refused = write_changes(changes, console)
    if _has_stdin(groups):
        _print_stdin(groups, changes, left, console)
        return int(bool(failed(left) or refused))
    report(left, groups, args, console)
    written = [change for change in changes if change not in refused]
    if args.format == "text" and written:
        reals = {group.files.real(change.path) for group, _ in done for change in written}
        count = sum(number for _, fixed in done for real, number in fixed.counts.items() if real in reals)
        console.out(f"Fixed {_count(count, 'problem')} in {_count(len(written), 'document')}.")
    return int(bool(failed(left) or refused))


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _left(done: Sequence[tuple[Group, Fixed]]) -> list[Diagnostic]:
    return [each for _, fixed in done for each in fixed.diagnostics]


def _fixed(group: Group, found: Sequence[Diagnostic], how: Checking, *, unsafe: bool) -> Fixed:
    reals = {str(path): group.files.real(path) for path in group.paths}

    def recheck(texts: Mapping[Path, str], only: object) -> Sequence[Diagnostic]:
        return check(texts=texts, only=only).diagnostics  # type: ignore[arg-type]

    check = partial(how.check, group)
    return fix_documents(found, reals, recheck, unsafe=unsafe)


def _changes(group: Group, texts: Mapping[Path, str]) -> list[Change]:
    """What is to be written, in the order the documents were named."""
    named = [(path, group.files.real(path)) for path in group.paths]
    stdin = group.files.source.path if isinstance(group.files, TextFiles) else None
    return [
        Change(path, group.files.read(path), texts[real], is_stdin=str(path) == stdin)
        for path, real in named
        if real in texts
    ]


def _show(changes: Sequence[Change], done: Sequence[tuple[Group, Fixed]], console: Console) -> int:
    from prosa.render.diff import render_diff

    for change in changes:
        console.out(render_diff(str(change.path), change.before.text, change.after), end="")
    count = sum(fixed.count for _, fixed in done)
    console.err(f"Would fix {_count(count, 'problem')}." if count else "Nothing to fix.")
    return int(bool(changes))


def _has_stdin(groups: Sequence[Group]) -> bool:
    return any(isinstance(group.files, TextFiles) for group in groups)


def _print_stdin(
    groups: Sequence[Group], changes: Sequence[Change], left: Sequence[Diagnostic], console: Console
) -> None:
    """The text of standard input on standard output, fixed or not; what is left to do on standard error."""
    if left:
        from prosa.render.text import render_text

        console.err(render_text(left, color=console.color_err))
    for group in groups:
        if isinstance(group.files, TextFiles):
            fixed = next((change.after for change in changes if change.is_stdin), group.files.source.text)
            console.out(fixed, end="")
