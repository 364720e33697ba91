"""A rule: what it examines (one document, a program with its imports, or all documents together), and the decorators
that bind its code, name and severities."""

# Without postponed annotations: a decoder of what is cached compiles each of those.

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, ParamSpec, Protocol, TypeAlias, TypeVar

from msgspec import Struct, field

from prosa.diagnostics import Annotation, Fix, Misspelling, Problem, Severity
from prosa.dialects import DialectName
from prosa.dialects.context.places import is_agent_place
from prosa.source import Files, Renamed, SourceText, Span

if TYPE_CHECKING:
    from prosa.dialects.front import FrontReading
    from prosa.dialects.relations import Relations
    from prosa.document import Def, Document, Ref
    from prosa.graph import Closure, LoadedProgram
    from prosa.graph.names import Names, Placed

M_co = TypeVar("M_co", covariant=True)


class Environment(Struct):
    """The environment of a document: files and the time. It records whether a rule used the time or the path, because
    then the finding is only valid for those. ``agent_place`` is what the hints say
    (`dialects.dialect.Hints`)."""

    files: Files | None = None
    now: datetime | None = None
    asked_time: bool = False
    asked_place: bool = False
    agent_place: bool | None = None


class Subject(Struct, Generic[M_co], frozen=True):
    """One document under the rules.

    ``model`` is the result of the reader of the ``dialect``. ``files`` reads documents below the root (X5) and is None
    for a text without one; ``now`` is None if the time is unknown; ``path`` is the document as the user named it, None
    for a text without a file.
    """

    front: "FrontReading"
    document: "Document"
    dialect: DialectName
    model: M_co
    environment: Environment = field(default_factory=Environment)

    @property
    def source(self) -> SourceText:
        """The text of the document."""
        return self.front.source

    @property
    def files(self) -> Files | None:
        """Read access to the files below the root."""
        return self.environment.files

    @property
    def now(self) -> datetime | None:
        """The time of this check."""
        self.environment.asked_time = True
        return self.environment.now

    @property
    def path(self) -> Path | None:
        """The path of the document."""
        self.environment.asked_place = True
        path = self.source.path
        return None if path.startswith("<") else Path(path)

    @property
    def agent_place(self) -> bool:
        """Whether agents may act on the document by its place, which is a part of the key of its analysis."""
        known = self.environment.agent_place
        return is_agent_place(self.source.path) if known is None else known


class LocalLink(Struct, frozen=True, array_like=True, gc=False):
    """A link, image or wikilink whose target is a file. A large corpus has very many.

    ``target`` is percent-decoded and without fragment (empty: this document), ``fragment`` the text after `#`;
    ``start`` and ``end`` are the offsets of the destination if there is one, else of the link. ``embedded`` is true if
    it is shown in the document: an image.
    """

    target: str
    fragment: str
    start: int
    end: int
    embedded: bool = False

    @property
    def span(self) -> Span:
        """Where it is written."""
        return Span(self.start, self.end)


class DocumentFacts(Protocol):
    """The facts about a document that rules of other documents need: those that were read of it (`ReadFacts`), or of
    the cache (`rules.cache`)."""

    @property
    def path(self) -> str:
        """The file as the user named it."""

    @property
    def dialect(self) -> DialectName:
        """The dialect under which it was read."""

    @property
    def refs(self) -> tuple["Ref", ...]:
        """The references of its dialect; plain Markdown has none but its links."""

    @property
    def defs(self) -> tuple["Def", ...]:
        """The definitions of its dialect."""

    @property
    def anchors(self) -> frozenset[str]:
        """Its valid fragments; `*` among them means that there may be more."""

    @property
    def links(self) -> tuple[LocalLink, ...]:
        """The targets of links and images in its Markdown."""

    @property
    def wikilinks(self) -> tuple[LocalLink, ...]:
        """The targets of wikilinks in its Markdown."""

    @property
    def extra(self) -> Mapping[str, object]:
        """The result of the ``corpus_facts`` of its dialect."""


class ReadFacts(Struct, frozen=True):
    """The facts of a document that was read (`DocumentFacts`). Plain data: it is cached and sent between processes."""

    path: str
    dialect: DialectName
    refs: tuple["Ref", ...] = ()
    defs: tuple["Def", ...] = ()
    anchors: frozenset[str] = frozenset()
    links: tuple[LocalLink, ...] = ()
    wikilinks: tuple[LocalLink, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)


Rooted: TypeAlias = Literal["given", "project", "known", "guessed"]
"""How certain it is that the root of a corpus is where the documents belong."""


def _nothing(path: Path) -> None:
    del path


def _no_time() -> None:
    pass


