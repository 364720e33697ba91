"""The configuration in effect: last assignment wins, `var(NAME)` is looked up late (P14, PA9).

In: assignments in order, of one chat or of several layers. Out: one value for every path that is set, with the line
that set it. It runs nothing: actions have no effect here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prosa.data import Value
from prosa.dialects.prapti.fields import path_of
from prosa.dialects.prapti.model import ChatModel, ConfigLine
from prosa.source import SourceText

MAX_CHAIN = 20
"""Variables that refer to variables, in a row; the bound of the first implementation."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """An assignment and where it stands."""

    line: ConfigLine
    source: SourceText


@dataclass(frozen=True, slots=True)
class EffectiveValue:
    """A value in effect. ``problem`` says why a variable cannot be looked up; ``value`` is then None."""

    path: str
    value: Value
    line: ConfigLine
    source: SourceText
    problem: str | None = None


def effective(model: ChatModel) -> Mapping[str, EffectiveValue]:
    """The tree of one chat by path, in the order in which the winning lines stand."""
    return effective_of(Assigned(line, model.source) for line in model.assignments)


def effective_of(assigned: Iterable[Assigned]) -> Mapping[str, EffectiveValue]:
    """The tree by path, in the order in which the winning assignments come."""
    last: dict[str, Assigned] = {}
    for each in assigned:
        path = path_of(each.line.key or "")
        last.pop(path, None)
        last[path] = each
    return {path: _resolved(path, each, last) for path, each in last.items()}


def _resolved(path: str, assigned: Assigned, last: Mapping[str, Assigned]) -> EffectiveValue:
    at = assigned.line
    for _ in range(MAX_CHAIN):
        if at.variable is None:
            return EffectiveValue(path, at.value, assigned.line, assigned.source)
        following = last.get(path_of(at.variable))
        if following is None:
            problem = f"the variable `{at.variable}` is not set anywhere"
            return EffectiveValue(path, None, assigned.line, assigned.source, problem)
        at = following.line
    problem = f"variables refer to each other more than {MAX_CHAIN} times, or in a circle"
    return EffectiveValue(path, None, assigned.line, assigned.source, problem)
