"""The requests for a node besides its Markdown, every form and header of §4 and §10.2 (H8, HA7, H18), and the file
names under which the rules that read folders see a site.

Further requests are sent for a sample of the nodes, so that a large site can be probed: all of a few, evenly spread
ones of many. `/` is `index.md`, `/hours` is `hours.md`: the way back of `md_url`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, field

from prosa.source import FileProblem, SourceText

Item = TypeVar("Item")

SAMPLE = 20
"""Number of nodes that are requested in every form."""

MAX_ETAG = 1_024
"""Characters of an ETag that are sent back."""

MARKDOWN = "text/markdown"
JSON = "application/json"
BROWSER = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"


class Ask(Struct, frozen=True):
    """One request of the probe: a method that changes nothing, a decoded path, and headers. ``exact`` is a literal URL
    in place of the path; ``whole`` wants the bytes of the answer."""

    path: str
    accept: str = MARKDOWN
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    exact: str = ""
    whole: bool = False


class Question(Struct, frozen=True):
    """A further question to a node, by name. ``with_etag`` sends the ETag of the Markdown along."""

    name: str
    accept: str
    method: str = "GET"
    suffix: str = ""
    with_etag: bool = False


QUESTIONS: tuple[Question, ...] = (
    Question("again", MARKDOWN),
    Question("head", MARKDOWN, method="HEAD"),
    Question("unchanged", MARKDOWN, with_etag=True),
    Question("json", JSON),
    Question("anything", "*/*"),
    Question("browser", BROWSER),
    Question("markdown-preferred", f"{JSON};q=0.2, {MARKDOWN};q=0.9"),
    Question("json-preferred", f"{MARKDOWN};q=0.2, {JSON};q=0.9"),
    Question("unknown-form", "application/x-prosa-probe"),
    Question("file-markdown", "*/*", suffix=".md"),
    Question("file-json", "*/*", suffix=".json"),
)


def ask_of(question: Question, path: str, etag: str) -> Ask | None:
    """Return the request of a question about the node at a path; None where it needs an ETag and there is none."""
    if question.with_etag:
        sendable = 0 < len(etag) <= MAX_ETAG and etag.isascii() and etag.isprintable()
        return Ask(path, question.accept, headers={"If-None-Match": etag}) if sendable else None
    return Ask(twin(path, question.suffix) if question.suffix else path, question.accept, question.method)


def twin(path: str, suffix: str) -> str:
    """Return the path of the file form of a node: `/hours.md`, and `/index.md` for a folder (HA7)."""
    stem = path.removesuffix(".md").removesuffix(".json")
    return f"{stem}index{suffix}" if stem.endswith("/") else f"{stem}{suffix}"


def sample(items: Sequence[Item], most: int = SAMPLE) -> Sequence[Item]:
    """Return at most that many of the items, evenly spread, including the first; always the same ones."""
    if len(items) <= most:
        return items
    return [items[number * len(items) // most] for number in range(most)]


ROOT = Path("/")


def file_of(path: str) -> Path:
    """Return the file name for a decoded URL path."""
    inner = path.replace("\0", "\ufffd").strip("/")
    return ROOT / (f"{inner}/index.md" if path.endswith("/") else f"{inner}.md")


class ProbedFiles(Struct, frozen=True):
    """``texts`` by file; ``there`` are further paths of the site that something was found at, decoded."""

    texts: Mapping[Path, SourceText]
    there: frozenset[str]

    def read(self, path: Path) -> SourceText:
        """Return the document. Raises `FileProblem` for any other file: its content was not kept."""
        if path in self.texts:
            return self.texts[path]
        raise FileProblem(path, "unreadable" if self.exists(path) else "missing", "is not a document of the site")

    def real(self, path: Path) -> Path:
        """Return the path itself: there are no links."""
        return path

    def inside_root(self, path: Path) -> bool:
        """Everything on a site is inside it."""
        return path.is_absolute()

    def exists(self, path: Path) -> bool:
        """Return whether something was found there."""
        return path in self.texts or path.as_posix() in self.there

    def digest(self, path: Path, limit: int) -> str:
        """Never known. Raises `FileProblem`."""
        del limit
        raise FileProblem(path, "unreadable", "is not a file of this machine")
