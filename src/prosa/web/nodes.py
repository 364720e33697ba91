"""Nodes: one URL, the requested form (H7, H8, HA7), and errors in the requested form (HW1).

Answers are cached while file and graph stay the same: the common case only reads the cache and the stamp of the file.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.app.site.assets import Asset
from prosa.app.site.catalogue import Catalogue
from prosa.app.site.files import CHECK_SECONDS
from prosa.app.site.live import LiveSite
from prosa.app.site.neighbours import named_blocks, neighbourhood
from prosa.app.site.unindexed import folder_now
from prosa.asgi import Scope, Send
from prosa.corpus.found import Stamp
from prosa.dialects.mdh.url import decoded, is_reserved
from prosa.render.json import dump
from prosa.render.page.chrome import POLICY
from prosa.render.page.model import Crumb, Frame, Page
from prosa.render.page.node import language_of, node_page
from prosa.site import layout
from prosa.site.discovery import link_header
from prosa.site.indexes import folder_above, listing_of
from prosa.site.layout import Form, Neighbourhood, NodeView, twin_of
from prosa.site.negotiate import MEDIA_TYPES, choose, json_of
from prosa.source import FileProblem
from prosa.web.answer import NEVER, PRIVATE, PUBLIC, Answer, Header, UnderWay, answer, header_of, send_answer
from prosa.web.application import error
from prosa.web.assets import asset_answer
from prosa.web.context import Reader, Web
from prosa.web.locate import (
    Document,
    Folder,
    LargeDocument,
    Moved,
    Place,
    Shown,
    Targets,
    for_agents,
    has_wikilinks,
    locate,
    resolver_of,
    targets_of,
)

MAX_KEPT_BYTES = 48 * 1024 * 1024
"""Bytes of answers that are kept."""

LARGE = 8
"""An answer that takes more than such a part of the room is kept only while it is being sent."""

LARGE_DOCUMENT = 256 * 1024
"""Bytes of a document, with those that it quotes, from which on it is made alone: a form of one takes up to 200 times
its size while it is made."""

MAX_KEPT = 4_096
"""Answers that are kept."""


class Key(NamedTuple):
    """What an answer depends on besides files: the decoded path below the prefix, the form in `Accept`, whether the
    raw file was requested, and whether the reader has signed in."""

    path: str
    form: Form
    raw: bool
    signed_in: bool


class CachedAnswer(Struct, weakref=True):
    """An answer and its dependencies. ``path`` is empty without a single file; ``generation`` is -1 if it does not
    depend on the graph; ``rules`` are those of meta files; ``until`` is when the path is checked again; ``quoted`` are
    other documents that the page shows parts of, by path, with their stamps."""

    answer: Answer
    path: str
    stamp: Stamp | None
    generation: int
    rules: int
    until: float
    quoted: tuple[tuple[str, Stamp | None], ...] = ()


class Nodes(Struct):
    """The endpoint of all nodes of a site."""

    web: Web
    under_way: UnderWay = field(default_factory=UnderWay)
    _kept: OrderedDict[Key, CachedAnswer] = field(default_factory=OrderedDict)
    _large: WeakValueDictionary[Key, CachedAnswer] = field(default_factory=WeakValueDictionary)
    _bytes: int = 0
    _making: dict[Key, asyncio.Task[CachedAnswer | None]] = field(default_factory=dict)
    _alone: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    _about: tuple[Catalogue | None, tuple[Header, ...]] = (None, ())

    async def __call__(self, scope: Scope, send: Send, reader: Reader) -> int:
        """Answer a GET or HEAD request for a path that belongs to no endpoint of the site."""
        raw = scope["query_string"] == b"raw=1"
        accept = header_of(scope, b"accept")
        path = decoded(scope["raw_path"][len(self.web.prefix) :]) or ""
        key = Key(path, choose(accept), raw, reader.signed_in)
        own = reader.via == "cookie"  # the forms of such a page are this reader's alone
        made = None if own else self._kept.get(key) or self._large.get(key)
        self.web.site.index.touch()
        if path and (made is None or not self._holds(made)):
            made = await (self._make(key, reader) if own else self._once(key, reader))
        if made is None:
            return await send_answer(scope, send, not_found(self.web.frame(reader), accept, path))
        return await send_answer(scope, send, made.answer, self._extra(made.answer))

    def _extra(self, made: Answer) -> Sequence[Header]:
        """Return what every answer of a node says of the site; it may change while the node does not."""
        if not made.is_linked:
            return ()
        catalogue = self.web.site.index.catalogue
        if self._about[0] is not catalogue:
            self._about = catalogue, self._about_site()
        return self._about[1]

    def _about_site(self) -> tuple[Header, ...]:
        links = [link for link in self.web.links if link.rel != "llms-txt"]
        signal = self.web.site.options.signal
        header = (b"link", link_header(links, self.web.prefix).encode("latin-1"))
        return (header, (b"content-signal", signal.encode("latin-1"))) if signal else (header,)

    async def _once(self, key: Key, reader: Reader) -> CachedAnswer | None:
        """Return the answer, built once for all concurrent requests. One that was started before this request and is
        outdated is built again."""
        begun = self._making.get(key)
        if begun is not None:
            made = await asyncio.shield(begun)
            if made is not None and self._holds(made):
                return made
        task = self._making.get(key)
        if task is None:
            task = self._making[key] = asyncio.create_task(self._make_to_keep(key, reader))
            task.add_done_callback(lambda _: self._making.pop(key))
        return await asyncio.shield(task)

    async def _make_to_keep(self, key: Key, reader: Reader) -> CachedAnswer | None:
        made = await self._make(key, reader)
        if made is not None:
            self._keep(key, made)
        return made

    async def _make(self, key: Key, reader: Reader) -> CachedAnswer | None:
        """Return a new answer, or None where there is nothing. One large document is made at a time."""
        try:
            try:
                return await asyncio.to_thread(self._made, key, reader, LARGE_DOCUMENT)
            except LargeDocument:
                async with self._alone:
                    return await asyncio.to_thread(self._made, key, reader, None)
        except FileProblem:  # its visibility is unknown, so its existence is not revealed
            return None

    def _holds(self, kept: CachedAnswer) -> bool:
        """Return whether an answer is still true."""
        site = self.web.site
        if kept.generation not in (-1, site.index.catalogue.generation) or kept.rules != site.index.rules:
            return False
        if kept.stamp is None:
            return True
        if not all(site.is_as_it_was(*pair) for pair in ((kept.path, kept.stamp), *kept.quoted)):
            return False
        now = time.monotonic()
        if now >= kept.until:
            if not all(map(site.is_open, (kept.path, *(path for path, _ in kept.quoted)))):
                return False
            kept.until = now + CHECK_SECONDS
        return True

    def _keep(self, key: Key, made: CachedAnswer) -> None:
        if len(made.answer.body) > MAX_KEPT_BYTES // LARGE:
            self._large[key] = made
            return
        old = self._kept.pop(key, None)
        if old is not None:
            self._forget(old)
        self._kept[key] = made
        self._bytes += len(made.answer.body)
        self.under_way.hold(made.answer.body)
        while self._kept and (self._bytes > MAX_KEPT_BYTES or len(self._kept) > MAX_KEPT):
            self._forget(self._kept.popitem(last=False)[1])

    def _forget(self, gone: CachedAnswer) -> None:
        self._bytes -= len(gone.answer.body)
        self.under_way.release(gone.answer.body)

    def _made(self, key: Key, reader: Reader, most: int | None) -> CachedAnswer | None:
        """Return a new answer, or None where there is nothing. Raises `LargeDocument` where more than ``most`` bytes of
        documents would be read for it, and `FileProblem`."""
        rules, generation = self.web.site.index.rules, self.web.site.index.catalogue.generation
        located = locate(self.web.site, key.path, most)
        if isinstance(located, Moved):
            url = f"{self.web.prefix}{located.url}"
            moved = answer("", "text/plain", status=308, cache=NEVER, headers=[("location", url)])
            return _loose(moved, generation, rules)
        if isinstance(located, Asset):
            return self._asset(located)
        if isinstance(located, Folder):
            view = folder_view(self.web.site, located.path, prefix=self.web.prefix)
            return _loose(self._in_form(view, located.form, key, reader), generation, rules)
        if isinstance(located, Document):
            shown = Shown(most=most)
            return self._document(located, key, reader, shown, generation, rules)
        return None

    def _document(
        self, document: Document, key: Key, reader: Reader, shown: Shown, generation: int, rules: int
    ) -> CachedAnswer:
        view = document.view
        form = document.form or key.form
        private = self.web.closed
        made = _raw(view, private=private) if key.raw else self._in_form(view, document.form, key, reader, shown)
        alone = key.raw or (view.dialect == "mdh" and form != "html" and not has_wikilinks(view))
        until = time.monotonic() + CHECK_SECONDS
        quoted = tuple(shown.stamps.items())
        generation = -1 if alone else generation
        return CachedAnswer(made, document.path, document.stamp, generation, rules, until, quoted)

    def _in_form(
        self, view: NodeView, asked: Form | None, key: Key, reader: Reader, shown: Shown | None = None
    ) -> Answer:
        form, negotiated = asked or key.form, asked is None
        prefix, private = self.web.prefix, self.web.closed
        targets = targets_of(self.web.site, view)
        if form != "html":
            view = for_agents(resolver_of(targets, prefix))
        if form == "markdown":
            return markdown_answer(view, prefix, negotiated=negotiated, private=private)
        if form == "json":
            return json_answer(view, prefix, negotiated=negotiated, private=private)
        return html_answer(page_of(self.web, targets, reader, shown=shown), negotiated=negotiated, private=private)

    def _asset(self, asset: Asset) -> CachedAnswer | None:
        made = asset_answer(self.web.site, asset, private=self.web.closed)
        until, rules = time.monotonic() + CHECK_SECONDS, self.web.site.index.rules
        return CachedAnswer(made, asset.path, asset.stamp, -1, rules, until) if made is not None else None


def page_of(
    web: Web, targets: Targets, reader: Reader, *, place: Place | None = None, shown: Shown | None = None
) -> Page:
    """Return the page of a node and its targets, for a reader. ``place`` makes the URLs of its links; ``shown``
    collects the paths of documents that it quotes."""
    view = targets.view
    made = resolver_of(targets, web.prefix, place=place, shown=shown).page(web.frame(reader))
    page = _in_order(web, replace(made, crumbs=crumbs_of(web, view)))
    if not view.path:
        return replace(page, neighbourhood=Neighbourhood())
    near, blocks = neighbourhood(web.site.index, view.path), named_blocks(web.site.index, view.path)
    return replace(page, neighbourhood=near, blocks=blocks)


def _in_order(web: Web, page: Page) -> Page:
    """Return the page with its place in the order of the site, where that has one."""
    ordered, url = web.site.navigation(), page.view.url
    if not ordered.entries:
        return page
    above = tuple(Crumb(entry.title, entry.url) for entry in ordered.above(url))
    crumbs = (Crumb(web.site.options.name, "/"), *above) if url in ordered.ways and url != "/" else page.crumbs
    before, behind = (
        Crumb(neighbour.title, neighbour.url) if neighbour else None for neighbour in ordered.neighbours(url)
    )
    return replace(page, crumbs=crumbs, nav=ordered.beside(url), before=before, behind=behind)


def crumbs_of(web: Web, view: NodeView) -> tuple[Crumb, ...]:
    """Return the way from the root to a node, through its folders."""
    crumbs = [Crumb(web.site.options.name, "/")]
    path = view.path or view.url[1:]
    for folder, name in _folders(path):
        if folder != path and view.url != layout.url_of(f"{folder}index.md"):
            crumbs.append(Crumb(name, layout.url_of(f"{folder}index.md")))
    return tuple(crumbs) if view.url != "/" else ()


def _folders(path: str) -> list[tuple[str, str]]:
    parts = path.split("/")[:-1]
    return [("/".join(parts[: at + 1]) + "/", name) for at, name in enumerate(parts)]


def _raw(view: NodeView, *, private: bool) -> Answer:
    """Return the file as it lies there."""
    text = view.reading.front.source.text if view.reading is not None else ""
    cache = PRIVATE if private else PUBLIC
    return answer(text, MEDIA_TYPES["markdown"], cache=cache, form="r", headers=[("x-robots-tag", "noindex")])


def _loose(made: Answer, generation: int, rules: int) -> CachedAnswer:
    """Return an answer that no single file stands for. While there is no graph it is not kept."""
    return CachedAnswer(made, "", None, generation if generation else -2, rules, 0.0)


_FORMS: tuple[Form, ...] = ("markdown", "json", "html")


def markdown_answer(view: NodeView, prefix: str, *, negotiated: bool, private: bool = False) -> Answer:
    """Return the Markdown of a node: an MDH node to the byte, another dialect with derived front matter; links are as
    `resolving.for_agents` made them."""
    return _answer(view.markdown, "markdown", view, prefix, negotiated=negotiated, private=private)


def json_answer(view: NodeView, prefix: str, *, negotiated: bool, private: bool = False) -> Answer:
    """Return the JSON of a node (HA8)."""
    body = dump(json_of(view, prefix)).encode("utf-8", "replace") + b"\n"
    return _answer(body, "json", view, prefix, negotiated=negotiated, private=private)


def html_answer(page: Page, *, negotiated: bool, private: bool = False) -> Answer:
    """Return the page of a node. One with forms of this reader is private."""
    body = node_page(page).encode("utf-8", "replace")
    own = private or page.frame.can_run or page.frame.signed_in
    more = [("content-security-policy", POLICY), ("content-language", language_of(page))]
    return _answer(body, "html", page.view, page.frame.prefix, more, negotiated=negotiated, private=own)


def _answer(
    body: bytes,
    form: Form,
    view: NodeView,
    prefix: str,
    more: Sequence[tuple[str, str]] = (),
    *,
    negotiated: bool,
    private: bool,
) -> Answer:
    return answer(
        body,
        MEDIA_TYPES[form],
        cache=PRIVATE if private else PUBLIC,
        form=form[0],
        headers=[
            *([("vary", "Accept")] if negotiated else []),
            ("link", _links(view.url, prefix, form)),
            *([("content-location", f"{prefix}{twin_of(view.url, form)}")] if negotiated else []),
            *([("x-robots-tag", "noindex")] if form != "html" and not negotiated else []),
            *more,
        ],
    )


def _links(url: str, prefix: str, form: Form) -> str:
    """Return where the other forms are (RFC 8288), the node itself, and the overview for agents."""
    others = [
        f'<{prefix}{twin_of(url, other_form)}>; rel="alternate"; type="{MEDIA_TYPES[other_form].partition(";")[0]}"'
        for other_form in _FORMS
        if other_form != form
    ]
    return ", ".join([f'<{prefix}{url}>; rel="canonical"', *others, f'<{prefix}/llms.txt>; rel="llms-txt"'])


def folder_view(site: LiveSite, folder: str, *, prefix: str = "", form: Form | None = None) -> NodeView:
    """Return the node of a folder whose path ends with `/` or is empty. ``prefix`` precedes its links, which may lead
    to one ``form`` of each node."""
    if site.index.is_ready:
        catalogue = site.index.catalogue
        folders, rows = catalogue.folders.get(folder, ()), catalogue.nodes_in(folder)
    else:
        folders, rows = folder_now(site, folder)
    folders = tuple(subfolder for subfolder in folders if not is_reserved(f"/{subfolder}"))
    index = site.index.catalogue.index_of(folder_above(folder))
    above = index.id if index is not None else ""
    return listing_of(
        folder, site=site.options.name, folders=folders, nodes=rows, above=above, prefix=prefix, form=form
    )


PROBLEM = "application/problem+json"
"""RFC 9457."""

Pairs = Iterable[tuple[str, str]]


def not_found(frame: Frame, accept: str, path: str) -> Answer:
    """Return 404 for a node that is missing or not published, without distinguishing them."""
    message = f"There is no node at {path[:200]}." if path else "There is no such node."
    return error(frame, accept, 404, "Not found", message)
