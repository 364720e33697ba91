"""A document as the graph sees it: its names and its references. Plain values, cheap to store and to send.

In: a dialect's `references` and `definitions`, with lines. Out: `Record`. Nothing is resolved here.
"""

# Without postponed annotations: `NamedTuple` compiles each of those when the module is imported.

from typing import NamedTuple

from msgspec import Struct

from prosa.dialects import DialectName
from prosa.document.references import DefKind, Origin, RefKind


class Reference(NamedTuple):
    """A `Ref` with its line. A tuple: a large corpus has very many. ``start`` and ``end`` are character offsets,
    ``line`` counts from 1."""

    origin: Origin
    target: str
    kind: RefKind
    start: int
    end: int
    line: int
    rel: str | None = None
    strength: float | None = None
    bidirectional: bool = False
    fragment: str = ""
    range: str = ""


class Definition(NamedTuple):
    """A `Def` with its line."""

    kind: DefKind
    name: str
    start: int
    end: int
    line: int


class Record(Struct, frozen=True):
    """One document of a corpus.

    ``path`` is relative to the root of the corpus, with `/`. ``title`` is its title (`records.title_of`), ``type`` the
    type of an MDH node, the kind of a YMJ record, else empty. ``canonical`` are the absolute URLs that the document
    declares as its own (`canonical_url`, `source-url`), ``actions`` the URL paths of the actions that a node declares:
    links to them lead to no document but are valid (HA5).
    """

    path: str
    dialect: DialectName
    title: str = ""
    type: str = ""
    definitions: tuple[Definition, ...] = ()
    references: tuple[Reference, ...] = ()
    canonical: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()


def file_title(path: str) -> str:
    """Return what a document without a title is called: the name of its file, of an `index.md` in a folder that of the
    folder. ``path`` has `/` between its parts."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    return folder.rpartition("/")[2] if folder and stem == "index" else stem
