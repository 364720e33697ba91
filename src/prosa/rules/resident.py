"""A corpus that stays in memory: when a document changes, the findings of it and of the documents that depend on it
are updated at once. An editor needs this at every keystroke.

In: the documents of a root, once; then the new text of one of them. Out: the diagnostics that changed. They equal
those of a check of all documents. The names of the corpus record what a document queried about others
(`rules.corpus_names`), its analysis what it read of other files; rules that can only judge all documents together run
again if their input changed. It writes nothing, and only learns of changes from its caller.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from sys import intern
from typing import cast

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from prosa.data import Plain
from prosa.diagnostics import Diagnostic, Problem
from prosa.dialects import DialectName
from prosa.dialects.table import CASES, DOCUMENT_SUFFIXES, TRIGGERS, dialect_of_file_name, skill_beside
from prosa.rules.analyzer import Analyzer
from prosa.rules.backlinks import Backlinks
from prosa.rules.corpus_names import CorpusNames
from prosa.rules.engine import CorpusScope, check_among, corpus_of, is_asked_alike, present_text, ranked
from prosa.rules.files import files_of
from prosa.rules.findings import Analysis, ProgramFindings
from prosa.rules.policy import Profile, ordered
from prosa.rules.program_groups import GroupFindings, check_again
from prosa.rules.readers import Readers
from prosa.rules.registry import corpus_checks
from prosa.rules.rule import Corpus, DocumentFacts, ReadFacts, Rule, found_in_corpus
from prosa.source import Span

_SITES: DialectName = "mdh"
"""The dialect whose documents form sites."""


class ResidentCorpus(Struct, eq=False):
    """All documents below a root with their findings. ``diagnostics`` are those of each document that has any, by real
    path; the caller updates ``backlinks``."""

    analyzer: Analyzer
    profile: Profile
    corpus: Corpus
    names: CorpusNames
    seen: dict[Path, Analysis]
    diagnostics: dict[Path, tuple[Diagnostic, ...]] = field(default_factory=dict)
    backlinks: Backlinks = field(default_factory=Backlinks)
    _entries: dict[Path, DocumentFacts] = field(default_factory=dict)
    _among: dict[Path, tuple[Problem, ...]] = field(default_factory=dict)
    _whole: dict[str, tuple[tuple[int, ...], dict[Path, list[Problem]]]] = field(default_factory=dict)
    _groups: dict[str, GroupFindings] = field(default_factory=dict)
    _programs: dict[Path, ProgramFindings] = field(default_factory=dict)
    _versions: dict[str, int] = field(default_factory=dict)
    _readers: Readers[Path] = field(default_factory=Readers)
    _rules: dict[str, Rule] = field(default_factory=dict)
    _dialects: Counter[DialectName] = field(default_factory=Counter)
    _judged: frozenset[DialectName] = frozenset()

    @classmethod
    def of(cls, paths: Sequence[Path], analyzer: Analyzer, profile: Profile, scope: CorpusScope) -> ResidentCorpus:
        """Return the documents at ``paths``, which are all below the root of ``scope``, checked."""
        seen = analyzer.analyses(paths)
        _share_anchors(analysis.facts for analysis in seen.values())
        corpus = corpus_of(seen, analyzer, replace(scope, beside=None, metas=None), profile)
        entries = dict(corpus.entries)
        corpus = replace(corpus, entries=entries, names=None)
        names = CorpusNames(corpus)
        alone = replace(analyzer, store=None, workers=None, progress=None, stamps=None)
        dialects = Counter(facts.dialect for facts in (*entries.values(), *corpus.metas.values()))
        corpus = replace(corpus, names=names)
        resident = cls(alone, profile, corpus, names, seen, _entries=entries, _dialects=dialects)
        for real, analysis in seen.items():
            resident._note_readings(real, analysis, ())
        resident._look(entries, {*seen})
        return resident

    def update(self, path: Path) -> dict[Path, tuple[Diagnostic, ...]]:
        """Record that the document at a path changed, appeared or disappeared, or that a file is no document. Return
        the changed diagnostics of each document, and those of the document itself, by real path."""
        real = self.analyzer.files.real(path)
        is_document = real in self.seen or path.suffix.lower() in DOCUMENT_SUFFIXES or self._is_of_skill(real)
        affected = set() if is_document else self._touch(real)
        changed = {real: self._named(real, path)} if is_document else {}
        changed |= {file: self._named(file, file) for file in (*self._of_skill(real), *self._readers.of((real,)))}
        for file, name in changed.items():
            affected |= self._replace(file, name)
        self._renew()
        return self._look({*changed, *affected}, {*affected, *changed}, changed)

    def _touch(self, real: Path) -> set[Path]:
        """Record that a file changed that is no document, and return the documents that depend on the change. The rules
        of sites look for what links lead to, and read the indexes."""
        if self._dialects[_SITES] > 0 and (real.suffix == ".json" or self._is_linked(real)):
            self._versions[_SITES] = self._versions.get(_SITES, 0) + 1
        return self.names.touch(real)

    def _is_linked(self, real: Path) -> bool:
        """Return whether a node may have a link to a file."""
        nodes = (facts for facts in self._entries.values() if facts.dialect == _SITES)
        return any(real.name in ref.target for facts in nodes for ref in facts.refs)

    def _is_of_skill(self, real: Path) -> bool:
        """Return whether a file is an evaluation file with its skill present."""
        skill = skill_beside(real)
        return skill is not None and self.analyzer.files.exists(skill)

    def _of_skill(self, real: Path) -> list[Path]:
        """Return the evaluation files of the skill at a path, which come and go with it."""
        names = (CASES, *TRIGGERS) if dialect_of_file_name(real.name) == "skill_md" else ()
        return [path for path in map(real.parent.joinpath, names) if self.analyzer.files.exists(path)]

    def _is_orphan(self, real: Path) -> bool:
        """Return whether a file is an evaluation file whose skill is gone."""
        skill = skill_beside(real)
        return skill is not None and not self.analyzer.files.exists(skill)

    def _named(self, real: Path, path: Path) -> Path:
        """Return how a document is named, at first as ``path``."""
        return Path(self.seen[real].facts.path) if real in self.seen else path

    def _replace(self, real: Path, path: Path) -> set[Path]:
        """Read a document again, and return the documents that depend on the change."""
        old, before = self.seen.get(real), self._entries.get(real)
        if not self.analyzer.files.exists(path) or self._is_orphan(real):
            self.seen.pop(real, None)
            new = None
        else:
            (new,) = self.analyzer.analyses([path]).values()
            self._place(real, new)
        after = new.facts if new is not None and new.readable else None
        self._enter(real, after)
        self._note_readings(real, new, files_of(old.depends, self.analyzer.files) if old is not None else ())
        self._count(real, before, after)
        self._renew()
        if before is None and after is None:
            return set()
        return self.names.change(real, before, after)

    def _renew(self) -> None:
        """Make the corpus another value: what rules keep for a corpus they must not keep beyond a change, be it one of
        a file that is no document."""
        self.corpus = replace(self.corpus, entries=self._entries, names=None, asked=())
        self.names.corpus = self.corpus
        self.corpus = replace(self.corpus, names=self.names)

    def _place(self, real: Path, analysis: Analysis) -> None:
        """Insert an analysis where a walk over the folders would meet the document."""
        if real in self.seen:
            self.seen[real] = analysis
            return
        known = [*self.seen.items()]
        at = next((at for at, (path, _) in enumerate(known) if _order(path) > _order(real)), len(known))
        self.seen.clear()
        self.seen.update([*known[:at], (real, analysis), *known[at:]])

    def _enter(self, real: Path, facts: DocumentFacts | None) -> None:
        """Enter the document in the corpus, which has those that can be read."""
        before = self._entries.get(real)
        self._dialects.subtract(entry.dialect for entry in (before,) if entry is not None)
        self._dialects.update(entry.dialect for entry in (facts,) if entry is not None)
        if facts is not None and real in self._entries:
            self._entries[real] = facts
        elif facts is not None or real in self._entries:
            readable = {path: analysis.facts for path, analysis in self.seen.items() if analysis.readable}
            self._entries.clear()
            self._entries.update(readable)

    def _note_readings(self, real: Path, analysis: Analysis | None, before: Iterable[Path]) -> None:
        """Note which other files the problems of a document rest on."""
        for path in before:
            self._readers.discard(path, real)
        for path in files_of(analysis.depends, self.analyzer.files) if analysis is not None else ():
            if path != real:
                self._readers.add(path, real)

    def _count(self, real: Path, before: DocumentFacts | None, after: DocumentFacts | None) -> None:
        """Count the changes of the inputs of corpus rules (`RuleSet.corpus`). Moved places in a document do not count,
        unless such a rule points at one."""
        if before == after or (_only_moved(before, after) and not self._is_pointed_at(real)):
            return
        for dialect in {facts.dialect for facts in (before, after) if facts is not None}:
            self._versions[dialect] = self._versions.get(dialect, 0) + 1
        if before is None or after is None or _shape(before) != _shape(after):
            self._versions[""] = self._versions.get("", 0) + 1

    def _is_pointed_at(self, real: Path) -> bool:
        """Return whether a rule of all documents together found something in a document."""
        return any(real in by_real for _, by_real in self._whole.values())

    def _look(
        self, among: Iterable[Path], wanted: set[Path], changed: Iterable[Path] = ()
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        """Run the rules again for some documents, and return the changes of these and of the ``wanted`` ones."""
        dialects = frozenset(+self._dialects)
        newly = self._newly_asked(dialects)
        wanted |= newly
        for real in {*among, *newly}:
            with self.names.asked_by(real):
                self._among[real] = tuple(check_among(self.corpus, real, dialects))
        wanted |= self._judge_all(dialects)
        wanted |= self._judge_programs({*changed})
        changes: dict[Path, tuple[Diagnostic, ...]] = {}
        for real in wanted:
            new = self._diagnosed(real)
            if new != self.diagnostics.get(real, ()) or real in changed:
                changes[real] = new
            if new:
                self.diagnostics[real] = new
            else:
                self.diagnostics.pop(real, None)
        return changes

    def _newly_asked(self, dialects: frozenset[DialectName]) -> set[Path]:
        """Return the documents that other rules judge because the first document of a dialect came or the last went."""
        before, self._judged = self._judged, dialects
        if before == dialects:
            return set()
        changed = {dialect for dialect in dialects | before if not is_asked_alike(dialect, before, dialects)}
        return {real for real, facts in self._entries.items() if facts.dialect in changed}

    def _judge_all(self, dialects: frozenset[DialectName]) -> set[Path]:
        """Run the corpus rules whose input changed, and return the documents with findings before or after."""
        touched: set[Path] = set()
        rules = corpus_checks(dialects)
        for gone in self._whole.keys() - {bound.rule.name for bound in rules}:
            touched.update(self._whole.pop(gone)[1])
        for bound in rules:
            rule = bound.rule
            version = tuple(self._versions.get(name or "", 0) for name in ("", rule.dialect))
            if rule.name in self._whole and self._whole[rule.name][0] == version:
                continue
            by_real: dict[Path, list[Problem]] = {}
            for real, problem in found_in_corpus(bound, self.corpus):
                by_real.setdefault(real, []).append(problem)
            before = self._whole.get(rule.name, (version, {}))[1]
            touched.update(real for real in {*before, *by_real} if before.get(real) != by_real.get(real))
            self._whole[rule.name] = version, by_real
        return touched

    def _judge_programs(self, changed: set[Path]) -> set[Path]:
        """Check programs with imports again if one of them or their files changed."""
        if changed and not any(self._is_program(real) for real in changed):
            return set()
        self._groups = check_again(self.seen, self.analyzer, self._groups, changed)
        before = self._programs
        self._programs = {finding.real: finding for group in self._groups.values() for finding in group.findings}
        for program in self._programs.values():
            self._rules |= {rule.name: rule for rule in program.rules}
        either = before.keys() | self._programs.keys()
        return {real for real in either if before.get(real) != self._programs.get(real)}

    def _is_program(self, real: Path) -> bool:
        """Return whether a document is a program, was one, or is read by one."""
        analysis = self.seen.get(real)
        if analysis is not None and analysis.facts.dialect == "markdownlang":
            return True
        return any(real in group.files for group in self._groups.values())

    def _diagnosed(self, real: Path) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of one document, or of a program imported from elsewhere."""
        analysis, program = self.seen.get(real), self._programs.get(real)
        problems = [*program.problems] if program is not None else []
        if analysis is not None:
            whole = (problem for _, by_real in self._whole.values() for problem in by_real.get(real, ()))
            problems = [*analysis.problems, *problems, *self._among.get(real, ()), *whole]
            self._rules |= {rule.name: rule for rule in analysis.rules}
        known = analysis or program
        if known is None or not (problems or known.suppressions):
            return ()
        path = analysis.facts.path if analysis is not None else program.path if program is not None else ""
        source = (analysis.source if analysis is not None else None) or present_text(
            Path(path), known.digest, self.analyzer
        )
        if source is None:  # another change of it comes
            return ()
        policy = self.profile.policy(real, analysis.strict if analysis is not None else None)
        return ordered(ranked(problems, self._rules, known.suppressions, source, policy))


