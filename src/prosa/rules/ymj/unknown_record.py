"""`unknown-record`: an edge, a related ticket or a parent that is no document of the corpus (Y12, Y31)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.document.references import Origin, Ref
from prosa.graph.pages import joined
from prosa.graph.record import Record, Reference
from prosa.graph.settle import settle
from prosa.graph.stems import stem_tiers
from prosa.rules.corpus_names import CorpusNames, corpus_names
from prosa.rules.subject import Corpus, Facts

_WORDS: dict[Origin, str] = {
    "ops.graph": "no document here is called `{}`",
    "ops.ticket": "no record here is the related ticket `{}`",
    "ops.trace": "no record here is the parent `{}`",
}
_NOTE = "a record is named by its file name without suffix, its `subject`, or as a trace by `provenance.run_id`"


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the name. Silent unless all documents below the root are known: the target may be among the others."""
    if not corpus.complete:
        return
    names = corpus_names(corpus)
    stems = tuple(path.stem for path in corpus.entries)
    for path, facts in corpus.entries.items():
        for ref in facts.refs if facts.dialect == "ymj" else ():
            if ref.origin in _WORDS and ref.kind != "url" and not _is_known(path, facts, ref, corpus, names):
                near = nearest(ref.target, stems)
                notes = (f"did you mean `{near}`?",) if near else () if ref.origin == "ops.graph" else (_NOTE,)
                message = _WORDS[ref.origin].format(shown(ref.target))
                meant = Misspelling(ref.target, near) if near else None
                yield path, Problem("unknown-record", message, ref.span, notes, misspelling=meant)


def _is_known(path: Path, facts: Facts, ref: Ref, corpus: Corpus, names: CorpusNames) -> bool:
    if ref.kind == "path":
        roots = [path.parent.as_posix(), *([corpus.root.as_posix()] if corpus.root is not None else [])]
        places = [Path(joined(root, ref.target)) for root in roots]
        return any(each in corpus.entries or corpus.files.exists(each) for each in places)
    record = Record(path.as_posix(), facts.dialect)
    reference = Reference(ref.origin, ref.target, "stem", ref.span.start, ref.span.end, 0)
    return settle(record, reference, stem_tiers(record, reference), names).state != "unresolved"
