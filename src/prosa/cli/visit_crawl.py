"""`prosa visit --crawl`: a line for each page as it is copied, a summary at the end."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.errors import FAILED, say
from prosa.cli.network_options import bounds
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.app.client.crawl import Copied, CrawlSummary

_QUIET = ("moved", "same")
"""What becomes of a URL that is no news for people: another line tells of the page."""


def crawl(args: argparse.Namespace, folder: Path, console: Console) -> int:
    """0; 1 where a file was not written because it is not of the copy. Raises `WrongUse`, `HttpProblem`, `RunError`."""
    from prosa.adapters.files.copy_store import CopyStore
    from prosa.app.client.crawl import MAX_DEPTH, MAX_PAGES, MOST_PAGES, Crawl, CrawlLimits

    if folder.exists() and not folder.is_dir():
        raise WrongUse(f"{folder}: is no folder")
    if (args.max_pages or 0) > MOST_PAGES:
        raise WrongUse(f"--max-pages {args.max_pages}: at most {MOST_PAGES:,} pages are copied")
    limits = CrawlLimits(
        pages=args.max_pages or MAX_PAGES,
        depth=MAX_DEPTH if args.max_depth is None else args.max_depth,
        delay=args.delay,
        refresh=args.refresh,
    )
    store = CopyStore(folder, dry_run=args.dry_run)
    walk = Crawl(args.node, bounds(args, args.node), limits, store, lambda each: _tell(each, args.format, console))
    with _alone(folder, console), contextlib.closing(store):
        try:
            summary = walk.run()
        except KeyboardInterrupt:
            console.err("the copy is kept as far as it came; the same command goes on")
            raise
    _sum_up(summary, console)
    foreign = summary.counts["foreign"]
    if not foreign:
        return 0
    are = "file is" if foreign == 1 else "files are"
    hint = "move them away, or choose another folder"
    return say(console, f"{foreign:,} {are} not as the copy left them, and not written to", hint, status=FAILED)


@contextlib.contextmanager
def _alone(folder: Path, console: Console) -> Iterator[None]:
    """Keeps a second copy out of the folder. Raises `WrongUse` while another is at work."""
    from prosa.adapters.files import cache_dir
    from prosa.adapters.files.lock import Locked, only_one

    try:
        place = cache_dir(console.environ)
    except OSError:
        yield  # no safe place for locks: they guard against mistakes only
        return
    try:
        with only_one(folder, place):
            yield
    except Locked:
        raise WrongUse(f"{folder}: another copy is at work there") from None


def _tell(each: Copied, form: str, console: Console) -> None:
    from prosa.render.json import dump
    from prosa.render.plain import safe

    if form == "json":
        console.out(
            dump({"url": each.url, "status": each.status, "file": each.file or None, "note": each.note or None})
        )
    elif each.file:
        console.out(safe(f"{each.status:<9}  {each.file}"))
    elif each.status not in _QUIET:
        console.err(safe(f"{each.status}: {each.url} {each.note}"))


def _sum_up(summary: CrawlSummary, console: Console) -> None:
    counts = ", ".join(f"{number:,} {status}" for status, number in sorted(summary.counts.items()))
    pages = f"{summary.pages:,} page" + ("" if summary.pages == 1 else "s")
    console.note(f"{pages}: {counts or 'nothing'}" + (" (an earlier copy was gone on with)" if summary.resumed else ""))
    if summary.cut:
        console.note(f"note: {summary.cut}; there may be more")
