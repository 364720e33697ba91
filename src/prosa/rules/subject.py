"""What rules look at: one document, a program with its imports, or all documents together."""

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
    """What is around a document: files and the time. It remembers whether a rule asked for the time or the place, for
    then what the rule found holds only there and then. ``files`` keeps its own record (`rules.recording`)."""

    files: Files | None = None
    now: datetime | None = None
    asked_time: bool = False
    asked_place: bool = False


class Subject(Struct, Generic[M_co], frozen=True):
    """One document under the rules.

    ``model`` is what the reader of the ``dialect`` made of it. ``files`` reads documents below the root (X5) and is
    None for a text that has none; ``now`` is None where nobody knows the time; ``path`` is the document as the user
    named it, None for a text without a file.
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
        """Where the document is."""
        self.environment.asked_place = True
        path = self.source.path
        return None if path.startswith("<") else Path(path)


class LocalLink(NamedTuple):
    """A link, image or wikilink whose target is a file. A tuple: a large corpus has very many.

    ``target`` is percent-decoded and without fragment (empty: this document), ``fragment`` what followed `#`;
    ``start`` and ``end`` are the offsets of the destination where there is one, else of the link. ``embedded`` says
    that it is shown in the document: an image.
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
    """What other documents may need to know of a document. Plain data: it is cached and sent between processes.

    ``path`` is the file as the user named it. ``refs`` and ``defs`` come from the dialect; plain Markdown has no
    ``refs`` but its links. ``anchors`` are the fragments that lead somewhere in it; `*` among them
    says that something else may add to them. ``links`` and ``wikilinks`` are what its Markdown points at. ``extra`` is
    what ``corpus_facts`` of the dialect gives.
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
"""How much the root of a corpus says about where the documents are meant to live."""


def _nothing(path: Path) -> None:
    del path


class Corpus(Struct, frozen=True, eq=False):
    """The documents that are considered together, by real path, in the order they were named.

    ``entries`` holds the checked documents and those beside them below ``root``. ``complete`` says that these are all
    documents below the root: only then "no document has this id" is certain. ``load`` gives the facts of a document
    that is no entry, None for one that cannot be read or lies outside the root. ``rooted`` says how the root is known:
    ``given`` as `--root`, ``project`` because a `prosa.toml` or a vault begins there, ``known`` because it was named
    or is a checkout, or ``guessed``: the folder that a document happens to lie in. ``metas`` are the meta files below
    the root that are no entries; ``now`` is None where nobody knows the time. ``file_names`` are the files of any kind
    below the root, by their name but for case, each with the path of the first one; it is asked only where a name
    alone has to lead somewhere (YA21). ``asked`` are the entries that are checked, ``relations`` and ``schemas`` what
    the settings of the project say of front matter. ``names`` are the entries by name where somebody
    keeps them (`rules.corpus_names`).
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
