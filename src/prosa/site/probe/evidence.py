"""What the probe has seen, as records: answers of a server, nodes with the remarks of rules, and the findings of
checks.

The media type decides the form of an answer, as it does for a client. Suppressions in a document are ignored:
conformance is not a matter of taste. The checks judge these records and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from msgspec import Struct, field

from prosa.data import Entry, JsonError, Value, parse_json
from prosa.diagnostics import Problem
from prosa.dialects.dialect import Hints
from prosa.dialects.fields import shown
from prosa.dialects.mdh.model import NodeModel
from prosa.dialects.mdh.url import resolve
from prosa.rules.analyzer import Analyzer
from prosa.rules.engine import check_corpus
from prosa.rules.findings import Analysis
from prosa.rules.rule import Corpus
from prosa.site.skills_index import SkillEntry
from prosa.site.values import is_json
from prosa.source import Files, Span
from prosa.source.url import origin_of

Kind: TypeAlias = Literal["node", "html", "asset", "action", "index", "elsewhere", "missing", "unasked"]
"""The state of a URL path: Markdown, a page that has only HTML, something else, the URL of a declared action or an
index (neither is requested as a page), a redirect to another site, nothing, or not requested because the limit was
reached."""

Part: TypeAlias = Literal["head", "actions", "rest"]
"""Where in a node a remark points: `id`, `type` and `title`; its actions; anything else."""


class Mark(Struct, frozen=True):
    """One line of evidence: a URL or a path, the line if there is one (1-based), and the message."""

    at: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.at}{'' if self.line is None else f':{self.line}'}: {self.message}"


class Remark(Struct, frozen=True):
    """What a rule of `prosa check` found in a node."""

    rule: str
    part: Part
    mark: Mark


class NodeSeen(Struct, frozen=True):
    """A node that was read. ``at`` is its URL or its path, ``path`` its decoded URL path on the site; ``derived`` are
    the fields that the site adds because its author wrote none (H9)."""

    at: str
    path: str
    model: NodeModel
    derived: Collection[str] = ()

    @property
    def id(self) -> str:
        """Its id, empty without one."""
        return self.model.id.text if self.model.id else ""

    def mark(self, offset: int, message: str) -> Mark:
        """Evidence at an offset of its text."""
        return Mark(self.at, message, self.model.source.position(offset).line)


class PageSeen(Struct, frozen=True):
    """A requested URL path. ``path`` is decoded, ``url`` as requested; ``reply`` answers `text/markdown`.

    ``twin`` is the answer at the same path with `.md` if that was needed. ``answers`` are those to the further
    questions (`questions`), of a sample of the nodes.
    """

    path: str
    url: str
    kind: Kind
    reply: Reply
    twin: Reply | None = None
    answers: Mapping[str, Reply] = field(default_factory=dict)

    @property
    def markdown(self) -> Reply | None:
        """The answer that is its Markdown."""
        replies = (reply for reply in (self.reply, self.twin) if reply is not None and reply.is_markdown)
        return next(replies, None)

    def answer(self, name: str) -> Reply | None:
        """Return the answer to a further question; None if it was not sent."""
        reply = self.answers.get(name)
        return reply if reply is not None and reply.asked else None


class CallSeen(Struct, frozen=True):
    """A GET action without required input that was called: its node, its id, the pages' signals and the answer."""

    mark: Mark
    reply: Reply
    paginated: bool


class DiscoverySeen(Struct, frozen=True):
    """What agents look for: files by path, a sample of the listed ``skills`` with their answers, and the first page as
    it came and as a browser gets it."""

    files: Mapping[str, Reply]
    skills: tuple[tuple[SkillEntry, Reply], ...]
    page: Reply
    html: Reply


class SiteSeen(Struct, frozen=True):
    """The answers of a running site. ``root`` is its root as a URL; ``pages`` by decoded path, in the order they were
    found; ``targets`` is the state of every linked path. ``same`` maps a path to the one where the same document was
    seen first. ``beside`` are other files by path: indexes, `llms.txt`. ``missing`` are answers for a page that cannot
    exist, by requested form. ``calls`` is None if no action was to be called. ``cut`` is true if the limit was
    reached."""

    root: str
    start: str
    pages: Mapping[str, PageSeen]
    targets: Mapping[str, Kind]
    same: Mapping[str, str]
    beside: Mapping[str, Reply]
    missing: Mapping[str, Reply]
    calls: tuple[CallSeen, ...] | None = None
    cut: bool = False
    discovery: DiscoverySeen | None = None

    @property
    def nodes(self) -> tuple[PageSeen, ...]:
        """The pages that are Markdown, each document once."""
        return tuple(page for path, page in self.pages.items() if page.kind == "node" and path not in self.same)

    @property
    def sampled(self) -> tuple[PageSeen, ...]:
        """The pages that were requested in every form."""
        return tuple(page for page in self.nodes if page.answers)

    def path_of(self, base: str, href: str) -> str | None:
        """Return the decoded path on this site that a link in a document at ``base`` leads to; None for one that leads
        elsewhere (HA5, HA6)."""
        return path_on(self.root, base, href)


