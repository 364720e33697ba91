"""The published content of a folder for all doors: documents, and the files beside them (H2, X23, X30).

Each document is read on request; its connections come from the index (`app.site.keeper`). Nothing in a document is run,
and nothing outside the folder is read (X5, X6).
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.places import is_in_vault
from prosa.adapters.files.read import decode
from prosa.adapters.processes import Pool, worker_count
from prosa.app.options import say_nothing
from prosa.app.settings import nav_place
from prosa.app.site.assets import Assets
from prosa.app.site.catalogue import is_shadowed, nodes_of
from prosa.app.site.files import SiteFiles, is_document, stamp_at
from prosa.app.site.inheritance import FieldMetaFile, facets_at, facets_of_meta_file
from prosa.app.site.keeper import IndexThread, SiteOptions
from prosa.app.site.neighbours import typed_links
from prosa.corpus.facets import is_published
from prosa.corpus.found import Stamp
from prosa.data import Value
from prosa.dialects.dialect import Hints
from prosa.dialects.mdh.url import FOLDER_PAGES, is_readme
from prosa.dialects.reading import DialectReading, open_document
from prosa.graph.records import own_title
from prosa.settings import Settings
from prosa.site.identity import view_of
from prosa.site.layout import NodeView, url_of
from prosa.site.navigation import NO_NAVIGATION, Navigation, navigation_of
from prosa.source import FileProblem, SourceText

if TYPE_CHECKING:
    from prosa.dialects.magi.meta import Inherited
    from prosa.rules.analyzer import Workers


READY_SECONDS = 2.0
"""How long a question whether there is some data waits for the index."""

MAX_QUOTED = 64
"""Documents that are remembered because pages quote them."""

MAX_QUOTED_BYTES = 4 * 1024 * 1024
"""Bytes of all of these."""


class LiveSite:
    """The documents below ``root``. Call `start`, and `close` at the end. Safe to use from several threads."""

    def __init__(
        self,
        root: Path,
        options: SiteOptions,
        environ: Mapping[str, str],
        settings: Settings,
        max_size: int,
        workers: Workers | None = None,
        notice: Callable[[str], None] = say_nothing,
    ) -> None:
        self.root, self.options = root, options
        self._base = os.path.join(root, "")  # noqa: PTH118 - the beginning of a path for every request
        self._quoted: OrderedDict[tuple[str, Stamp, int, int], NodeView | None] = OrderedDict()
        self._quoting = Lock()
        self._notice = notice
        self._navigation: tuple[int, Navigation] = (-1, NO_NAVIGATION)
        self.files = SiteFiles(root, max_size, options.exclude)
        self.index = IndexThread(self.files, options, environ, settings, workers, notice)
        self.assets = Assets(self.files, self.index)

    def start(self) -> None:
        """Start to index the files."""
        self.index.start()

    def close(self) -> None:
        """End that, and close the index."""
        self.index.close()

    def view(self, path: str, names: Collection[str] | None = None) -> NodeView | None:
        """Return the node at a path; None where there is no document that is published. The links that are derived
        lead to the ids in ``names`` alone, where these are given. Raises `FileProblem` for a document that cannot be
        read, and for one on which our own code fails."""
        try:
            return self._node(path, names)
        except (FileProblem, OSError, MemoryError):
            raise
        except Exception as error:
            from prosa.diagnostics.crash import crash  # only here: nothing fails as a rule

            raise FileProblem(
                Path(path), "unreadable", f"cannot be shown: {crash('the page', error).message}"
            ) from None

    def _node(self, path: str, names: Collection[str] | None) -> NodeView | None:
        published = self._published(path)
        if published is None:
            return None
        reading, meta_files = published
        inherited = self.index.metas.inherited(reading, path, lambda by: self._is_shown(by, meta_files))
        view = self._view(path, reading, inherited, names)
        return None if is_shadowed(view.url) else view

    def source(self, path: str) -> SourceText | None:
        """Return the text of the published document at a path, without what stands around it; None where there is
        none. Raises `FileProblem` for one that cannot be read."""
        row = self.index.catalogue.by_path.get(path)
        if row is None:
            view = self.view(path)
            return view.reading.front.source if view is not None and view.reading is not None else None
        published = self._published(path)
        return published[0].front.source if published is not None else None

    def has(self, path: str) -> bool:
        """Return whether there is a published document at a path, or a file beside documents. Known documents
        are not read again."""
        if not is_document(path):
            return self.assets.at(path, wait=READY_SECONDS) is not None
        if path in self.index.catalogue.by_path:
            return self.files.place(path) is not None
        try:
            return self.view(path) is not None
        except FileProblem:
            return False

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of the document at a path, which changes with it; None if there is no visible one. `view`
        checks its content."""
        place = self.files.place(path) if is_document(path) else None
        return place.stamp if place is not None else None

    def is_as_it_was(self, path: str, stamp: Stamp | None) -> bool:
        """Return whether a file that was given before still has its stamp. Its path is not judged."""
        return stamp_at(f"{self._base}{path}") == stamp

    def is_open(self, path: str) -> bool:
        """Return whether the path of a file says nothing against it: neither hidden nor ignored nor outside."""
        return bool(path) and self.files.may_be_seen(path)

    def is_in_vault(self, path: str) -> bool:
        """Return whether a document lies in an Obsidian vault."""
        return self.files.is_in_vault(path)

    def would_publish(self, folder: str) -> bool:
        """Return whether a document that is written into a folder would be part of the site."""
        return self.files.is_open(f"{folder}/x.md")

    def told(self, text: str) -> str:
        """Return words for others: without the place of the folder on this machine."""
        root = os.fspath(self.root)
        return text if root == os.sep else text.replace(f"{root}{os.sep}", "").replace(root, ".")

    def quoted(self, path: str, stamp: Stamp) -> NodeView | None:
        """Return the view of an embedded document, whose stamp was checked before: one that many pages quote is
        read once."""
        if not self.files.may_be_seen(path):
            return None
        key = (path, stamp, self.index.catalogue.generation, self.index.rules)
        with self._quoting:
            if key in self._quoted:
                self._quoted.move_to_end(key)
                return self._quoted[key]
        view = self.view(path)
        with self._quoting:
            self._quoted[key] = view
            while len(self._quoted) > MAX_QUOTED or sum(entry[1].size for entry in self._quoted) > MAX_QUOTED_BYTES:
                self._quoted.popitem(last=False)
        return view

    def navigation(self) -> Navigation:
        """Return the order of the pages, from the project or the front matter of the first page; read again whenever
        the catalogue changes."""
        catalogue = self.index.catalogue
        if self._navigation[0] != catalogue.generation:
            first = catalogue.index_of("") if self.options.nav is None else None
            declared = self._declared(first.path) if first is not None else self.options.nav
            navigation = navigation_of(declared, nodes_of(catalogue))
            for missing in navigation.missing:
                if missing not in self._navigation[1].missing:
                    where = nav_place(self.root, missing) if first is None else first.path
                    lead = f"warning: {where}: " if where else "warning: "
                    self._notice(f"{lead}`nav` names {missing!r}, and no page of the site is there")
            self._navigation = (catalogue.generation, navigation)
        return self._navigation[1]

    def _declared(self, path: str) -> Value:
        try:
            view = self.view(path)
        except FileProblem:
            return None
        return view.fields.get("nav") if view is not None else None

    def _published(self, path: str) -> tuple[DialectReading[object], tuple[FieldMetaFile, ...]] | None:
        """Return the view of a document, and the meta files, if it may be shown. Raises `FileProblem`."""
        if not is_document(path) or not self.files.may_be_seen(path):
            return None
        meta_files = self.index.meta_files()
        if meta_files is None:
            return None
        real, reading = self._reading(path)
        for place in {path, real}:  # a link does not take a document out of the reach of a meta file
            if not is_published(facets_at(reading, place, meta_files), private=self.options.private):
                return None
        return reading, meta_files

    def _is_shown(self, meta: str, meta_files: tuple[FieldMetaFile, ...]) -> bool:
        """Return whether a meta file is published itself."""
        facets = facets_of_meta_file(meta, meta_files) if self.files.may_be_seen(meta) else None
        return facets is not None and is_published(facets, private=self.options.private)

    def _reading(self, path: str) -> tuple[str, DialectReading[object]]:
        """Return the real path of a document, and its reading."""
        place = self.root / path
        real, data = self.files.read(path, self.files.max_size)
        source = SourceText(decode(place, data), str(place), sha256(data).hexdigest())
        hint = self.index.hint_of(place)
        return real, open_document(source, Hints(glob=hint, vault=self.files.is_in_vault(path)))

    def _view(
        self,
        path: str,
        reading: DialectReading[object],
        inherited: Mapping[str, Inherited[Value]],
        names: Collection[str] | None,
    ) -> NodeView:
        row = self.index.catalogue.by_path.get(path)
        own_id = row.id if row is not None else ""
        url = row.url if row is not None else url_of(path, own_id, self.options.layout, stands=self._stands(path))
        actions = self.options.actions(reading, path) if self.options.actions is not None else ()
        links = typed_links(self.index, path) if reading.name != "mdh" and row is not None else ()
        links = links if names is None else tuple(link for link in links if link.target in names)
        return view_of(reading, path, url=url, own_id=own_id, links=links, actions=actions, inherited=inherited)

    def _stands(self, path: str) -> bool:
        """Return whether a README represents its folder, as far as the files tell."""
        folder = path[: path.rfind("/") + 1]
        names = (page for page in FOLDER_PAGES if self.files.place(f"{folder}{page}") is not None)
        return is_readme(path) and next(names, "") == path[len(folder) :]


@contextmanager
def open_site(
    root: Path,
    options: SiteOptions,
    environ: Mapping[str, str],
    settings: Settings,
    *,
    max_size: int,
    notice: Callable[[str], None] = say_nothing,
) -> Iterator[LiveSite]:
    """Return the site below ``root``, a real path; ``max_size`` is that of the largest document, in bytes."""
    count = worker_count()
    workers = Pool(count, fresh=True) if count > 1 else None  # beside the threads of a server
    site = LiveSite(root, options, environ, settings, max_size, workers=workers, notice=notice)
    try:
        yield site
    finally:
        site.close()


def site_name(root: Path) -> str:
    """Return the title of the first page, else the name of the folder."""
    for name in ("index.md", "README.md"):
        try:
            source = RootedFiles(root).read(root / name)
        except FileProblem:
            continue
        title = own_title(open_document(source, Hints(vault=is_in_vault(root))))
        if title:
            return title
    return root.name or "site"
