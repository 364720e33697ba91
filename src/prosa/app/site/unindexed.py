"""The content of a folder while there is no catalogue: the folder itself is read, document by document (X23).

In: a site and a folder. Out: the folders inside that hold something published, and the published documents in it. The
number of files is limited: the rest appears once the catalogue exists.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.app.site.files import is_document
from prosa.data.surrogates import has_surrogate
from prosa.site.layout import NodeRow
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.site.live import LiveSite

MAX_LOOKS = 1_000
"""Maximum number of files and folders that are read for one answer."""

MAX_NODES = 200
"""Documents of a folder that are listed."""


def folder_now(site: LiveSite, folder: str) -> tuple[tuple[str, ...], tuple[NodeRow, ...]]:
    """Return the folders inside a folder, whose path ends with `/` or is empty, and its documents."""
    budget = iter(range(MAX_LOOKS))
    names = _names(site, folder)
    rows = (_row(site, f"{folder}{name}") for name in islice(filter(is_document, names), MAX_NODES))
    inner = (f"{folder}{name}/" for name in names)
    return tuple(child for child in inner if _holds(site, child, budget)), tuple(row for row in rows if row is not None)


def has_folder(site: LiveSite, folder: str) -> bool:
    """Return whether something that is published lies in a folder or below it. The root always is there."""
    if not folder:
        return True
    if site.index.is_ready:
        return folder in site.index.catalogue.folders
    return _holds(site, folder, iter(range(MAX_LOOKS)))


def _holds(site: LiveSite, folder: str, budget: Iterator[int]) -> bool:
    waiting = [folder]
    while waiting and next(budget, None) is not None:
        folder = waiting.pop()
        names = _names(site, folder)
        looked = (name for name in filter(is_document, names) if next(budget, None) is not None)
        if any(_row(site, f"{folder}{name}") for name in looked):
            return True
        waiting += [f"{folder}{name}/" for name in reversed(names)]
    return False


def _names(site: LiveSite, folder: str) -> list[str]:
    """Return the content of a folder, in order; empty for anything but a visible folder. Names that are not valid text
    cannot be in a URL."""
    place = site.files.folder(folder)
    return sorted(name for name in _listed(place) if not has_surrogate(name)) if place is not None else []


def _listed(place: Path) -> list[str]:
    try:
        return os.listdir(place)  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return []


def _row(site: LiveSite, path: str) -> NodeRow | None:
    try:
        view = site.view(path) if site.stamp(path) is not None else None
    except FileProblem:
        return None
    return NodeRow(view.id, view.type, view.title, view.url, path, view.dialect) if view is not None else None
