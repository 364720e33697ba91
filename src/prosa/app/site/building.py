"""A site as static files, for hosts that cannot negotiate (H8, HA7): what to write where.

In: a site whose graph is there. Out: files by their path below the output, in a fixed order. Every node has three:
`x.html`, `x.md`, `x.json`; pages lead to pages. Nothing is written here.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files.builds import Build, compared
from prosa.adapters.files.lock import Locked, lock_of
from prosa.dialects.mdh.url import is_reserved
from prosa.site.layout import Form, Neighbour, Neighbourhood, NodeView, twin_of
from prosa.site.navigation import Shown
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.site.live import LiveSite

_FORMS: tuple[Form, ...] = ("html", "markdown", "json")


class Built(NamedTuple):
    """A file: its path below the output, and its bytes."""

    path: str
    content: bytes


class BuildResult(Struct, frozen=True):
    """The result of a build: the number of files written, left unchanged, removed; the obstacles, and the files with a
    name that is ``too_long`` for the file system. ``changes`` are the files that a dry run would write."""

    written: int = 0
    same: int = 0
    removed: int = 0
    kept: tuple[str, ...] = ()
    too_long: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


def file_of(url: str, form: Form) -> str:
    """Return the file of one form of a node, below the output."""
    return unquote(twin_of(url, form)).removeprefix("/")


def static_url(url: str) -> str:
    """Return the URL of a node's page among static files; every other URL unchanged."""
    path, mark, rest = url.partition("#")
    return f"{twin_of(path, 'html')}{mark}{rest}" if path.startswith("/") else url


def static_around(near: Neighbourhood | None) -> Neighbourhood | None:
    """Return what stands around a node, with URLs of static pages."""
    if near is None:
        return None

    def moved(some: Iterable[Neighbour]) -> tuple[Neighbour, ...]:
        return tuple(node if node.external else node._replace(url=static_url(node.url)) for node in some)

    return Neighbourhood(*map(moved, (near.relationships, near.links, near.backlinks, near.inside)))


def static_nav(entries: Iterable[Shown]) -> tuple[Shown, ...]:
    """Return the list beside a page, with URLs of static pages."""
    return tuple(replace(entry, url=static_url(entry.url), inside=static_nav(entry.inside)) for entry in entries)


def views_of(site: LiveSite, listed: Callable[[str], NodeView]) -> Iterator[NodeView]:
    """Yield every node of a site, including those of folders without a file, which ``listed`` makes. A document that
    can no longer be read is left out."""
    catalogue = site.index.catalogue
    for folder in catalogue.folders:
        if not catalogue.has_index(folder) and not is_reserved(f"/{folder}"):
            yield listed(folder)
    for row in catalogue.rows:
        try:
            view = site.view(row.path) if not is_reserved(row.url) else None
        except FileProblem:
            continue
        if view is not None:
            yield replace(view, url=row.url)


def write_files(files: Iterable[Built], out: Path, environ: Mapping[str, str], *, dry_run: bool = False) -> BuildResult:
    """Write files below ``out``, each whole or not at all. Obsolete files of an earlier build are removed if
    unchanged; foreign files are never replaced. A ``dry_run`` only reports what would be written. Raises `OSError`,
    also while another build is writing there."""
    if dry_run:
        made = compared(((file.path, file.content) for file in files), out)
        return BuildResult(len(made.changes), made.same, 0, tuple(made.kept), tuple(made.too_long), tuple(made.changes))
    with _alone(out, environ), Build(out) as build:
        for file in files:
            build.put(file.path, file.content)
    return BuildResult(build.written, build.same, build.removed, tuple(build.kept), tuple(build.too_long))


@contextmanager
def _alone(out: Path, environ: Mapping[str, str]) -> Iterator[None]:
    """Keep a second build out of the folder: each removes the journal of the other."""
    try:
        with lock_of(out, environ):
            yield
    except Locked:
        raise OSError(errno.EBUSY, "another build is writing there; wait until it is done", str(out)) from None
