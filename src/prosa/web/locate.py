"""The meaning of a URL of a site (H7, HA2), and the URLs of the links, pictures and wikilinks of a document (H3, HA5,
HA6).

A link to the file of a document becomes the URL of its node, so that a page leads to pages. Pictures are shown from the
site itself only: a page loads nothing from other hosts. Only what is published is ever found (X21, X23).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.app.site.assets import Asset
from prosa.app.site.live import LiveSite
from prosa.app.site.neighbours import edges_from, headings_of
from prosa.app.site.unindexed import has_folder
from prosa.corpus.found import Stamp
from prosa.dialects.mdh.url import NODE_ROOT, SUFFIXES, exact_url, is_readme, is_reserved, resolve
from prosa.document.anchors import heading_named
from prosa.document.links import wikilink_target
from prosa.graph.names import is_name
from prosa.render.page.model import Excerpt, Frame, Page
from prosa.site import layout
from prosa.site.assets import PICTURES, asset_type, suffix_of
from prosa.site.layout import Form, NodeRow, NodeView, Wanted
from prosa.site.wikilinks import AS_WRITTEN, MISSING, Wiki, fragment_of, part_of, with_links
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
    document = _document(site, _wanted(site, path), most) or _document(site, _routed(site, path), most)
    if document is not None:
        return _moved(site, document, path) or document
    return site.assets.at(path[1:], wait=READY_SECONDS) or _folder(site, path)


def document_at(site: LiveSite, path: str) -> str | None:
    """Return the path of the published document at a decoded URL path; None where there is none that can be read."""
    try:
        located = locate(site, path)
    except FileProblem:
        return None
    return located.path if isinstance(located, Document) else None


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


def _moved(site: LiveSite, document: Document, path: str) -> Moved | None:
    """Return the folder that a README represents, if it was requested by its own name (HA2)."""
    if document.form is not None or not is_readme(document.path) or not document.path.startswith(f"{path[1:]}."):
        return None
    folder = f"/{document.path[: document.path.rfind('/') + 1]}"
    first = _document(site, layout.asked(folder).wanted)
    return (
        Moved(layout.url_of(document.path, stands=True)) if first is not None and first.path == document.path else None
    )


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
    for node_id, asked in ((path.removeprefix(NODE_ROOT), None), (own, form)):
        row = site.index.catalogue.by_id.get(node_id)
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
    if plain and _document(site, (candidate for candidate in layout.asked(plain).wanted if candidate.form is None)):
        return Moved(quoted_path(plain))
    return None


_WIKI = "[["

_QUOTABLE = frozenset({"plain", "context", "mdh", "skill_md", "ymj"})
"""Dialects whose text can be embedded in another document; scripts, templates and chats would lose their context."""

Place = Callable[[str], str]
"""Returns the link in a document for a URL path of the site, perhaps with a query or a fragment."""


def form_place(site: LiveSite, prefix: str, form: Form) -> Place:
    """Return the links to nodes that lead to one form of each."""

    def place(url: str) -> str:
        path, mark, rest = url.partition("#")
        is_node = path in site.index.catalogue.by_url
        return f"{prefix}{layout.twin_of(path, form)}{mark}{rest}" if is_node else f"{prefix}{url}"

    return place


MAX_QUOTED_BYTES = 4 * 1024 * 1024
"""Bytes of the documents that one page reads to quote from them."""

MAX_FILE_NAMES = 2_000
"""Maximum number of different file names that one document's wikilinks are looked up under."""


class Shown(Struct):
    """The documents that a page quotes: their stamps from before they were read, and their nodes, each read once;
    ``left`` bytes may still be. Beyond ``most`` bytes the page is made alone."""

    stamps: dict[str, Stamp | None] = field(default_factory=dict)
    views: dict[str, NodeView | None] = field(default_factory=dict)
    left: int = MAX_QUOTED_BYTES
    most: int | None = None

    def view(self, site: LiveSite, path: str) -> NodeView | None:
        """Return the published node at a path; None where there is none, and where it is too large to be read for this.
        Raises `LargeDocument`."""
        if path not in self.views:
            stamp = self.stamps[path] = site.stamp(path)
            self.left -= stamp.size if stamp is not None else 0
            if self.most is not None and MAX_QUOTED_BYTES - self.left > self.most:
                raise LargeDocument
            try:
                self.views[path] = site.quoted(path, stamp) if stamp is not None and self.left >= 0 else None
            except FileProblem:
                self.views[path] = None
        return self.views[path]


