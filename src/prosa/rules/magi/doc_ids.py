"""Relationships between the documents of a corpus, by `doc-id` (M50)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.graph.names import Key
from prosa.rules.corpus_names import CorpusNames, corpus_names
from prosa.rules.magi import RULES
from prosa.rules.rule import Corpus, DocumentFacts, Finding

if TYPE_CHECKING:
    from prosa.document.references import Ref

MAX_SUGGESTIONS = 100
"""Ids of one check that are compared with similar ones; comparing is slow."""

ALIKE = 0.85
"""How similar two ids must be, 0 to 1: those of a project often begin alike."""


class Survey(NamedTuple):
    """The relationships of a whole corpus: the folders at either end of one, how many unknown ids are named before
    each document, and all ids."""

    connected: frozenset[Path]
    before: Mapping[Path, int]
    ids: tuple[str, ...]


@RULES.one_of_many("MG048", "unknown-doc-id", Severity.WARNING, strict=Severity.ERROR)
def unknown_doc_id(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find a relationship with a document that is not in the corpus (M50). The finding points at the id. It is silent
    unless all documents below the root are known. In a project every id is judged. Samples elsewhere name documents
    that do not exist: in a folder without resolved relationships, an id is only a finding if a similar one exists."""
    names = corpus_names(corpus)
    unknown = [ref for ref in named_ids(facts) if not names.find(Key("id", ref.target))] if corpus.complete else []
    if not unknown:
        return
    survey = names.derived("relationships", "ids", partial(_survey, corpus, names))
    for number, ref in enumerate(unknown, survey.before[path]):
        guess = nearest(ref.target, survey.ids, cutoff=ALIKE) if number < MAX_SUGGESTIONS else None
        if path.parent in survey.connected or guess or corpus.rooted in ("given", "project"):
            message = f"no document here has the id `{shown(ref.target)}`"
            note = f"did you mean `{guess}`?" if guess else "a `source-url` names what is outside the corpus"
            meant = Misspelling(ref.target, guess) if guess else None
            yield Finding(message, ref.span, (note,), misspelling=meant)


def named_ids(facts: DocumentFacts) -> Iterator[Ref]:
    """Return the relationships of a document that name another document by its id."""
    refs = facts.refs if facts.dialect == "magi" else ()
    return (ref for ref in refs if ref.origin == "footnote" and ref.kind == "id")


def _survey(corpus: Corpus, names: CorpusNames) -> Survey:
    connected: set[Path] = set()
    before: dict[Path, int] = {}
    count = 0
    for path, facts in corpus.entries.items():
        before[path] = count
        for ref in named_ids(facts):
            if documents := names.find(Key("id", ref.target)):
                connected.update((path.parent, *(document.real.parent for document in documents)))
            else:
                count += 1
    ids = tuple(
        definition.name for facts in corpus.entries.values() for definition in facts.defs if definition.kind == "id"
    )
    return Survey(frozenset(connected), before, ids)
