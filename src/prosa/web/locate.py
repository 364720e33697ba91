"""The meaning of a URL of a site: a document, a folder, a file beside documents, or another URL (H7, HA2).

In: a decoded URL path without the prefix. Out: one of these. Only what is published is ever found (X23).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from prosa.app.site.assets import Asset
from prosa.app.site.live import LiveSite
from prosa.app.site.unindexed import has_folder
from prosa.corpus.found import Stamp
from prosa.dialects.mdh.url import NODE_ROOT, exact_url, is_readme, is_reserved
from prosa.site import layout
from prosa.site.layout import Wanted
from prosa.site.view import Form, NodeView
from prosa.source import FileProblem
from prosa.source.url import quoted_path

READY_SECONDS = 30.0
"""How long a request waits for the index where it cannot be answered without it."""


class Document(Struct, frozen=True):
    """A published document, and the form in its URL. ``stamp`` is that of the file before it was read."""

    path: str
    stamp: Stamp
    view: NodeView
    form: Form | None


class LargeDocument(Exception):
    """A document is larger than those that are read into memory."""


class Folder(Struct, frozen=True):
    """A folder without an `index.md`; its path ends with `/`, the root's is empty."""

    path: str
    form: Form | None


class Moved(Struct, frozen=True):
    """Another URL path for the same, percent-encoded, without the prefix."""

    url: str


def locate(site: LiveSite, path: str, most: int | None = None) -> Document | Folder | Asset | Moved | None:
    """Return the target of a decoded URL path. Raises `FileProblem` for a document that cannot be read, and
    `LargeDocument` for one of more than ``most`` bytes."""
    if is_reserved(path):
        return None
    found = _document(site, _wanted(site, path), most) or _document(site, _routed(site, path), most)
    if found is not None:
        return _moved(site, found, path) or found
    return site.assets.at(path[1:], wait=READY_SECONDS) or _folder(site, path)


def document_at(site: LiveSite, path: str) -> str | None:
    """Return the path of the published document at a decoded URL path; None where there is none that can be read."""
    try:
        found = locate(site, path)
    except FileProblem:
        return None
    return found.path if isinstance(found, Document) else None


def _document(site: LiveSite, some: Iterable[Wanted], most: int | None = None) -> Document | None:
    """Return the first that is there and published. Raises `LargeDocument`."""
    for wanted in some:
        stamp = site.stamp(wanted.path)
        if stamp is not None and most is not None and stamp.size > most:
            raise LargeDocument
        if stamp is not None and (view := site.view(wanted.path)) is not None:
            return Document(wanted.path, stamp, view, wanted.form)
    return None


def _routed(site: LiveSite, path: str) -> Iterator[Wanted]:
    """Yield the record that lives at a route, which only the catalogue knows (Y12)."""
    for suffix, form in (("", None), *layout.TWINS):
        url = exact_url(path[1:].removesuffix(suffix)) if path.endswith(suffix) else ""
        row = site.index.catalogue.by_url.get(url)
        if row is not None and row.dialect == "ymj":
            yield Wanted(row.path, form)


def _moved(site: LiveSite, found: Document, path: str) -> Moved | None:
    """Return the folder that a README represents, if it was requested by its own name (HA2)."""
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
    """Yield the document of `/node/ID`, which only the catalogue knows (H7)."""
    if site.options.layout != "id" or not site.index.wait_ready(READY_SECONDS):
        return
    own, form = layout.id_and_form(path)
    for each, asked in ((path.removeprefix(NODE_ROOT), None), (own, form)):
        row = site.index.catalogue.by_id.get(each)
        if row is not None:
            yield Wanted(row.path, asked)
            return


def _folder(site: LiveSite, path: str) -> Folder | Moved | None:
    twin = layout.folder_twin(path)
    if twin is not None and has_folder(site, twin[0]):
        return Folder(*twin)
    if not path.endswith("/"):
        return Moved(quoted_path(f"{path}/")) if has_folder(site, f"{path[1:]}/") else None
    plain = path.rstrip("/")
    if plain and _document(site, (each for each in layout.asked(plain).wanted if each.form is None)):
        return Moved(quoted_path(plain))
    return None
