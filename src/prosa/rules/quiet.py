"""Suppressions at work: what they keep quiet, and what is wrong with those that keep nothing quiet.

In: the problems of a document and its suppressions. Out: the problems that remain, and `unused-suppression` and
`unknown-rule` for the comments themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from prosa.diagnostics import Fix, Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.rules.rule import Rule
from prosa.rules.suppression import Suppression
from prosa.rules.table import BY_NAME, RULES, is_selector, selects
from prosa.source import Edit, SourceText, Span


def apply_suppressions(
    problems: Iterable[Problem],
    suppressions: Sequence[Suppression],
    source: SourceText,
    wants: Callable[[Rule], bool],
) -> list[Problem]:
    """The problems that are not suppressed, and those of the suppressions. ``wants`` says which rules are checked: a
    suppression of a rule that nobody checks may well be needed and is not called unused."""
    used: set[Span] = set()
    left = [each for each in problems if not _is_quiet(each, suppressions, used)]
    own = [each for suppression in suppressions for each in _complaints(suppression, used, source, wants)]
    return left + [each for each in own if not _is_quiet(each, suppressions, used)]


def _is_quiet(problem: Problem, suppressions: Sequence[Suppression], used: set[Span]) -> bool:
    """Whether any suppression covers the problem; every name that does is used."""
    rule = BY_NAME[problem.rule]
    found = [
        span
        for suppression in suppressions
        if suppression.covers.start <= problem.span.start <= suppression.covers.end
        for name, span in suppression.names
        if selects(name, rule)
    ]
    used.update(found)
    return bool(found)


def _complaints(
    suppression: Suppression, used: set[Span], source: SourceText, wants: Callable[[Rule], bool]
) -> Iterator[Problem]:
    if not suppression.names:
        yield Problem(
            "unused-suppression",
            "the comment names no rule, so it suppresses nothing",
            suppression.comment,
            ("write the names of the rules that should be quiet here",),
            fix=Fix("remove the comment", (_without(suppression, source),)),
        )
    for name, span in suppression.names:
        if not is_selector(name):
            yield _unknown(name, span)
        elif span not in used and any(wants(rule) for rule in RULES if selects(name, rule)):
            yield _unused(name, span, suppression, used, source)


def _unknown(name: str, span: Span) -> Problem:
    guess = nearest(name, (*(rule.name for rule in RULES), *(rule.code for rule in RULES)))
    note = f"did you mean `{guess}`?" if guess else "prosa explain lists all rules"
    message = f"there is no rule `{name[:60]}` to suppress"
    return Problem("unknown-rule", message, span, (note,), misspelling=Misspelling(name, guess) if guess else None)


def _unused(name: str, span: Span, suppression: Suppression, used: set[Span], source: SourceText) -> Problem:
    """The fix removes the name, or the comment when no name of it is of use."""
    useless = all(each not in used for _, each in suppression.names)
    edit = _without(suppression, source) if useless else _without_name(span, source)
    what = "comment" if useless else "name"
    message = f"nothing to suppress: no `{name}` is found here"
    return Problem("unused-suppression", message, span, fix=Fix(f"remove the {what}", (edit,)))


def _without(suppression: Suppression, source: SourceText) -> Edit:
    """Removes the comment, with its line where it has one of its own."""
    comment, text = suppression.comment, source.text
    start, end = comment.start, comment.end
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    own_line = start == 0 or text[start - 1] in "\r\n"
    if own_line and text[end : end + 1] in ("\r", "\n"):
        end += 2 if text.startswith("\r\n", end) else 1
    elif own_line and end < len(text):
        start = comment.start
    return Edit(Span(start, end), "")


def _without_name(span: Span, source: SourceText) -> Edit:
    """Removes one name and the separator in front of it."""
    start = span.start
    while source.text[start - 1] in " \t\r\n,":
        start -= 1
    after = source.text[span.end : span.end + 1]
    return Edit(Span(start, span.end), "" if after in (" ", "\t", ",", "\r", "\n", ":", "-") else " ")