class Corpus(Struct, frozen=True, eq=False):
    """The documents that are considered together, by real path, in their order.

    ``entries`` holds the checked documents and those beside them below ``root``. ``complete`` is true if these are all
    documents below the root: only then "no document has this id" is certain. ``load`` returns the facts of a document
    that is no entry, None for one that cannot be read or is outside the root. ``rooted`` is how the root is known:
    ``given`` as `--root`, ``project`` because a `prosa.toml` or a vault begins there, ``known`` because it was named
    or is a checkout, or ``guessed``: the folder that a document happens to lie in. ``metas`` are the meta files below
    the root that are no entries; ``clock`` returns the time, None if it is unknown. ``file_names`` are the files of
    any kind below the root, by case-folded name, each with the path of the first one; it is only called to resolve
    a name alone (YA21). ``listing`` returns the paths of all files below the root, with `/`, and None if these are
    not all; ``renames`` the files below it that git renamed, the newest first. ``asked`` are the entries that are
    checked, ``relations`` and ``schemas`` the project's settings for front matter. ``names`` are the entries by
    name if they are cached (`rules.corpus_names`).
    """

    entries: Mapping[Path, DocumentFacts]
    files: Files
    root: Path | None = None
    complete: bool = True
    load: Callable[[Path], DocumentFacts | None] = _nothing
    rooted: Rooted = "known"
    metas: Mapping[Path, DocumentFacts] = field(default_factory=dict)
    clock: Callable[[], datetime | None] = _no_time
    file_names: Callable[[], Mapping[str, str]] | None = None
    listing: Callable[[], Sequence[str] | None] | None = None
    renames: Callable[[], Sequence[Renamed]] | None = None
    asked: Collection[Path] = ()
    relations: "Relations" = ()
    schemas: Callable[[Path], tuple[str, ...]] | None = None
    names: "Names[Placed] | None" = None


class ProgramSubject(Struct, frozen=True):
    """A program under the rules, with the import graph it is part of."""

    program: "LoadedProgram"
    closure: "Closure"


# A rule: a decorated function in the module of its topic, or a value beside them if a reader reports it.

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


CorpusFindings: TypeAlias = Iterable[tuple[Path, Finding]]
"""Findings, each with the real path of the document it is in."""

if TYPE_CHECKING:  # generic types take as long to make as classes
    DocumentCheck: TypeAlias = Callable[[Subject[M]], Iterable[Finding]]
    ProgramCheck: TypeAlias = Callable[[ProgramSubject], Iterable[Finding]]
    CorpusCheck: TypeAlias = Callable[[Corpus], CorpusFindings]
    AmongCheck: TypeAlias = Callable[[Corpus, Path, DocumentFacts], Iterable[Finding]]
    """Returns the findings in one document, from its facts and the names of the corpus."""


class Bound(Struct, Generic[_Check], frozen=True):
    """A rule with its function."""

    rule: Rule
    check: _Check


def found_by(
    bound: "Iterable[Bound[Callable[P, Iterable[Finding]]]]", *args: P.args, **kwargs: P.kwargs
) -> list[Problem]:
    """Return what some rules find. A rule that fails is a finding itself, and keeps no other from looking."""
    problems: list[Problem] = []
    for item in bound:
        try:
            for finding in item.check(*args, **kwargs):
                problems.append(finding.of(item.rule))  # noqa: PERF401 - also those before a failure
        except Exception as error:
            problems.append(_failed(item.rule, error))
    return problems


def found_in_corpus(bound: "Bound[CorpusCheck]", corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
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
    documents: "list[Bound[DocumentCheck[M]]]" = field(default_factory=list)
    programs: "list[Bound[ProgramCheck]]" = field(default_factory=list)
    corpora: "list[Bound[CorpusCheck]]" = field(default_factory=list)
    among: "list[Bound[AmongCheck]]" = field(default_factory=list)

    def reported(
        self, code: str, name: str, severity: Severity, strict: Severity | None = None, *, stops: Stops | None = None
    ) -> Rule:
        """Declare a rule that a reader reports by its name."""
        return self._declared("reader", code, name, severity, strict, stops)

    def document(
        self, code: str, name: str, severity: Severity, strict: Severity | None = None, *, on_request: bool = False
    ) -> "Callable[[DocumentCheck[M]], DocumentCheck[M]]":
        """Declare a rule of one document, implemented by the function."""
        rule = self._declared("document", code, name, severity, strict, "nothing", on_request=on_request)
        return _binding(self.documents, rule)

    def program(
        self, code: str, name: str, severity: Severity, strict: Severity | None = None, *, stops: Stops | None = None
    ) -> "Callable[[ProgramCheck], ProgramCheck]":
        """Declare a rule of a program with its imports."""
        return _binding(self.programs, self._declared("program", code, name, severity, strict, stops))

    def corpus(
        self, code: str, name: str, severity: Severity, strict: Severity | None = None
    ) -> "Callable[[CorpusCheck], CorpusCheck]":
        """Declare a rule of many documents together. It may use the content of documents of its dialect, of all others
        only path, dialect and ids; its findings are in documents of its dialect."""
        return _binding(self.corpora, self._declared("corpus", code, name, severity, strict, "nothing"))

    def one_of_many(
        self, code: str, name: str, severity: Severity, strict: Severity | None = None
    ) -> "Callable[[AmongCheck], AmongCheck]":
        """Declare a rule of one document among those of its corpus: it only queries the names of the others
        (`rules.corpus_names`), so that it runs for the requested documents alone."""
        return _binding(self.among, self._declared("corpus", code, name, severity, strict, "nothing"))

    def part_among(self, of: "DocumentCheck[M]") -> "Callable[[AmongCheck], AmongCheck]":
        """Declare the part of a one-document rule that depends on other documents."""
        return _binding(self.among, next(document.rule for document in self.documents if document.check is of))

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


def _binding(bound: "list[Bound[_Check]]", rule: Rule) -> "Callable[[_Check], _Check]":
    def bind(check: _Check) -> _Check:
        bound.append(Bound(rule, check))
        return check

    return bind
