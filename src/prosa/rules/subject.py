"""The subject of a rule: one document, a program with its imports, or all documents together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct, field

from prosa.data import Value
from prosa.dialects import DialectName
from prosa.source import Files, SourceText, Span

if TYPE_CHECKING:
    from prosa.dialects.front import FrontReading
    from prosa.dialects.relations import Relations
    from prosa.document import Def, Document, Ref
    from prosa.graph import Closure, LoadedProgram
    from prosa.graph.names import Names, Placed


M_co = TypeVar("M_co", covariant=True)


class Environment(Struct):
    """The environment of a document: files and the time. It records whether a rule used the time or the path, because
    then the finding is only valid for those."""

    files: Files | None = None
    now: datetime | None = None
    asked_time: bool = False
    asked_place: bool = False


class Subject(Struct, Generic[M_co], frozen=True):
    """One document under the rules.

    ``model`` is the result of the reader of the ``dialect``. ``files`` reads documents below the root (X5) and is None
    for a text without one; ``now`` is None if the time is unknown; ``path`` is the document as the user named it, None
    for a text without a file.
    """

    front: FrontReading
    document: Document
    dialect: DialectName
    model: M_co
    environment: Environment = field(default_factory=Environment)

    @property
    def source(self) -> SourceText:
        """The text of the document."""
        return self.front.source

    @property
    def files(self) -> Files | None:
        """Read access to the files below the root."""
        return self.environment.files

    @property
    def now(self) -> datetime | None:
        """The time of this check."""
        self.environment.asked_time = True
        return self.environment.now

    @property
    def path(self) -> Path | None:
        """The path of the document."""
        self.environment.asked_place = True
        path = self.source.path
        return None if path.startswith("<") else Path(path)


class LocalLink(NamedTuple):
    """A link, image or wikilink whose target is a file. A tuple: a large corpus has very many.

    ``target`` is percent-decoded and without fragment (empty: this document), ``fragment`` the text after `#`;
    ``start`` and ``end`` are the offsets of the destination if there is one, else of the link. ``embedded`` is true if
    it is shown in the document: an image.
    """

    target: str
    fragment: str
    start: int
    end: int
    embedded: bool = False

    @property
    def span(self) -> Span:
        """Where it is written."""
        return Span(self.start, self.end)


class Facts(Struct, frozen=True):
    """The facts about a document that rules of other documents need. Plain data: it is cached and sent between
    processes.

    ``path`` is the file as the user named it. ``refs`` and ``defs`` come from the dialect; plain Markdown has no
    ``refs`` but its links. ``anchors`` are its valid fragments; `*` among them means that there may be more. ``links``
    and ``wikilinks`` are the targets in its Markdown. ``extra`` is the result of the dialect's ``corpus_facts``.
    """

    path: str
    dialect: DialectName
    refs: tuple[Ref, ...] = ()
    defs: tuple[Def, ...] = ()
    anchors: frozenset[str] = frozenset()
    links: tuple[LocalLink, ...] = ()
    wikilinks: tuple[LocalLink, ...] = ()
    extra: Mapping[str, Value] = field(default_factory=dict)


Rooted: TypeAlias = Literal["given", "project", "known", "guessed"]
"""How certain it is that the root of a corpus is where the documents belong."""


def _nothing(path: Path) -> None:
    del path


class Corpus(Struct, frozen=True, eq=False):
    """The documents that are considered together, by real path, in their order.

    ``entries`` holds the checked documents and those beside them below ``root``. ``complete`` is true if these are all
    documents below the root: only then "no document has this id" is certain. ``load`` returns the facts of a document
    that is no entry, None for one that cannot be read or is outside the root. ``rooted`` is how the root is known:
    ``given`` as `--root`, ``project`` because a `prosa.toml` or a vault begins there, ``known`` because it was named
    or is a checkout, or ``guessed``: the folder that a document happens to lie in. ``metas`` are the meta files below
    the root that are no entries; ``now`` is None if the time is unknown. ``file_names`` are the files of any kind
    below the root, by case-folded name, each with the path of the first one; it is only called to resolve a name alone
    (YA21). ``asked`` are the entries that are checked, ``relations`` and ``schemas`` the project's settings for front
    matter. ``names`` are the entries by name if they are cached (`rules.corpus_names`).
    """

    entries: Mapping[Path, Facts]
    files: Files
    root: Path | None = None
    complete: bool = True
    load: Callable[[Path], Facts | None] = _nothing
    rooted: Rooted = "known"
    metas: Mapping[Path, Facts] = field(default_factory=dict)
    now: datetime | None = None
    file_names: Callable[[], Mapping[str, str]] | None = None
    asked: Collection[Path] = ()
    relations: Relations = ()
    schemas: Callable[[Path], tuple[str, ...]] | None = None
    names: Names[Placed] | None = None


class ProgramSubject(Struct, frozen=True):
    """A program under the rules, with the import graph it is part of."""

    program: LoadedProgram
    closure: Closure
