"""The analyzer: it analyses documents one by one, here or in other processes, or takes them from the cache (X10)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from prosa.dialects.dialect import Hints
from prosa.dialects.table import dialect_of_path
from prosa.rules.cache import (
    FactsRow,
    KeptFacts,
    NotPlain,
    Stamped,
    Store,
    from_facts_row,
    from_row,
    to_facts_row,
    to_row,
)
from prosa.rules.files import still_holds
from prosa.rules.findings import Analysis, unreadable
from prosa.rules.rule import DocumentFacts
from prosa.source import FileProblem, Files, SourceText

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

CHUNK = 50
"""Maximum number of documents that a process handles in one batch: enough to outweigh the transfer, few enough to
share out evenly. Neighbours are mostly of one dialect, so a process stays with its code. The first batch is spread over
the corpus: what it loads and compiles, a process that is forked then has."""

SHARES = 8
"""Chunks of each process, at least, so that none waits long for the last one."""

TOGETHER = 50
"""Documents that go from stage to stage of an analysis together: enough to stay with the code of a stage."""

TOGETHER_CHARACTERS = 200_000
"""Characters at which no further document joins them: what is made of all is in memory at the same time."""

AT_ONCE = 100
"""Documents whose texts and rows are in memory at the same time; those of a whole corpus would remain the largest share
of a process that keeps it."""

SAMPLE = 40
"""Number of documents looked up first, to learn whether most of them are cached."""

ENOUGH = 250
"""New documents that are worth a second process; below that, starting one takes longer than the work."""


Item: TypeAlias = tuple[Path, Path]
"""The real path of a document, and the path as the user named it."""


class NewAnalysis(Struct, frozen=True):
    """A new analysis: as it is, as the row that is kept under ``key``, or both."""

    key: str | None
    row: str | None
    analysis: Analysis | None

    def __reduce__(self) -> tuple[type[NewAnalysis], tuple[str | None, str | None, Analysis | None]]:
        """Between processes a row is enough, and far less than an analysis."""
        row = self.row
        if row is None and self.analysis is not None:
            with suppress(NotPlain):
                row = to_row(self.analysis)
        return NewAnalysis, (self.key, row, self.analysis if row is None else None)


class Workers(Protocol):
    """Other processes (`adapters.processes`)."""

    @property
    def count(self) -> int:
        """Return the number of documents."""
        ...

    def map(self, function: Callable[[_Job], _Result], jobs: Sequence[_Job]) -> Iterator[_Result]:
        """Return ``function`` of every job, in order."""
        ...


class Analyzer(Struct, frozen=True):
    """How documents are analysed.

    With ``keep``, readings are returned besides their results, and everything runs in this process. ``progress`` is
    called with the number of finished documents. ``stamps`` returns a value that identifies the state of a file: one
    that was hashed before is not read again. ``hinted`` identifies what ``hints`` returns for all paths, if not empty.
    ``read_all`` reads many files in less time than one after the other.
    """

    files: Files
    hints: Callable[[Path], Hints]
    keep: bool = True
    now: datetime | None = None
    store: Store | None = None
    workers: Workers | None = None
    progress: Callable[[int], None] | None = None
    stamps: Callable[[Path], Stamped | None] | None = None
    hinted: str = ""
    read_all: Callable[[Iterable[Path]], Iterable[SourceText | FileProblem]] | None = None

    def analyses(self, paths: Sequence[Path], known: Container[Path] = ()) -> dict[Path, Analysis]:
        """Return the analysis of every document, by real path, each once, without those that are ``known``."""
        by_real: dict[Path, Path] = {}
        for path in paths:
            if (real := self.files.real(path)) not in known:
                by_real.setdefault(real, path)
        items = list(by_real.items())
        return dict(zip(by_real, self._read_all(items) if self.keep else self._analyse_all(items), strict=True))

    def facts(self, path: Path) -> DocumentFacts | None:
        """Return the facts of a document that was not requested, None if it cannot be read."""
        (analysis,) = replace(self, progress=None).analyses([path]).values()
        return analysis.facts if analysis.readable else None

    def fetch(self, items: Sequence[Item]) -> list[Analysis | None]:
        """Return the cached row of each document, None for those that must be analysed."""
        return [kept if isinstance(kept, Analysis) else None for kept in self._fetched(items)]

    def make(self, items: Sequence[Item]) -> list[NewAnalysis]:
        """Return the analyses of documents as they are passed between processes, including cached ones."""
        fetched = self._fetched(items)
        both = zip((real for real, _ in items), fetched, strict=True)
        new = self._new([(real, result) for real, result in both if isinstance(result, SourceText)])
        return [NewAnalysis(None, None, result) if isinstance(result, Analysis) else next(new) for result in fetched]

    def _read_all(self, items: Sequence[Item]) -> Iterator[Analysis]:
        from prosa.rules.analyse import analyse

        for real, path in items:
            try:
                yield analyse(self.files.read(path), self.hints(real), self.files, self.now)
            except FileProblem as problem:
                yield unreadable(problem)

    def _analyse_all(self, items: Sequence[Item]) -> list[Analysis]:
        many = self.workers is not None and self.workers.count > 1 and len(items) >= ENOUGH
        if not many:
            return self._made_here(items)
        analyses = self._sampled(items)
        if analyses is None:
            return self._shared_out(items)
        rest = [item for item in items if item[0] not in analyses]
        for some in _at_once(rest):
            analyses |= self._kept_of(some)
        missing = [item for item in rest if item[0] not in analyses]
        made = self._shared_out(missing) if len(missing) >= ENOUGH else self._made_here(missing)
        analyses.update(zip((real for real, _ in missing), made, strict=True))
        return [analyses[real] for real, _ in items]

    def _made_here(self, items: Sequence[Item]) -> list[Analysis]:
        """Return the analyses that this process fetches or makes."""
        return [analysis for some in _at_once(items) for analysis in self._taken_in(some, self.make(some))]

    def _sampled(self, items: Sequence[Item]) -> dict[Path, Analysis] | None:
        """Return what is kept of a sample; None if that is less than half of it."""
        if self.store is None:
            return None
        sample = items[:: max(1, len(items) // SAMPLE)]
        analyses = self._kept_of(sample)
        return analyses if len(analyses) * 2 >= len(sample) else None

    def _kept_of(self, items: Sequence[Item]) -> dict[Path, Analysis]:
        """Return the documents that are kept, by real path."""
        both = zip(items, self.fetch(items), strict=True)
        return {real: kept for (real, _), kept in both if kept is not None}

    def _shared_out(self, items: Sequence[Item]) -> list[Analysis]:
        """Return the analyses made by other processes."""
        assert self.workers is not None
        load_rules(hashing=self.store is not None)
        size = max(1, min(CHUNK, len(items) // (self.workers.count * SHARES)))
        alone = replace(self, workers=None, progress=None, stamps=None)
        stamps = self._stamps(items)
        chunks = _chunked(items, size)
        jobs = [(alone, some) for some in chunks]
        by_real: dict[Path, Analysis] = {}
        # The first is made here, before others are forked.
        done = chain([_make(jobs[0])], self.workers.map(_make, jobs[1:]))
        for some, made in zip(chunks, done, strict=True):
            by_real.update(zip((real for real, _ in some), self._taken_in(some, made), strict=True))
        self._remember(stamps, {str(real): analysis.digest for real, analysis in by_real.items()})
        return [by_real[real] for real, _ in items]

    def _taken_in(self, items: Sequence[Item], made: Sequence[NewAnalysis]) -> list[Analysis]:
        """Unpack analyses from other processes, and cache new ones."""
        if self.store is not None:
            self.store.put(
                {analysis.key: analysis.row for analysis in made if analysis.key and analysis.row is not None}
            )
        if self.progress is not None:
            self.progress(len(items))
        unpacked = (
            analysis.analysis or from_row(analysis.row or "", str(path), lasting=analysis.key is not None)
            for (_, path), analysis in zip(items, made, strict=True)
        )
        return [analysis for analysis in unpacked if analysis is not None]

    def _fetched(self, items: Sequence[Item]) -> list[Analysis | SourceText]:
        """For each document what was kept, or its text where nothing was."""
        if self.store is None:
            return self._texts(items)
        stamps = self._stamps(items)
        digests = dict(self.store.digests(stamps)) if stamps else {}
        missing = [item for item in items if str(item[0]) not in digests]
        read = dict(zip((real for real, _ in missing), self._texts(missing), strict=True))
        hashed = {str(real): source.digest for real, source in read.items() if isinstance(source, SourceText)}
        self._remember(stamps, hashed)
        digests |= hashed
        keys = {real: self._key(real, digest) for real, _ in items if (digest := digests.get(str(real)))}
        rows = dict(self.store.get([*keys.values()]))
        rows |= self.store.get([f"{key}:{real}" for real, key in keys.items() if key not in rows])
        stored = (
            self._kept(rows.get(key) or rows.get(f"{key}:{real}"), path) for real, path, key in _keyed(items, keys)
        )
        return [kept or read.get(real) or self._text(path) for kept, (real, path) in zip(stored, items, strict=True)]

    def _stamps(self, items: Sequence[Item]) -> dict[str, Stamped]:
        """Return the stamps of the documents that have one, by real path."""
        if self.store is None or self.stamps is None:
            return {}
        looked = ((real, self.stamps(path)) for real, path in items)
        return {str(real): stamp for real, stamp in looked if stamp is not None}

    def _remember(self, stamps: Mapping[str, Stamped], digests: Mapping[str, str]) -> None:
        """Keep what files of these stamps hold. The stamps were taken before the files were read."""
        if self.store is not None and stamps:
            both = ((real, stamps.get(real), digest) for real, digest in digests.items() if digest)
            self.store.remember({real: (stamp, digest) for real, stamp, digest in both if stamp is not None})

    def _kept(self, row: str | None, path: Path) -> Analysis | None:
        analysis = from_row(row, str(path)) if row is not None else None
        if analysis is None:
            return None
        itself = str(path), analysis.digest  # by which it was found
        others = {name: was for name, was in analysis.depends.items() if (name, was) != itself}
        return analysis if still_holds(others, self.files) else None

    def _texts(self, items: Sequence[Item]) -> list[SourceText | Analysis]:
        if self.read_all is None:
            return [self._text(path) for _, path in items]
        texts = self.read_all(path for _, path in items)
        return [unreadable(source) if isinstance(source, FileProblem) else source for source in texts]

    def _text(self, path: Path) -> SourceText | Analysis:
        try:
            return self.files.read(path)
        except FileProblem as problem:
            return unreadable(problem)

    def _new(self, texts: Sequence[tuple[Path, SourceText]]) -> Iterator[NewAnalysis]:
        """Yield the analyses of texts, which are made of a few at a time."""
        from prosa.rules.analyse import analyse_all

        for some in grouped(texts):
            made = analyse_all([(source, self.hints(real)) for real, source in some], self.files, self.now)
            yield from (self._lean(real, analysis) for (real, _), analysis in zip(some, made, strict=True))

    def _lean(self, real: Path, analysis: Analysis) -> NewAnalysis:
        """Return an analysis without the parts that are not needed again, and its row for the cache."""
        lean = replace(analysis, reading=None, source=analysis.source if analysis.problems else None)
        if self.store is None:
            return NewAnalysis(None, None, lean)
        try:
            row = to_row(analysis)
        except NotPlain:
            return NewAnalysis(None, None, lean)
        if not analysis.lasting or not analysis.digest:
            return NewAnalysis(None, row, lean)
        key = self._key(real, analysis.digest)
        return NewAnalysis(f"{key}:{real}" if analysis.depends else key, row, lean)

    def _key(self, real: Path, digest: str) -> str:
        """Return everything that an analysis depends on except the location of the document: its content, the hints
        about its dialect and its readers, the end of its path, which names of programs and skills come from, and what
        its place says of it."""
        path = real.as_posix()
        place = dialect_of_path(path) or ""
        return f"{digest}:{hints_text(self.hints(real))}:{place}:{'/'.join(path.rsplit('/', 2)[1:])}"


def hints_text(hints: Hints) -> str:
    """Return the hints about the dialect of a document, as a part of a key."""
    agents = ":agents" if hints.agents else ""
    return f"{hints.explicit or ''}:{hints.glob or ''}:{hints.forced or ''}{agents}"


def _at_once(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))


def _chunked(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Return a sample of all items, then the rest of them in chunks of neighbours."""
    step = -(-len(items) // size)
    rest = [item for at, item in enumerate(items) if at % step]
    return [items[::step], *(rest[start : start + size] for start in range(0, len(rest), size))]


def grouped(texts: Sequence[tuple[Path, SourceText]]) -> Iterator[Sequence[tuple[Path, SourceText]]]:
    """Yield the documents that go together."""
    start = characters = 0
    for end, (_, source) in enumerate(texts, 1):
        characters += len(source.text)
        if end - start == TOGETHER or characters >= TOGETHER_CHARACTERS or end == len(texts):
            yield texts[start:end]
            start, characters = end, 0


def _keyed(items: Sequence[Item], keys: Mapping[Path, str]) -> Iterator[tuple[Path, Path, str]]:
    return ((real, path, keys.get(real, "")) for real, path in items)


def _make(job: tuple[Analyzer, Sequence[Item]]) -> list[NewAnalysis]:
    """Return the work of one process."""
    analyzer, items = job
    return analyzer.make(items)


def load_rules(*, hashing: bool) -> None:
    """Load readers and rules here, and what hashes many documents, so that forked processes have them."""
    import prosa.rules.analyse  # noqa: F401

    if hashing:
        import hashlib  # noqa: F401 - see `source.files.sha256`


# The facts of the documents beside the checked ones, stored together as one row of the cache (X10).

MANY = 50
"""Number of outdated documents in the row: rewriting it takes as long as analysing about that many again."""


class Sighted(Struct, frozen=True):
    """All documents below a root, in the order of a walk. ``top`` is the real path of the root and ``shown`` the one
    for people, both ending so that a relative path can be added; ``stamps`` are by folder and name, and ``links`` the
    paths of documents that are links. ``tells`` returns whether a stamp identifies the state of the file; ``may_read``
    whether a file with that stamp is read. ``apart`` are real paths of files whose text differs from that on the disk.
    """

    top: str
    shown: str
    stamps: Mapping[str, Mapping[str, Stamped]]
    links: Collection[str]
    tells: Callable[[Stamped], bool]
    may_read: Callable[[Stamped], bool]
    apart: Collection[Path] = ()


class _Seen(Struct):
    """The wanted documents by real path, each with its path below the root; ``facts`` if the row has them unchanged."""

    names: dict[Path, str]
    stamps: dict[str, Stamped]
    facts: dict[Path, DocumentFacts]


def facts_beside(
    sighted: Sighted, known: Collection[Path], analyzer: Analyzer, store: Store
) -> dict[Path, DocumentFacts]:
    """Return the facts of the documents that are not ``known``, of those that can be read, in the order of a walk."""
    name = f"beside:{sighted.top}"
    kept = from_facts_row(store.get([name]).get(name, ""))
    seen = _looked_up(sighted, kept, known, analyzer)
    if len(seen.facts) == len(seen.names) and not sighted.links:
        return seen.facts
    missing = [Path(sighted.shown + path) for real, path in seen.names.items() if real not in seen.facts]
    linked = [Path(sighted.shown + path) for path in sighted.links]
    new = replace(analyzer, keep=False, progress=None).analyses([*missing, *linked], known) if missing or linked else {}
    _keep(sighted, seen, kept, new, analyzer, store)
    facts = {real: seen.facts.get(real) or new[real].facts for real in seen.names if _is_readable(real, seen, new)}
    return facts | {real: analysis.facts for real, analysis in new.items() if analysis.readable and real not in facts}


def _is_readable(real: Path, seen: _Seen, new: Mapping[Path, Analysis]) -> bool:
    return real in seen.facts or (real in new and new[real].readable)


def _looked_up(sighted: Sighted, kept: FactsRow, known: Collection[Path], analyzer: Analyzer) -> _Seen:
    """Compare the stored row with the present documents."""
    seen, rows, hinted = _Seen({}, {}, {}), kept.by_path, _hinted_alike(kept, analyzer)
    apart, left_out = (
        frozenset(map(str, sighted.apart)),
        {*map(str, known), *(sighted.top + link for link in sighted.links)},
    )
    for folder, stamps in sighted.stamps.items():
        for name in sorted(stamps):
            path = folder + name
            whole = sighted.top + path
            if whole in left_out:
                continue
            real = Path(whole)
            seen.names[real] = path
            if whole in apart or not sighted.may_read(stamp := stamps[name]):
                continue
            seen.stamps[path] = stamp
            row = rows.get(path)
            if row is None or row.stamp != stamp or not (hinted or row.hints == hints_text(analyzer.hints(real))):
                continue
            shown = sighted.shown + path
            if not row.depends or _holds(row, shown, analyzer):
                seen.facts[real] = row.facts(shown)
    return seen


def _hinted_alike(kept: FactsRow, analyzer: Analyzer) -> bool:
    """Return whether all documents have the hints that they had."""
    return kept.hinted == analyzer.hinted != ""


def _holds(row: KeptFacts, shown: str, analyzer: Analyzer) -> bool:
    """Return whether all else that a row rests on is as it was. Of the document itself, ``shown``, its stamp tells."""
    return still_holds({name: was for name, was in row.depends.items() if name != shown}, analyzer.files)


def _keep(
    sighted: Sighted,
    seen: _Seen,
    kept: FactsRow,
    new: Mapping[Path, Analysis],
    analyzer: Analyzer,
    store: Store,
) -> None:
    """Rewrite the row if many documents changed. The stamps were taken before the files were read."""
    fresh: dict[str, KeptFacts] = {}
    for real, analysis in new.items():
        stamp = seen.stamps.get(path := seen.names.get(real, ""))
        if stamp is not None and sighted.tells(stamp):
            row = KeptFacts.of(analysis, stamp, hints_text(analyzer.hints(real)))
            fresh |= {path: row} if row is not None else {}
    if len(fresh) <= MANY:
        return
    there = {folder + name for folder, names in sighted.stamps.items() for name in names}
    if not _hinted_alike(kept, analyzer):  # the hints of those that were looked up are the same
        there = {path for real, path in seen.names.items() if real in seen.facts}
    try:
        old = {path: facts for path, facts in kept.by_path.items() if path in there}
        text = to_facts_row(FactsRow(old | fresh, analyzer.hinted))
    except NotPlain:
        return
    store.put({f"beside:{sighted.top}": text})