def _share_anchors(facts: Iterable[ReadFacts]) -> None:
    """Let equal anchors be one text: many documents have a heading of the same name. A set that is made of another one
    has no room to grow."""
    for fact in facts:
        force_setattr(fact, "anchors", frozenset({*map(intern, fact.anchors)}))


def _order(real: Path) -> tuple[tuple[int, str], ...]:
    """Return where a walk meets a document: those of a folder by name, before those of the folders in it."""
    *folders, name = real.parts
    return (*((1, folder) for folder in folders), (0, name))


def _only_moved(before: DocumentFacts | None, after: DocumentFacts | None) -> bool:
    """Return whether two nodes of a site differ only in the places of their parts."""
    if before is None or after is None or before.dialect != _SITES or after.dialect != _SITES:
        return False
    return _unplaced(before) == _unplaced(after)


def _unplaced(facts: DocumentFacts) -> list[object]:
    """Return the content of a node without places: spans, which travel as two numbers (`mdh.site.span_of`)."""
    names = [replace(item, span=_NOWHERE) for item in (*facts.defs, *facts.refs)]
    links = [[replace(link, start=0, end=0) for link in some] for some in (facts.links, facts.wikilinks)]
    return [facts.path, names, links, facts.anchors, _without_pairs(cast("dict[str, Plain]", facts.extra))]


_NOWHERE = Span(0, 0)


def _without_pairs(value: Plain) -> Plain:
    if isinstance(value, dict):
        return {key: _without_pairs(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return None if len(value) == 2 and all(type(item) is int for item in value) else [*map(_without_pairs, value)]
    return value


def _shape(facts: DocumentFacts) -> tuple[object, ...]:
    """Return what a corpus rule may use of a document of another dialect."""
    return facts.path, facts.dialect, [definition.name for definition in facts.defs if definition.kind == "id"]
