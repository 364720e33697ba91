"""A rule: a decorated function in the module of its topic, or a value beside them if a reader reports it.

    @RULES.document("MG041", "bare-relationship", Severity.WARNING, strict=Severity.ERROR)
    def bare_relationship(subject: Subject[MagiModel]) -> Iterator[Finding]: ...

Code, name and severities are only defined there: what a rule yields does not repeat them. A name describes the problem
and reads well after "allow".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Generic, Literal, ParamSpec, TypeAlias, TypeVar

from msgspec import Struct, field

from prosa.diagnostics import Annotation, Fix, Misspelling, Problem, Severity
from prosa.dialects import DialectName
from prosa.rules.subject import Corpus, Facts, ProgramSubject, Subject
from prosa.source import Span

M = TypeVar("M")
P = ParamSpec("P")
_Check = TypeVar("_Check")

Stops: TypeAlias = Literal["everything", "run", "nothing"]

Scope: TypeAlias = Literal["reader", "document", "program", "corpus"]
"""The scope of a rule: none if a reader reports it, one document, a program with its imports, or all documents
together."""


class Rule(Struct, frozen=True):
    """The data of a rule. Plain data: it is cached with the findings.

    ``code`` and ``name`` never change once released (X4). ``severity`` is the default, ``strict`` the one under
    ``--strict``. ``dialect`` is None for a rule of every document. ``stops`` is what a finding of this rule prevents,
    at any severity: rendering and running, running alone, or nothing. A rule ``on_request`` counts only if it is
    selected by its own name or code, or by a profile.
    """

    code: str
    name: str
    severity: Severity
    strict: Severity
    dialect: DialectName | None = None
    stops: Stops = "nothing"
    scope: Scope = "document"
    on_request: bool = False


class Removed(Struct, frozen=True):
    """A removed rule: settings, flags and suppressions may still name it, without effect. ``instead`` is a sentence
    about its replacement."""

    code: str
    name: str
    instead: str


class Finding(Struct, frozen=True):
    """Something that a rule found at a span of the text at hand; the fields are those of a `Problem` without its
    name."""

    message: str
    span: Span
    notes: tuple[str, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    fix: Fix | None = None
    severity: Severity | None = None
    misspelling: Misspelling | None = None

    def of(self, rule: Rule) -> Problem:
        """Return the problem that this is, under the rule that found it."""
        return Problem(
            rule.name,
            self.message,
            self.span,
            self.notes,
            self.annotations,
            self.fix,
            self.severity,
            self.misspelling,
        )


DocumentCheck: TypeAlias = Callable[[Subject[M]], Iterable[Finding]]

ProgramCheck: TypeAlias = Callable[[ProgramSubject], Iterable[Finding]]

CorpusFindings: TypeAlias = Iterable[tuple[Path, Finding]]
"""Findings, each with the real path of the document it is in."""

CorpusCheck: TypeAlias = Callable[[Corpus], CorpusFindings]

AmongCheck: TypeAlias = Callable[[Corpus, Path, Facts], Iterable[Finding]]
"""Returns the findings in one document, from its facts and the names of the corpus."""


class Bound(Struct, Generic[_Check], frozen=True):
    """A rule with its function."""

    rule: Rule
    check: _Check


def found_by(bound: Bound[Callable[P, Iterable[Finding]]], *args: P.args, **kwargs: P.kwargs) -> Iterator[Problem]:
    """Yield what a rule finds. A rule that fails is a finding itself, and keeps no other from looking."""
    try:
        for finding in bound.check(*args, **kwargs):
            yield finding.of(bound.rule)
    except Exception as error:
        yield _failed(bound.rule, error)


def found_in_corpus(bound: Bound[CorpusCheck], corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """Yield the findings of a corpus rule. A failure is reported at the first document of its dialect."""
    try:
        for real, finding in bound.check(corpus):
            yield real, finding.of(bound.rule)
    except Exception as error:
        entries = corpus.entries
        asked = (real for real in corpus.asked or entries if real in entries)
        its = (real for real in asked if bound.rule.dialect in (None, entries[real].dialect))
        yield from ((real, _failed(bound.rule, error)) for real in islice(its, 1))


def _failed(rule: Rule, error: Exception) -> Problem:
    from prosa.diagnostics.crash import crash  # only here: rules do not fail

    return crash(f"the rule `{rule.name}`", error)


class RuleSet(Struct, Generic[M], eq=False):
    """The rules of one dialect, or of every document if ``dialect`` is None; its modules load on demand.

    ``package`` holds the modules: ``topics`` those with rules of one document or program, ``corpus_topics`` those with
    rules of many documents. Codes begin with ``prefix``. ``errors_stop`` is the default for whether an error from a
    reader or a rule of programs stops a program.
    """

    package: str
    prefix: str
    dialect: DialectName | None
    topics: tuple[str, ...]
    corpus_topics: tuple[str, ...] = ()
    errors_stop: bool = False
    rules: dict[str, Rule] = field(default_factory=dict)
    documents: list[Bound[DocumentCheck[M]]] = field(default_factory=list)
    programs: list[Bound[ProgramCheck]] = field(default_factory=list)
    corpora: list[Bound[CorpusCheck]] = field(default_factory=list)
    among: list[Bound[AmongCheck]] = field(default_factory=list)

    def reported(
        self, code: str, name: str, severity: Severity, strict: Severity | None = None, *, stops: Stops | None = None
    ) -> Rule:
        """Declare a rule that a reader reports by its name."""
        return self._declared("reader", code, name, severity, strict, stops)

    def document(
        self, code: str, name: str, severity: Severity, strict: Severity | None = None, *, on_request: bool = False
    ) -> Callable[[DocumentCheck[M]], DocumentCheck[M]]:
        """Declare a rule of one document, implemented by the function."""
        rule = self._declared("document", code, name, severity, strict, "nothing", on_request=on_request)
        return _binding(self.documents, rule)

    def program(
        self, code: str, name: str, severity: Severity, strict: Severity | None = None, *, stops: Stops | None = None
    ) -> Callable[[ProgramCheck], ProgramCheck]:
        """Declare a rule of a program with its imports."""
        return _binding(self.programs, self._declared("program", code, name, severity, strict, stops))

    def corpus(
        self, code: str, name: str, severity: Severity, strict: Severity | None = None
    ) -> Callable[[CorpusCheck], CorpusCheck]:
        """Declare a rule of many documents together. It may use the content of documents of its dialect and of the
        nodes of sites, of all others only path, dialect and ids; its findings are in documents of its dialect."""
        return _binding(self.corpora, self._declared("corpus", code, name, severity, strict, "nothing"))

    def one_of_many(
        self, code: str, name: str, severity: Severity, strict: Severity | None = None
    ) -> Callable[[AmongCheck], AmongCheck]:
        """Declare a rule of one document among those of its corpus: it only queries the names of the others
        (`rules.corpus_names`), so that it runs for the requested documents alone."""
        return _binding(self.among, self._declared("corpus", code, name, severity, strict, "nothing"))

    def part_among(self, of: DocumentCheck[M]) -> Callable[[AmongCheck], AmongCheck]:
        """Declare the part of a one-document rule that depends on other documents."""
        return _binding(self.among, next(each.rule for each in self.documents if each.check is of))

    def load(self, *, corpus: bool) -> None:
        """Load the modules with the rules of many documents, or the others."""
        for topic in self.corpus_topics if corpus else self.topics:
            import_module(f"{self.package}.{topic}")

    def _declared(
        self,
        scope: Scope,
        code: str,
        name: str,
        severity: Severity,
        strict: Severity | None,
        stops: Stops | None,
        *,
        on_request: bool = False,
    ) -> Rule:
        if name in self.rules or not code.startswith(self.prefix):
            raise ValueError(f"{code} {name} is declared twice, or its code is not of {self.prefix}")
        usual: Stops = "everything" if self.errors_stop and severity is Severity.ERROR else "nothing"
        rule = Rule(code, name, severity, strict or severity, self.dialect, stops or usual, scope, on_request)
        self.rules[name] = rule
        return rule


def _binding(bound: list[Bound[_Check]], rule: Rule) -> Callable[[_Check], _Check]:
    def bind(check: _Check) -> _Check:
        bound.append(Bound(rule, check))
        return check

    return bind
