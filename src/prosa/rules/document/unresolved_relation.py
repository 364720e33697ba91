"""`unresolved-relation`: a field of front matter that names other documents, as `[relations]` of the project says, and
leads to none or to several."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.front import front_under
from prosa.dialects.relations import relation_refs
from prosa.document.references import Ref
from prosa.graph.outside import outside
from prosa.graph.record import Record, Reference
from prosa.graph.resolve import Resolution, resolve
from prosa.graph.sites import Sites
from prosa.rules.corpus_names import CorpusNames, Entry, corpus_names
from prosa.rules.subject import Corpus, Facts
from prosa.source import FileProblem

MAX_NAMED = 3
"""Documents that a message names."""


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the value. That nothing is called so is said only where all documents below the root are known."""
    if not corpus.relations:
        return
    names = corpus_names(corpus)
    for real in corpus.asked:
        facts = corpus.entries.get(real)
        for ref in _refs(corpus, facts) if facts is not None else ():
            found = _lead(real, ref, names, corpus)
            if found.state == "ambiguous":
                yield real, _several(ref, found, corpus)
            elif found.state == "unresolved" and corpus.complete:
                yield real, _none(ref, corpus)


def _refs(corpus: Corpus, facts: Facts) -> Iterator[Ref]:
    """What the project reads in the front matter; what the dialect reads there has rules of its own."""
    try:
        front = front_under(corpus.files.read(Path(facts.path)), facts.dialect)
    except FileProblem:
        return
    known = {each.span.start for each in facts.refs}
    yield from (ref for ref in relation_refs(front.fields, corpus.relations) if ref.span.start not in known)


def _lead(real: Path, ref: Ref, names: CorpusNames, corpus: Corpus) -> Resolution[Entry]:
    """Where it leads. Documents are known by real paths here, so a path from the root is tried as one from the folder
    of the document too."""
    record = Record(real.as_posix(), "plain")
    found = resolve(record, _reference(ref, ref.target), Sites(), names)
    if found.state == "resolved" or ref.kind != "path" or corpus.root is None:
        return found
    from_root = posixpath.relpath((corpus.root / ref.target.lstrip("/")).as_posix(), real.parent.as_posix())
    again = resolve(record, _reference(ref, from_root), Sites(), names)
    if again.state == "resolved" or not real.is_relative_to(corpus.root):
        return again
    here = Record(real.relative_to(corpus.root).as_posix(), "plain")
    return Resolution(outside(here, _reference(ref, ref.target)) or "unresolved")


def _reference(ref: Ref, target: str) -> Reference:
    return Reference("front-matter", target, ref.kind, ref.span.start, ref.span.end, 0, ref.rel, fragment=ref.fragment)


def _several(ref: Ref, found: Resolution[Entry], corpus: Corpus) -> Problem:
    named = ", ".join(corpus.entries[each.real].path for each in found.targets[:MAX_NAMED])
    more = ", …" if len(found.targets) > MAX_NAMED else ""
    note = "write as much of the path as makes it one: `[[folder/name]]`"
    return Problem("unresolved-relation", f"`{shown(ref.target)}` may be any of {named}{more}", ref.span, (note,))


def _none(ref: Ref, corpus: Corpus) -> Problem:
    guess = nearest(ref.target, sorted({path.stem for path in corpus.entries})) if ref.kind == "stem" else None
    notes = (f"did you mean `{guess}`?",) if guess else ()
    what = "is no document" if ref.kind == "path" else "is the name of no document"
    meant = Misspelling(ref.target, guess) if guess else None
    return Problem("unresolved-relation", f"`{shown(ref.target)}` {what}", ref.span, notes, misspelling=meant)
