"""`unknown-doc-id`: a relationship with a document that is not in the corpus (M50)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.graph.names import Key
from prosa.rules.corpus_names import corpus_names
from prosa.rules.subject import Corpus


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the id. Silent unless all documents below the root are known: the target may be among the others."""
    if not corpus.complete:
        return
    names = corpus_names(corpus)
    for path, facts in corpus.entries.items():
        if facts.dialect != "magi":
            continue
        for ref in facts.refs:
            if ref.origin == "footnote" and ref.kind == "id" and not names.find(Key("id", ref.target)):
                message = f"no document here has the id `{shown(ref.target)}`"
                notes = ("a `source-url` names what is outside the corpus",)
                yield path, Problem("unknown-doc-id", message, ref.span, notes)
