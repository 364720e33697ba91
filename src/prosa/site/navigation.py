"""The order of a site: its `nav` as entries that lead to nodes. Pure text and values.

    nav:
      - tutorial.md                  a page, with its own title
      - Install: install.md          a page under another title
      - Guides: [a.md, b.md]         a heading with pages below it
      - reference/                   a folder: its page, and everything in it by path
      - Forum: https://example.org   another site

In: the value of `nav`, and the nodes that are published. Out: a `Navigation`; invalid entries and those without a node
are left out and listed. It provides the list beside a page, the breadcrumbs, and the previous and next page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from posixpath import normpath

from msgspec import Struct

from prosa.data import Value
from prosa.site.layout import NodeRow
from prosa.source.url import origin_of

MAX_ENTRIES = 5_000
"""Entries of a whole site."""

MAX_DEPTH = 4
"""Lists in lists."""

MAX_SHOWN = 60
"""Pages of one folder that are listed beside a page; of a larger one its own page has the list."""


class Entry(Struct, frozen=True):
    """A page, a heading, or both. ``url`` is empty for a heading alone; a ``folder`` is open on its own pages only."""

    title: str
    url: str = ""
    inside: tuple[Entry, ...] = ()
    folder: bool = False


class Shown(Struct, frozen=True):
    """An entry beside a page: whether it is the page itself, or holds it."""

    title: str
    url: str
    here: bool
    around: bool
    inside: tuple[Shown, ...] = ()


class Navigation(Struct, frozen=True, dict=True):
    """The entries of a site. ``missing`` are the targets in `nav` that do not exist."""

    entries: tuple[Entry, ...] = ()
    missing: tuple[str, ...] = ()

    @cached_property
    def ways(self) -> Mapping[str, tuple[Entry, ...]]:
        """The entries that lead to each URL, itself at the end."""
        return {way[-1].url: way for way in reversed([*_walked(self.entries)])}

    @cached_property
    def _order(self) -> tuple[Entry, ...]:
        """The pages of the site itself, each once."""
        by_url = {way[-1].url: way[-1] for way in _walked(self.entries) if way[-1].url.startswith("/")}
        return tuple(by_url.values())

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {entry.url: at for at, entry in enumerate(self._order)}

    def beside(self, url: str) -> tuple[Shown, ...]:
        """Return the entries to list beside a page."""
        way = self.ways.get(url, ())
        return tuple(_shown(entry, url, way) for entry in self.entries)

    def above(self, url: str) -> tuple[Entry, ...]:
        """Return the entries on the way to a page."""
        return self.ways.get(url, ())[:-1]

    def neighbours(self, url: str) -> tuple[Entry | None, Entry | None]:
        """Return the pages before and behind one; the root of the site comes before all."""
        at = self._places.get(url, -1 if url == "/" else None)
        if at is None:
            return None, None
        before = self._order[at - 1] if at > 0 else None
        return before, self._order[at + 1] if at + 1 < len(self._order) else None


NO_NAVIGATION = Navigation()


def _walked(entries: Iterable[Entry], above: tuple[Entry, ...] = ()) -> Iterator[tuple[Entry, ...]]:
    for entry in entries:
        if entry.url:
            yield (*above, entry)
        yield from _walked(entry.inside, (*above, entry))


def _shown(entry: Entry, url: str, way: Sequence[Entry]) -> Shown:
    on_way = any(ancestor is entry for ancestor in way)  # a page may be listed twice
    open_ = not entry.folder or (on_way and len(entry.inside) <= MAX_SHOWN)
    inside = tuple(_shown(child, url, way) for child in entry.inside) if open_ else ()
    here = on_way and entry.url == url
    return Shown(entry.title, entry.url, here, on_way and not here, inside)


class Nodes(Struct, frozen=True):
    """The published nodes that entries may lead to: by path, and the content of a folder whose path ends with `/`."""

    by_path: Mapping[str, NodeRow]
    index_of: Callable[[str], NodeRow | None]
    nodes_in: Callable[[str], Iterable[NodeRow]]
    folders_in: Callable[[str], Iterable[str]]
    listing_of: Callable[[str], str]


def navigation_of(value: Value, nodes: Nodes) -> Navigation:
    """Return the navigation that a `nav` means."""
    reading = _Reading(nodes)
    entries = tuple(reading.entries(value, 0))
    return Navigation(entries, tuple(dict.fromkeys(reading.missing)))


class _Reading:
    """Entries as they are read, and what was not found."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes, self.left = nodes, MAX_ENTRIES
        self.missing: list[str] = []

    def entries(self, value: Value, depth: int) -> Iterator[Entry]:
        for item in value if isinstance(value, list | tuple) and depth < MAX_DEPTH else ():
            for title, inner in item.items() if isinstance(item, Mapping) else (("", item),):
                self.left -= 1
                entry = self._entry(" ".join(str(title).split()), inner, depth) if self.left >= 0 else None
                if entry is not None:
                    yield entry

    def _entry(self, title: str, value: Value, depth: int) -> Entry | None:
        if isinstance(value, list | tuple) and title:
            inside = tuple(self.entries(value, depth + 1))
            return Entry(title, inside=inside) if inside else None
        if not isinstance(value, str) or not value.strip():
            self.missing.append(title or str(value)[:100])
            return None
        entry = self._outside(title, value) or self._folder(title, value) or self._page(title, value)
        if entry is None:
            self.missing.append(value[:200])
        return entry

    def _outside(self, title: str, value: str) -> Entry | None:
        if "://" not in value:
            return None
        try:
            origin_of(value)
        except ValueError:
            return None
        return Entry(title or value, value)

    def _page(self, title: str, value: str) -> Entry | None:
        row = self.nodes.by_path.get(normpath(value).lstrip("/"))
        return Entry(title or row.title, row.url) if row is not None else None

    def _folder(self, title: str, value: str) -> Entry | None:
        if not value.endswith("/") and value != ".":
            return None
        path = normpath(value).lstrip("/")
        return self._all("" if path == "." else f"{path}/", title)

    def _all(self, folder: str, title: str = "") -> Entry | None:
        """Return a folder with everything in it: pages by path, then folders."""
        own = self.nodes.index_of(folder)
        rows = [row for row in self.nodes.nodes_in(folder) if own is None or row.path != own.path]
        inside = [Entry(row.title, row.url) for row in rows[: max(self.left, 0)]]
        self.left -= len(inside)
        inner_entries = (self._all(inner) for inner in self.nodes.folders_in(folder) if self.left > 0)
        entries = (*inside, *(entry for entry in inner_entries if entry is not None))
        if own is None and not entries:
            return None
        name = folder.rstrip("/").rpartition("/")[2]
        url = own.url if own is not None else self.nodes.listing_of(folder)
        return Entry(title or (own.title if own is not None else name), url, entries, folder=True)
