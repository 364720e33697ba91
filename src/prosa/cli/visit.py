"""`prosa visit`: read a node of a site, follow its links, or copy the site into a folder.

In: a URL. Out: the node on stdout, with its links and actions; tolerated problems on stderr. Only GET is sent (H1).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.argument_types import count, output_on_disk
from prosa.cli.console import Console
from prosa.cli.documents import add_bounds, bounds, given_token
from prosa.cli.errors import WRONG_USE, say
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.app.client.crawl import Copied, CrawlSummary
    from prosa.site.node import SiteNode

MOST_STEPS = 100
"""Links that one command follows."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `visit`."""
    parser.add_argument("node", metavar="URL", help="the page of a site")
    what = "follow a link: its number, rel, target, text or path; repeat for further steps"
    parser.add_argument("--follow", action="append", default=[], metavar="WHAT", help=what)
    parser.add_argument("--any-origin", action="store_true", help="also follow links to other sites")
    shown = "text for people, markdown as the site has it, json for programs"
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help=shown)
    group = parser.add_argument_group("copying a site")
    group.add_argument("--crawl", metavar="DIR", help="write this page and those it leads to into a folder")
    dry = "read the pages and say what would be copied; write nothing"
    group.add_argument("--dry-run", action="store_true", help=dry)
    group.add_argument("--max-pages", type=count, metavar="N", help="copy at most N pages (200)")
    group.add_argument("--max-depth", type=_depth, metavar="N", help="go at most N links from the page (10)")
    group.add_argument(
        "--delay", type=_delay, metavar="SECONDS", help="seconds to wait between two pages (0.5; 0 for this machine)"
    )
    group.add_argument("--refresh", action="store_true", help="start over instead of continuing an interrupted copy")
    skills = parser.add_argument_group("skills of a site")
    skills.add_argument("--skills", action="store_true", help="list the skills that the site offers")
    one = "a skill to fetch; repeatable (default: all)"
    skills.add_argument("--skill", action="append", default=[], metavar="NAME", help=one)
    into = "fetch skills into folders below DIR, checked against their digests; none of them is run"
    skills.add_argument("-o", "--output", type=output_on_disk, metavar="DIR", help=into)
    network = parser.add_argument_group("over the network")
    network.add_argument("--token-env", metavar="NAME", help="the variable that holds the token for this site")
    add_bounds(network)


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise argparse.ArgumentTypeError(f"expected a number of links, found {text[:20]!r}")
    return int(text)


def _delay(text: str) -> float:
    from prosa.cli.argument_types import seconds

    return 0.0 if text.strip() in ("0", "0s") else seconds(text)


def run(args: argparse.Namespace, console: Console) -> int:
    """0; 1 where the site or the network fails. Raises `WrongUse`."""
    from prosa.site.follow import FollowProblem
    from prosa.site.problems import HttpProblem, RequestError
    from prosa.source.url import normal_url

    try:
        args.node = normal_url(args.node)
    except ValueError as error:
        raise WrongUse(f"the URL {error}", hint="as in: prosa visit https://example.org/") from None
    _check_flags(args)
    try:
        if args.skills:
            return skills(args, console)
        if args.crawl is not None:
            return crawl(args, Path(args.crawl), console)
        return _visit(args, console)
    except HttpProblem as problem:
        return say(console, problem.message, problem.hint, cause=problem)
    except FollowProblem as problem:
        return say(console, str(problem), problem.hint, status=WRONG_USE, cause=problem)
    except RequestError as error:
        return say(console, str(error), status=WRONG_USE, cause=error)


def _check_flags(args: argparse.Namespace) -> None:
    """Refuse flags that would do nothing. Raises `WrongUse`."""
    if args.skills and (args.crawl is not None or args.follow or args.format == "markdown"):
        raise WrongUse("--skills lists or fetches skills, and reads no page", hint="as text, or with --format json")
    if not args.skills and (args.skill or args.output is not None):
        raise WrongUse(f"--{'skill' if args.skill else 'output'} is for skills", hint="add --skills")
    if args.skill and args.output is None:
        raise WrongUse("--skill names a skill to fetch", hint="add --output DIR")
    if args.crawl is None:
        useless = [name for name in ("dry_run", "max_pages", "max_depth", "delay", "refresh") if getattr(args, name)]
        if useless:
            raise WrongUse(f"--{useless[0].replace('_', '-')} is for copying a site", hint="add --crawl DIR")
    elif args.token_env is not None:
        raise WrongUse("no token is sent while a site is copied", hint="leave --token-env out")
    elif args.follow or args.any_origin:
        raise WrongUse("--crawl follows every link of one site, and none elsewhere", hint="leave --follow out")
    elif args.format == "markdown":
        raise WrongUse("--format markdown is for one page; the pages of a copy are files")
    if len(args.follow) > MOST_STEPS:
        raise WrongUse(f"at most {MOST_STEPS} links are followed")


def _visit(args: argparse.Namespace, console: Console) -> int:
    from prosa.app.client.requests import visit_site
    from prosa.app.client.tokens import site_tokens

    tokens = site_tokens(args.node, given_token(args, console), console.environ)
    node = visit_site(args.node, args.follow, bounds(args, args.node), tokens, any_origin=args.any_origin)
    _show(node, args.format, console)
    return 0


