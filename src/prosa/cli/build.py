"""`prosa build`: the site of a folder as static files, for hosts that cannot negotiate (H8, HA7). Thin.

It writes into one folder, replaces only what an earlier build made, and runs nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.documents import add_format
from prosa.cli.errors import say
from prosa.cli.parser import WrongUse
from prosa.cli.site import add_site_options, base_of, live_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prosa.app.site.building import BuildResult, Built
    from prosa.app.site.live import LiveSite
    from prosa.data import Plain
    from prosa.web.context import Web

_FOREIGN = "was not made by a build, or was changed since"
READY_SECONDS = 3_600.0
"""How long the build waits for the index."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `build`."""
    add_site_options(parser, optional=False)
    parser.add_argument("out", metavar="OUT", help="the folder to write into; created if it does not exist")
    other = "write only what agents need, for the site that MkDocs, Docusaurus or Hugo built in this folder"
    parser.add_argument("--beside", metavar="SITE", help=other)
    parser.add_argument("--dry-run", action="store_true", help="name the files that would be written; write nothing")
    add_format(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Return 0; 1 if a foreign file is in the way, or a document cannot be read. Raises `WrongUse`."""
    from prosa.app.site.building import write_files
    from prosa.render.plain import safe
    from prosa.web.context import Sessions, Web
    from prosa.web.static import built_files

    out = Path(args.out)
    if out.exists() and not out.is_dir():
        raise WrongUse(f"{args.out} is not a folder")
    with live_site(args, console) as (site, _):
        _require_apart(out.resolve(), site)
        site.start()
        if not site.index.wait_ready(READY_SECONDS):
            return say(console, f"the index cannot be made: {site.index.complaint}", status=1)
        origin, prefix = base_of(args)
        web = Web(site, Sessions(""), prefix, origin, mcp=site.options.mcp)
        files = built_files(web) if args.beside is None else _beside(args.beside, web, console)
        done = write_files(files, out, console.environ, dry_run=args.dry_run)
    left = "would be left as it is" if args.dry_run else "is left as it is"
    for path in done.kept:
        say(console, f"{safe(path)} {_FOREIGN}; it {left}", cause="not-written")
    for path in done.too_long:
        message = f"{safe(path)} is left out: its name is too long for the file system"
        say(console, message, "give the document a shorter name", cause="not-written")
    if args.format == "json":
        from prosa.render.json import dump

        counts: dict[str, Plain] = {
            "files": done.written,
            "same": done.same,
            "removed": done.removed,
            "left": list(done.kept),
        }
        console.out(dump({"written": not args.dry_run, **counts, "changes": list(done.changes)}, indent=2))
    elif args.dry_run:
        _say_plan(done, args.out, console)
    else:
        counted = f"{done.written:,} files to {safe(args.out)}, {done.same:,} the same, {done.removed:,} removed"
        console.note(f"wrote {counted}")
    return int(bool(done.kept or done.too_long))


def _beside(folder: str, web: Web, console: Console) -> Iterator[Built]:
    """Return the files for the site in another folder; documents without a page there are named. Raises `WrongUse`."""
    from prosa.render.plain import safe
    from prosa.web.beside import beside_files, beside_of

    if not Path(folder).is_dir():
        raise WrongUse(f"--beside {folder}: no such folder", hint="the folder that your generator wrote its pages into")
    made = beside_of(web, Path(folder))
    for path, why in made.found.missing.items():
        console.note(f"note: {safe(path)} is left out: {safe(why)}")
    if not made.found.urls:
        hint = "give the folder that holds the index.html, and the documents that it was built from"
        raise WrongUse(f"no page in {folder} belongs to a document of {web.site.root}", hint=hint)
    console.note(f"{len(made.found.urls):,} documents have pages below {safe(folder)}/{safe(made.found.base)}")
    return beside_files(made)


def _say_plan(done: BuildResult, out: str, console: Console) -> None:
    """Print what a build would do."""
    from prosa.render.plain import safe

    for path in done.changes:
        console.out(f"would write: {safe(path)}")
    console.note(f"{done.written:,} files would be written to {safe(out)}, {done.same:,} are the same")


def _require_apart(out: Path, site: LiveSite) -> None:
    """Raise `WrongUse` for an output that would be part of the next build."""
    if not out.is_relative_to(site.root):
        return
    below = out.relative_to(site.root).as_posix()
    if below == "." or site.would_publish(below):
        hint = "choose a folder outside, or one that git ignores"
        raise WrongUse(f"{out} lies in the folder of the site, and would be part of the next build", hint=hint)
