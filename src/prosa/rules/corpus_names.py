"""The documents of a corpus by name, in the key space of the graph: rules resolve a reference as the graph does.

In: a corpus. Out: names (`graph.names`). A space is filled when the first rule asks for it: most corpora have no
wikilinks, and nobody asks for titles where every wikilink names a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from prosa.graph.names import Key
from prosa.graph.stems import folded, stem_of
from prosa.rules.subject import Corpus, Facts


class NamedDocument(NamedTuple):
    """A document of the corpus: its real path, and that as text."""

    real: Path
    path: str


class CorpusNames(Struct, frozen=True, eq=False):
    """Meets `graph.names.Names` in all spaces but those of URLs. Paths are real ones, and documents come in the order
    of the corpus."""

    corpus: Corpus
    _spaces: dict[str, Mapping[str, Sequence[NamedDocument]]] = field(default_factory=dict)

    def find(self, key: Key) -> Sequence[NamedDocument]:
        """The documents that answer to a key."""
        space = self._spaces.get(key.space)
        if space is None:
            space = self._spaces[key.space] = self._filled(key.space)
        return space.get(key.name, ())

    def _filled(self, space: str) -> Mapping[str, Sequence[NamedDocument]]:
        found: dict[str, list[NamedDocument]] = {}
        for real, facts in self.corpus.entries.items():
            for name in _names(space, real, facts):
                found.setdefault(name, []).append(NamedDocument(real, real.as_posix()))
        return found


@lru_cache(maxsize=1)
def corpus_names(corpus: Corpus) -> CorpusNames:
    """The names of a corpus, the same for all rules that ask."""
    return CorpusNames(corpus)


@lru_cache(maxsize=1)
def file_names(corpus: Corpus) -> Mapping[str, str]:
    """The files below the root by name but for case, each with a path; empty where nobody knows them."""
    return corpus.file_names() if corpus.file_names is not None else {}


@lru_cache(maxsize=1)
def is_vault(corpus: Corpus) -> bool:
    """Whether names alone lead to files here: the root is one of Obsidian, or a document has a wikilink that leads
    somewhere."""
    if corpus.root is not None and corpus.files.exists(corpus.root / ".obsidian"):
        return True
    names = corpus_names(corpus)
    targets = (stem_of(link.target)[1] for facts in corpus.entries.values() for link in facts.wikilinks)
    return any(names.find(Key("stem", stem)) for stem in targets if stem)


def _names(space: str, real: Path, facts: Facts) -> Iterator[str]:
    if space == "path":
        yield real.as_posix()
    elif space == "stem":
        yield real.stem
    elif space == "stem~":
        yield real.stem.casefold()
    elif space == "id" or space == f"id@{facts.dialect}":
        yield from dict.fromkeys(each.name for each in facts.defs if each.kind == "id")
    elif facts.defs and space in ("title~", "alias~"):
        yield from dict.fromkeys(folded(each.name) for each in facts.defs if f"{each.kind}~" == space)
