"""Where the links of a corpus lead. In: a corpus. Out: for each local link a document, a file, nothing, or unknown.

Unknown is what only a site generator can tell: pages by their address (`guide/`, `guide.html`). Nothing is said of
what lies outside the root.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.rules.subject import Corpus, Facts, LocalLink

State: TypeAlias = Literal["document", "file", "missing", "unknown"]

PAGE_SUFFIXES = (".html", ".htm", ".xhtml")
"""Pages that are usually built from a document of the same name."""

FILE_SUFFIXES = frozenset(
    (
        *DOCUMENT_SUFFIXES,
        *(".mdx", ".rst", ".txt", ".adoc", ".ipynb", ".pdf", ".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml"),
        *(".toml", ".ini", ".cfg", ".xml", ".sql", ".log", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp"),
        *(".ico", ".mp3", ".mp4", ".mov", ".webm", ".zip", ".gz", ".py", ".pyi", ".js", ".ts", ".tsx", ".jsx", ".mjs"),
        *(".css", ".scss", ".c", ".h", ".cpp", ".hpp", ".cc", ".cs", ".go", ".java", ".kt", ".lua", ".php", ".pl"),
        *(".r", ".rb", ".rs", ".scala", ".sh", ".bash", ".ps1", ".bat", ".swift", ".docx", ".xlsx", ".pptx", ".odt"),
    )
)
"""Suffixes of files. What else follows a dot may be a version, a method or the name of a host."""

_INDEXES = ("index.md", "README.md", "readme.md", "_index.md")


class Found(NamedTuple):
    """A link and where it leads. ``real`` is set for a document and ``shown`` is the path it was looked for at."""

    source: Path
    link: LocalLink
    state: State
    real: Path | None
    shown: str


@lru_cache(maxsize=1)
def followed(corpus: Corpus) -> tuple[Found, ...]:
    """Every local link of the corpus, followed once for all rules that ask."""
    walk = _Walk(corpus, {path.as_posix(): path for path in corpus.entries})
    return tuple(found for path, facts in corpus.entries.items() for found in walk.of(path, facts))


@dataclass(slots=True)
class _Walk:
    corpus: Corpus
    by_name: dict[str, Path]
    known: dict[str, tuple[State, Path | None]] = field(default_factory=dict)

    def of(self, path: Path, facts: Facts) -> Iterator[Found]:
        """The links of one document."""
        folder = posixpath.dirname(path.as_posix())
        for link in facts.links:
            if not link.target:
                yield Found(path, link, "document", path, "")
                continue
            name = posixpath.normpath(posixpath.join(folder, link.target))
            if link.target.endswith("/"):
                name += "/"
            found = self.known.get(name)
            if found is None:
                found = self.known[name] = self._look(name)
            yield Found(path, link, *found, name)

    def _look(self, name: str) -> tuple[State, Path | None]:
        if (document := self.by_name.get(name)) is not None:
            return "document", document
        suffix = posixpath.splitext(name)[1].lower()
        if suffix in PAGE_SUFFIXES or name.endswith("/") or not suffix:
            return self._page(name.rstrip("/"), suffix)
        if self.corpus.files.exists(Path(name)):
            is_document = suffix in DOCUMENT_SUFFIXES
            return ("document", Path(name)) if is_document else ("file", None)
        wrong = suffix in FILE_SUFFIXES and self.corpus.files.inside_root(Path(name))
        return ("missing" if wrong else "unknown"), None

    def _page(self, name: str, suffix: str) -> tuple[State, Path | None]:
        """An address that a site generator gives a document: the document, when it is one of the corpus."""
        stem = name.removesuffix(suffix)
        candidates = [f"{stem}{each}" for each in DOCUMENT_SUFFIXES]
        candidates += [posixpath.join(name if not suffix else posixpath.dirname(name), each) for each in _INDEXES]
        if suffix and posixpath.basename(stem) != "index":
            candidates = candidates[: len(DOCUMENT_SUFFIXES)]
        found = next((self.by_name[each] for each in candidates if each in self.by_name), None)
        return ("document", found) if found is not None else ("unknown", None)
