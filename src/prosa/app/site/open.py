"""A site opened to serve or build it, and closed at the end.

In: a folder, options, the environment. Out: a `LiveSite` that is not started yet. Several processes read its
documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.places import is_in_vault
from prosa.adapters.processes import Pool, worker_count
from prosa.app.options import say_nothing
from prosa.app.site.keeper import SiteOptions
from prosa.app.site.live import LiveSite
from prosa.dialects.dialect import Hints
from prosa.dialects.reading import open_document
from prosa.graph.records import own_title
from prosa.settings import Settings
from prosa.source import FileProblem


@contextmanager
def open_site(
    root: Path,
    options: SiteOptions,
    environ: Mapping[str, str],
    settings: Settings,
    *,
    max_size: int,
    notice: Callable[[str], None] = say_nothing,
) -> Iterator[LiveSite]:
    """Return the site below ``root``, a real path; ``max_size`` is that of the largest document, in bytes."""
    count = worker_count()
    workers = Pool(count, fresh=True) if count > 1 else None  # beside the threads of a server
    site = LiveSite(root, options, environ, settings, max_size, workers=workers, notice=notice)
    try:
        yield site
    finally:
        site.close()


def site_name(root: Path) -> str:
    """Return the title of the first page, else the name of the folder."""
    for name in ("index.md", "README.md"):
        try:
            source = RootedFiles(root).read(root / name)
        except FileProblem:
            continue
        title = own_title(open_document(source, Hints(vault=is_in_vault(root))))
        if title:
            return title
    return root.name or "site"
