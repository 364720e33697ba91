"""Tests of programs: cases with an input and expectations, in Markdown (X28).

`model` defines a test document, `read` parses it, `rows` reads cases from a file beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.dialects.dialect import Dialect
from prosa.dialects.evals.document.fields import FRONT
from prosa.dialects.evals.document.model import CaseModel, SuiteModel
from prosa.dialects.evals.document.read import read
from prosa.document import Def, Ref
from prosa.evaluation.matchers import Missing

if TYPE_CHECKING:
    from prosa.dialects.facts import TestCase, TestFacts

__all__ = ["DIALECT", "FRONT", "definitions", "facts", "read", "references"]


def facts(model: SuiteModel) -> TestFacts:
    """Return the keys of a test document."""
    return {
        "dialect": "test",
        "tests": model.tests,
        "repeat": model.repeat,
        "require": model.requirement.text,
        "models": list(model.models),
        "rows": model.rows,
        "grader": model.grader,
        "votes": model.votes,
        "cases": [_case(model, case) for case in model.cases],
    }


def _case(model: SuiteModel, entry: CaseModel) -> TestCase:
    case = model.case(entry)
    shown: TestCase = {"name": entry.name, "line": model.line(entry), "input": case.input}
    if not isinstance(case.expect, Missing):
        shown["expect"] = case.expect
    if case.run is not None:
        shown["run"] = case.run
    if case.grade:
        shown["grade"] = list(case.grade)
    return shown


def references(model: SuiteModel) -> tuple[Ref, ...]:
    """Return the program that is tested, and the grader that the author chose."""
    named = (("tests", model.tests, "tests"), ("grader", model.grader, "graded-by"))
    return tuple(Ref("front-matter", path, "path", model.span(field), rel=rel) for field, path, rel in named if path)


def definitions(_model: SuiteModel) -> tuple[Def, ...]:
    """Nothing: others point at a test document by its path."""
    return ()


DIALECT: Dialect[SuiteModel] = Dialect(
    name="test", read=read, references=references, definitions=definitions, facts=facts, front=FRONT
)