def _show(node: SiteNode, form: str, console: Console) -> None:
    from prosa.render.json import dump
    from prosa.render.plain import safe, safe_source
    from prosa.render.visit import visit_object, visit_text

    if form == "json":
        console.out(dump(visit_object(node), indent=2))
        return
    for note in node.notes:
        console.note(f"note: {safe(note)}")
    if form == "text":
        console.out(visit_text(node))
    elif console.stdout.isatty():
        console.out("\n".join(map(safe_source, node.markdown.splitlines())))
    else:
        console.out(node.markdown, end="")


# `prosa visit --skills`: a line for each skill, of those that were not fetched with the reason.


def skills(args: argparse.Namespace, console: Console) -> int:
    """0; 1 where a skill was asked for and not fetched. Raises `WrongUse`, `HttpProblem`, `RunError`."""
    from prosa.app.client.skills import UnknownSkill, fetch_skills, list_skills
    from prosa.app.client.tokens import site_tokens
    from prosa.render.plain import safe
    from prosa.render.visit import fetched_line, skill_lines
    from prosa.site.skills_index import FetchedSkill

    tokens = site_tokens(args.node, given_token(args, console), console.environ)
    states: list[str] = []

    def tell(skill: FetchedSkill) -> None:
        states.append(skill.state)
        console.out(fetched_line(skill, args.format))

    if args.output is None:
        index = list_skills(args.node, bounds(args, args.node), tokens)
        for line in skill_lines(index, args.format):
            console.out(line)
    else:
        folder = Path(args.output)
        if folder.exists() and not folder.is_dir():
            raise WrongUse(f"{folder}: is not a folder")
        try:
            index = fetch_skills(
                args.node, args.skill, folder, bounds(args, args.node), tokens, tell, any_origin=args.any_origin
            )
        except UnknownSkill as error:
            raise WrongUse(str(error), hint=f"prosa visit {args.node} --skills lists them") from None
    if index.complaints and not index.entries:
        return say(
            console, f"the index of skills cannot be used: {'; '.join(index.complaints[:3])}", cause="site-failed"
        )
    for complaint in index.complaints:
        console.warn(f"warning: {safe(complaint)}")
    if missed := sum(state in ("kept", "refused") for state in states):
        what, hint = ("skill was", "its line says") if missed == 1 else ("skills were", "their lines say")
        return say(console, f"{missed:,} {what} not fetched", f"{hint} why", cause="not-written")
    return 0


# `prosa visit --crawl`: a line for each page as it is copied, a summary at the end.

_QUIET = ("moved", "same")
"""What becomes of a URL that is no news for people: another line tells of the page."""


def crawl(args: argparse.Namespace, folder: Path, console: Console) -> int:
    """0; 1 where a file was not written because it is not of the copy. Raises `WrongUse`, `HttpProblem`, `RunError`."""
    from prosa.app.client.crawl import MAX_DEPTH, MAX_PAGES, MOST_PAGES, CrawlLimits, FolderBusy, copy_site

    if folder.exists() and not folder.is_dir():
        raise WrongUse(f"{folder}: is not a folder")
    if (args.max_pages or 0) > MOST_PAGES:
        raise WrongUse(f"--max-pages {args.max_pages}: at most {MOST_PAGES:,} pages are copied")
    limits = CrawlLimits(
        pages=args.max_pages or MAX_PAGES,
        depth=MAX_DEPTH if args.max_depth is None else args.max_depth,
        delay=args.delay,
        refresh=args.refresh,
    )
    try:
        summary = copy_site(
            args.node,
            folder,
            bounds(args, args.node),
            limits,
            lambda copied: _tell(copied, args.format, console),
            environ=console.environ,
            dry_run=args.dry_run,
        )
    except FolderBusy as error:
        raise WrongUse(str(error)) from None
    except KeyboardInterrupt:
        console.err("the partial copy is kept; the same command resumes it")
        raise
    _sum_up(summary, console)
    foreign = summary.counts["foreign"]
    if not foreign:
        return 0
    are = "file is" if foreign == 1 else "files are"
    hint = "move them away, or choose another folder"
    return say(console, f"{foreign:,} {are} not as the copy left them, and not written to", hint, cause="not-written")


def _tell(copied: Copied, form: str, console: Console) -> None:
    from prosa.render.json import dump
    from prosa.render.plain import safe

    if form == "json":
        console.out(
            dump({"url": copied.url, "status": copied.status, "file": copied.file or None, "note": copied.note or None})
        )
    elif copied.file:
        console.out(safe(f"{copied.status:<9}  {copied.file}"))
    elif copied.status not in _QUIET:
        console.err(safe(f"{copied.status}: {copied.url} {copied.note}"))


def _sum_up(summary: CrawlSummary, console: Console) -> None:
    counts = ", ".join(f"{number:,} {status}" for status, number in sorted(summary.counts.items()))
    pages = f"{summary.pages:,} page" + ("" if summary.pages == 1 else "s")
    console.note(f"{pages}: {counts or 'nothing'}" + (" (an earlier copy was gone on with)" if summary.resumed else ""))
    if summary.cut:
        console.note(f"note: {summary.cut}; there may be more")
