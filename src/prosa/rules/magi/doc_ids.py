"""Relationships between the documents of a corpus, by `doc-id` (M50)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.graph.names import Key
from prosa.rules.corpus_names import corpus_names
from prosa.rules.magi import RULES
from prosa.rules.rule import Finding
from prosa.rules.subject import Corpus

if TYPE_CHECKING:
    from prosa.document.references import Ref

MAX_SUGGESTIONS = 100
"""Ids of one check for which a similar one is looked up; comparing is slow."""

ALIKE = 0.85
"""How alike two ids must be, 0 to 1: those of a project often begin alike."""


@RULES.corpus("MG048", "unknown-doc-id", Severity.WARNING, strict=Severity.ERROR)
def unknown_doc_id(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Finds a relationship with a document that is not in the corpus (M50). The finding points at the id. It is silent
    unless all documents below the root are known: the target may be among the others. In a project every id is judged.
    Samples elsewhere name documents that exist nowhere: there, in a folder where no relationship leads to or from, an
    id is a finding only if one that looks alike is there."""
    if not corpus.complete:
        return
    names = corpus_names(corpus)
    unknown: list[tuple[Path, Ref]] = []
    connected: set[Path] = set()
    for path, facts in corpus.entries.items():
        for ref in facts.refs if facts.dialect == "magi" else ():
            if ref.origin == "footnote" and ref.kind == "id":
                if found := names.find(Key("id", ref.target)):
                    connected.update((path.parent, *(each.real.parent for each in found)))
                else:
                    unknown.append((path, ref))
    ids = [each.name for facts in corpus.entries.values() for each in facts.defs if each.kind == "id"]
    for number, (path, ref) in enumerate(unknown):
        guess = nearest(ref.target, ids, cutoff=ALIKE) if number < MAX_SUGGESTIONS else None
        if path.parent in connected or guess or corpus.rooted in ("given", "project"):
            message = f"no document here has the id `{shown(ref.target)}`"
            note = f"did you mean `{guess}`?" if guess else "a `source-url` names what is outside the corpus"
            meant = Misspelling(ref.target, guess) if guess else None
            yield path, Finding(message, ref.span, (note,), misspelling=meant)
