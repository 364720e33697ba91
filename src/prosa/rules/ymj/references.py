"""Records among other documents: edges, related tickets, parents, and the routes they ask for (Y12, Y31)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.mdh.url import md_url, route_fault, route_url, standing_readmes
from prosa.document.references import Origin, Ref
from prosa.graph.names import Key, joined, stem_tiers
from prosa.graph.record import Record, Reference
from prosa.graph.resolve import resolve_tiers
from prosa.rules.corpus_names import CorpusNames, corpus_names
from prosa.rules.mdh.site import sites, span_of, top_of
from prosa.rules.rule import Corpus, DocumentFacts, Finding
from prosa.rules.ymj import RULES

if TYPE_CHECKING:
    from prosa.dialects.ymj.facts import CorpusFacts

_WORDS: dict[Origin, str] = {
    "ops.graph": "no document here is called `{}`",
    "ops.ticket": "no record here is the related ticket `{}`",
    "ops.trace": "no record here is the parent `{}`",
}
RAN = "ran"
"""The edge from a recording to its program (X27)."""

_NOTE = "a record is named by its file name without suffix, its `subject`, or as a trace by `provenance.run_id`"


@RULES.one_of_many("YM070", "unknown-record", Severity.INFO, strict=Severity.WARNING)
def unknown_record(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find an edge, a related ticket or a parent that is no document of the corpus (Y12, Y31). The finding points at
    the name. It is silent unless all documents below the root are known, and for the program that a recording `ran`,
    which may be elsewhere or deleted."""
    if not corpus.complete or facts.dialect != "ymj":
        return
    names = corpus_names(corpus)
    for ref in facts.refs:
        asked = ref.origin in _WORDS and ref.rel != RAN and ref.kind != "url"
        if asked and not _is_known(path, facts, ref, corpus, names):
            near = nearest(ref.target, names.stems())
            notes = (f"did you mean `{near}`?",) if near else () if ref.origin == "ops.graph" else (_NOTE,)
            message = _WORDS[ref.origin].format(shown(ref.target))
            meant = Misspelling(ref.target, near) if near else None
            yield Finding(message, ref.span, notes, misspelling=meant)


def _is_known(path: Path, facts: DocumentFacts, ref: Ref, corpus: Corpus, names: CorpusNames) -> bool:
    if ref.kind == "path":
        roots = [path.parent.as_posix(), *([corpus.root.as_posix()] if corpus.root is not None else [])]
        places = [Path(joined(root, ref.target)) for root in roots]
        return any(names.find(Key("path", place.as_posix())) or corpus.files.exists(place) for place in places)
    record = Record(path.as_posix(), facts.dialect)
    reference = Reference(ref.origin, ref.target, "stem", ref.span.start, ref.span.end, 0)
    return resolve_tiers(record, reference, stem_tiers(record, reference), names).state != "unresolved"


_FORM = "a route is a path on the site such as `/weather/fog`"


@RULES.corpus("YM046", "unusable-route", Severity.WARNING, strict=Severity.ERROR)
def unusable_route(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a record that cannot have the route that it requests (Y12, H7). The finding points at the route. A document
    with that URL by its file keeps it; of several records the first by path gets it."""
    if not any(entry.dialect == "ymj" and "route" in entry.extra for entry in corpus.entries.values()):
        return
    # Only here: few records ask for a route.
    for named in _sites(corpus):
        readmes = standing_readmes(set(named))
        owners = {md_url(name, stands=name in readmes): name for name in named}
        for name in sorted(named):
            facts = cast("CorpusFacts", corpus.entries[named[name]].extra)
            route = facts.get("route")
            if route is None or (url := route_url(route)) == md_url(name):
                continue
            if not url:
                message = f"`{shown(route)}` is not a URL that a record may have: {route_fault(route)}"
                note = _FORM
            elif (owner := owners.setdefault(url, name)) != name:
                message = f"`{shown(route)}` is the URL of {owner} too"
                note = "a site can give only one of them; this record stays at the URL of its file"
            else:
                continue
            yield named[name], Finding(message, span_of(facts["route_at"]), (note,))


def _sites(corpus: Corpus) -> Iterator[dict[str, Path]]:
    """Yield the documents of every site by their paths below its root, and all others below the root of the corpus.
    Without a known root, each document is separate."""
    placed: set[Path] = set()
    for site in sites(corpus):
        placed.update(page.real for page in site.pages)
        yield {page.name: page.real for page in site.pages}
    others = [real for real in corpus.entries if real not in placed]
    root = "" if corpus.rooted == "guessed" else top_of(corpus)
    inside = {real.as_posix()[len(root) :]: real for real in others if root and real.as_posix().startswith(root)}
    alone = set(others).difference(inside.values())
    yield inside
    yield from ({real.name: real} for real in others if real in alone)