class Evidence(Struct, frozen=True):
    """All evidence. ``site`` is None for a folder. ``unreadable`` are files that are no documents; ``passed_over``
    counts documents of a folder that are not nodes, by dialect."""

    target: str
    nodes: tuple[NodeSeen, ...]
    remarks: tuple[Remark, ...]
    site: SiteSeen | None = None
    unreadable: tuple[Mark, ...] = ()
    passed_over: Mapping[str, int] = field(default_factory=dict)

    def remarked(self, *rules: str) -> tuple[Mark, ...]:
        """Return what the rules of these names found."""
        return tuple(remark.mark for remark in self.remarks if remark.rule in rules)


def path_on(root: str, base: str, href: str) -> str | None:
    """Return the decoded URL path that ``href`` leads to from the path ``base``, where that is on the origin of
    ``root``."""
    destination = resolve(base, href)
    if destination.origin:
        scheme = (
            f"{root.partition('//')[0]}{destination.origin}"
            if destination.origin.startswith("//")
            else destination.origin
        )
        try:
            if origin_of(scheme) != origin_of(root):
                return None
        except ValueError:
            return None
        if destination.origin.startswith("//"):
            return resolve(base, f"{root.partition('//')[0]}{href}").path
    return destination.path


MARKDOWN = ("text/markdown", "text/x-markdown")
HTML = ("text/html", "application/xhtml+xml")


class Reply(Struct, frozen=True):
    """``url`` is where the answer came from, after redirects. ``headers`` have names in lower case. ``text`` is None
    if the bytes are not UTF-8; ``size`` counts the bytes. ``problem`` says why there is no answer, ``hint`` what to do
    about it, ``again`` whether the same request may succeed later, as `HttpProblem` has it, and ``status`` is 0
    then. ``asked`` is False if the probe had reached its limit and sent no request.
    ``data`` are the bytes, where the request wanted them."""

    url: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str | None = ""
    size: int = 0
    problem: str = ""
    hint: str = ""
    asked: bool = True
    data: bytes = b""
    again: str = "never"

    @property
    def is_success(self) -> bool:
        """Whether the request succeeded."""
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        """The media type in lower case, without parameters."""
        return self.header("content-type").partition(";")[0].strip().lower()

    @property
    def is_markdown(self) -> bool:
        """Whether a client would read it as Markdown."""
        kind = self.media_type
        return self.is_success and (kind in MARKDOWN or (kind in ("text/plain", "") and self._has_front_matter))

    @property
    def is_html(self) -> bool:
        """Whether it is a page for browsers."""
        return self.is_success and self.media_type in HTML

    @property
    def is_json(self) -> bool:
        """Whether it is declared as JSON."""
        return self.is_success and is_json(self.media_type)

    @property
    def value(self) -> Value:
        """The JSON value; None where it is none."""
        try:
            return parse_json(self.text or "") if is_json(self.media_type) else None
        except JsonError:
            return None

    @property
    def said(self) -> str:
        """What came back, in a few words for a sentence."""
        if self.problem:
            return self.problem
        if not self.is_success:
            return f"the answer is {self.status}"
        return f"the answer is {shown(self.media_type) or 'of no named type'}"

    def header(self, name: str) -> str:
        """Return a header, empty where it is not there."""
        return self.headers.get(name, "")

    def lists(self, name: str, word: str) -> bool:
        """Return whether a header that is a list with commas has a word, in any letters."""
        return word in (part.partition("=")[0].strip().lower() for part in self.header(name).split(","))

    @property
    def _has_front_matter(self) -> bool:
        return re.match("\ufeff?---[\r\n]", self.text or "") is not None


_HEAD = ("id", "type", "title")
_ACTIONS = ("actions", "action")
_NONE: Mapping[Path, Collection[str]] = MappingProxyType({})
_AS_NODE = Hints(explicit="mdh")


class Read(Struct, frozen=True):
    """The result of reading; ``unreadable`` are files that are not documents."""

    nodes: tuple[NodeSeen, ...]
    remarks: tuple[Remark, ...]
    unreadable: tuple[Mark, ...]


