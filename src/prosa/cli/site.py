"""Shared code of `serve` and `build`: the folder, its layout, its name; and the resulting site."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from prosa.cli.argument_types import size_in_bytes
from prosa.cli.console import Console
from prosa.cli.documents import DEFAULT_MAX_SIZE
from prosa.cli.parser import WrongUse
from prosa.site.layout import LAYOUTS
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.site.live import LiveSite
    from prosa.web.run.runner import Runner


def add_site_options(parser: argparse.ArgumentParser, *, optional: bool = True) -> None:
    """Add the folder, `--name`, `--layout`, `--base-url`, `--exclude`, `--max-size`. An ``optional`` folder is the
    current one."""
    words = "the folder of the site" + (" (default: the current one)" if optional else "")
    if optional:
        parser.add_argument("folder", nargs="?", metavar="DIR", help=words)
    else:
        parser.add_argument("folder", metavar="DIR", help=words)
    group = parser.add_argument_group("site")
    group.add_argument(
        "--name", metavar="TEXT", help="the name of the site (default: `site.name`, else its first page)"
    )
    urls = "path: a URL for each file (default); id: /node/ID"
    group.add_argument("--layout", choices=LAYOUTS, default="path", help=urls)
    public = "the public URL of the site: https://host, with its path"
    group.add_argument("--base-url", metavar="URL", help=public)
    group.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="GLOB",
        help="leave out what this matches; may be repeated, and adds to `site.exclude`",
    )
    group.add_argument("--max-size", default=DEFAULT_MAX_SIZE, metavar="SIZE", help="largest document (default: 10MB)")


def base_of(args: argparse.Namespace) -> tuple[str, str]:
    """Return the origin and the path of `--base-url`, both empty without one. Raises `WrongUse`."""
    from prosa.source.url import origin_of

    if not args.base_url:
        return "", ""
    try:
        origin = str(origin_of(args.base_url))
    except ValueError as error:
        raise WrongUse(f"--base-url {error}") from None
    parts = urlsplit(args.base_url)
    if parts.query or parts.fragment:
        raise WrongUse("--base-url must have neither a query nor a fragment")
    return origin, parts.path.rstrip("/")


@contextmanager
def live_site(
    args: argparse.Namespace, console: Console, make_runner: Callable[[Path], Runner | None] = lambda _: None
) -> Iterator[tuple[LiveSite, Runner | None]]:
    """Return the site, not started yet, and what ``make_runner`` gives for its root. It is closed at the end."""
    from prosa.app.settings import settings_for
    from prosa.app.site.keeper import SiteOptions
    from prosa.app.site.live import open_site, site_name
    from prosa.render.plain import safe

    folder = Path(args.folder or ".")
    if not folder.is_dir():
        if folder.exists():
            raise WrongUse(f"{folder} is not a folder")
        raise FileProblem(folder, "missing", "no such folder")
    base_of(args)
    root = folder.resolve()
    settings = settings_for(root, console.environ, console.err)
    runner = make_runner(root)
    options = SiteOptions(
        name=args.name or settings.site_name or site_name(root),
        layout=args.layout,
        private=getattr(args, "include_private", False),
        actions=runner.program_action if runner is not None else None,
        nav=settings.site_nav,
        exclude=(*settings.site_exclude, *args.exclude),
        signal=settings.site_content_signal or "",
        mcp=settings.site_mcp or "",
    )
    with open_site(
        root,
        options,
        console.environ,
        settings,
        max_size=size_in_bytes(args.max_size),
        notice=lambda text: console.warn(safe(text)),
    ) as site:
        yield site, runner
