"""What MDA documents depend on, by name and version (§03-3). Only the documents of the corpus are known: what is
published elsewhere is not looked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from prosa.diagnostics import Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.mda.versions import newest, satisfies
from prosa.graph.cycles import components
from prosa.rules.mda import RULES
from prosa.rules.rule import Corpus, CorpusFindings, Finding
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.dialects.mda.as_dialect import CorpusFacts

MAX_NAMED = 8
"""Versions that a message names."""

MAX_SUGGESTIONS = 100
"""Names of one check that are compared with similar ones; comparing is slow."""


class _Need(Struct, frozen=True):
    """One dependency of one document: as it is written, and the documents of that name."""

    real: Path
    name: str
    range: str
    digest: str
    spans: tuple[Span, Span, Span]
    found: tuple[tuple[Path, CorpusFacts], ...]

    @property
    def fitting(self) -> tuple[tuple[Path, CorpusFacts], ...]:
        """The documents whose version is in the range, the newest last."""
        fit = [candidate for candidate in self.found if satisfies(candidate[1]["version"], self.range)]
        return tuple(sorted(fit, key=lambda candidate: newest(candidate[1]["version"])))


def _documents(corpus: Corpus) -> list[tuple[Path, CorpusFacts]]:
    """Return the documents with a name, each with what it has for these rules."""
    documents = ((real, facts.extra) for real, facts in corpus.entries.items() if "depends" in facts.extra)
    return [(real, cast("CorpusFacts", extra)) for real, extra in documents]


def _needs(corpus: Corpus) -> Iterator[_Need]:
    named: dict[str, list[tuple[Path, CorpusFacts]]] = {}
    documents = _documents(corpus)
    for real, extra in documents:
        named.setdefault(extra["name"], []).append((real, extra))
    for real, extra in documents:
        for name, wanted, digest, *places in extra["depends"]:
            first, second, third = (Span(*place) for place in places)
            yield _Need(real, name, wanted, digest, (first, second, third), tuple(named.get(name, ())))


@RULES.corpus("MA030", "unknown-dependency", Severity.WARNING, strict=Severity.ERROR)
def unknown_dependency(corpus: Corpus) -> CorpusFindings:
    """Find a dependency on a document that is not in the corpus. The finding points at the name. It is silent unless
    all documents below the root are known. Outside a project, where none of a document's dependencies is there, it is
    information only: such a document may be a sample, or one of many that are published apart."""
    names = [extra["name"] for _, extra in _documents(corpus)]
    needs = [*_needs(corpus)] if corpus.complete else []
    met = {need.real for need in needs if need.found}
    for number, need in enumerate(need for need in needs if need.name):
        if not need.found:
            guess = nearest(need.name, names) if number < MAX_SUGGESTIONS else None
            note = f"did you mean `{guess}`?" if guess else "what lies elsewhere is not looked for"
            meant = Misspelling(need.name, guess) if guess else None
            message = f"no document here has the name `{shown(need.name)}`"
            alone = need.real not in met and not guess and corpus.rooted not in ("given", "project")
            severity = Severity.INFO if alone else None
            yield need.real, Finding(message, need.spans[0], (note,), severity=severity, misspelling=meant)


@RULES.corpus("MA031", "unsatisfied-range", Severity.ERROR)
def unsatisfied_range(corpus: Corpus) -> CorpusFindings:
    """Find a range that no version of the document satisfies. The finding points at the range."""
    for need in _needs(corpus):
        if need.found and need.range and not need.fitting:
            versions = sorted({extra["version"] for _, extra in need.found} - {""})
            there = f"there is {', '.join(versions[:MAX_NAMED])}" if versions else "it has no version"
            message = f"no version of `{need.name}` here is in the range `{shown(need.range)}`: {there}"
            yield need.real, Finding(message, need.spans[1])


@RULES.corpus("MA032", "dependency-digest-mismatch", Severity.ERROR)
def dependency_digest_mismatch(corpus: Corpus) -> CorpusFindings:
    """Find a dependency that is pinned to another digest than the document has. The finding points at the digest."""
    for need in _needs(corpus):
        digests = {extra["digest"] for _, extra in need.fitting}
        if need.digest and digests and need.digest not in digests:
            has = "has no digest" if digests == {""} else "has another digest"
            message = f"`{need.name}` {has}: what was pinned is not what is here"
            yield need.real, Finding(message, need.spans[2])


@RULES.corpus("MA033", "dependency-cycle", Severity.ERROR)
def dependency_cycle(corpus: Corpus) -> CorpusFindings:
    """Find documents that depend on each other in a circle (§03-3.3). The findings point at the names."""
    edges: dict[Path, list[tuple[Path, _Need]]] = {}
    for dependency in _needs(corpus):
        edges.setdefault(dependency.real, []).extend((real, dependency) for real, _ in dependency.fitting[-1:])
    groups = components({real: [to for to, _ in out] for real, out in edges.items()})
    group_of = {real: number for number, group in enumerate(groups) for real in group}
    for real, out in edges.items():
        for to, need in out:
            if to == real or group_of[real] == group_of.get(to):
                message = f"`{need.name}` depends on this document in turn: neither can be loaded first"
                yield real, Finding(message, need.spans[0])
