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
        "evals": [_eval(model, each) for each in model.evals],
        "queries": [_query(model, query) for query in model.queries],
    }


def _eval(model: EvalsModel, each: EvalModel) -> SkillCase:
    return {
        "id": each.id or None,
        "name": each.name,
        "line": model.line(each.span),
        "prompt": each.prompt,
        "files": [name for name, _ in each.files],
        "decided": [
            *(assertion.name for assertion in each.assertions),
            *(expected.name for expected in each.workspace),
            *members_of(each.run),
        ],
        "graded": list(each.asked),
    }


def _query(model: EvalsModel, each: TriggerModel) -> TriggerQuery:
    line = model.line(each.span)
    if not each.belongs:
        return {"query": each.query, "should_trigger": each.should_trigger, "line": line}
    return {
        "query": each.query,
        "should_trigger": each.should_trigger,
        "expected_skill": each.belongs,
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
