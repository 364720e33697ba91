"""The typed reading of the cases of a skill, or of the requests that it is for."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import Value
from prosa.evaluation.case import Assertion, Requirement
from prosa.source import SourceText, Span

Holds: TypeAlias = Literal["cases", "triggers"]


class EvalModel(Struct, frozen=True):
    """A case. ``name`` is what reports call it: the one it has, else its id and the beginning of its prompt.
    ``questions`` are the assertions for a grader, ``assertions`` those that a rule decides, ``run`` what is expected of
    the run. ``files`` are paths with the places where they stand."""

    id: str
    name: str
    prompt: str
    expected_output: str
    files: tuple[tuple[str, Span], ...]
    assertions: tuple[Assertion, ...]
    questions: tuple[str, ...]
    run: Value
    span: Span

    @property
    def asked(self) -> tuple[str, ...]:
        """What a grader is asked: the assertions, or what the output has to be where nothing else is said of it."""
        if self.questions or self.assertions or self.run or not self.expected_output.strip():
            return self.questions
        return (f"The output is what is described here: {self.expected_output.strip()}",)


class TriggerModel(Struct, frozen=True):
    """A request, and whether the skill is for it. ``belongs`` is the skill that it is for, where the author says so."""

    query: str
    should_trigger: bool
    belongs: str
    span: Span


class EvalsModel(Struct, frozen=True):
    """A file beside a skill: its cases, or the requests it is for. ``skill_name`` is what it says it is of, ``named``
    where; ``anchor`` is where to point at what is missing."""

    source: SourceText
    holds: Holds
    skill_name: str | None
    named: Span
    evals: tuple[EvalModel, ...] = ()
    queries: tuple[TriggerModel, ...] = ()
    repeat: int | None = None
    requirement: Requirement = Requirement()
    models: tuple[str, ...] = ()
    grader: str | None = None
    votes: int = 1
    anchor: Span = Span(0, 0)

    def line(self, at: Span) -> int:
        """Return the line of a place."""
        return self.source.position(at.start).line
