"""The configuration in effect at the end of a chat: last assignment wins, `var(NAME)` is looked up late (P14, PA9).

In: a model. Out: one value for every path that is set, with the line that set it. It runs nothing: actions have no
effect here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from prosa.data import Value
from prosa.dialects.prapti.fields import path_of
from prosa.dialects.prapti.model import ChatModel, ConfigLine

MAX_CHAIN = 20
"""Variables that refer to variables, in a row; the bound of the first implementation."""


@dataclass(frozen=True, slots=True)
class EffectiveValue:
    """A value in effect. ``problem`` says why a variable cannot be looked up; ``value`` is then None."""

    path: str
    value: Value
    line: ConfigLine
    problem: str | None = None


def effective(model: ChatModel) -> Mapping[str, EffectiveValue]:
    """The tree by path, in the order in which the winning lines stand."""
    last: dict[str, ConfigLine] = {}
    for line in model.assignments:
        path = path_of(line.key or "")
        last.pop(path, None)
        last[path] = line
    return {path: _resolved(path, line, last) for path, line in last.items()}


def _resolved(path: str, line: ConfigLine, last: Mapping[str, ConfigLine]) -> EffectiveValue:
    at: ConfigLine = line
    for _ in range(MAX_CHAIN):
        if at.variable is None:
            return EffectiveValue(path, at.value, line)
        following = last.get(path_of(at.variable))
        if following is None:
            return EffectiveValue(path, None, line, f"the variable `{at.variable}` is not set anywhere")
        at = following
    return EffectiveValue(
        path, None, line, f"variables refer to each other more than {MAX_CHAIN} times, or in a circle"
    )
