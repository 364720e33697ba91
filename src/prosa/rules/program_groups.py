"""Programs that import others, in groups that share no import; each group is checked as one and kept as one.

In: analyses by real path. Out: what is wrong with every program of the groups and with what they import, the same
whether it was found now, in another process, or the last time.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prosa.rules.analysis import Analysis
from prosa.rules.findings import ProgramFindings
from prosa.rules.keeping import NotPlain, from_problem_rows, problem_rows, suppression_rows, to_suppressions
from prosa.rules.looking import ENOUGH, Looker
from prosa.rules.recording import RecordingFiles, still_holds

if TYPE_CHECKING:
    from prosa.dialects.reading import DialectReading
    from prosa.graph import Closure


@dataclass(frozen=True, slots=True)
class Group:
    """Programs that are checked together: real path, path as named, and digest of each."""

    members: tuple[tuple[Path, Path, str], ...]

    @property
    def key(self) -> str:
        """Under which the findings of the group are kept."""
        named = json.dumps([(str(real), str(path), digest) for real, path, digest in self.members])
        return f"programs:{sha256(named.encode()).hexdigest()}"


def check_groups(seen: Mapping[Path, Analysis], looker: Looker) -> tuple[Closure | None, tuple[ProgramFindings, ...]]:
    """The findings in programs that import others, and in what they import. With readings there is a closure too."""
    if not any(analysis.imports for analysis in seen.values()):
        return None, ()
    if looker.keep:
        return _together(seen, looker)
    groups = tuple(_groups(seen))
    found = {group: kept for group in groups if (kept := _kept(group, looker)) is not None}
    missing = [group for group in groups if group not in found]
    found |= dict(zip(missing, _checked(missing, looker), strict=True))
    return None, tuple(each for group in groups for each in found[group])


def _together(seen: Mapping[Path, Analysis], looker: Looker) -> tuple[Closure, tuple[ProgramFindings, ...]]:
    """All programs in one closure, from the readings that are there."""
    from prosa.rules.programs import check_programs

    programs: dict[Path, DialectReading[object]] = {
        real: analysis.reading
        for real, analysis in seen.items()
        if analysis.reading is not None and analysis.facts.dialect == "markdownlang"
    }
    paths = [Path(reading.front.source.path) for reading in programs.values()]
    return check_programs(paths, looker.files, known=programs)


def _groups(seen: Mapping[Path, Analysis]) -> Iterator[Group]:
    """Programs that an import connects, by union of their paths. A program alone has been checked already."""
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
    yield from (Group(tuple(each)) for each in members.values())


def _top(parents: dict[str, str], name: str) -> str:
    while (parent := parents.setdefault(name, name)) != name:
        parents[name] = parents[parent]
        name = parent
    return name


def _checked(groups: Sequence[Group], looker: Looker) -> Iterator[tuple[ProgramFindings, ...]]:
    """New findings, made by other processes where there is enough to do, and kept."""
    alone = replace(looker, workers=None, progress=None)
    jobs = [(group, alone) for group in groups]
    many = looker.workers is not None and sum(len(group.members) for group in groups) >= ENOUGH
    made = looker.workers.map(_check, jobs) if looker.workers is not None and many else map(_check, jobs)
    for group, (findings, record) in zip(groups, made, strict=True):
        yield findings
        if looker.store is not None and all(digest for _, _, digest in group.members):
            try:
                looker.store.put({group.key: _row(findings, record)})
            except NotPlain:
                continue


def _check(job: tuple[Group, Looker]) -> tuple[tuple[ProgramFindings, ...], dict[str, str]]:
    from prosa.rules.programs import check_programs

    group, looker = job
    files = RecordingFiles(looker.files)
    paths = [path for _, path, _ in group.members]
    _, findings = check_programs(paths, files)
    return tuple(replace(each, source=None) for each in findings), files.record


def _kept(group: Group, looker: Looker) -> tuple[ProgramFindings, ...] | None:
    row = looker.store.get([group.key]).get(group.key) if looker.store is not None else None
    if row is None:
        return None
    try:
        record, findings = json.loads(row)
        return tuple(map(_finding, findings)) if still_holds(record, looker.files) else None
    except (TypeError, ValueError, KeyError):
        return None


def _row(findings: Sequence[ProgramFindings], record: Mapping[str, str]) -> str:
    rows = [
        [str(each.real), each.path, each.digest, problem_rows(each.problems), suppression_rows(each.suppressions)]
        for each in findings
    ]
    return json.dumps([record, rows])


def _finding(row: Any) -> ProgramFindings:
    real, path, digest, problems, suppressions = row
    return ProgramFindings(Path(real), path, digest, from_problem_rows(problems), to_suppressions(suppressions))
