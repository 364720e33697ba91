"""The documents of a site as they are asked for: which may be seen, and what each says (H2, X23).

In: a folder and what the user chose. Out: `LiveSite`: the file at a path, the node that it is. Each document is read
when somebody asks for it; what stands around it comes from the index (`app.site.keeper`). Nothing in a document is run,
and nothing outside the folder is read (X5, X6).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from prosa.adapters.files.read import decode
from prosa.app.options import say_nothing
from prosa.app.site.around import typed_links
from prosa.app.site.attachments import Attachments
from prosa.app.site.catalogue import nodes_of
from prosa.app.site.files import SiteFiles, VisibleFile
from prosa.app.site.inheritance import FieldLender, LentFields, facets_at, facets_of_lender
from prosa.app.site.keeper import SiteIndex, SiteOptions
from prosa.corpus.found import Stamp
from prosa.corpus.published import is_published
from prosa.data import Value
from prosa.dialects.dialect import Hints
from prosa.dialects.mdh.url import FOLDER_PAGES, is_readme
from prosa.dialects.reading import DialectReading, open_document
from prosa.site.identity import view_of
from prosa.site.layout import url_of
from prosa.site.navigation import NO_NAVIGATION, Navigation, navigation_of
from prosa.site.view import NodeView
from prosa.source import FileProblem, SourceText

if TYPE_CHECKING:
    from prosa.rules.analyzer import Workers
    from prosa.settings import Settings

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
        self._quoted: OrderedDict[tuple[str, Stamp, int, int], NodeView | None] = OrderedDict()
        self._quoting = Lock()
        self._notice = notice
        self._navigation: tuple[int, Navigation] = (-1, NO_NAVIGATION)
        self.files = SiteFiles(root, max_size, options.exclude)
        self.attachments = Attachments(self.files)
        self.index = SiteIndex(self.files, options, environ, settings, workers, notice)

    def start(self) -> None:
        """Begins to look at the files."""
        self.index.start()

    def close(self) -> None:
        """Ends that, and closes the index."""
        self.index.close()

    def place(self, path: str) -> VisibleFile | None:
        """The file at a path that may be seen by its path alone; what it says is looked at in `view`."""
        return self.files.place(path)

    def view(self, path: str) -> NodeView | None:
        """The node at a path; None where there is no document that is published. Raises `FileProblem` for one that
        cannot be read."""
        if not self.files.may_be_seen(path):
            return None
        lenders = self.index.lenders()
        if lenders is None:
            return None
        real, reading = self._reading(path)
        for each in {path, real}:  # a link does not take a document out of the reach of a meta file
            if not is_published(facets_at(reading, each, lenders), private=self.options.private):
                return None
        return self._view(path, reading, self.index.metas.lent(reading, path, lambda by: self._is_shown(by, lenders)))

    def quoted(self, path: str, stamp: Stamp) -> NodeView | None:
        """The same for a document that others show parts of, whose stamp was looked at before: one that many pages
        quote is read once."""
        if not self.files.may_be_seen(path):
            return None
        key = (path, stamp, self.index.catalogue.generation, self.index.rules)
        with self._quoting:
            if key in self._quoted:
                self._quoted.move_to_end(key)
                return self._quoted[key]
        found = self.view(path)
        with self._quoting:
            self._quoted[key] = found
            while len(self._quoted) > MAX_QUOTED or sum(each[1].size for each in self._quoted) > MAX_QUOTED_BYTES:
                self._quoted.popitem(last=False)
        return found

    def navigation(self) -> Navigation:
        """The order of the pages, as the project or the front matter of the first page says it; read anew whenever the
        catalogue changes."""
        catalogue = self.index.catalogue
        if self._navigation[0] != catalogue.generation:
            first = catalogue.index_of("") if self.options.nav is None else None
            declared = self._declared(first.path) if first is not None else self.options.nav
            found = navigation_of(declared, nodes_of(catalogue))
            for missing in found.missing:
                if missing not in self._navigation[1].missing:
                    self._notice(f"warning: `nav` names {missing!r}, and no page of the site is there")
            self._navigation = (catalogue.generation, found)
        return self._navigation[1]

    def _declared(self, path: str) -> Value:
        try:
            view = self.view(path)
        except FileProblem:
            return None
        return view.fields.get("nav") if view is not None else None

    def _is_shown(self, meta: str, lenders: tuple[FieldLender, ...]) -> bool:
        """Whether a meta file is published itself."""
        facets = facets_of_lender(meta, lenders) if self.files.may_be_seen(meta) else None
        return facets is not None and is_published(facets, private=self.options.private)

    def _reading(self, path: str) -> tuple[str, DialectReading[object]]:
        """Where a document lies when links are followed, and what it says."""
        place = self.root / path
        real, data = self.files.read(path, self.files.max_size)
        source = SourceText(decode(place, data), str(place), sha256(data).hexdigest())
        hint = self.index.hint_of(place)
        return real, open_document(source, Hints(glob=hint))

    def _view(self, path: str, reading: DialectReading[object], lent: LentFields) -> NodeView:
        row = self.index.catalogue.by_path.get(path)
        own_id = row.id if row is not None else ""
        url = row.url if row is not None else url_of(path, own_id, self.options.layout, stands=self._stands(path))
        actions = self.options.actions(reading, path) if self.options.actions is not None else ()
        links = typed_links(self.index, path) if reading.name != "mdh" and row is not None else ()
        return view_of(reading, path, url=url, own_id=own_id, links=links, actions=actions, lent=lent)

    def _stands(self, path: str) -> bool:
        """Whether a README stands for its folder, as far as the files tell."""
        folder = path[: path.rfind("/") + 1]
        names = (each for each in FOLDER_PAGES if self.files.place(f"{folder}{each}") is not None)
        return is_readme(path) and next(names, "") == path[len(folder) :]
