"""The cache of analyses (X10): as JSON, under a key that names everything they rest on.

In: an `Analysis`. Out: a row for a `Store`, and back. What other documents say is never part of a row: the rules of the
corpus run again every time. Nothing is executed in reading a row; one that is not as it should be counts as none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from prosa.diagnostics import Annotation, Applicability, Fix, Misspelling, Problem, Severity
from prosa.rules.analysis import Analysis, Suppression
from prosa.rules.rule import Rule
from prosa.rules.subject import Facts, LocalLink
from prosa.source import Edit, Span

if TYPE_CHECKING:
    from prosa.data import Value
    from prosa.document.references import Def, Ref


class Store(Protocol):
    """Where rows are kept: a private place of the user (`adapters.files.result_store`)."""

    def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """The rows there are."""
        ...

    def put(self, rows: Mapping[str, str]) -> None:
        """Keeps rows; that they cannot be kept is no error."""
        ...


class NotPlain(ValueError):
    """The analysis holds something that is no plain data; it is not kept."""


def to_row(analysis: Analysis) -> str:
    """The analysis as JSON, without what only this process knows. Raises `NotPlain`."""
    facts = analysis.facts
    row = [
        analysis.digest,
        facts.dialect,
        problem_rows(analysis.problems),
        rule_rows(analysis.rules),
        suppression_rows(analysis.suppressions),
        analysis.strict,
        dict(analysis.depends),
        analysis.imports,
        [_ref(each) for each in facts.refs],
        [[each.kind, each.name, *_pair(each.span)] for each in facts.defs],
        sorted(facts.anchors),
        facts.links,
        facts.wikilinks,
        facts.extra,
    ]
    try:
        return json.dumps(row, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise NotPlain(str(error)) from None


def from_row(text: str, path: str) -> Analysis | None:
    """The analysis of a row for the document called ``path``; None when the row is not one."""
    try:
        return _analysis(json.loads(text), path)
    except (TypeError, ValueError, IndexError, KeyError):
        return None


def _analysis(row: Value, path: str) -> Analysis:
    digest, dialect, problems, rules, suppressions, strict, depends, imports, *rest = row
    refs, defs, anchors, links, wikilinks, extra = rest
    facts = Facts(
        path,
        dialect,
        _to_refs(refs),
        _to_defs(defs),
        frozenset(anchors),
        tuple(map(LocalLink._make, links)),
        tuple(map(LocalLink._make, wikilinks)),
        {key: _frozen(value) for key, value in extra.items()},
    )
    return Analysis(
        digest,
        facts,
        from_problem_rows(problems),
        to_suppressions(suppressions),
        strict,
        depends,
        imports=imports,
        rules=to_rules(rules),
    )


def problem_rows(problems: Iterable[Problem]) -> list[Value]:
    """Problems as plain data. Raises `NotPlain`."""
    return [_problem(each) for each in problems]


def from_problem_rows(rows: Iterable[Value]) -> tuple[Problem, ...]:
    """The problems that `problem_rows` wrote down. Raises ValueError or TypeError for anything else."""
    return tuple(map(_to_problem, rows))


def rule_rows(rules: Iterable[Rule]) -> list[Value]:
    """Rules as plain data, so that what was kept can be weighed without loading them."""
    return [[each.code, each.name, each.severity, each.strict, each.dialect, each.stops, each.scope] for each in rules]


def to_rules(rows: Iterable[Value]) -> tuple[Rule, ...]:
    """The rules that `rule_rows` wrote down."""
    return tuple(
        Rule(code, name, Severity(severity), Severity(strict), *rest) for code, name, severity, strict, *rest in rows
    )


def suppression_rows(suppressions: Iterable[Suppression]) -> list[Value]:
    """Suppressions as plain data."""
    return [
        [[[name, *_pair(span)] for name, span in each.names], _pair(each.comment), _pair(each.covers)]
        for each in suppressions
    ]


def to_suppressions(rows: Iterable[Value]) -> tuple[Suppression, ...]:
    """The suppressions that `suppression_rows` wrote down."""
    return tuple(
        Suppression(tuple((name, Span(start, end)) for name, start, end in names), Span(*comment), Span(*covers))
        for names, comment, covers in rows
    )


def _ref(each: Ref) -> list[Value]:
    rest = (each.rel, each.strength, each.bidirectional, each.fragment)
    return [*_pair(each.span), each.origin, each.target, each.kind, *rest]


def _to_refs(rows: Sequence[Value]) -> tuple[Ref, ...]:
    if not rows:
        return ()  # the parser stays unloaded
    from prosa.document.references import Ref

    return tuple(Ref(origin, target, kind, Span(start, end), *rest) for start, end, origin, target, kind, *rest in rows)


def _to_defs(rows: Sequence[Value]) -> tuple[Def, ...]:
    if not rows:
        return ()
    from prosa.document.references import Def

    return tuple(Def(kind, name, Span(start, end)) for kind, name, start, end in rows)


def _pair(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _frozen(value: Value) -> Value:
    """Lists as the tuples they were."""
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return {key: _frozen(each) for key, each in value.items()} if isinstance(value, dict) else value


def _problem(each: Problem) -> list[Value]:
    if any(annotation.source is not None for annotation in each.annotations):
        raise NotPlain("an annotation in another document")
    fix = each.fix
    return [
        each.rule,
        each.message,
        *_pair(each.span),
        each.notes,
        [[*_pair(annotation.span), annotation.message] for annotation in each.annotations],
        fix and [fix.message, [[*_pair(edit.span), edit.replacement] for edit in fix.edits], fix.applicability],
        each.severity,
        each.misspelling and [each.misspelling.written, each.misspelling.meant],
    ]


def _to_problem(row: Value) -> Problem:
    rule, message, start, end, notes, annotations, fix, severity, misspelling = row
    return Problem(
        rule,
        message,
        Span(start, end),
        tuple(notes),
        tuple(Annotation(Span(first, last), text) for first, last, text in annotations),
        _to_fix(*fix) if fix else None,
        Severity(severity) if severity else None,
        Misspelling(*misspelling) if misspelling else None,
    )


def _to_fix(message: str, edits: Iterable[Sequence[Value]], applicability: str) -> Fix:
    made = tuple(Edit(Span(start, end), replacement) for start, end, replacement in edits)
    return Fix(message, made, Applicability(applicability))
