"""First cases and requests for a skill (`prosa new evals`): drafts by a model that the user names, or a skeleton.

In: a skill and those beside it. Out: the texts of the files that are not there yet. Everything in them is marked as a
draft: an author keeps, changes or drops each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

from prosa.adapters.files.skill_files import is_skill, skill_file
from prosa.app.evals.first_eval import first_case
from prosa.app.evals.judge import load_shipped
from prosa.app.run.jobs import run_program
from prosa.app.run.skills import LoadedSkill, load_skill
from prosa.data import Value
from prosa.dialects.table import CASES, TRIGGERS
from prosa.runtime.errors import ProgramRefused, RunError
from prosa.source import FileProblem
from prosa.source.files import is_hidden

if TYPE_CHECKING:
    from prosa.app.options import Environment, Options
    from prosa.runtime.ports import Provider

DRAFT: Mapping[str, Value] = {"draft": True}
"""Marks a case or a request that is still to be looked at."""

REQUESTS = TRIGGERS[0]

MAX_NEIGHBOURS = 40
"""Skills beside it that a draft considers."""


async def draft_evals(
    path: Path, options: Options, environment: Environment, *, asks: bool, provider: Provider | None = None
) -> dict[Path, str]:
    """Return the files that are absent beside a skill, with drafts; ``asks`` lets the model of the options write them.
    Raises `RunError` where both are there, and what `load_skill` and a run do."""
    skill = load_skill(path, options, environment.settings)
    folder = skill.path.parent
    absent = [name for name in (CASES, REQUESTS) if not (folder / name).exists()]
    if not absent:
        raise RunError(f"{folder}: {CASES} and {REQUESTS} exist; nothing was written")
    beside = list(_beside(skill, options, environment))
    if asks:
        drafts = await _asked(skill, beside, options, environment, provider)
    else:
        drafts = {CASES: [first_case(skill.skill.name)], REQUESTS: list(_requests(skill, beside))}
    files = {
        CASES: {
            "skill_name": skill.skill.name,
            "evals": [{"id": at, **case, **DRAFT} for at, case in enumerate(drafts[CASES], 1)],
        },
        REQUESTS: [{**request, **DRAFT} for request in drafts[REQUESTS]],
    }
    return {folder / name: json.dumps(files[name], ensure_ascii=False, indent=2) + "\n" for name in absent}


def _beside(skill: LoadedSkill, options: Options, environment: Environment) -> Iterator[LoadedSkill]:
    """Yield the skills in the folder of a skill that a model is offered; an unreadable one is left out."""
    own = skill.path.parent.absolute()
    folders = (
        path for path in sorted(own.parent.iterdir()) if not is_hidden(path.name) and path.is_dir() and path != own
    )
    for folder in [path for path in folders if is_skill(path)][:MAX_NEIGHBOURS]:
        try:
            neighbour = load_skill(skill_file(folder), options, environment.settings)
        except (FileProblem, ProgramRefused) as error:
            environment.notice(f"warning: {folder.name} is not considered: {error}")
            continue
        if neighbour.offered:
            yield neighbour


def _requests(skill: LoadedSkill, beside: Sequence[LoadedSkill]) -> Iterator[dict[str, Value]]:
    """Yield a request for the skill, one for each skill beside it, and one for none, out of their descriptions."""
    yield {"query": _wish(skill), "should_trigger": True}
    for near in beside:
        yield {"query": _wish(near), "should_trigger": False, "expected_skill": near.skill.name}
    yield {"query": "Write a short poem about autumn.", "should_trigger": False}


def _wish(skill: LoadedSkill) -> str:
    first = skill.skill.description.split(". ")[0].rstrip(".")
    return f"I need help with this: {first[:1].lower()}{first[1:]}."


async def _asked(
    skill: LoadedSkill,
    beside: Sequence[LoadedSkill],
    options: Options,
    environment: Environment,
    provider: Provider | None,
) -> dict[str, list[dict[str, Value]]]:
    program = load_shipped("prosa.app.evals", "draft.md", options, environment)
    arguments: dict[str, Value] = {
        "name": skill.skill.name,
        "text": skill.path.read_text(encoding="utf-8"),
        "neighbours": json.dumps([{"name": near.skill.name, "description": near.skill.description} for near in beside]),
    }
    output = (await run_program(program, arguments, options, environment, provider=provider)).output
    names = {near.skill.name for near in beside}
    drafted = cast("_Draft", output)  # as the schema of `draft.md` says
    return {CASES: drafted["cases"], REQUESTS: [_as_request(request, names) for request in drafted["requests"]]}


class _Request(TypedDict):
    query: str
    should_trigger: bool
    expected_skill: str


class _Draft(TypedDict):
    cases: list[dict[str, Value]]
    requests: list[_Request]


def _as_request(request: _Request, names: set[str]) -> dict[str, Value]:
    """Return a request with the skill that it is for, if there is such a one."""
    written: dict[str, Value] = {"query": request["query"], "should_trigger": request["should_trigger"]}
    is_other = not request["should_trigger"] and request["expected_skill"] in names
    return {**written, "expected_skill": request["expected_skill"]} if is_other else written
