"""The sites of a program while it runs: the current pages, their links and their actions (X15, H1).

In: the declared URLs and the access to them. Out: a session that implements the port `SiteSession`. It has one page
for each URL. `visit` moves the one that it moved last, or for a target on another site the first one on that site.
Only declared origins are contacted. The offered declarations of a page are bounded, and the rest is counted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct, field

from prosa.adapters.http.background import in_background
from prosa.app.client.access import SiteAccess
from prosa.app.client.actions import OfferedAction, cleaned, failed
from prosa.runtime.errors import SiteError, first_error
from prosa.runtime.ports import SiteAction, SiteSession, ToolResult
from prosa.site.answer import json_of
from prosa.site.follow import INDEX_PATH, FollowProblem, followed, index_of, leads
from prosa.site.node import SiteNode, led
from prosa.site.offer import offer_of
from prosa.site.page import NODE_FORMS, NoNode, read_page
from prosa.site.problems import HttpProblem
from prosa.site.request import get_request
from prosa.source.url import normal_url, origin_of

if TYPE_CHECKING:
    from prosa.app.client.rights import Declared
    from prosa.site.answer import Answer
    from prosa.source.url import Origin

MAX_ACTIONS = 64
"""Actions of one page that are offered."""

MAX_LOOKED_AT = 256
"""Maximum number of actions of one page that are read."""

MAX_SCHEMAS = 256 * 1024
"""Characters of the schemas of all actions of a page: they go into every request to the model."""

MAX_LINKS = 200
"""Maximum number of listed links; others can still be visited by their text or path."""


class CurrentPage(Struct, frozen=True):
    """A page that a run is on. ``refused`` says of actions why they are not offered; ``beyond`` counts the others."""

    node: SiteNode
    origin: Origin
    actions: tuple[OfferedAction, ...]
    refused: tuple[str, ...] = ()
    beyond: int = 0


def place_of(access: SiteAccess, node: SiteNode) -> CurrentPage:
    """Return the place that a node is. Of several actions with one id the first counts (HA13)."""
    origin, left = origin_of(node.url), MAX_SCHEMAS
    by_id: dict[str, OfferedAction] = {}
    refused: list[str] = []
    looked = 0
    for action in islice(node.actions, MAX_LOOKED_AT):
        if len(by_id) >= MAX_ACTIONS or left < 0:
            break
        looked += 1
        offer = offer_of(action, str(origin))
        if isinstance(offer, str):
            refused.append(f"{cleaned(str(action.get('id') or 'an action without id'))}: {offer}")
        elif offer.contract.id not in by_id:
            left -= len(json.dumps(offer.parameters))
            if left >= 0:
                by_id[offer.contract.id] = OfferedAction(access, offer, node.url, origin)
    beyond = len(node.actions) - looked + (left < 0)
    return CurrentPage(node, origin, tuple(by_id.values()), tuple(refused[:MAX_ACTIONS]), beyond)


def page_text(place: CurrentPage, limit: int) -> str:
    """Return the page for a model: its name, its text, its links by number, its actions. The text is cut so that the
    rest fits into ``limit`` bytes."""
    node = place.node
    tail = "\n".join(("", *_links(place), *_actions(place)))
    head = f"page: {cleaned(node.title) or 'without title'} ({cleaned(node.url)})\n\n"
    room = max(limit - len((head + tail).encode("utf-8", "replace")), limit // 2) - 100
    body = node.body.strip("\r\n").encode("utf-8", "replace")
    text = body[: max(room, 0)].decode("utf-8", "ignore")
    cut = f"\n[cut: the text has {len(body):,} bytes]" if len(body) > max(room, 0) else ""
    return f"{head}{text}{cut}\n{tail}"


def _links(place: CurrentPage) -> Iterator[str]:
    every = leads(place.node)
    if every:
        yield "links, which `visit` takes by number:"
    for lead in every[:MAX_LINKS]:
        words = cleaned(next((word for word in lead.words if word), ""))
        yield f"{lead.number}. {words} ({cleaned(lead.url) if lead.url else f'the node {cleaned(lead.node_id)}'})"
    if len(every) > MAX_LINKS:
        yield f"and {len(every) - MAX_LINKS:,} more links"


def _actions(place: CurrentPage) -> Iterator[str]:
    yield "actions of this page, which are tools while you are here:" if place.actions else "no actions on this page"
    for action in place.actions:
        contract = action.offer.contract
        title = f": {cleaned(action.offer.title)}" if action.offer.title.strip() else ""
        yield f"- {cleaned(contract.id)} ({contract.method} {cleaned(contract.url)}){title}"
    for reason in place.refused:
        yield f"- not offered: {reason}"
    if place.beyond:
        yield f"- not offered: {place.beyond:,} more"


MAX_TOOLS = 100
"""Actions that are offered at once: model services take little more than a hundred tools."""

MAX_PAGE = 1024 * 1024
"""Bytes of a page; a longer text is shown and not read for actions."""

_ADDRESSES = ("http://", "https://", "/", "./", "../", "?")


class LiveSites(Struct, frozen=True):
    """Meets the port `Sites`. Every program of a run is on pages of its own; what bounds the run they share."""

    access: SiteAccess

    @asynccontextmanager
    async def open(self, urls: Sequence[str], *, result_limit: int, path: str = "") -> AsyncIterator[SiteSession]:
        """Read the page at each URL. Raises `SiteError`."""
        del path
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._begun(url)) for url in urls]
        except BaseExceptionGroup as errors:
            raise first_error(errors) from None
        places = [task.result() for task in tasks]
        for url, place in zip(urls, places, strict=True):
            self.access.pin(url, (action.declared for action in place.actions))
        yield PagesOfSites(self.access, frozenset(map(origin_of, urls)), result_limit, places)

    async def _begun(self, url: str) -> CurrentPage:
        try:
            goal = normal_url(url)
        except ValueError as error:
            raise SiteError(f"the site at {url} cannot be used: its URL {error}") from None
        try:
            place = await read_place(self.access, goal)
        except HttpProblem as problem:
            hint = problem.hint if "--allow-private" in problem.hint else "check the URL, and that the site runs"
            raise SiteError(f"the site at {url} cannot be used: {problem.message}", hint=hint) from None
        if not isinstance(place, CurrentPage):
            raise SiteError(f"the site at {url} cannot be used: that is not a page of Markdown", hint="check the URL")
        return place


class PagesOfSites(Struct):
    """Where a program is. ``here`` is the place among ``places`` that was moved last; ``known`` are URLs by the id of a
    node, of pages that were read and of the index of each site in ``indexed``."""

    access: SiteAccess
    origins: frozenset[Origin]
    limit: int
    places: list[CurrentPage]
    here: int = 0
    known: dict[str, str] = field(default_factory=dict)
    indexed: dict[Origin, dict[str, str]] = field(default_factory=dict)
    _going: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        for place in self.places:
            self._learn(place)

    @property
    def where(self) -> str:
        """Everything that was declared, and the page that the run is on."""
        node = self.places[self.here].node
        sites = ", ".join(sorted(map(str, self.origins)))
        title = f', which calls itself "{cleaned(node.title)}"' if node.title.strip() else ""
        others = [cleaned(place.node.url) for at, place in enumerate(self.places) if at != self.here]
        also = f" You are also on {', '.join(others)}." if others else ""
        text = f"You may go to {sites}. You are on {cleaned(node.url)}{title}.{also}"
        return self.access.hide(text)

    @property
    def actions(self) -> Sequence[SiteAction]:
        """Those of the page moved last, then of the others; an action that several pages repeat is offered once."""
        ordered = [self.places[self.here], *(place for at, place in enumerate(self.places) if at != self.here)]
        by_declaration: dict[Declared, OfferedAction] = {}
        for action in (action for place in ordered for action in place.actions):
            by_declaration.setdefault(action.declared, action)
        return list(by_declaration.values())[:MAX_TOOLS]

    async def visit(self, to: str) -> ToolResult:
        """Go there."""
        async with self._going:
            try:
                result = await self._gone_to(to.strip())
            except FollowProblem as problem:
                result = failed("\n".join(part for part in (str(problem), problem.hint) if part))
            except HttpProblem as problem:
                result = failed(problem.message)
        return ToolResult(self.access.hide(result.content), result.is_error)

    async def _gone_to(self, to: str) -> ToolResult:
        url = await self._address(to)
        if not url or (origin := origin_of(url)) not in self.origins:
            sites = ", ".join(sorted(map(str, self.origins)))
            return failed(f"{cleaned(to)} leads out of the sites of this run, which are {sites}")
        place = await read_place(self.access, url)
        if not isinstance(place, CurrentPage):
            return _as_it_is(place)
        self.here = self._moved_by(url, origin)
        self.places[self.here] = place
        self._learn(place)
        return ToolResult(page_text(place, self.limit))

    def _moved_by(self, url: str, origin: Origin) -> int:
        """Return the place that a visit moves: one that is on that page, the one moved last, the first one of that
        site."""
        there = [at for at, place in enumerate(self.places) if place.node.url == url]
        same = [at for at, place in enumerate(self.places) if origin_of(place.node.url) == origin]
        return (there or ([self.here] if self.here in same else same))[0]

    async def _address(self, to: str) -> str:
        """Return the intended URL; empty for anything but a web page. Raises `FollowProblem`."""
        node = self.places[self.here].node
        if to.lower().startswith(_ADDRESSES):
            return led(node.md_url or node.url, to)
        if to in self.known:
            return self.known[to]
        try:
            return followed(node, to, dict)
        except FollowProblem:
            index = await self._index(self.places[self.here].origin)
            return index[to] if to in index else followed(node, to, lambda: index)

    async def _index(self, origin: Origin) -> dict[str, str]:
        """Return the URLs of the nodes of a site, if it has an index (HA1); requested once."""
        if origin in self.indexed:
            return self.indexed[origin]
        try:
            answer = await fetched(self.access, f"{origin}{INDEX_PATH}")
            self.indexed[origin] = await in_background(lambda: index_of(json_of(answer), f"{origin}/"))
        except HttpProblem:
            self.indexed[origin] = {}
        return self.indexed[origin]

    def _learn(self, place: CurrentPage) -> None:
        if place.node.id:
            self.known.setdefault(place.node.id, place.node.url)


async def read_place(access: SiteAccess, url: str) -> CurrentPage | Answer:
    """Return the page at a URL, or the answer where it is none, such as data. Raises `HttpProblem`."""
    for _ in range(2):
        answer = await fetched(access, url)
        if len(answer.body) > MAX_PAGE:
            return answer
        read = await in_background(partial(_read, access, answer))  # a large page must not hold up the run
        if not isinstance(read, str):
            return read
        url = read
    return answer


def _read(access: SiteAccess, answer: Answer) -> CurrentPage | Answer | str:
    """Return the page, the answer that holds none, or the URL where its Markdown is."""
    try:
        read = read_page(answer.body, answer.media_type, answer.url, answer.headers)
    except NoNode:
        return answer
    return place_of(access, read) if isinstance(read, SiteNode) else read.url


def _as_it_is(answer: Answer) -> ToolResult:
    """Return the text of any other answer than a page; the run stays where it is."""
    url = cleaned(answer.url)
    try:
        text = answer.body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return failed(f"{url} is not text but {cleaned(answer.media_type) or 'of no named type'}")
    return ToolResult(f"{url} is not a page of Markdown; you are still where you were. Its text:\n\n{text}")


async def fetched(access: SiteAccess, url: str) -> Answer:
    """Return the answer to a plain GET, without a credential. Raises `HttpProblem` where it is no success."""
    answer = await access.send(get_request(url, NODE_FORMS))
    if not answer.is_success:
        raise HttpProblem(f"{url}: {answer.status} {cleaned(answer.reason)}".rstrip())
    return answer
