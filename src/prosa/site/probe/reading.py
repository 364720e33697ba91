"""Documents as nodes, read and checked by the rules of `prosa check`. In: paths and the `Files` port. Out: nodes and
remarks. Suppressions in a document are ignored here: conformance is not a matter of taste."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from prosa.data import Entry
from prosa.diagnostics import Problem
from prosa.dialects.dialect import Hints
from prosa.dialects.mdh.model import NodeModel
from prosa.rules.analysis import Analysis
from prosa.rules.analyzer import Analyzer
from prosa.rules.engine import check_corpus
from prosa.rules.subject import Corpus
from prosa.site.probe.evidence import Mark, NodeSeen, Part, Remark
from prosa.source import Files, Span

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
    entries = {real: each.facts for real, each in seen.items() if each.readable}
    corpus = Corpus(entries, files, files.real(root), complete=True, load=analyzer.facts, rooted="given")
    found = {real: list(each.problems) for real, each in seen.items() if real in reals}
    for real, problem in check_corpus(corpus):
        if real in found:
            found[real].append(problem)
    return Read(
        tuple(_nodes(paths, files, seen, derived)),
        tuple(remark for real, problems in found.items() for remark in _remarks(problems, seen[real])),
        tuple(Mark(seen[real].facts.path, seen[real].problems[0].message) for real in found if not seen[real].readable),
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
    for each in sorted(problems, key=lambda problem: (problem.span.start, problem.rule, problem.message)):
        mark = Mark(source.path, each.message, source.position(each.span.start).line)
        yield Remark(each.rule, _part(each.span, model), mark)


def _part(span: Span, model: NodeModel) -> Part:
    if model.fields is None or span == model.anchor:
        return "head"
    if any(_inside(span, model.fields.entry(name)) for name in _HEAD):
        return "head"
    return "actions" if any(_inside(span, model.fields.entry(name)) for name in _ACTIONS) else "rest"


def _inside(span: Span, entry: Entry | None) -> bool:
    return entry is not None and entry.span.start <= span.start < entry.span.end
