"""The pages that another generator made of documents: which source belongs to which page of MkDocs, Docusaurus or Hugo.

In: paths of documents with their front matter, and the paths of the HTML files of a site. Out: the address of each
document there, or why it has none. Nothing is guessed from the settings of a generator: a page that does not exist
belongs to no document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import islice

from msgspec import Struct, field

from prosa.data import Value
from prosa.dialects.mdh.url import is_readme
from prosa.regex import regex

INDEXES = ("index", "readme", "_index")
"""Documents that stand for their folder, in small letters."""

MOST_BASES = 200
"""Folders of the site that are tried as the place of all documents."""

_NUMBER = regex(r"[0-9]+[ \t]*[-_.]+[ \t]*(?=[^-_. \t])")
_VERSION = regex(r"[0-9]+[-_.][0-9]")
_BLANK = regex(r"[\s_]+")
_ODD = regex(r"[^\w\-.]")


class Beside(Struct, frozen=True):
    """Documents of a site by path: their ``urls`` in it, without the suffix of the page, and why the others have none.
    ``base`` is the folder that all of them are in, empty for the root, else with `/` behind."""

    base: str = ""
    urls: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


def beside(documents: Mapping[str, Mapping[str, Value]], pages: Collection[str]) -> Beside:
    """Return the addresses of documents, given their front matter by path, among the HTML files of a site."""
    known = frozenset(pages)
    bases = list(islice(_bases(known), MOST_BASES))
    ranked = sorted(documents.items(), key=_rank)
    wanted = {path: tuple(dict.fromkeys(_addresses(path, front))) for path, front in ranked}
    counted = Counter(
        {base: sum(_page(addresses, base, known) is not None for addresses in wanted.values()) for base in bases}
    )
    base = max(bases, key=lambda candidate: (counted[candidate], -len(candidate)), default="")
    urls: dict[str, str] = {}
    owners: dict[str, str] = {}
    missing: dict[str, str] = {}
    for path, addresses in wanted.items():
        page = _page(addresses, base, known)
        if page is None:
            missing[path] = "no page of the site is made of it"
        elif page in owners:
            missing[path] = f"its page {page!r} is that of {owners[page]!r}"
        else:
            owners[page] = path
            urls[path] = _url(page)
    return Beside(base, urls, missing)


def _rank(document: tuple[str, Mapping[str, Value]]) -> tuple[bool, bool, str]:
    """Return the order in which documents get their pages: those that stand for a folder first, of them a README last
    (HA2)."""
    path = document[0]
    return path.rpartition("/")[2].rpartition(".")[0].lower() not in INDEXES, is_readme(path), path


def _bases(pages: frozenset[str]) -> Iterator[str]:
    """Yield the root, then the folders of the first two levels."""
    yield ""
    bases: dict[str, None] = {}
    for page in sorted(pages):
        parts = page.split("/")[:-1]
        bases |= {f"{'/'.join(parts[:depth])}/": None for depth in (1, 2) if len(parts) >= depth}
    yield from sorted(bases, key=lambda folder: (folder.count("/"), folder))


def _page(addresses: Collection[str], base: str, pages: frozenset[str]) -> str | None:
    """Return the first page that is there. An address with a slash in front starts at the root of the site."""
    for address in addresses:
        whole = address[1:] if address.startswith("/") else f"{base}{address}"
        stem = whole.strip("/")
        for page in (f"{stem}/index.html", f"{stem}.html") if stem else ("index.html",):
            if page in pages:
                return page
    return None


def _url(page: str) -> str:
    """Return the URL path of a page: `a/index.html` is `/a/`, `a.html` is `/a`."""
    return (
        f"/{page.removesuffix('index.html')}"
        if page.endswith(("/index.html",)) or page == "index.html"
        else (f"/{page.removesuffix('.html')}")
    )


def _addresses(path: str, front: Mapping[str, Value]) -> Iterator[str]:
    """Yield the addresses that a document may have below the base, the likeliest first: what its front matter says,
    its own path, that without numbers (Docusaurus), and that in small letters with hyphens (Hugo)."""
    folders, name = path.split("/")[:-1], path.rpartition("/")[2].rpartition(".")[0]
    url, slug, own = (front.get(key) for key in ("url", "slug", "id"))
    if isinstance(url, str) and url.startswith("/"):
        yield url
    for change in (_same, _unnumbered, _urlized):
        inner = [change(folder) for folder in folders]
        if isinstance(slug, str) and slug.strip():
            yield slug.strip().lstrip("/") if slug.strip().startswith("/") else "/".join([*inner, slug.strip()])
        if isinstance(own, str) and own.strip():
            yield "/".join([*inner, own.strip()])
        last = change(name)
        if name.lower() in INDEXES:
            yield "/".join(inner)
        yield "/".join([*inner, last])
        if inner and last == inner[-1]:  # Docusaurus
            yield "/".join(inner)


def _same(name: str) -> str:
    return name


def _unnumbered(name: str) -> str:
    """Return a name without the number that Docusaurus orders it by; dates and versions stay."""
    match = _NUMBER.match(name)
    return name[match.end() :] if match is not None and not _VERSION.match(name) else name


def _urlized(name: str) -> str:
    """Return a name as Hugo writes it into a URL."""
    return _ODD.sub("", _BLANK.sub("-", name.strip().lower()).replace("--", "-"))
