"""`prosa enrich`: vectors and hashes into the footers of YMJ records.

With `search --semantic` the only command that sends text of documents anywhere, and never a classified one (X6).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prosa.app.check.gather import gather
from prosa.cli.argument_types import size_in_bytes
from prosa.cli.console import Console
from prosa.cli.documents import add_embedding, add_folder_options, embedding_choice
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.app.corpus.enrich import Enriched


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `enrich`."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="YMJ records, and folders that hold some")
    parser.add_argument("--no-embed", dest="embed", action="store_false", help="write hashes only; nothing is sent")
    parser.add_argument("--force", action="store_true", help="recompute vectors that are still up to date")
    parser.add_argument("--dry-run", action="store_true", help="say what would be written; send and write nothing")
    diff = "show what would change; send and write nothing (vectors are named, not shown)"
    parser.add_argument("--diff", action="store_true", help=diff)
    add_embedding(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    parser.add_argument("--root", metavar="DIR", help="open nothing outside this folder (default: the project)")
    parser.add_argument("--max-size", default="10MB", metavar="SIZE", help="largest document (default: 10MB)")
    add_folder_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when every record is as wanted; 1 when one was left alone that should have been written."""
    from prosa.app.corpus.enrich import EnrichOptions, classified_in, enrich
    from prosa.app.corpus.semantic import choose_embedder
    from prosa.cli.environment import environment_of
    from prosa.cli.progress import progress
    from prosa.cli.run.interaction import run_stoppable

    if args.diff and args.format != "text":
        raise WrongUse("--diff prints a diff; it has no --format", hint="--dry-run --format json names the records")
    args.dry_run = args.dry_run or args.diff
    groups = gather(args.paths, root=args.root, max_size=size_in_bytes(args.max_size), gitignore=args.gitignore)
    if not any(group.paths for group in groups):
        raise WrongUse(f"no documents in {', '.join(args.paths)}")
    environment = environment_of(console, groups[0].root)
    embedder = choose_embedder(embedding_choice(args), environment) if args.embed else None
    secret = classified_in(groups, console.environ) if embedder is not None and embedder.is_remote else frozenset()
    outcomes: list[Enriched] = []
    with progress(console) as status:

        def done(enriched: Enriched) -> None:
            outcomes.append(enriched)
            status.show(f"{len(outcomes)} records")

        run_stoppable(enrich(groups, EnrichOptions(embedder, args.force, args.dry_run, secret), done))
    if not outcomes:
        raise WrongUse(f"no YMJ records in {', '.join(args.paths)}", hint="prosa enrich writes into .ymj files")
    _print(outcomes, args, console)
    return int(any(enriched.became == "left" for enriched in outcomes))


def _print(outcomes: Sequence[Enriched], args: argparse.Namespace, console: Console) -> None:
    """Every record that changed or was left alone, and a count of all."""
    from prosa.render.diff import render_diff
    from prosa.render.json import dump
    from prosa.render.plain import safe

    if args.format == "json":
        rows = [
            {"path": str(enriched.path), "became": enriched.became, "reason": enriched.reason or None}
            for enriched in outcomes
        ]
        console.out(dump({"records": rows}, indent=2))
        return
    would = "would be " if args.dry_run else ""
    say_line = console.note if args.diff else console.out
    for enriched in outcomes:
        if enriched.reason:
            console.err(
                safe(f"{'left alone' if enriched.became == 'left' else 'not sent'}: {enriched.path} {enriched.reason}")
            )
        if enriched.became not in ("left", "unchanged"):
            if args.diff and enriched.before != enriched.after:
                console.out(render_diff(str(enriched.path), enriched.before, enriched.after), end="")
            else:
                say_line(safe(f"{would}{enriched.became}: {enriched.path}"))
    counts = Counter(enriched.became for enriched in outcomes)
    console.note(", ".join(f"{count} {became}" for became, count in counts.items()))
