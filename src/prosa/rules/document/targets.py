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
from prosa.graph.pages import FILE_SUFFIXES, is_page, joined, page_sources, suffix_of
from prosa.rules.subject import Corpus, Facts, LocalLink

State: TypeAlias = Literal["document", "file", "missing", "unknown"]


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
            name = joined(folder, link.target)
            found = self.known.get(name)
            if found is None:
                found = self.known[name] = self._look(name)
            yield Found(path, link, *found, name)

    def _look(self, name: str) -> tuple[State, Path | None]:
        if (document := self.by_name.get(name)) is not None:
            return "document", document
        suffix = suffix_of(name)
        if is_page(name, suffix):
            sources = (self.by_name.get(each) for each in page_sources(name, suffix))
            made_of = next((each for each in sources if each is not None), None)
            return ("document", made_of) if made_of is not None else ("unknown", None)
        if self.corpus.files.exists(Path(name)):
            is_document = suffix in DOCUMENT_SUFFIXES
            return ("document", Path(name)) if is_document else ("file", None)
        wrong = suffix in FILE_SUFFIXES and self.corpus.files.inside_root(Path(name))
        return ("missing" if wrong else "unknown"), None
