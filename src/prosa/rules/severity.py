"""From problems to diagnostics: code, severity under a policy, selection, order (X4). No checks happen here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from prosa.diagnostics import Applicability, Diagnostic, Fix, Problem, Severity
from prosa.rules.registry import rule_named, selects
from prosa.rules.rule import Rule
from prosa.source import Edit, SourceText, Span


class Policy(Struct, frozen=True):
    """The user's selection. ``strict`` turns tolerated forms into errors (X4).

    ``select`` and ``ignore`` hold rule names and beginnings of codes; an empty ``select`` selects every rule, and
    ``ignore`` wins. ``profile`` has the severities of the only rules that are reported, if one judges the document.
    """

    strict: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    profile: Mapping[str, Severity] | None = None

    def wants(self, rule: Rule) -> bool:
        """Return whether diagnostics of this rule are reported."""
        if any(selects(selector, rule) for selector in self.ignore):
            return False
        if self.profile is not None and rule.name not in self.profile:
            return False
        if rule.on_request and self.profile is None:
            return rule.name in self.select or rule.code in self.select
        return not self.select or any(selects(selector, rule) for selector in self.select)

    def severity(self, problem: Problem, rule: Rule) -> Severity:
        """Return the severity by the profile, else by the problem itself, which is taken at its word, else by the
        rule."""
        if self.profile is not None:
            return self.profile[rule.name]
        return problem.severity or (rule.strict if self.strict else rule.severity)


def diagnosed(
    problems: Iterable[Problem], source: SourceText, policy: Policy, known: Mapping[str, Rule] | None = None
) -> list[Diagnostic]:
    """Return the diagnostics that the policy selects, in the order of the problems. Rules that are ``known`` by name
    are not looked up. An unknown rule name raises KeyError."""
    found: list[Diagnostic] = []
    for problem in problems:
        rule = (known or {}).get(problem.rule) or rule_named(problem.rule)
        if policy.wants(rule):
            found.append(_diagnostic(problem, rule, source, policy))
    return found


def ordered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By path, place and code, each once: the same findings always print in the same order."""
    unique: dict[tuple[str, int, int, str, str], Diagnostic] = {}
    for each in diagnostics:
        unique.setdefault((each.path, each.span.start, each.span.end, each.code, each.message), each)
    return tuple(unique[key] for key in sorted(unique))


def _diagnostic(problem: Problem, rule: Rule, source: SourceText, policy: Policy) -> Diagnostic:
    return Diagnostic(
        code=rule.code,
        rule=rule.name,
        severity=policy.severity(problem, rule),
        message=problem.message,
        source=source,
        span=problem.span,
        notes=problem.notes,
        annotations=problem.annotations,
        fix=problem.fix or _respelled(problem, source),
    )


def _respelled(problem: Problem, source: SourceText) -> Fix | None:
    """Return the fix that writes the known name in place of the one that was found, where the span holds that once. It
    may change a meaning: that it was meant is a guess."""
    if problem.misspelling is None:
        return None
    written, meant = problem.misspelling.written, problem.misspelling.meant
    text = source.slice(problem.span)
    written = written or text
    if not written or text.count(written) != 1:
        return None
    start = problem.span.start + text.index(written)
    return Fix(f"write `{meant}`", (Edit(Span(start, start + len(written)), meant),), Applicability.UNSAFE)