def read_nodes(
    paths: Mapping[Path, str],
    files: Files,
    root: Path,
    *,
    others: Sequence[Path] = (),
    derived: Mapping[Path, Collection[str]] = _NONE,
    own: Callable[[Path], Hints],
) -> Read:
    """Read ``paths`` as nodes, whatever their shape; the values are their decoded URL paths. ``others`` are documents
    beside them, read in the dialect of ``own``, so that links to them resolve; ``derived`` are the fields that a site
    would add."""
    reals = {files.real(path) for path in paths}
    analyzer = Analyzer(files, lambda real: _AS_NODE if real in reals else own(real))
    seen = analyzer.analyses([*paths, *others])
    entries = {real: analysis.facts for real, analysis in seen.items() if analysis.readable}
    corpus = Corpus(entries, files, files.real(root), complete=True, load=analyzer.facts, rooted="given")
    by_real = {real: list(analysis.problems) for real, analysis in seen.items() if real in reals}
    for real, problem in check_corpus(corpus):
        if real in by_real:
            by_real[real].append(problem)
    return Read(
        tuple(_nodes(paths, files, seen, derived)),
        tuple(remark for real, problems in by_real.items() for remark in _remarks(problems, seen[real])),
        tuple(
            Mark(seen[real].facts.path, seen[real].problems[0].message) for real in by_real if not seen[real].readable
        ),
    )


def _nodes(
    paths: Mapping[Path, str], files: Files, seen: Mapping[Path, Analysis], derived: Mapping[Path, Collection[str]]
) -> Iterator[NodeSeen]:
    for path, url in paths.items():
        analysis = seen[files.real(path)]
        model = analysis.reading.model if analysis.reading else None
        if isinstance(model, NodeModel):
            yield NodeSeen(analysis.facts.path, url, model, derived.get(path, ()))


def _remarks(problems: Sequence[Problem], analysis: Analysis) -> Iterator[Remark]:
    source, model = analysis.source, analysis.reading.model if analysis.reading else None
    if source is None or not isinstance(model, NodeModel):
        return
    for fault in sorted(problems, key=lambda problem: (problem.span.start, problem.rule, problem.message)):
        mark = Mark(source.path, fault.message, source.position(fault.span.start).line)
        yield Remark(fault.rule, _part(fault.span, model), mark)


def _part(span: Span, model: NodeModel) -> Part:
    if model.fields is None or span == model.anchor:
        return "head"
    if any(_inside(span, model.fields.entry(name)) for name in _HEAD):
        return "head"
    return "actions" if any(_inside(span, model.fields.entry(name)) for name in _ACTIONS) else "rest"


def _inside(span: Span, entry: Entry | None) -> bool:
    return entry is not None and entry.span.start <= span.start < entry.span.end


Level: TypeAlias = Literal["MUST", "SHOULD", "MAY"]
Status: TypeAlias = Literal["passed", "failed", "not-applicable"]

FILES_ONLY = "files only: a running site shows it"


class Outcome(Struct, frozen=True):
    """``marks`` are the evidence: problems or observations. ``words`` say what was examined, or why nothing was."""

    status: Status
    marks: tuple[Mark, ...] = ()
    words: str = ""


Judge: TypeAlias = Callable[[Evidence], Outcome]


class Check(Struct, frozen=True):
    """One row of the table. ``source`` is the section and the requirement; ``headline`` states what should hold;
    ``advice`` says what to do if it does not. ``live`` checks need a running site."""

    id: str
    level: Level
    source: str
    headline: str
    advice: str
    judge: Judge
    live: bool = False

    def outcome(self, evidence: Evidence) -> Outcome:
        """Return the outcome of the check."""
        if self.live and evidence.site is None:
            return Outcome("not-applicable", words=FILES_ONLY)
        return self.judge(evidence)


def judged(
    wrong: Iterable[Mark], looked_at: int, one: str, many: str, *, noticed: Iterable[Mark] = (), none: str = ""
) -> Outcome:
    """Return failed if there are problems, not applicable if nothing was examined. ``noticed`` is reported if all is
    well; ``one`` and ``many`` name what was examined, ``none`` says that nothing was."""
    marks = tuple(dict.fromkeys(wrong))
    if marks:
        return Outcome("failed", marks, f"{looked_at} {one if looked_at == 1 else many} looked at")
    if not looked_at:
        return Outcome("not-applicable", words=none or f"no {many}")
    return Outcome("passed", tuple(dict.fromkeys(noticed)), f"{looked_at} {one if looked_at == 1 else many}")
