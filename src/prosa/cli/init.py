"""`prosa init`: write the files that a project needs to work with Prosa, and only absent ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.documents import add_format
from prosa.cli.errors import say
from prosa.cli.parser import WrongUse
from prosa.diagnostics.nearest import UnknownName
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.init import Part


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `init`."""
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="the project (default: .)")
    parser.add_argument(
        "--only",
        action="append",
        choices=("settings", "hook", "workflow", "agents", "skill"),
        help="only this part: prosa.toml, a pre-commit hook, a GitHub workflow, instructions for agents, a skill",
    )
    parser.add_argument(
        "--host",
        action="append",
        metavar="NAME",
        help="write what this host reads: claude, codex, copilot, cursor or gemini (default: those with files here or a"
        " program on the PATH)",
    )
    parser.add_argument(
        "--ci", action="store_true", help="only the GitHub workflow, which checks and replays recorded tests"
    )
    parser.add_argument("--diff", action="store_true", help="show what would be written, and write nothing")
    parser.add_argument("--dry-run", action="store_true", help="name what would be written, and write nothing")
    add_format(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0; 1 where a file could not be written, and with `--diff` where there is a difference."""
    from prosa.app.init import PARTS, plan_parts, write_parts
    from prosa.app.init_hosts import hosts_named, used_hosts

    if args.diff and args.format != "text":
        raise WrongUse("--diff prints a diff; it has no --format", hint="--dry-run --format json names the files")
    folder = Path(args.folder)
    if not folder.is_dir():
        raise FileProblem(folder, "missing", "no such folder")
    wanted = [*(args.only or ()), *(["workflow"] if args.ci else ())]
    used = () if args.host else used_hosts(folder, console.environ)
    if used and not {"agents", "skill"}.isdisjoint(wanted or PARTS):
        console.note(f"agents here: {', '.join(f'{host.host.title} ({host.shown_by})' for host in used)}")
    try:
        hosts = hosts_named(args.host) if args.host else [host.host for host in used]
    except UnknownName as error:
        raise WrongUse(f"unknown {error.what} {error.name!r}", hint=error.hint) from None
    parts = plan_parts(folder, wanted or list(PARTS), hosts)
    for part in parts:
        if part.why:
            console.note(f"left alone: {part.path}: {part.why}")
        if part.by_hand:
            console.note(f"to add by hand:\n{part.by_hand}")
    new = [part for part in parts if not part.why]
    if args.diff:
        from prosa.render.diff import render_diff

        for part in new:
            console.out(render_diff(str(part.path), part.before.text if part.before else "", part.after), end="")
        return int(bool(new))
    refused = {} if args.dry_run else write_parts(parts)
    for words in refused.values():
        say(console, words, cause="not-written")
    put = [part for part in new if part.path not in refused]
    if args.format == "json":
        _print(put, [part for part in parts if part.why], console, written=not args.dry_run)
    else:
        for part in put:
            verb = "would write" if args.dry_run else "wrote"
            console.out(f"{verb} {part.path}" if part.before is None else f"{verb} to {part.path}")
    return int(bool(refused))


def _print(put: Sequence[Part], left: Sequence[Part], console: Console, *, written: bool) -> None:
    """Print the files as JSON: those that are written, and those that were left alone, with what to add by hand."""
    from prosa.render.json import dump

    files: list[dict[str, str | bool]] = [{"path": str(part.path), "new": part.before is None} for part in put]
    alone = [{"path": str(part.path), "reason": part.why, "by_hand": part.by_hand or None} for part in left]
    console.out(dump({"files": files, "written": written, "left": alone}, indent=2))
