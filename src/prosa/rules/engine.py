"""Check documents: read them, run the rules of each, then the rules of all together, rank what was found.

In: paths and the `Files` port. Out: `Checked`. It executes nothing, and opens nothing that X5 does not allow.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.diagnostics import Diagnostic, Problem, Severity
from prosa.dialects import DialectName
from prosa.rules.analyzer import Analyzer, Sighted, facts_beside
from prosa.rules.corpus_names import CorpusNames
from prosa.rules.files import Grounds
from prosa.rules.findings import Analysis, ProgramFindings, Suppression
from prosa.rules.policy import Policy, Profile, diagnosed, ordered
from prosa.rules.program_groups import check_groups
from prosa.rules.registry import among_checks, corpus_checks
from prosa.rules.rule import Corpus, DocumentFacts, Rooted, Rule, found_by, found_in_corpus
from prosa.source import FileProblem, Files, Renamed, SourceText, TextFiles

if TYPE_CHECKING:
    from prosa.dialects.front import FrontReading
    from prosa.dialects.reading import DialectReading
    from prosa.graph import LoadedProgram
    from prosa.rules.rule import AmongCheck, Bound


class CheckedDocument(Struct, frozen=True):
    """A requested document as it was read. ``strict`` is the mode it was checked in."""

    real: Path
    reading: DialectReading[object]
    strict: bool = False

    @property
    def front(self) -> FrontReading:
        """Its front matter and body."""
        return self.reading.front

    @property
    def dialect(self) -> DialectName:
        """The dialect it was read as."""
        return self.reading.name

    @property
    def program(self) -> LoadedProgram | None:
        """The program, where it is one."""
        if self.dialect != "markdownlang":
            return None
        from prosa.rules.programs import program_of

        return program_of(self.reading, self.real)


class Checked(Struct, frozen=True):
    """The result of a check: ``documents`` in their order, without unreadable ones, and empty if readings are not
    kept; ``diagnostics`` in reading order, including those of imported programs; ``corpus`` is the input of the rules
    over many documents."""

    documents: tuple[CheckedDocument, ...]
    diagnostics: tuple[Diagnostic, ...]
    corpus: Corpus | None = None

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that fail a check."""
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.severity is Severity.ERROR)

    def of(self, source: SourceText) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of one document."""
        first = bisect_left(self.diagnostics, source.path, key=_path)
        return self.diagnostics[first : bisect_right(self.diagnostics, source.path, lo=first, key=_path)]


def _path(diagnostic: Diagnostic) -> str:
    return diagnostic.path


def check_documents(
    paths: Sequence[Path],
    files: Files,
    *,
    dialect: DialectName | None = None,
    forced: DialectName | None = None,
    strict: bool | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    now: datetime | None = None,
) -> Checked:
    """Check documents of any dialect together. ``dialect`` is the value of `--as`, ``forced`` the dialect that the
    command implies.

    An unreadable file becomes the diagnostic `unreadable-file`. Without ``now`` nothing has expired.
    """
    profile = Profile(dialect, forced, strict, tuple(select), tuple(ignore))
    return check(paths, Analyzer(files, profile.hints, now=now), profile)


def check_text(source: SourceText, *, dialect: DialectName | None = None, strict: bool | None = None) -> Checked:
    """Check a text that has no file; nothing else is opened."""
    return check_documents([Path(source.path)], TextFiles(source), dialect=dialect, strict=strict)


class CorpusScope(Struct, frozen=True):
    """The surroundings of the documents of a check. ``beside`` returns the other documents below ``root``, and whether
    these are all; it is only called if a document names others by something else than their path. None: there are no
    others. ``metas`` returns the documents below ``root`` that may be meta files (M20), and is called if ``beside`` is
    not. ``rooted`` is how the root is known, ``file_names``, ``listing`` and ``renames`` the files below it (`Corpus`).
    ``sighted`` is called instead of ``beside`` if there is a cache, and returns None if ``beside`` is needed. If
    neither is called, ``complete`` says whether the checked documents are all. ``grounds`` takes down what the check
    rests on."""

    root: Path | None = None
    beside: Callable[[], tuple[Sequence[Path], bool]] | None = None
    rooted: Rooted = "known"
    metas: Callable[[], Sequence[Path]] | None = None
    file_names: Callable[[], Mapping[str, str]] | None = None
    listing: Callable[[], Sequence[str] | None] | None = None
    renames: Callable[[], Sequence[Renamed]] | None = None
    sighted: Callable[[], Sighted | None] | None = None
    complete: bool = True
    grounds: Grounds | None = None


def check_alone(
    source: SourceText, real: Path, files: Files, profile: Profile, now: datetime
) -> tuple[DialectReading[object], tuple[Diagnostic, ...]]:
    """Return the reading of a document, and its findings without knowledge of other documents. A suppression of a rule
    over several documents is not reported as unused."""
    from prosa.rules.analyse import analyse
    from prosa.rules.suppressions import apply_suppressions

    analysis = analyse(source, profile.hints(real), files, now)
    policy = profile.policy(real, analysis.strict)
    known = {rule.name: rule for rule in analysis.rules}

    def wants(rule: Rule) -> bool:
        return policy.wants(rule) and rule.scope in ("reader", "document")

    problems = apply_suppressions(analysis.problems, analysis.suppressions, source, wants, known)
    assert analysis.reading is not None
    return analysis.reading, ordered(diagnosed(problems, source, policy, known))


def check(paths: Sequence[Path], analyzer: Analyzer, profile: Profile, scope: CorpusScope | None = None) -> Checked:
    """Check the documents at ``paths`` together."""
    seen = analyzer.analyses(paths)
    findings = check_groups(seen, analyzer)
    problems = {real: list(analysis.problems) for real, analysis in seen.items()}
    others: dict[Path, ProgramFindings] = {}
    for finding in findings:
        if finding.real in problems:
            problems[finding.real] += finding.problems
        else:
            others[finding.real] = finding
    corpus = corpus_of(seen, analyzer, scope or CorpusScope(), profile)
    if scope is not None and scope.grounds is not None:
        _take_down(scope.grounds, seen)
    for real, problem in check_corpus(corpus):
        if real in problems:
            problems[real].append(problem)
    known = {rule.name: rule for analysis in seen.values() for rule in analysis.rules}
    known |= {rule.name: rule for finding in findings for rule in finding.rules}
    diagnostics: list[Diagnostic] = []
    for real, analysis in seen.items():
        if problems[real] or analysis.suppressions:
            diagnostics += diagnosed_in(analysis, problems[real], known, analyzer, profile, real)
    for real, finding in others.items():
        source = finding.source or present_text(Path(finding.path), finding.digest, analyzer)
        if source is not None:  # else it is another program by now
            diagnostics += ranked(list(finding.problems), known, finding.suppressions, source, profile.policy(real))
    documents = tuple(
        CheckedDocument(real, analysis.reading, profile.policy(real, analysis.strict).strict)
        for real, analysis in seen.items()
        if analysis.reading is not None
    )
    return Checked(documents, ordered(diagnostics), corpus)


def diagnosed_in(
    analysis: Analysis,
    problems: list[Problem],
    known: Mapping[str, Rule],
    analyzer: Analyzer,
    profile: Profile,
    real: Path,
) -> list[Diagnostic]:
    """Return the diagnostics of a document. Where its file changed since it was analysed, no place of its ``problems``
    is right any more: they are those of the new text, as a document alone."""
    source = analysis.source or present_text(Path(analysis.facts.path), analysis.digest, analyzer)
    if source is None:
        (analysis,) = replace(analyzer, keep=True, progress=None).analyses([Path(analysis.facts.path)]).values()
        assert analysis.source is not None
        source, problems = analysis.source, [*analysis.problems]
        known = {**known, **{rule.name: rule for rule in analysis.rules}}
    return ranked(problems, known, analysis.suppressions, source, profile.policy(real, analysis.strict))


def present_text(path: Path, digest: str, analyzer: Analyzer) -> SourceText | None:
    """Return the text of a file that was analysed; None where it changed since."""
    try:
        source = analyzer.files.read(path)
    except FileProblem:
        return None
    return source if source.digest == digest else None


def corpus_of(seen: Mapping[Path, Analysis], analyzer: Analyzer, scope: CorpusScope, profile: Profile) -> Corpus:
    """Return the facts of the documents, and of those beside them when that matters."""
    entries: dict[Path, DocumentFacts] = {real: analysis.facts for real, analysis in seen.items() if analysis.readable}
    complete = scope.complete
    metas: dict[Path, DocumentFacts] = {}
    files = analyzer.files
    naming = bool(profile.relations) or any(_names_others(real, facts, files) for real, facts in entries.items())
    if scope.beside is not None and naming:
        others, complete = _beside(scope.beside, scope.sighted, entries, analyzer)
        entries |= others
    elif scope.metas is not None:
        facts_by_path = _facts_of(scope.metas(), entries, analyzer)
        metas = {real: facts for real, facts in facts_by_path.items() if "globs" in facts.extra}
    corpus = Corpus(
        entries,
        files,
        scope.root,
        complete,
        analyzer.facts,
        scope.rooted,
        metas,
        lambda: analyzer.now,
        scope.file_names,
        scope.listing,
        scope.renames,
        tuple(seen),
        profile.relations,
        profile.schemas if profile.has_schemas else None,
    )
    if scope.grounds is not None:
        corpus = _asking(corpus, scope.grounds)
    return replace(corpus, names=CorpusNames(corpus))


def _asking(corpus: Corpus, grounds: Grounds) -> Corpus:
    """Return the corpus so that it is known what its rules ask for."""
    return replace(
        corpus,
        files=grounds.files,
        load=grounds.beyond(corpus.load),
        clock=grounds.beyond(corpus.clock),
        file_names=grounds.beyond(corpus.file_names) if corpus.file_names is not None else None,
        listing=grounds.beyond(corpus.listing) if corpus.listing is not None else None,
        renames=grounds.beyond(corpus.renames) if corpus.renames is not None else None,
    )


def _take_down(grounds: Grounds, seen: Mapping[Path, Analysis]) -> None:
    """Note what the findings of single documents rest on, beside the document itself."""
    for analysis in seen.values():
        if not analysis.lasting or not analysis.digest or analysis.imports:
            grounds.is_whole = False
            return
        if analysis.depends:
            grounds.record |= {name: was for name, was in analysis.depends.items() if name != analysis.facts.path}


def _beside(
    beside: Callable[[], tuple[Sequence[Path], bool]],
    sighted: Callable[[], Sighted | None] | None,
    known: Mapping[Path, DocumentFacts],
    analyzer: Analyzer,
) -> tuple[dict[Path, DocumentFacts], bool]:
    """Return the facts of the documents beside those that are ``known``, and whether these are all."""
    if sighted is not None and analyzer.store is not None and (there := sighted()) is not None:
        return facts_beside(there, known.keys(), analyzer, analyzer.store), True
    paths, complete = beside()
    return _facts_of(paths, known, analyzer), complete


def _facts_of(
    paths: Sequence[Path], known: Mapping[Path, DocumentFacts], analyzer: Analyzer
) -> dict[Path, DocumentFacts]:
    """Return the facts of documents that are not ``known``, of those that can be read."""
    analyses = replace(analyzer, keep=False, progress=None).analyses(paths, known)
    return {real: analysis.facts for real, analysis in analyses.items() if analysis.readable}


def _names_others(real: Path, facts: DocumentFacts, files: Files) -> bool:
    """Return whether a document names others by id or stem, has an id that others may share, or an image given by its
    name alone, whose resolution depends on how others are linked (YA21)."""
    named = any(ref.kind in ("id", "stem", "name") for ref in facts.refs)
    has_id = facts.dialect != "markdownlang" and any(definition.kind == "id" for definition in facts.defs)
    if named or has_id or facts.wikilinks:
        return True
    images = (link.target for link in facts.links if link.embedded and link.target and "/" not in link.target)
    return any(not files.exists(real.parent / name) for name in images)


def ranked(
    problems: list[Problem],
    known: Mapping[str, Rule],
    suppressions: tuple[Suppression, ...],
    source: SourceText,
    policy: Policy,
) -> list[Diagnostic]:
    """Return the diagnostics that are left. Rules that are ``known`` by name, from the cache for example, are not
    loaded."""
    if suppressions:
        from prosa.rules.suppressions import apply_suppressions  # only here: it loads the reader of front matter

        problems = apply_suppressions(problems, suppressions, source, policy.wants, known)
    return diagnosed(problems, source, policy, known)


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """Yield what the rules of many documents find, with the real path of the document it is in. They run every time, on
    facts that may come from the cache (X10)."""
    dialects = dialects_of(corpus)
    asked = {corpus.entries[real].dialect for real in corpus.asked or corpus.entries if real in corpus.entries}
    for bound in corpus_checks(dialects):
        if bound.rule.dialect in asked:
            yield from found_in_corpus(bound, corpus)
    for real in corpus.asked or corpus.entries:
        for problem in check_among(corpus, real, dialects):
            yield real, problem


_OWN: tuple[DialectName, ...] = ("context",)
"""Dialects whose rules are about their own documents alone: those of others may be about all that they inherit."""


def check_among(corpus: Corpus, real: Path, dialects: frozenset[DialectName]) -> Sequence[Problem]:
    """Return what the rules of one document among others find in it."""
    facts = corpus.entries.get(real)
    if facts is None:
        return ()
    return found_by(_checks_of(dialects, facts.dialect), corpus, real, facts)


def is_asked_alike(dialect: DialectName, before: frozenset[DialectName], now: frozenset[DialectName]) -> bool:
    """Return whether the same rules judge a document of a dialect among those of the former and of these dialects."""
    return _checks_of(before, dialect) == _checks_of(now, dialect)


@lru_cache(maxsize=32)
def _checks_of(dialects: frozenset[DialectName], dialect: DialectName) -> tuple[Bound[AmongCheck], ...]:
    """Return the rules for a document of one of some dialects."""
    return tuple(
        bound for bound in among_checks(dialects) if bound.rule.dialect not in _OWN or bound.rule.dialect == dialect
    )


def dialects_of(corpus: Corpus) -> frozenset[DialectName]:
    """Return the dialects of the documents of a corpus."""
    return frozenset(facts.dialect for facts in (*corpus.entries.values(), *corpus.metas.values()))
