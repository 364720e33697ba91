"""What a URL of a site means: a document, a folder, a file beside documents, or another URL (H7, HA2).

In: a decoded URL path without the prefix. Out: one of these. Only what is published is ever found (X23).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from prosa.app.site.files import VisibleFile
from prosa.app.site.live import LiveSite
from prosa.app.site.unindexed import has_published
from prosa.dialects.mdh.url import NODE_ROOT, exact_url, is_readme, is_reserved
from prosa.site import layout
from prosa.site.assets import NAMED, asset_type, suffix_of
from prosa.site.layout import Wanted
from prosa.site.view import Form, NodeView
from prosa.source import FileProblem
from prosa.source.url import quoted_path

READY_SECONDS = 30.0
"""How long a request waits for the index where it cannot be answered without it."""


class Document(Struct, frozen=True):
    """A published document, and the form that the URL asks for itself. ``place`` is the file as it was before it was
    read."""

    path: str
    place: VisibleFile
    view: NodeView
    form: Form | None


class Folder(Struct, frozen=True):
    """A folder without an `index.md`; its path ends with `/`, the root's is empty."""

    path: str
    form: Form | None


class Asset(Struct, frozen=True):
    """A file that is no document."""

    path: str
    media_type: str


class Moved(Struct, frozen=True):
    """Another URL path for the same, percent-encoded, without the prefix."""

    url: str


def locate(site: LiveSite, path: str) -> Document | Folder | Asset | Moved | None:
    """What is at a decoded URL path. Raises `FileProblem` for a document that cannot be read."""
    if is_reserved(path):
        return None
    found = _document(site, _wanted(site, path)) or _document(site, _routed(site, path))
    return (
        (_moved(site, found, path) if found is not None else None) or found or _asset(site, path) or _folder(site, path)
    )


def document_at(site: LiveSite, path: str) -> str | None:
    """The path of the published document at a decoded URL path; None where there is none that can be read."""
    try:
        found = locate(site, path)
    except FileProblem:
        return None
    return found.path if isinstance(found, Document) else None


def _document(site: LiveSite, some: Iterable[Wanted]) -> Document | None:
    """The first that is there and published."""
    for wanted in some:
        place = site.place(wanted.path)
        if place is not None and (view := site.view(wanted.path)) is not None:
            return Document(wanted.path, place, view, wanted.form)
    return None


def _routed(site: LiveSite, path: str) -> Iterator[Wanted]:
    """The record that lives at a route, which only the catalogue knows (Y12)."""
    for suffix, form in (("", None), *layout.TWINS):
        url = exact_url(path[1:].removesuffix(suffix)) if path.endswith(suffix) else ""
        row = site.index.catalogue.by_url.get(url)
        if row is not None and row.dialect == "ymj":
            yield Wanted(row.path, form)


def _moved(site: LiveSite, found: Document, path: str) -> Moved | None:
    """The folder that a README stands for, where it was asked for by its own name (HA2)."""
    if found.form is not None or not is_readme(found.path) or not found.path.startswith(f"{path[1:]}."):
        return None
    folder = f"/{found.path[: found.path.rfind('/') + 1]}"
    first = _document(site, layout.asked(folder).wanted)
    return Moved(layout.url_of(found.path, stands=True)) if first is not None and first.path == found.path else None


def _wanted(site: LiveSite, path: str) -> Iterator[Wanted]:
    asked = layout.asked(path)
    if asked.id:
        yield from _by_id(site, path)
    yield from asked.wanted


def _by_id(site: LiveSite, path: str) -> Iterator[Wanted]:
    """The document of `/node/ID`, which only the catalogue knows (H7)."""
    if site.options.layout != "id" or not site.index.wait_ready(READY_SECONDS):
        return
    own, form = layout.id_and_form(path)
    for each, asked in ((path.removeprefix(NODE_ROOT), None), (own, form)):
        row = site.index.catalogue.by_id.get(each)
        if row is not None:
            yield Wanted(row.path, asked)
            return


def _asset(site: LiveSite, path: str) -> Asset | None:
    name = path[1:]
    media_type = asset_type(name)
    if not name or media_type is None or site.place(name) is None:
        return None
    if suffix_of(name) in NAMED and not (site.index.wait_ready(READY_SECONDS) and name in site.index.catalogue.linked):
        return None
    return Asset(name, media_type)


def _folder(site: LiveSite, path: str) -> Folder | Moved | None:
    twin = layout.folder_twin(path)
    if twin is not None and _has_folder(site, twin[0]):
        return Folder(*twin)
    if not path.endswith("/"):
        return Moved(quoted_path(f"{path}/")) if _has_folder(site, f"{path[1:]}/") else None
    plain = path.rstrip("/")
    if plain and _document(site, (each for each in layout.asked(plain).wanted if each.form is None)):
        return Moved(quoted_path(plain))
    return None


def _has_folder(site: LiveSite, path: str) -> bool:
    """Whether a folder is there with something that is published in it; the root always is."""
    if not path:
        return True
    if site.index.is_ready:
        return path in site.index.catalogue.folders
    return has_published(site, path)
