"""A document as a node of a site, and where nodes live on it (H2, H7, HA2). Plain values and text alone.

A URL leads to the files it may mean, in order, and to the form that its suffix asks for. Whether a file is there, and
may be seen, is not decided here. `identity` derives the required fields that the author did not write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from msgspec import Struct, field

from prosa.data import Value
from prosa.dialects import DialectName
from prosa.dialects.mdh.url import FOLDER_PAGES, NODE_ROOT, SUFFIXES, decoded, is_readme, md_url
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.source.url import SEGMENT_SAFE

if TYPE_CHECKING:
    from prosa.dialects.magi.meta import Inherited

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
    suffix = next(suffix for suffix, twin_form in TWINS if twin_form == form)
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
        return [Wanted(f"{name}{page_name}", None) for page_name in FOLDER_PAGES]
    wanted = [Wanted(f"{name}{suffix}", None) for suffix in _SPELLED]
    lowered = name.lower()
    if lowered.endswith(SUFFIXES):
        wanted.insert(0, Wanted(name, "markdown"))
    elif lowered.endswith(DOCUMENT_SUFFIXES):
        wanted.insert(0, Wanted(name, None))
    for suffix, form in TWINS:
        if name.endswith(suffix) and len(name) > len(suffix):
            stem = name.removesuffix(suffix)
            wanted += [Wanted(f"{stem}{ending}", form) for ending in _SPELLED if f"{stem}{ending}" != name]
            if stem.lower().endswith(DOCUMENT_SUFFIXES):
                wanted.append(Wanted(stem, form))
    twin = folder_twin(f"/{name}")
    if twin is not None:
        wanted += [Wanted(f"{twin[0]}{page_name}", twin[1]) for page_name in FOLDER_PAGES if is_readme(page_name)]
    return wanted


Form: TypeAlias = Literal["markdown", "json", "html"]
"""The forms that one URL has (H8)."""


class TypedLink(NamedTuple):
    """An entry of `links` (H10): the relation, and a node id or `url:…`."""

    rel: str
    target: str


class NodeView(Struct, frozen=True):
    """A node.

    ``path`` is the file below the root of the site, with `/`; empty for a node without a file. ``url`` is its `md_url`
    without the prefix of the site. ``derived`` are the added front matter fields, in order, empty for an MDH node;
    ``fields`` all fields of the resulting front matter. ``markdown`` are the bytes of its Markdown form, ``body`` the
    text below its front matter. ``reading`` is None for a node without a file. ``inherited`` are the fields
    that meta files give. ``layout`` is the name of a class for its page; ``tags`` are those in its text.
    """

    path: str
    url: str
    dialect: DialectName | Literal["listing"]
    id: str
    type: str
    title: str
    summary: str
    markdown: bytes
    body: str
    fields: Mapping[str, Value]
    derived: Mapping[str, Value] = field(default_factory=dict)
    actions: tuple[Mapping[str, Value], ...] = ()
    reading: DialectReading[object] | None = None
    inherited: Mapping[str, Inherited[Value]] = field(default_factory=dict)
    layout: str = ""
    tags: tuple[str, ...] = ()


class Neighbour(NamedTuple):
    """A document that a node is connected with.

    ``url`` is empty if it is not a node. ``rel`` is the relation seen from the node, empty for a plain link. ``note``
    is the author's description. ``external`` marks an absolute URL.
    """

    title: str
    url: str
    rel: str = ""
    note: str = ""
    external: bool = False


class Neighbourhood(Struct, frozen=True):
    """The connections of a node: typed ``relationships`` both ways, plain ``links`` of its own, ``backlinks`` of
    others, each document once; for a document that represents a folder, what is ``inside``."""

    relationships: tuple[Neighbour, ...] = ()
    links: tuple[Neighbour, ...] = ()
    backlinks: tuple[Neighbour, ...] = ()
    inside: tuple[Neighbour, ...] = ()


class NodeRow(NamedTuple):
    """A node in a list: what the indexes of a site say of it (HA1)."""

    id: str
    type: str
    title: str
    url: str
    path: str
    dialect: str
    updated: str = ""
