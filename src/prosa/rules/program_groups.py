"""Programs that import others, in groups that share no import; each group is checked and cached as one.

In: analyses by real path. Out: the problems of every program of the groups and of their imports, the same whether
found now, in another process, or in an earlier check.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.rules.analyzer import ENOUGH, Analyzer
from prosa.rules.cache import NotPlain, from_group_row, to_group_row
from prosa.rules.files import RecordingFiles, files_of, still_holds
from prosa.rules.findings import Analysis, ProgramFindings
from prosa.source.files import sha256

if TYPE_CHECKING:
    from prosa.dialects.reading import DialectReading


class Group(Struct, frozen=True):
    """Programs that are checked together: real path, path as named, and digest of each."""

    members: tuple[tuple[Path, Path, str], ...]

    @property
    def key(self) -> str:
        """Under which the findings of the group are kept."""
        named = "\0".join(f"{real}\0{path}\0{digest}" for real, path, digest in self.members)
        return f"programs:{sha256(named.encode('utf-8', 'surrogateescape')).hexdigest()}"


class GroupFindings(Struct, frozen=True):
    """What was found in a group, and the real paths of the files that were read for it."""

    findings: tuple[ProgramFindings, ...]
    files: frozenset[Path]


def check_again(
    seen: Mapping[Path, Analysis], analyzer: Analyzer, known: Mapping[str, GroupFindings], changed: Collection[Path]
) -> dict[str, GroupFindings]:
    """Return the findings of all groups, by key; of those that are ``known`` only where none of their files
    ``changed``."""
    by_key: dict[str, GroupFindings] = {}
    for group in _groups(seen):
        kept = known.get(group.key)
        if kept is None or not kept.files.isdisjoint(changed):
            findings, record = _check((group, analyzer))
            kept = GroupFindings(findings, frozenset(files_of(record, analyzer.files)))
        by_key[group.key] = kept
    return by_key


def check_groups(seen: Mapping[Path, Analysis], analyzer: Analyzer) -> tuple[ProgramFindings, ...]:
    """Return the findings in programs with imports, and in those imports."""
    if not any(analysis.imports for analysis in seen.values()):
        return ()
    if analyzer.keep:
        return _together(seen, analyzer)
    groups = tuple(_groups(seen))
    findings = {group: kept for group in groups if (kept := _kept(group, analyzer)) is not None}
    missing = [group for group in groups if group not in findings]
    findings |= dict(zip(missing, _checked(missing, analyzer), strict=True))
    return tuple(result for group in groups for result in findings[group])


def _together(seen: Mapping[Path, Analysis], analyzer: Analyzer) -> tuple[ProgramFindings, ...]:
    """Return the findings in all programs together, from the readings that are there."""
    from prosa.rules.programs import check_programs

    programs: dict[Path, DialectReading[object]] = {
        real: analysis.reading
        for real, analysis in seen.items()
        if analysis.reading is not None and analysis.facts.dialect == "markdownlang"
    }
    paths = [Path(reading.front.source.path) for reading in programs.values()]
    return check_programs(paths, analyzer.files, known=programs)[1]


def _groups(seen: Mapping[Path, Analysis]) -> Iterator[Group]:
    """Yield programs that an import connects, by union of their paths. A program alone has been checked already."""
    parents: dict[str, str] = {}
    for real, analysis in seen.items():
        if analysis.imports:
            name = real.as_posix()
            for ref in analysis.facts.refs:
                target = posixpath.normpath(posixpath.join(posixpath.dirname(name), ref.target))
                parents[_top(parents, name)] = _top(parents, target)
    members: dict[str, list[tuple[Path, Path, str]]] = {}
    for real, analysis in seen.items():
        name = real.as_posix()
        if analysis.facts.dialect == "markdownlang" and name in parents:
            members.setdefault(_top(parents, name), []).append((real, Path(analysis.facts.path), analysis.digest))
    yield from (Group(tuple(member)) for member in members.values())


def _top(parents: dict[str, str], name: str) -> str:
    while (parent := parents.setdefault(name, name)) != name:
        parents[name] = parents[parent]
        name = parent
    return name


def _checked(groups: Sequence[Group], analyzer: Analyzer) -> Iterator[tuple[ProgramFindings, ...]]:
    """Yield new findings, made by other processes where there is enough to do, and kept."""
    alone = replace(analyzer, workers=None, progress=None)
    jobs = [(group, alone) for group in groups]
    many = analyzer.workers is not None and sum(len(group.members) for group in groups) >= ENOUGH
    made = analyzer.workers.map(_check, jobs) if analyzer.workers is not None and many else map(_check, jobs)
    for group, (findings, record) in zip(groups, made, strict=True):
        yield findings
        if analyzer.store is not None and all(digest for _, _, digest in group.members):
            try:
                analyzer.store.put({group.key: to_group_row(findings, record)})
            except NotPlain:
                continue


def _check(job: tuple[Group, Analyzer]) -> tuple[tuple[ProgramFindings, ...], dict[str, str]]:
    from prosa.rules.programs import check_programs

    group, analyzer = job
    files = RecordingFiles(analyzer.files)
    paths = [path for _, path, _ in group.members]
    _, findings = check_programs(paths, files)
    return tuple(replace(finding, source=None) for finding in findings), files.record


def _kept(group: Group, analyzer: Analyzer) -> tuple[ProgramFindings, ...] | None:
    row = analyzer.store.get([group.key]).get(group.key) if analyzer.store is not None else None
    kept = from_group_row(row) if row is not None else None
    if kept is None or not still_holds(kept[1], analyzer.files):
        return None
    return kept[0]
