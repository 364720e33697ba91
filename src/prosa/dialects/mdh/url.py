"""The URLs of the documents of a site, and the meaning of targets: file paths to URL paths and back to names, links to
URL paths, ids and `url:` (H10, HA2, HA4, HA5, HA6).

In: paths relative to the root of the site, with `/`; destinations of links. Out: URL paths. Pure text, no file access.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal
from urllib.parse import unquote, unquote_to_bytes

from msgspec import Struct

from prosa.regex import regex
from prosa.source.url import quoted_path

SUFFIXES: tuple[str, ...] = (".md", ".markdown")
"""File names that lose their suffix in a URL."""

RESERVED: tuple[str, ...] = ("mdh", "healthz", "llms.txt", "sitemap.xml", "robots.txt")
"""First parts of URL paths that belong to the site itself and take precedence over files."""

NODE_ROOT = "/node/"
"""The path under which a site serves nodes by their ids (H7)."""

MAX_PATH = 2_048
"""Maximum length of a URL path; no file system allows much longer ones."""

_INDEX = "index"
_SPELLED = (*SUFFIXES, *(suffix.upper() for suffix in SUFFIXES))
_READMES = tuple(f"{stem}{suffix}" for stem in ("README", "readme", "Readme") for suffix in _SPELLED)
FOLDER_PAGES: tuple[str, ...] = (*(f"{_INDEX}{suffix}" for suffix in _SPELLED), *_READMES)
"""Names of the documents that stand for their folder; of several the first (HA2)."""

_SCHEME = regex(r"[A-Za-z][A-Za-z0-9+.-]*:")
_HTTP = regex(r"(https?://[^/?#\s]+)([^?#]*)", re.IGNORECASE)
_ODD = regex(r"[\x00-\x1f\x7f\\]")
_FORMS = (".md", ".json", ".html")


def md_url(path: str, *, stands: bool = False) -> str:
    """Return the URL path of a document: `hours.md` is `/hours`, `index.md` is `/`, `branches/index.md` is
    `/branches/`.

    ``path`` is relative to the root of the site (HA2). Other characters are percent-encoded as UTF-8. A README that
    ``stands`` for its folder lives where an `index.md` would (`standing_readmes`).
    """
    stem = without_suffix(path)
    if stands:
        return quoted_path(f"/{path[: path.rfind('/') + 1]}")
    if stem == _INDEX or stem.endswith(f"/{_INDEX}"):
        stem = stem[: -len(_INDEX)]
    return quoted_path(f"/{stem}")


def standing_readmes(paths: Collection[str]) -> frozenset[str]:
    """Return the READMEs among the documents of a site that stand for their folders, since no index does (HA2)."""
    readmes: dict[str, str] = {}
    for path in paths:
        cut = path.rfind("/") + 1
        if path[cut:] in _READMES and not any(f"{path[:cut]}{_INDEX}{suffix}" in paths for suffix in _SPELLED):
            readmes[path[:cut]] = min(readmes.get(path[:cut], path), path, key=_readme_rank)
    return frozenset(readmes.values())


def may_stand(path: str) -> bool:
    """Return whether a document is an index or a README, by its name alone."""
    return path.rpartition("/")[2] in FOLDER_PAGES


def is_readme(path: str) -> bool:
    """Return whether a document may stand for its folder where there is no index."""
    return path.rpartition("/")[2] in _READMES


def _readme_rank(path: str) -> int:
    return _READMES.index(path.rpartition("/")[2])


def is_reserved(url: str) -> bool:
    """Return whether a URL path belongs to the site itself, so that no document can be read there."""
    return url[1:].partition("/")[0] in RESERVED


def exact_url(path: str) -> str:
    """Return the URL path that names a file with its suffix, where another has a claim to the one without."""
    return quoted_path(f"/{path}")


def decoded(raw_path: bytes) -> str | None:
    """Return the path that was sent, percent-decoded; None for one that is no path a site has: not UTF-8, with control
    characters or backslashes, with `.` or `..` or empty parts, with a hidden name, or too long."""
    try:
        text = unquote_to_bytes(raw_path).decode("utf-8")
    except UnicodeDecodeError:
        return None
    if len(text) > MAX_PATH or not text.startswith("/") or _ODD.search(text):
        return None
    return None if "//" in text or "/." in text else text


def route_url(route: str) -> str:
    """Return the URL path that a record requests (Y12), normalised: `hours`, `/hours/` and `/hours` are the same.
    Empty if no node may have it (`route_fault`)."""
    return "" if route_fault(route) else exact_url(_route_path(route)[1:])


def route_fault(route: str) -> str:
    """Return why no node may have the URL path that a record requests: it is not on this site, or belongs to the site
    itself or to a form of another node. Empty if a node may have it."""
    path = _route_path(route)
    if scheme := _SCHEME.match(route.strip()):
        return f"`{scheme[0][:20]}` leads away from the site"
    if odd := next((char for char in "?#%" if char in path), ""):
        return f"`{odd}` is not allowed in it"
    if path == "/":
        return "the root of the site belongs to its index"
    if suffix := next((ending for ending in _FORMS if path.endswith(ending)), ""):
        return f"`{suffix}` asks for a form of another node"
    first = path[1:].partition("/")[0]
    if is_reserved(path) or f"/{first}/" == NODE_ROOT:
        return f"`/{first}` belongs to the site itself"
    url = exact_url(path[1:])
    if decoded(path.encode("utf-8", "replace")) != path or decoded(url.encode("ascii")) != path:
        return "a part of it is empty or begins with a dot, it has odd characters, or it is too long"
    return ""


def _route_path(route: str) -> str:
    """Return a route with a slash in front and none behind."""
    written = route.strip()
    path = written if written.startswith("/") else f"/{written}"
    return path[:-1] if path.endswith("/") and len(path) > 1 and path[-2] != "/" else path


def names_of(path: str, *, stands: bool = False) -> tuple[str, ...]:
    """Return every URL path that leads to a document, decoded, its `md_url` first.

    `/hours`, `/hours.md` and `/hours.json` (HA7); for an `index.md` its folder with and without the slash, and
    `/index`; for a README that ``stands`` for its folder these as well.
    """
    stem = f"/{without_suffix(path)}"
    suffix = path[len(stem) - 1 :]
    written: tuple[str, ...] = (stem, stem + suffix, f"{stem}.md", f"{stem}.json")
    folder = stem[: stem.rfind("/") + 1]
    if stands:
        written = (*(f"{folder}{_INDEX}{ending}" for ending in ("", ".md", ".json")), *written)
    if stands or stem.endswith(f"/{_INDEX}"):
        written = (folder, folder.rstrip("/") or "/", *written)
    return tuple(dict.fromkeys(written))


def without_suffix(path: str) -> str:
    """Return a path without the suffix of Markdown."""
    for suffix in SUFFIXES:
        if path.lower().endswith(suffix) and len(path) > len(suffix):
            return path[: -len(suffix)]
    return path


class Destination(Struct, frozen=True):
    """The target of a link. ``origin`` is empty on the site itself, else `https://host` in lower case or, for other
    schemes than HTTP, the scheme. ``path`` is absolute, decoded, without query and fragment."""

    origin: str
    path: str


def resolve(base: str, href: str) -> Destination:
    """Return the destination of ``href`` in a document at the URL path ``base``, by RFC 3986 section 5.2.

    A destination that is only a query or a fragment is the document itself.
    """
    http = _HTTP.match(href)
    if http:
        return Destination(http[1].lower(), unquote(_no_dots(http[2] or "/")))
    if scheme := _SCHEME.match(href):
        return Destination(scheme[0].lower(), "")
    if href.startswith("//"):
        return Destination(f"//{re.split('[/?#]', href[2:], maxsplit=1)[0]}".lower(), "")
    path = re.split("[?#]", href, maxsplit=1)[0]
    if not path:
        return Destination("", unquote(base))
    if not path.startswith("/"):
        path = base[: base.rfind("/") + 1] + path
    return Destination("", unquote(_no_dots(path)))


def _no_dots(path: str) -> str:
    """RFC 3986 section 5.2.4: `.` and `..` removed; `..` at the root stays at the root."""
    out: list[str] = []
    parts = path.split("/")
    for part in parts[1:]:
        if part == "..":
            del out[-1:]
        elif part != ".":
            out.append(part)
    if parts[-1] in (".", ".."):
        out.append("")
    return "/" + "/".join(out)


PREFIX = "url:"
BARE_URL = regex(r"(?:https?://|/|\.{1,2}/)", re.IGNORECASE)
"""What no id begins with: a URL whose prefix was forgotten."""


class LinkTarget(Struct, frozen=True):
    """What a target means: a node id, a path on the site, or an absolute URL; without the prefix."""

    kind: Literal["id", "path", "url"]
    text: str


def target_of(text: str) -> LinkTarget:
    """Return the meaning of a target. A URL without its prefix is understood, and reported by the reader."""
    bare = text.removeprefix(PREFIX)
    if bare == text and not BARE_URL.match(text):
        return LinkTarget("id", text)
    return LinkTarget("path" if bare.startswith(("/", "./", "../")) else "url", bare)