class Targets(Struct, frozen=True):
    """The targets of one document, for all of its forms. ``known`` are the published documents that its wikilinks lead
    to, by target; ``vault`` is true in an Obsidian vault; ``files`` are the paths of other files by name, each looked
    up once."""

    site: LiveSite
    view: NodeView
    known: Mapping[str, NodeRow] = field(default_factory=dict)
    vault: bool = False
    files: dict[str, str | None] = field(default_factory=dict)

    def file(self, target: str) -> str | None:
        """Return the path of a file that is no document. Data is served only where a link names it."""
        if target not in self.files:
            is_asked = len(self.files) < MAX_FILE_NAMES
            self.files[target] = self.site.assets.find(self.view.path, target) if is_asked else None
        return self.files[target]


def targets_of(site: LiveSite, view: NodeView) -> Targets:
    """Return what a node names."""
    known = dict(_known(site, view)) if site.index.is_ready and has_wikilinks(view) else {}
    return Targets(site, view, known, view.path != "" and site.is_in_vault(view.path))


class Resolver(Struct, frozen=True):
    """Resolves the destinations of one document, for one form of it. ``place`` makes every URL; ``quoted`` is true if
    another document embeds this one; ``shown`` collects quoted documents; ``wikis`` are resolved wikilinks,
    ``headings`` the anchors of documents by name, as far as needed."""

    targets: Targets
    prefix: str
    place: Place
    quoted: bool = False
    shown: Shown = field(default_factory=Shown)
    wikis: dict[str, Wiki] = field(default_factory=dict)
    headings: dict[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def site(self) -> LiveSite:
        """Where all of that lies."""
        return self.targets.site

    @property
    def view(self) -> NodeView:
        """The node that names it."""
        return self.targets.view

    def link(self, href: str) -> str:
        """Return the URL of a link; empty if a page may not link there."""
        if href.startswith("#") or not href:
            return href
        destination = resolve(f"/{self.view.path}" if self.view.path else self.view.url, href)
        if destination.origin:
            return href if destination.origin.startswith(("http", "mailto:", "//")) else ""
        return self.place(f"{self._url(self._inside(destination.path))}{_rest(href)}")

    def embed(self, src: str) -> str:
        """Return the URL of a picture of this site; empty for any other."""
        if src.startswith("data:"):
            return src
        destination = resolve(f"/{self.view.path}" if self.view.path else self.view.url, src)
        inside = self._inside(destination.path)
        path = inside[1:]
        if destination.origin or suffix_of(path) not in PICTURES:
            return ""
        if self.site.assets.at(path) is None:
            is_wiki = bool(self.targets.known) or self.targets.vault
            return self._file(unquote(src.partition("#")[0])).url if is_wiki else ""
        return self.place(quoted_path(inside))

    def wiki(self, written: str) -> Wiki:
        """Return the target of a wikilink, unknown until the graph is built."""
        wiki = self.wikis.get(written)
        if wiki is None:
            wiki = self.wikis[written] = self._wiki(written)
        return wiki

    def _wiki(self, written: str) -> Wiki:
        if not self.site.index.is_ready or not self.view.path:
            return AS_WRITTEN
        target, part = wikilink_target(written)
        if not target:
            fragment = self._fragment(self.view.path, part)
            own = self.place(f"{self.view.url}{fragment}") if self.quoted else fragment
            return Wiki("node", own) if fragment else AS_WRITTEN
        if row := self.targets.known.get(target):
            return Wiki("node", self.place(f"{row.url}{self._fragment(row.path, part)}"))
        if asset_type(target) is not None:
            return self._file(target)
        return MISSING if is_name(target) else AS_WRITTEN

    def excerpt(self, written: str) -> Excerpt | None:
        """Return the embedded part of another document; None if it is only linked to."""
        target, part = wikilink_target(written)
        row = self.targets.known.get(target)
        view = self.shown.view(self.site, row.path) if row is not None else None
        if row is None or view is None or view.reading is None or view.dialect not in _QUOTABLE:
            return None
        document = view.reading.document
        span = part_of(document, part) if part else document.body
        if span is None:
            return None
        targets = targets_of(self.site, replace(view, url=row.url))
        inner = resolver_of(targets, self.prefix, place=self.place, shown=self.shown, quoted=True)
        url = self.place(f"{row.url}{self._fragment(row.path, part)}")
        named = frozenset((part[1:],)) if part and part.startswith("^") else frozenset[str]()
        return Excerpt(row.path, row.title, url, document, span, replace(inner.page(Frame("")), blocks=named))

    def page(self, frame: Frame) -> Page:
        """Return the node as a page, without what stands around it."""
        vault = self.targets.vault
        return Page(frame, self.view, self.link, self.embed, wiki=self.wiki, excerpt=self.excerpt, vault=vault)

    def _fragment(self, path: str, part: str | None) -> str:
        """Return the fragment for a part of the document at a path, whose headings are in the index."""

        def anchor_of(name: str) -> str | None:
            if path not in self.headings:
                self.headings[path] = headings_of(self.site.index, path)
            return heading_named(self.headings[path], name)

        return fragment_of(part, anchor_of)

    def _file(self, target: str) -> Wiki:
        """Return a file other than a document."""
        path = self.targets.file(target)
        if path is None:
            return MISSING
        return Wiki("picture" if suffix_of(path) in PICTURES else "file", self.place(quoted_path(f"/{path}")))

    def _inside(self, path: str) -> str:
        """Return a path without the prefix of the site, which an author may write or leave out."""
        return path[len(self.prefix) :] if self.prefix and path.startswith(f"{self.prefix}/") else path

    def _url(self, path: str) -> str:
        """Return the URL path of a target path: that of its node, or the path itself."""
        for wanted in layout.asked(path).wanted:
            row = self.site.index.catalogue.by_path.get(wanted.path)
            if row is not None:
                return row.url
        is_cold = not self.site.index.is_ready and path.lower().endswith(SUFFIXES)
        return layout.url_of(path[1:]) if is_cold else quoted_path(path)


def resolver_of(
    targets: Targets,
    prefix: str,
    *,
    place: Place | None = None,
    shown: Shown | None = None,
    quoted: bool = False,
) -> Resolver:
    """Return the resolver for the targets of a node. ``place`` defaults to the prefix before the URL."""
    made = place or (lambda url: f"{prefix}{url}")
    return Resolver(targets, prefix, made, quoted, Shown() if shown is None else shown)


def has_wikilinks(view: NodeView) -> bool:
    """Return whether the text of a node contains double brackets."""
    return view.reading is not None and _WIKI in view.reading.front.source.text


def _known(site: LiveSite, view: NodeView) -> Iterator[tuple[str, NodeRow]]:
    assert view.reading is not None
    text = view.reading.front.source.text
    for edge in edges_from(site.index, view.path):
        row = site.index.catalogue.by_node.get(edge.target) if edge.resolved and edge.origin == "wikilink" else None
        written = text[edge.start : edge.end].lstrip("!")
        if row is not None and written.startswith(_WIKI):
            target, bar, _ = written.removeprefix(_WIKI).removesuffix("]]").partition("|")
            yield wikilink_target(target.removesuffix("\\") if bar else target)[0], row


def for_agents(resolver: Resolver) -> NodeView:
    """Return the node in the form for Markdown and JSON: its wikilinks are ordinary links (HA22). A record keeps its
    text, which its hash is of, and a program is a template: both stay unchanged."""
    view = resolver.view
    if view.reading is None or view.dialect in ("ymj", "markdownlang") or not has_wikilinks(view):
        return view
    front = view.reading.front
    body = front.source.slice(front.body)
    linked = with_links(view.reading.document, resolver.wiki, vault=resolver.targets.vault)[front.body.start :]
    text = view.markdown.decode("utf-8")
    if linked == body or not text.endswith(body) or not view.body.endswith(body):
        return view
    made = f"{text[: len(text) - len(body)]}{linked}"
    return replace(view, markdown=made.encode("utf-8"), body=f"{view.body[: len(view.body) - len(body)]}{linked}")


def _rest(href: str) -> str:
    """Return the query and the fragment of a destination."""
    at = min((place for place in (href.find("?"), href.find("#")) if place >= 0), default=len(href))
    return href[at:]
