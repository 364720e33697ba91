"""`prosa probe`: the conformance test for MDH, of a running site or a folder (H21). Thin: request or read, judge,
render.

A site is probed by GET and HEAD on the origin of the URL, without credentials; a URL that names this machine literally
permits requests to it (X8).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.argument_types import count
from prosa.cli.console import Console
from prosa.cli.documents import add_bounds
from prosa.cli.errors import say
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.site.probe.report import Report

FORMATS = ("text", "json", "junit", "sarif")

MOST_PAGES = 10_000
"""What `--max-pages` may ask for: a probe is no crawler."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probe`."""
    parser.add_argument("target", metavar="URL|DIR", help="the root node of a running site, or a folder of nodes")
    parser.add_argument("--strict", action="store_true", help="require every SHOULD as well")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to print (default: text)")
    group = parser.add_argument_group("over the network")
    group.add_argument("--max-pages", type=count, metavar="N", help="request at most N pages (200)")
    group.add_argument(
        "--discovery", action="store_true", help="check only the files that agents look for, on any site"
    )
    group.add_argument("--call-reads", action="store_true", help="call each GET action that needs no input once")
    add_bounds(group)


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when every MUST holds, with `--strict` every SHOULD too; 1 otherwise, and where there is no site. Raises
    `WrongUse`."""
    from prosa.site.probe.gather import NoSite

    try:
        if args.discovery and not args.target.lower().startswith(("http://", "https://")):
            raise WrongUse("--discovery is about a running site", hint="prosa build shows the files of a folder")
        is_site = args.target.lower().startswith(("http://", "https://"))
        report = _site(args, console) if is_site else _folder(args)
    except NoSite as problem:
        return say(console, problem.message, problem.hint, cause=problem)
    console.out(_printed(report, args, console), styled=args.format == "text")
    if args.discovery:
        return int(bool(report.failed("MAY")))
    return int(bool(report.failed("MUST", "SHOULD") if args.strict else report.failed("MUST")))


def _site(args: argparse.Namespace, console: Console) -> Report:
    from prosa.app.client.probe import probe_discovery, probe_url
    from prosa.cli.documents import bounds
    from prosa.cli.progress import progress
    from prosa.site.probe.gather import MAX_PAGES
    from prosa.source.url import origin_of

    try:
        origin_of(args.target)
    except ValueError as error:
        raise WrongUse(f"the URL {error}") from None
    most = args.max_pages or MAX_PAGES
    if most > MOST_PAGES:
        raise WrongUse(f"--max-pages {most}: more than {MOST_PAGES}", hint="probe a part of the site")
    with progress(console) as status:
        if args.discovery:
            return probe_discovery(args.target, bounds(args, args.target))
        return probe_url(
            args.target,
            bounds(args, args.target),
            most=most,
            call_reads=args.call_reads,
            progress=lambda done: status.show(f"asked {done:,} questions"),
        )


def _folder(args: argparse.Namespace) -> Report:
    from prosa.app.client.probe import probe_folder
    from prosa.cli.argument_types import size_in_bytes
    from prosa.cli.documents import DEFAULT_MAX_SIZE

    path = Path(args.target)
    if path.exists() and not path.is_dir():
        raise WrongUse(
            f"{args.target}: is not a folder", hint="give the folder that is the root of the site, or its URL"
        )
    report = probe_folder(args.target, max_size=size_in_bytes(args.max_size or DEFAULT_MAX_SIZE))
    if report is None:
        raise WrongUse(f"no documents in {args.target}", hint="Prosa looks for .md files that git does not ignore")
    if not report.pages:
        raise WrongUse(f"no nodes in {args.target}", hint=" ".join(report.notes))
    return report


def _printed(report: Report, args: argparse.Namespace, console: Console) -> str:
    if args.format == "json":
        from prosa.render.probe import render_probe_json

        return render_probe_json(report)
    if args.format == "junit":
        from prosa.render.probe import render_probe_junit

        return render_probe_junit(report, strict=args.strict)
    if args.format == "sarif":
        from prosa import __version__
        from prosa.render.probe import render_probe_sarif

        return render_probe_sarif(report, __version__)
    from prosa.render.probe import render_probe

    return render_probe(report, color=console.color)
