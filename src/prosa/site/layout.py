"""Where nodes live on a site (H7, HA2): from a file to its URL, from a URL to the files it may mean. Text alone.

In: paths below the root, with `/`; URL paths as they were sent. Out: URL paths; for a request, the files it may mean in
order, and the form that its suffix asks for. Whether a file is there, and may be seen, is not decided here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote, unquote_to_bytes

from prosa.dialects.mdh.url import FOLDER_PAGES, SUFFIXES, is_readme, is_reserved, md_url
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.site.view import Form

LayoutName: TypeAlias = Literal["path", "id"]
"""`path`: a URL for each file, as it lies in its folder. `id`: `/node/ID` (H7); the paths answer too, so that links
between documents stay good."""

LAYOUTS: tuple[LayoutName, ...] = ("path", "id")
NODE_ROOT = "/node/"
MAX_PATH = 2_048
"""Characters of a URL path; no file system takes much longer ones."""

TWINS: tuple[tuple[str, Form], ...] = ((".md", "markdown"), (".json", "json"), (".html", "html"))
"""The suffixes of the forms of a node."""

_SPELLED = (*SUFFIXES, *(suffix.upper() for suffix in SUFFIXES))
_ODD = re.compile(r"[\x00-\x1f\x7f\\]")
_SAFE = "/!$&'()*+,;=:@-._~"


class Wanted(NamedTuple):
    """A file that a request may mean, and the form that its URL asks for; None where `Accept` decides. A ``folder``
    has an empty name behind its slash."""

    path: str
    form: Form | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What a URL path asks for. ``path`` is decoded, without the slash in front; ``id`` is set for `/node/ID`."""

    path: str
    wanted: tuple[Wanted, ...]
    id: str = ""


def url_of(path: str, own_id: str = "", layout: LayoutName = "path", *, stands: bool = False) -> str:
    """The URL path of a document; a README may stand for its folder. One with an id that no URL can hold lives at its
    path in every layout."""
    if layout == "id" and own_id and not own_id.endswith("/"):
        url = NODE_ROOT + quote(own_id, safe="!$&'()*+,;=:@-._~", errors="replace")
        if decoded(url.encode("ascii")) == NODE_ROOT + own_id:
            return url
    return md_url(path, stands=stands)


def route_url(route: str) -> str:
    """The URL path that a record asks for (Y12), in its one spelling; empty for one that no node may have: none on this
    site, one of the site itself, of a folder, or of a form of another node."""
    path = decoded(route.strip().encode("utf-8", "replace"))
    if path is None or "?" in path or "#" in path or "%" in path or path.endswith(("/", *(each for each, _ in TWINS))):
        return ""
    url = exact_url(path[1:])
    return "" if is_reserved(url) or path.startswith(NODE_ROOT) or decoded(url.encode("ascii")) != path else url


def exact_url(path: str) -> str:
    """The URL path that names a file with its suffix, where another has a claim to the one without."""
    return quote(f"/{path}", safe=_SAFE, errors="replace")


def twin_of(url: str, form: Form) -> str:
    """The URL of one form of a node: `/x.md`, `/x.json`, `/x.html`; of a folder `/a/index.md` (HA7)."""
    suffix = next(suffix for suffix, each in TWINS if each == form)
    return f"{url}index{suffix}" if url.endswith("/") else f"{url}{suffix}"


def decoded(raw_path: bytes) -> str | None:
    """The path that was sent, percent-decoded; None for one that is no path a site has: not UTF-8, with control
    characters or backslashes, with `.` or `..` or empty parts, with a hidden name, or too long."""
    try:
        text = unquote_to_bytes(raw_path).decode("utf-8")
    except UnicodeDecodeError:
        return None
    if len(text) > MAX_PATH or not text.startswith("/") or _ODD.search(text):
        return None
    parts = text[1:].removesuffix("/").split("/")
    if text != "/" and any(not part or part.startswith(".") for part in parts):
        return None
    return text


def asked(path: str) -> Asked:
    """What a decoded URL path asks for (HA2, HA7)."""
    name = path[1:]
    if path.startswith(NODE_ROOT) and (own_id := _id_of(path)):
        return Asked(name, tuple(_files(name)), own_id)
    return Asked(name, tuple(_files(name)))


def folder_twin(path: str) -> tuple[str, Form | None] | None:
    """The folder whose generated node a decoded path means, with `/` behind it unless it is the root, and the form;
    None where it means none."""
    if path.endswith("/"):
        return path[1:], None
    folder, _, last = path[1:].rpartition("/")
    folder = f"{folder}/" if folder else ""
    for suffix, form in TWINS:
        if last == f"index{suffix}":
            return folder, form
    return (folder, None) if last == "index" else None


def id_and_form(path: str) -> tuple[str, Form | None]:
    """The id in `/node/ID`, and the form that its suffix asks for, for a node whose id has no such suffix itself."""
    own = _id_of(path)
    for suffix, form in TWINS:
        if own.endswith(suffix) and len(own) > len(suffix):
            return own.removesuffix(suffix), form
    return own, None


def _id_of(path: str) -> str:
    return path.removeprefix(NODE_ROOT)


def _files(name: str) -> list[Wanted]:
    """Files in the order of likelihood: the name itself, the form that a suffix asks for, the index of a folder."""
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
