"""The cache of what a check finds by looking at one document alone, and at programs that import each other (X10): JSON
under a key that names everything it rests on."""

# Without postponed annotations: a decoder of what is cached compiles each of those when it is made.

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar, cast

from msgspec import MsgspecError, Raw, Struct
from msgspec.json import Decoder, encode

from prosa.data import Plain, Value
from prosa.diagnostics import Problem
from prosa.dialects import DialectName
from prosa.document.references import Def, Ref
from prosa.rules.findings import Analysis, ProgramFindings, Suppression
from prosa.rules.rule import DocumentFacts, LocalLink, ReadFacts, Rule
from prosa.source import ProsaError

_Row = TypeVar("_Row", bound=Struct)
_T = TypeVar("_T")

Stamped: TypeAlias = tuple[int, int, int, int]
"""The stamp of a file, without reading it: size, times of its content and of its last change, number."""


class Store(Protocol):
    """Where rows are kept: a private place of the user (`adapters.files.result_store`)."""

    def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the existing rows."""
        ...

    def put(self, rows: Mapping[str, str]) -> None:
        """Keep rows; that they cannot be kept is no error."""
        ...

    def digests(self, stamps: Mapping[str, Stamped]) -> Mapping[str, str]:
        """Return the digests of the files whose stamps did not change since they were hashed, by path."""
        ...

    def remember(self, digests: Mapping[str, tuple[Stamped, str]]) -> None:
        """Keep the digests of files with their stamps."""
        ...


class DamagedCache(ProsaError):
    """A part of a row of another shape than the code wrote."""

    hint = "delete the cache folder (PROSA_CACHE_DIR, or ~/.cache/prosa), or check with --no-cache"


class NotPlain(ValueError):
    """The analysis holds something that is no plain data; it is not kept."""


class _AnalysisRow(Struct, frozen=True, array_like=True):
    digest: str
    dialect: DialectName
    problems: tuple[Problem, ...]
    rules: tuple[Rule, ...]
    suppressions: tuple[Suppression, ...]
    strict: bool | None
    depends: Mapping[str, str]
    imports: bool
    refs: tuple[Ref, ...]
    defs: tuple[Def, ...]
    anchors: frozenset[str]
    links: tuple[LocalLink, ...]
    wikilinks: tuple[LocalLink, ...]
    extra: dict[str, Value]


class _Rest(Struct, frozen=True, array_like=True):
    refs: tuple[Ref, ...]
    anchors: frozenset[str]
    links: tuple[LocalLink, ...]
    wikilinks: tuple[LocalLink, ...]


class KeptFacts(Struct, frozen=True, array_like=True):
    """The facts of a document with everything they depend on: its stamp, the hints about its dialect, and the record
    of other files (`rules.recording`). What few ask for stays JSON: ``extra``, and the ``rest``."""

    stamp: Stamped
    hints: str
    depends: Mapping[str, str]
    dialect: DialectName
    defs: tuple[Def, ...]
    extra: Raw
    rest: Raw

    @classmethod
    def of(cls, analysis: Analysis, stamp: Stamped, hints: str) -> "KeptFacts | None":
        """Return those of an analysis; None for one that does not last, or that is no plain data."""
        facts = analysis.facts
        if not (analysis.lasting and analysis.digest and analysis.readable and _is_plain(facts.extra)):
            return None
        rest = _Rest(facts.refs, facts.anchors, facts.links, facts.wikilinks)
        try:
            parts = (Raw(_written(part).encode()) for part in (_extra(facts), rest))
            kept = cls(stamp, hints, analysis.depends, facts.dialect, facts.defs, *parts)
            _written(kept)
        except NotPlain:
            return None
        return kept

    def facts(self, path: str) -> DocumentFacts:
        """Return the facts of the document called ``path``."""
        return _StoredFacts(path, self)


class _StoredFacts:  # noqa: PLW1641 - facts have no hash either
    """The `DocumentFacts` of a row, which are decoded when they are first used: of thousands of documents beside others
    those are mostly their names."""

    __slots__ = ("_row", "anchors", "defs", "dialect", "extra", "links", "path", "refs", "wikilinks")

    refs: tuple[Ref, ...]
    anchors: frozenset[str]
    links: tuple[LocalLink, ...]
    wikilinks: tuple[LocalLink, ...]
    extra: Mapping[str, object]

    def __init__(self, path: str, row: KeptFacts) -> None:
        self.path, self.dialect, self.defs, self._row = path, row.dialect, row.defs, row

    def __getattr__(self, name: str) -> object:
        """Decode the part of the row with a fact that is not set yet. Raises `DamagedCache`."""
        try:
            if name == "extra":
                self.extra = _frozen_values(_decoder(dict[str, Value]).decode(self._row.extra))
            elif name in _Rest.__struct_fields__:
                rest = _decoder(_Rest).decode(self._row.rest)
                self.refs, self.anchors = rest.refs, rest.anchors
                self.links, self.wikilinks = rest.links, rest.wikilinks
        except (MsgspecError, ValueError, RecursionError):
            raise DamagedCache(f"the cache of findings is damaged: {self.path}") from None
        return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        return all(getattr(self, name) == getattr(other, name, None) for name in ReadFacts.__struct_fields__)


class FactsRow(Struct, frozen=True, array_like=True):
    """The facts of many documents. ``hinted`` identifies what gave the hints about all of them, if that is known."""

    by_path: dict[str, KeptFacts] = {}
    hinted: str = ""


class _ProgramRow(Struct, frozen=True, array_like=True):
    real: str
    path: str
    digest: str
    problems: tuple[Problem, ...]
    rules: tuple[Rule, ...]
    suppressions: tuple[Suppression, ...]


class _GroupRow(Struct, frozen=True, array_like=True):
    record: dict[str, str]
    programs: tuple[_ProgramRow, ...]


def to_row(analysis: Analysis) -> str:
    """Return the analysis as JSON, without what only this process knows. Raises `NotPlain`."""
    facts = analysis.facts
    if not _is_plain(facts.extra):
        raise NotPlain("facts that are not plain data")
    return _written(
        _AnalysisRow(
            analysis.digest,
            facts.dialect,
            _plain(analysis.problems),
            analysis.rules,
            analysis.suppressions,
            analysis.strict,
            analysis.depends,
            analysis.imports,
            facts.refs,
            facts.defs,
            facts.anchors,
            facts.links,
            facts.wikilinks,
            _extra(facts),
        )
    )


def from_row(text: str, path: str, *, lasting: bool = True) -> Analysis | None:
    """Return the analysis of a row for the document called ``path``; None when the row is not one."""
    row = _read(text, _AnalysisRow)
    if row is None:
        return None
    extra = _frozen_values(row.extra)
    facts = ReadFacts(path, row.dialect, row.refs, row.defs, row.anchors, row.links, row.wikilinks, extra)
    return Analysis(
        row.digest,
        facts,
        row.problems,
        row.suppressions,
        row.strict,
        row.depends,
        lasting,
        row.imports,
        row.rules,
    )


def to_facts_row(facts: FactsRow) -> str:
    """Return the facts of many documents as one row."""
    return _written(facts)


def from_facts_row(text: str) -> FactsRow:
    """Return the same back; none where the row is not one."""
    return _read(text, FactsRow) or FactsRow()


def to_group_row(findings: Iterable[ProgramFindings], record: Mapping[str, str]) -> str:
    """Return what was found in programs that were checked together, and what was read for it. Raises `NotPlain`."""
    rows = (
        _ProgramRow(
            str(finding.real),
            finding.path,
            finding.digest,
            _plain(finding.problems),
            finding.rules,
            finding.suppressions,
        )
        for finding in findings
    )
    return _written(_GroupRow({**record}, tuple(rows)))


def from_group_row(text: str) -> tuple[tuple[ProgramFindings, ...], Mapping[str, str]] | None:
    """Return the same back; None when the row is not one."""
    row = _read(text, _GroupRow)
    if row is None:
        return None
    findings = (
        ProgramFindings(
            Path(program.real), program.path, program.digest, program.problems, program.rules, program.suppressions
        )
        for program in row.programs
    )
    return tuple(findings), row.record


def _written(row: Struct | dict[str, Value]) -> str:
    try:
        return encode(row).decode()
    except (TypeError, ValueError) as error:  # a lone surrogate, for example, that an escape made
        raise NotPlain(str(error)) from None


def _read(text: str, form: type[_Row]) -> _Row | None:
    try:
        row: _Row = _decoder(form).decode(text)
    except (MsgspecError, ValueError):
        return None
    return row


@cache
def _decoder(form: type[_T]) -> Decoder[_T]:
    return Decoder(form)


def _plain(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    if any(annotation.source is not None for problem in problems for annotation in problem.annotations):
        raise NotPlain("an annotation in another document")
    return problems


def _extra(facts: ReadFacts) -> dict[str, Value]:
    """Return plain facts as data: what JSON reads back, before it is `_frozen`."""
    return cast("dict[str, Value]", {**facts.extra})


def _is_plain(value: _T) -> bool:
    """Return whether JSON preserves a value, except for tuples, which `_frozen` restores."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(member) for key, member in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _frozen_values(values: dict[str, Value]) -> dict[str, Plain]:
    return {key: _frozen(value) for key, value in values.items()}


def _frozen(value: Value) -> Plain:
    """List as the tuples they were."""
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return {key: _frozen(member) for key, member in value.items()} if isinstance(value, dict) else value
