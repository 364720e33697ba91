"""Suites whose subject has another text, and several of them compared together (X34, X41)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from prosa.app.agents.task import AgentOptions, AgentTask, agent_choices
from prosa.app.evals.altered import altered_side, altered_suite, counts_of, side_reports, with_cases
from prosa.app.evals.load import find_tests, load_suites
from prosa.app.evals.run import run_tests
from prosa.app.evals.suite import Suite
from prosa.app.evals.variants import TestOptions
from prosa.app.options import Environment, Options
from prosa.evaluation.report import Report
from prosa.runtime.errors import ProgramRefused, RunError
from prosa.runtime.messages import ModelReply, ModelRequest, ToolCall
from prosa.settings import Settings
from tests.app.evals.in_agents import FakeAgents, trace
from tests.app.evals.skilled import MARK, Model, case, evals, neighbours, obeys, routed, skill
from tests.app.evals.suites import BILLING, CARE, suite, write
from tests.cli.programs import user


def environment() -> Environment:
    return Environment(user(Path.cwd()), Settings())


def loaded(path: str = "skills", *, in_agent: bool = False) -> Suite:
    return load_suites(find_tests((path,)), Options(), environment(), in_agent=in_agent)[0]


def tried(suite: Suite, model: Model, **more: Any) -> Report:
    chosen = TestOptions(cache=False, **more)
    return asyncio.run(run_tests([suite], chosen, Options(), environment(), provider=model))


def text_of(suite: Suite) -> str:
    return suite.program_path.read_text()


def test_x34_several_texts_of_a_skill_are_compared_together(here: Path):
    evals(skill(body=f"{MARK}\n\nBe polite."), *map(case, range(7)))
    found = loaded()
    sides = (
        altered_side("without the mark", text_of(found).replace(MARK, "")),
        altered_side("without manners", text_of(found).replace("Be polite.", "")),
    )
    report = tried(found, Model(obeys), sides=sides)
    told = [(each.second, each.comparison.verdict, each.comparison.p_adjusted) for each in report.comparisons]
    assert [each[:2] for each in told] == [
        ("without the skill, gpt-4o", "better"),
        ("with the skill, without the mark", "better"),
        ("with the skill, without manners", "cannot tell"),
    ]
    assert told[0][2] == pytest.approx(3 / 64)  # Holm's adjustment for three comparisons
    subject, (marked, polite) = side_reports(report, str(found.path))
    assert {each.passed for each in counts_of(subject).values()} == {1}
    assert sum(each.passed for each in counts_of(marked).values()) == 0
    assert sum(each.passed for each in counts_of(polite).values()) == 7
    assert MARK in text_of(found)


def test_x34_a_program_with_another_text(here: Path):
    write(suite(("Charged twice", BILLING), ("Card", CARE)))
    found = loaded(".")
    model = Model(lambda text: '{"team": "billing", "reason": "twice"}' if "Which" in text else '{"team": 1}')
    report = tried(found, model, sides=(altered_side("other", text_of(found).replace("Which team", "Who")),))
    assert any("Who answers this?" in each.messages[-1].content for each in model.requests)
    assert [each.second for each in report.comparisons] == ["other"]


def test_x34_a_text_that_cannot_run_is_refused(here: Path):
    evals(skill(), case())
    with pytest.raises(ProgramRefused):
        altered_suite(loaded(), "---\nname: [\n---\nbody")


def test_x41_a_suite_of_another_text_and_some_cases_alone(here: Path):
    evals(skill(), *map(case, range(4)))
    names = [each.name for each in loaded().cases]
    found = with_cases(loaded(), {names[2], names[0]})
    report = tried(altered_suite(found, text_of(found).replace(MARK, "")), Model(obeys))
    (only,) = report.suites
    assert [(name, each.passed) for name, each in counts_of(only).items()] == [(names[0], 0), (names[2], 0)]
    with pytest.raises(RunError, match="no case is called '9'"):
        with_cases(found, {"9"})


def test_x41_another_description_among_the_skills_that_are_offered(here: Path):
    neighbours()
    found = loaded("skills/tide-times")
    described = text_of(found).replace("Tells when the tide is high", "Knows all about boats")
    model = Model(lambda _: "", routed)
    tried(altered_suite(found, described), model)
    assert all("Knows all about boats" in str(each.tools) + str(each.messages) for each in model.requests)


def test_x36_an_agent_gets_a_copy_of_the_skill_with_the_other_text(here: Path):
    folder = skill()
    (folder / "scripts").mkdir()
    (folder / "scripts/tides.py").write_text("print(1)\n")
    evals(folder, case())
    seen: list[tuple[str, str, list[str]]] = []

    def answer(task: AgentTask) -> Any:
        for each in task.skills:
            names = sorted(path.name for path in each.folder.rglob("*") if path.is_file())
            seen.append((task.side, (each.folder / "SKILL.md").read_text(), names))
        return trace("AHOY", listed=("tide-times",)), ()

    found = loaded(in_agent=True)
    text = text_of(found).replace(MARK, "Say nothing.")
    agents = AgentOptions(agent_choices(("fake",)))
    chosen = TestOptions(cache=False, agents=agents, sides=(altered_side("quiet", text),))
    asyncio.run(run_tests([found], chosen, Options(), environment(), agents=FakeAgents(answer)))
    assert [(side, "Say nothing." in text) for side, text, _ in seen] == [("with the skill", False), ("quiet", True)]
    assert seen[1][2] == ["SKILL.md", "tides.py"]


def test_x34_a_model_cannot_read_the_file_as_it_is_past_another_text(here: Path):
    folder = skill()
    (folder / "ports.md").write_text("Brest\n")
    evals(folder, case())
    seen: list[str] = []

    class Reads(Model):
        async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
            seen.extend(each.content for each in request.messages if each.role == "tool")
            if request.messages[-1].role == "tool":
                return ModelReply("six")
            calls = (ToolCall("1", "skill_read", '{"path": "./SKILL.md"}'),)
            return ModelReply("", calls, finish="tool_calls")

    found = loaded()
    tried(altered_suite(found, text_of(found).replace(MARK, "Be polite.")), Reads(obeys))
    assert seen and all("not shown" in each and MARK not in each for each in seen)
