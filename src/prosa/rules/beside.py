"""The facts of the documents beside the checked ones, stored together as one row of the cache (X10).

In: the stamps of the documents below a root, without opening them. Out: their facts. A hook that checks three
documents needs the names of five thousand others: reading their rows one by one would take longer than everything
else. Documents whose stamps changed since the row was written are analysed as usual; if there are many, the row is
rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.rules.analysis import Analysis
from prosa.rules.analyzer import Analyzer, hints_text
from prosa.rules.cache import KeptFacts, NotPlain, Stamped, Store, from_facts_row, to_facts_row
from prosa.rules.recording import still_holds
from prosa.rules.subject import Facts

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
    facts: dict[Path, Facts]


def facts_beside(sighted: Sighted, known: Collection[Path], analyzer: Analyzer, store: Store) -> dict[Path, Facts]:
    """Return the facts of the documents that are not ``known``, of those that can be read, in the order of a walk."""
    name = f"beside:{sighted.top}"
    kept = from_facts_row(store.get([name]).get(name, ""))
    seen = _looked_up(sighted, kept, known, analyzer)
    missing = [Path(sighted.shown + path) for real, path in seen.names.items() if real not in seen.facts]
    linked = [Path(sighted.shown + path) for path in sighted.links]
    new = replace(analyzer, keep=False, progress=None).analyses([*missing, *linked], known) if missing or linked else {}
    _keep(sighted, seen, kept, new, analyzer, store)
    found = {real: seen.facts.get(real) or new[real].facts for real in seen.names if _is_readable(real, seen, new)}
    return found | {real: each.facts for real, each in new.items() if each.readable and real not in found}


def _is_readable(real: Path, seen: _Seen, new: Mapping[Path, Analysis]) -> bool:
    return real in seen.facts or (real in new and new[real].readable)


def _looked_up(sighted: Sighted, kept: Mapping[str, KeptFacts], known: Collection[Path], analyzer: Analyzer) -> _Seen:
    """Compare the stored row with the present documents."""
    seen = _Seen({}, {}, {})
    links = frozenset(sighted.links)
    for folder, stamps in sighted.stamps.items():
        for name in sorted(stamps):
            path = folder + name
            if path in links or (real := Path(sighted.top + path)) in known:
                continue
            seen.names[real] = path
            if real in sighted.apart or not sighted.may_read(stamp := stamps[name]):
                continue
            seen.stamps[path] = stamp
            row = kept.get(path)
            if row is not None and row.stamp == stamp and _holds(row, real, analyzer):
                seen.facts[real] = row.facts(sighted.shown + path)
    return seen


def _holds(row: KeptFacts, real: Path, analyzer: Analyzer) -> bool:
    """Return whether all else that a row rests on is as it was."""
    same = row.hints == hints_text(analyzer.hints(real))
    return same and (not row.depends or still_holds(row.depends, analyzer.files))


def _keep(
    sighted: Sighted,
    seen: _Seen,
    kept: Mapping[str, KeptFacts],
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
    try:
        text = to_facts_row({path: each for path, each in kept.items() if path in there} | fresh)
    except NotPlain:
        return
    store.put({f"beside:{sighted.top}": text})
