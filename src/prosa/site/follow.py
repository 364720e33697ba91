"""Which link of a node the user means (H3, H4), and which URLs a walk over a site still has to visit.

The user gives a number, a `rel`, the id of a node, the text or the destination of a link. The target of a typed link is
the id of a node (HA4); its URL comes from the links of the page, otherwise from the index of the site (HA1).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from msgspec import Struct, field

from prosa.data import Value
from prosa.site.node import LinkEntry, SiteNode, led, same_site

INDEX_PATH = "/mdh/nodes.json"
MAX_FOLDERS = 4
"""Folders above a node in which its site may have its index."""

MAX_INDEX = 100_000
"""Nodes of an index that are read."""

Index = Mapping[str, str]
"""From the ids of nodes to their URLs."""


class FollowProblem(ValueError):
    """No link, or more than one, matches the user's input. ``hint`` lists the links."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class NumberedLink(Struct, frozen=True):
    """A numbered link for people: its name, and its target. ``url`` is empty if only an index could tell; ``node_id``
    is then the id that it names."""

    number: int
    words: tuple[str, ...]
    url: str
    node_id: str = ""


def leads(node: SiteNode) -> tuple[NumberedLink, ...]:
    """Return the links of a node by number: typed ones, then those of the body."""
    places = _places(node)
    typed = (_typed(node, places, number, link) for number, link in enumerate(node.links, start=1))
    first = len(node.links) + 1
    inline = (
        NumberedLink(number, (link.text, link.href, *_paths(link.url)), link.url)
        for number, link in enumerate(node.inline_links, start=first)
    )
    return (*typed, *inline)


def followed(node: SiteNode, what: str, index: Callable[[], Index]) -> str:
    """Return the target URL of ``what``. ``index`` returns that of the site; it is only called if the page does not
    have the URL of a node. Raises `FollowProblem`."""
    every = leads(node)
    if not every:
        raise FollowProblem(f"{node.name} has no links")
    links = list(_meant(every, what.strip()))
    if not links:
        raise FollowProblem(f"no link of {node.name} is {what!r}", _listed(every))
    urls = {lead.url or index().get(lead.node_id, "") for lead in links}
    if len(urls) > 1:
        numbers = ", ".join(str(lead.number) for lead in links)
        raise FollowProblem(f"{what!r} could be several links of {node.name}", f"follow one by its number: {numbers}")
    (url,) = urls
    if not url:
        named = links[0].node_id
        why = f"neither the page nor an index locates the node {named!r} is" if named else "it is not a web page"
        raise FollowProblem(f"the link {links[0].number} of {node.name} cannot be followed: {why}")
    return url


def index_urls(url: str) -> tuple[str, ...]:
    """Return where the site of a node may have its index (HA1): at the root of the host, and in the folders above the
    node, since a site may live below a path."""
    folders = [""]
    for part in urlsplit(url).path.split("/")[1:-1]:
        folders.append(f"{folders[-1]}/{part}")
    return tuple(led(url, f"{folder}{INDEX_PATH}") for folder in folders[:MAX_FOLDERS])


def index_of(value: Value, base: str) -> dict[str, str]:
    """Return the index of a site from its JSON: the URL of each node by id. Invalid entries are left out."""
    nodes = value.get("nodes") if isinstance(value, Mapping) else value
    urls: dict[str, str] = {}
    for node in nodes[:MAX_INDEX] if isinstance(nodes, list) else ():
        name, url = (node.get("id"), node.get("md_url")) if isinstance(node, Mapping) else (None, None)
        if isinstance(name, str) and isinstance(url, str):
            urls.setdefault(name, led(base, url))
    return {name: url for name, url in urls.items() if url}


def _meant(every: tuple[NumberedLink, ...], what: str) -> Iterator[NumberedLink]:
    """Yield the links with that name: by number, else by a whole name as written, else ignoring case."""
    number = int(what) if what.isascii() and what.isdigit() and len(what) < 9 else 0
    tests: tuple[Callable[[NumberedLink], bool], ...] = (
        lambda lead: lead.number == number,
        lambda lead: what in lead.words,
        lambda lead: what.casefold() in (word.casefold() for word in lead.words),
    )
    for test in tests:
        links = [lead for lead in every if what and test(lead)]
        if links:
            yield from links
            return


def _typed(node: SiteNode, places: Mapping[str, str], number: int, link: LinkEntry) -> NumberedLink:
    words = tuple(word for word in (link.rel, link.target, link.title, link.href) if word)
    url = link.url(node.md_url)
    if url or not link.node_id:
        return NumberedLink(number, (*words, *_paths(url)), url)
    return NumberedLink(number, words, places.get(link.node_id, ""), link.node_id)


def _places(node: SiteNode) -> dict[str, str]:
    """Return the URLs of nodes by id from the page itself: a link of the body with the id as its text, else at the end
    of its path; the first of each kind."""
    inside = [link for link in reversed(node.inline_links) if link.same_site]
    return {_stem(link.url): link.url for link in inside} | {link.text: link.url for link in inside}


def _stem(url: str) -> str:
    last = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    return next((last.removesuffix(suffix) for suffix in (".md", ".markdown", ".json") if last.endswith(suffix)), last)


def _paths(url: str) -> tuple[str, ...]:
    return (url, urlsplit(url).path) if url else ()


def _named(lead: NumberedLink) -> str:
    """Return a link in a list: its name and its target."""
    target = lead.node_id or (lead.words[1] if len(lead.words) > 1 else lead.url)
    return f"{lead.words[0]}: {target}" if target and target != lead.words[0] else lead.words[0]


def _listed(every: tuple[NumberedLink, ...]) -> str:
    shown = ", ".join(f"{lead.number} ({_named(lead)})" for lead in every[:12] if lead.words)
    return f"it has {shown}" + (", …" if len(every) > 12 else "")


MAX_SEEN = 500_000
"""URLs that a walk remembers; a site that makes up more has no end."""


class Frontier(Struct):
    """``start`` determines the origin. ``full`` is true if URLs were skipped because there were too many."""

    start: str
    max_depth: int
    full: bool = False
    _waiting: deque[tuple[str, int]] = field(default_factory=deque)
    _seen: set[str] = field(default_factory=set)

    def add(self, urls: Iterable[str], depth: int) -> None:
        """Add URLs at the end of the queue; known ones, those of another origin and those too far are skipped."""
        if depth > self.max_depth:
            return
        for url in urls:
            if url in self._seen or not same_site(url, self.start):
                continue
            if len(self._seen) >= MAX_SEEN:
                self.full = True
                return
            self._seen.add(url)
            self._waiting.append((url, depth))

    def take(self, most: int) -> list[tuple[str, int]]:
        """Return the next URLs with their distances, at most so many; none at the end."""
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    @property
    def waiting(self) -> int:
        """How many are left."""
        return len(self._waiting)
