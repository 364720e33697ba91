"""Where nodes live on a site (H7, HA2): from a file to its URL, from a URL to the files it may mean. Text alone.

In: paths below the root, with `/`; URL paths as they were sent. Out: URL paths; for a request, the files it may mean in
order, and the form that its suffix asks for. Whether a file is there, and may be seen, is not decided here.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from msgspec import Struct

from prosa.dialects.mdh.url import FOLDER_PAGES, NODE_ROOT, SUFFIXES, decoded, is_readme, md_url
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.site.view import Form
from prosa.source.url import SEGMENT_SAFE

LayoutName: TypeAlias = Literal["path", "id"]
"""`path`: a URL for each file, as it lies in its folder. `id`: `/node/ID` (H7); the paths answer too, so that links
between documents stay good."""

LAYOUTS: tuple[LayoutName, ...] = ("path", "id")
TWINS: tuple[tuple[str, Form], ...] = ((".md", "markdown"), (".json", "json"), (".html", "html"))
"""The suffixes of the forms of a node."""

_SPELLED = (*SUFFIXES, *(suffix.upper() for suffix in SUFFIXES))


class Wanted(NamedTuple):
    """A file that a request may mean, and the form that its URL asks for; None where `Accept` decides. A ``folder``
    has an empty name behind its slash."""

    path: str
    form: Form | None


class Asked(Struct, frozen=True):
    """What a URL path asks for. ``path`` is decoded, without the slash in front; ``id`` is set for `/node/ID`."""

    path: str
    wanted: tuple[Wanted, ...]
    id: str = ""


def url_of(path: str, own_id: str = "", layout: LayoutName = "path", *, stands: bool = False) -> str:
    """Return the URL path of a document; a README may stand for its folder. One with an id that no URL can hold lives
    at its path in every layout."""
    if layout == "id" and own_id and not own_id.endswith("/"):
        url = NODE_ROOT + quote(own_id, safe=SEGMENT_SAFE, errors="replace")
        if decoded(url.encode("ascii")) == NODE_ROOT + own_id:
            return url
    return md_url(path, stands=stands)


def twin_of(url: str, form: Form) -> str:
    """Return the URL of one form of a node: `/x.md`, `/x.json`, `/x.html`; of a folder `/a/index.md` (HA7)."""
    suffix = next(suffix for suffix, each in TWINS if each == form)
    return f"{url}index{suffix}" if url.endswith("/") else f"{url}{suffix}"


def asked(path: str) -> Asked:
    """Return what a decoded URL path asks for (HA2, HA7)."""
    name = path[1:]
    if path.startswith(NODE_ROOT) and (own_id := _id_of(path)):
        return Asked(name, tuple(_files(name)), own_id)
    return Asked(name, tuple(_files(name)))


def folder_twin(path: str) -> tuple[str, Form | None] | None:
    """Return the folder whose generated node a decoded path means, with a final `/` unless it is the root, and the
    form; None if it means none."""
    if path.endswith("/"):
        return path[1:], None
    folder, _, last = path[1:].rpartition("/")
    folder = f"{folder}/" if folder else ""
    for suffix, form in TWINS:
        if last == f"index{suffix}":
            return folder, form
    return (folder, None) if last == "index" else None


def id_and_form(path: str) -> tuple[str, Form | None]:
    """Return the id in `/node/ID`, and the form that its suffix asks for, for a node whose id has no such suffix
    itself."""
    own = _id_of(path)
    for suffix, form in TWINS:
        if own.endswith(suffix) and len(own) > len(suffix):
            return own.removesuffix(suffix), form
    return own, None


def _id_of(path: str) -> str:
    return path.removeprefix(NODE_ROOT)


def _files(name: str) -> list[Wanted]:
    """Return files in the order of likelihood: the name itself, the form that a suffix asks for, the index of a
    folder."""
    if not name or name.endswith("/"):
        return [Wanted(f"{name}{each}", None) for each in FOLDER_PAGES]
    found = [Wanted(f"{name}{suffix}", None) for suffix in _SPELLED]
    lowered = name.lower()
    if lowered.endswith(SUFFIXES):
        found.insert(0, Wanted(name, "markdown"))
    elif lowered.endswith(DOCUMENT_SUFFIXES):
        found.insert(0, Wanted(name, None))
    for suffix, form in TWINS:
        if name.endswith(suffix) and len(name) > len(suffix):
            stem = name.removesuffix(suffix)
            found += [Wanted(f"{stem}{each}", form) for each in _SPELLED if f"{stem}{each}" != name]
            if stem.lower().endswith(DOCUMENT_SUFFIXES):
                found.append(Wanted(stem, form))
    twin = folder_twin(f"/{name}")
    if twin is not None:
        found += [Wanted(f"{twin[0]}{each}", twin[1]) for each in FOLDER_PAGES if is_readme(each)]
    return found
