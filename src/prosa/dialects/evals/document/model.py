"""The typed reading of a test document: the program it tests, how often, and its cases (X28)."""

from __future__ import annotations

from collections.abc import Mapping as Map

from msgspec import Struct

from prosa.data import Entry, Node, Value
from prosa.dialects.evals.document.fields import Role
from prosa.document import Document, Heading
from prosa.evaluation.case import Case, Requirement
from prosa.evaluation.matchers import MISSING, PYTHON, Missing, is_matcher
from prosa.source import Span


class Block(Struct, frozen=True):
    """A fence of a case. ``value`` is its content, MISSING if it cannot be read; ``node`` has the places of data, None
    for text. ``span`` is the code, ``fence`` all of it."""

    role: Role
    language: str
    span: Span
    fence: Span
    value: Value | Missing
    node: Node | None = None


class CaseModel(Struct, frozen=True):
    """A heading of level 2 with blocks below it."""

    name: str
    heading: Heading
    span: Span
    blocks: Map[Role, Block]

    def value(self, role: Role) -> Value | Missing:
        """Return the value of the block with a role."""
        block = self.blocks.get(role)
        return MISSING if block is None else block.value

    def value_or(self, role: Role, otherwise: Value) -> Value:
        """Return the value of the block with a role, or another where there is none."""
        value = self.value(role)
        return otherwise if isinstance(value, Missing) else value

    @property
    def expect(self) -> Value | Missing:
        """Return the expectations of the output: those of the block, then the check in Python."""
        wanted, code = self.value("expect"), self.value("check")
        if isinstance(code, Missing):
            return wanted
        return {"$": {PYTHON: code}} if isinstance(wanted, Missing) else _with_check(wanted, code)


def _with_check(wanted: Value, code: Value) -> Value:
    """Return an expectation and a check, both of the whole output."""
    if isinstance(wanted, dict):
        if is_matcher(wanted):
            return {**wanted, PYTHON: code}
        if "$" not in wanted:
            return {**wanted, "$": {PYTHON: code}}
    return {"equals": wanted, PYTHON: code}


class SuiteModel(Struct, frozen=True):
    """A test document. ``tests`` is the path of the program as written; absent fields are None.

    ``entries`` are the fields that were read, by name; ``anchor`` is where to point at what is missing.
    """

    document: Document
    tests: str | None
    repeat: int
    requirement: Requirement
    models: tuple[str, ...]
    rows: str | None
    grader: str | None
    votes: int
    cases: tuple[CaseModel, ...]
    entries: Map[str, Entry]
    anchor: Span

    def span(self, field: str) -> Span:
        """Return where to point when speaking of a field: its value, or the anchor when it is absent."""
        entry = self.entries.get(field)
        return entry.value.span if entry else self.anchor

    def line(self, case: CaseModel) -> int:
        """Return the line of the heading of a case."""
        return self.document.source.position(case.heading.span.start).line

    def case(self, model: CaseModel) -> Case:
        """Return a case of the document as the runner's value."""
        return Case(
            model.name,
            model.value_or("input", {}),
            model.expect,
            model.value_or("run", None),
            questions(model.value_or("grade", [])),
            f"{self.document.source.path}:{self.line(model)}",
        )


def questions(value: Value) -> tuple[str, ...]:
    """Return the questions for a grader: one a line, or a list of them; none of anything else."""
    lines = value.splitlines() if isinstance(value, str) else value if isinstance(value, list) else ()
    return tuple(line.strip() for line in lines if isinstance(line, str) and line.strip())
