"""Evaluations of a skill: the cases in its `evals/evals.json`, and the requests that it is meant for in
`evals/trigger-eval.json`, as other tools write them (X32).

`fields` are their names, `assertions` reads what is expected, `read` gives the model. They are JSON without Markdown,
and their layout is free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.data import members_of
from prosa.dialects.dialect import Dialect
from prosa.dialects.evals.suite.model import EvalModel, EvalsModel, TriggerModel
from prosa.dialects.evals.suite.read import read
from prosa.dialects.front import FrontReading
from prosa.document import Def, Ref
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.dialects.facts import EvalsFacts, SkillCase, TriggerQuery

__all__ = ["DIALECT", "definitions", "facts", "read", "references"]


def facts(model: EvalsModel) -> EvalsFacts:
    """Return the keys of an evaluation file of a skill."""
    return {
        "dialect": "evals",
        "skill_name": model.skill_name,
        "repeat": model.repeat,
        "require": model.requirement.text,
        "models": list(model.models),
        "evals": [_eval(model, case) for case in model.evals],
        "queries": [_query(model, query) for query in model.queries],
    }


def _eval(model: EvalsModel, case: EvalModel) -> SkillCase:
    return {
        "id": case.id or None,
        "name": case.name,
        "line": model.line(case.span),
        "prompt": case.prompt,
        "files": [name for name, _ in case.files],
        "decided": [
            *(assertion.name for assertion in case.assertions),
            *(expected.name for expected in case.workspace),
            *members_of(case.run),
        ],
        "graded": list(case.asked),
    }


def _query(model: EvalsModel, query: TriggerModel) -> TriggerQuery:
    line = model.line(query.span)
    if not query.belongs:
        return {"query": query.query, "should_trigger": query.should_trigger, "line": line}
    return {
        "query": query.query,
        "should_trigger": query.should_trigger,
        "expected_skill": query.belongs,
        "line": line,
    }


def references(_model: EvalsModel) -> tuple[Ref, ...]:
    """Nothing: the skill is found by the folder."""
    return ()


def definitions(_model: EvalsModel) -> tuple[Def, ...]:
    """Nothing."""
    return ()


def _no_markdown(front: FrontReading) -> Span:
    return Span(front.body.end, front.body.end)


DIALECT: Dialect[EvalsModel] = Dialect(
    name="evals", read=read, references=references, definitions=definitions, facts=facts, markdown=_no_markdown
)
