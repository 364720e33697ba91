"""The typed reading of the cases of a skill, or of the requests that it is for."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import Value
from prosa.evaluation.case import Assertion, Requirement
from prosa.evaluation.workspace import Expected
from prosa.source import SourceText, Span

Holds: TypeAlias = Literal["cases", "triggers"]


class EvalModel(Struct, frozen=True):
    """A case. ``name`` is its name in reports: its own, otherwise its id and the start of its prompt. ``questions``
    are the assertions for a grader, ``assertions`` those for a rule, ``run`` the expectations of the run. ``files``
    are paths with their places, ``laid`` where each of them stands in the workspace of an agent, and ``workspace`` is
    what is expected of that, ``beside`` the files beside the skill that this needs."""

    id: str
    name: str
    prompt: str
    expected_output: str
    files: tuple[tuple[str, Span], ...]
    assertions: tuple[Assertion, ...]
    questions: tuple[str, ...]
    run: Value
    span: Span
    laid: tuple[str, ...] = ()
    workspace: tuple[Expected, ...] = ()
    beside: tuple[tuple[str, Span], ...] = ()

    @property
    def asked(self) -> tuple[str, ...]:
        """Return the questions for a grader: the assertions, or the expected output if there are none."""
        if self.questions or self.assertions or self.run or self.workspace or not self.expected_output.strip():
            return self.questions
        return (f"The output is what is described here: {self.expected_output.strip()}",)


class TriggerModel(Struct, frozen=True):
    """A request, and whether the skill is meant for it. ``belongs`` is the skill that it is meant for, if the author
    names one."""

    query: str
    should_trigger: bool
    belongs: str
    span: Span


class EvalsModel(Struct, frozen=True):
    """A file beside a skill: its cases, or the requests it is meant for. ``skill_name`` is the skill it names,
    ``named`` the place of that name; ``anchor`` is where problems of missing fields point."""

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
