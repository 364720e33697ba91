"""The one key space in which references look for documents: names, stems in double brackets (Y21, YA21), and paths of
relative links.

In: a record and the known sites. Out: its keys, and for each of its references the tiers of keys to look up. The first
tier with a result decides; several results are ambiguous. No file access.
"""

# Without postponed annotations: `NamedTuple` compiles each of those when the module is imported.

import posixpath
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeVar

from msgspec import Struct

from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.document.references import Origin
from prosa.graph.record import Record, Reference
from prosa.regex import regex
from prosa.source.files import compared_name


class Placed(Protocol):
    """A document in the caller's representation: a `Record`, a `Node`, a row. Its path identifies it."""

    @property
    def path(self) -> str:
        """Relative to the root of the corpus, with `/`."""
        ...


Document = TypeVar("Document", bound=Placed)
Found = TypeVar("Found", bound=Placed, covariant=True)

ACTION = "action"
"""The space of the URLs of actions, which are no documents."""


class Key(NamedTuple):
    r"""A name in a space.

    Spaces are `id` and `id@DIALECT`, `path` (relative to the root), `stem` and `stem~` (case folded), `title~`,
    `alias~`, `url` (absolute, without fragment), `site`: `ROOT\\0PATH`, root folder of a site and a URL path, with a
    `~` before the path of a name that is tried last, and `action`: the same for the URL of an action, a last part
    `{…}` as `{}`. A match under an action is not the target of a reference.
    """

    space: str
    name: str


class Tier(Struct, frozen=True):
    """Keys that are equally good. ``exact`` is False where a hit is a match but for case (YA21)."""

    keys: tuple[Key, ...]
    exact: bool = True


class Names(Protocol[Found]):
    """Where documents are found by key: a dictionary (`graph.build`) or the index (`adapters.sqlite`)."""

    def find(self, key: Key) -> Sequence[Found]:
        """Return the documents that answer to a key, each once, in the order of their paths."""
        ...


# Names of documents in double brackets: stems, titles, aliases (Y21, YA21).

NAMED: frozenset[Origin] = frozenset(("ops.ticket", "ops.trace"))
"""Where a record is named by what people call it: the subject of a ticket, the run of a trace."""

_NAME = regex(r"(?!.*<[^<>]+>)(?:[./]*[^\W\d_]|[./]*\d+[^\d])")
"""The start of a document's name. `[[0]]` is an index, `[[ -f file ]]` a test, `[[:space:]]` a pattern, `[[<name>]]` a
placeholder."""


def stem_tiers(record: Record, reference: Reference) -> tuple[Tier, ...]:
    """Return the stem as written, then but for case; outside YMJ also with hyphens for blanks, then as alias, title and
    id."""
    return _stem_tiers(reference.target, reference.origin, is_record=record.dialect == "ymj")


@lru_cache(maxsize=4096)
def _stem_tiers(target: str, origin: Origin, *, is_record: bool) -> tuple[Tier, ...]:
    """Return the same. In a vault a few notes are the targets of most links."""
    stem = stem_of(target)[1]
    tiers = _stems(stem)
    named = origin in NAMED
    if not named and (origin == "ops.graph" or (is_record and origin == "wikilink")):
        return tiers
    hyphened = tuple(Tier(tier.keys) for tier in _stems(stem.replace(" ", "-"))) if " " in stem and not named else ()
    name = folded(target)
    others = Tier((Key("alias~", name),)), Tier((Key("title~", name),)), Tier((Key("id", target),))
    return (*tiers, *hyphened, *others)


def _stems(stem: str) -> tuple[Tier, Tier]:
    return Tier((Key("stem", stem),)), Tier((Key("stem~", stem.casefold()),), exact=False)


def is_name(target: str) -> bool:
    """Return whether double brackets may name a document rather than an attachment or nothing."""
    suffix = suffix_of(target)
    return bool(_NAME.match(target)) and (suffix in DOCUMENT_SUFFIXES or suffix not in FILE_SUFFIXES)


