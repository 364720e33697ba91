"""Tests of programs: cases with an input and expectations, in Markdown (X28).

`model` defines a test document, `read` parses it, `rows` reads cases from a file beside it.
"""

from __future__ import annotations

from prosa.data import Value
from prosa.dialects.dialect import Dialect
from prosa.dialects.evals.document.fields import FRONT
from prosa.dialects.evals.document.model import CaseModel, SuiteModel
from prosa.dialects.evals.document.read import read
from prosa.document import Def, Ref
from prosa.evaluation.matchers import Missing

__all__ = ["DIALECT", "FRONT", "definitions", "facts", "read", "references"]


def facts(model: SuiteModel) -> dict[str, Value]:
    """Return the keys of a test document."""
    return {
        "tests": model.tests,
        "repeat": model.repeat,
        "require": model.requirement.text,
        "models": list(model.models),
        "rows": model.rows,
        "grader": model.grader,
        "votes": model.votes,
        "cases": [_case(model, each) for each in model.cases],
    }


def _case(model: SuiteModel, each: CaseModel) -> dict[str, Value]:
    case = model.case(each)
    shown: dict[str, Value] = {"name": each.name, "line": model.line(each), "input": case.input}
    shown |= {} if isinstance(case.expect, Missing) else {"expect": case.expect}
    shown |= {} if case.run is None else {"run": case.run}
    return shown | ({"grade": list(case.grade)} if case.grade else {})


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