def is_attachment(target: str) -> bool:
    """Return whether double brackets name a file that is no document: a picture, a recording, a table."""
    suffix = suffix_of(target)
    return suffix in FILE_SUFFIXES and suffix not in DOCUMENT_SUFFIXES and bool(_NAME.match(target))


def stem_of(target: str) -> tuple[str, str]:
    """Return the folders and the stem that a wikilink names (Y21); a suffix of documents may stand behind it."""
    folder, name = posixpath.split(compared_name(target))
    return folder, posixpath.splitext(name)[0] if name.lower().endswith(DOCUMENT_SUFFIXES) else name


def folded(name: str) -> str:
    """Return a name as it is compared but for case and blanks."""
    return " ".join(name.split()).casefold()


# Paths: where a relative link may lead, as the author wrote it or as the address of a page that is made of a
# document.

PAGE_SUFFIXES = (".html", ".htm", ".xhtml")
"""Pages that are usually built from a document of the same name."""

FILE_SUFFIXES = frozenset(
    (
        *DOCUMENT_SUFFIXES,
        *(".mdx", ".rst", ".txt", ".adoc", ".ipynb", ".pdf", ".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml"),
        *(".toml", ".ini", ".cfg", ".xml", ".sql", ".log", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp"),
        *(".avif", ".ico", ".mp3", ".ogg", ".opus", ".wav", ".flac", ".m4a", ".aac", ".mp4", ".mov", ".mkv", ".ogv"),
        *(".webm", ".canvas", ".base", ".zip", ".gz", ".py", ".pyi", ".js", ".ts", ".tsx", ".jsx", ".mjs"),
        *(".css", ".scss", ".c", ".h", ".cpp", ".hpp", ".cc", ".cs", ".go", ".java", ".kt", ".lua", ".php", ".pl"),
        *(".r", ".rb", ".rs", ".scala", ".sh", ".bash", ".ps1", ".bat", ".swift", ".docx", ".xlsx", ".pptx", ".odt"),
    )
)
"""Suffixes of files. What else follows a dot may be a version, a method or the name of a host."""

_INDEXES = ("index.md", "README.md", "readme.md", "_index.md")


def joined(folder: str, target: str) -> str:
    """Return the path that a target means in a folder, without `.` and `..`; a slash at its end stays."""
    if target and target[0] not in "./" and "//" not in target and "/." not in target:  # as most are
        base = _normal(folder)
        return target if base == "." else f"{base}{target}" if base.endswith("/") else f"{base}/{target}"
    path = posixpath.normpath(posixpath.join(folder, target))
    return f"{path}/" if target.endswith("/") else path


@lru_cache(maxsize=64)
def _normal(folder: str) -> str:
    """Return the path of a folder without `.` and `..`. Many links stand in one folder."""
    return posixpath.normpath(folder)


def suffix_of(path: str) -> str:
    """Return the suffix of a path in lower case, with its dot; empty where there is none."""
    return posixpath.splitext(path)[1].lower()


def is_page(path: str, suffix: str) -> bool:
    """Return whether a path is the address of a page (`guide/`, `guide.html`, `guide`) rather than of a file."""
    return suffix in PAGE_SUFFIXES or path.endswith("/") or not suffix


def page_sources(path: str, suffix: str) -> list[str]:
    """Return the documents that a site generator may have made a page of."""
    name = path.rstrip("/")
    if name in ("", "."):
        return list(_INDEXES)
    stem = name[: len(name) - len(suffix)]
    sources = [f"{stem}{extension}" for extension in DOCUMENT_SUFFIXES]
    if suffix and posixpath.basename(stem) != "index":
        return sources
    folder = posixpath.dirname(name) if suffix else name
    return sources + [posixpath.join(folder, index_name) for index_name in _INDEXES]
