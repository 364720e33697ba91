"""Context files tried on cases, with and without; ablations of sections (X34, X38)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from prosa.app.agents.task import AgentOptions, AgentRefused, AgentTask, agent_choices
from prosa.app.evals.ablation import ablated, ablation_of
from prosa.app.evals.context import servers_in
from prosa.app.evals.load import find_tests, load_suites
from prosa.app.evals.plan import plan_tests
from prosa.app.evals.run import run_tests
from prosa.app.evals.sections import sections_of, without
from prosa.app.evals.suite import Suite
from prosa.app.evals.variants import TestOptions
from prosa.app.options import Environment, Options
from prosa.evaluation.power import least_cases, most_comparisons, powers
from prosa.render.ablation import ablation_json, ablation_text
from prosa.runtime.errors import NotTrusted, RunError
from prosa.settings import Settings
from prosa.source import SourceText
from tests.app.evals.in_agents import FakeAgents, trace
from tests.app.evals.skilled import Model
from tests.app.evals.suites import test
from tests.cli.programs import user

AGENTS = "# House\n\nWe build boats.\n\n## Tests\n\nRun `make check`.\n\n## Style\n\nUse tabs.\n"


def cases(path: str = "evals/evals.json", *, count: int = 8, said: str = "make check") -> Path:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": at, "prompt": f"How do I test part {at}?", "assertions": [{"contains": said}]} for at in range(count)
    ]
    target.write_text(json.dumps({"evals": rows}))
    return target


def file(path: str = "AGENTS.md", text: str = AGENTS) -> Path:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    return target


def environment() -> Environment:
    return Environment(user(Path.cwd()), Settings())


def loaded(path: str = "AGENTS.md", **options: Any) -> tuple[Suite, ...]:
    return load_suites(find_tests((path,)), Options(), environment(), **options)


def obeys(text: str) -> str:
    return "Call make check." if "make check" in text else "I do not know."


def tried(suites: tuple[Suite, ...], model: Model, **more: Any) -> Any:
    chosen = TestOptions(cache=False, **more)
    return asyncio.run(run_tests(suites, chosen, Options(), environment(), provider=model))


def test_x38_a_context_file_is_compared_with_no_such_file(here: Path):
    file(), cases()
    model = Model(obeys)
    report = tried(loaded(), model)
    (told,) = report.comparisons
    assert (told.comparison.verdict, told.skill, report.ok) == ("better", "agents", True)
    assert [each.label for each in report.suites] == ["with AGENTS.md", "without AGENTS.md"]
    systems = {each.messages[0].content for each in model.requests if each.messages[0].role == "system"}
    assert any("Run `make check`." in each for each in systems)


@pytest.mark.parametrize(
    ("path", "text", "place"),
    [
        (".cursor/rules/tests.mdc", "---\nalwaysApply: true\n---\nRun `make check`.\n", None),
        (".claude/rules/tests.md", "Run `make check`.\n", ".claude/rules/tests.md"),
        (
            ".claude/agents/tester.md",
            "---\nname: tester\ndescription: x\n---\nRun `make check`.\n",
            ".claude/agents/tester.md",
        ),
        ("CLAUDE.md", "Run `make check`.\n", "CLAUDE.md"),
        ("AGENTS.md", "Run `make check`.\n", "CLAUDE.md"),
    ],
)
def test_x38_each_kind_is_tried_and_laid_where_its_host_reads_it(here: Path, path: str, text: str, place: str | None):
    file(path, text)
    named = cases("cases.json")
    report = tried(loaded(path, cases=named), Model(obeys))
    assert report.comparisons[0].comparison.verdict == "better"
    (suite,) = loaded(path, cases=named, in_agent=True)
    assert suite.place is not None
    (claude,) = agent_choices(("claude",))
    if place is None:
        with pytest.raises(AgentRefused, match="reads no such rule"):
            suite.place(claude)
    else:
        assert suite.place(claude) == place


def test_x38_a_command_is_expanded_with_the_request(here: Path):
    file(".claude/commands/check.md", "---\ndescription: x\n---\nCall `make check` for this: $ARGUMENTS\n")
    model = Model(obeys)
    report = tried(loaded(".claude/commands/check.md", cases=cases("cases.json", count=6)), model)
    assert report.comparisons[0].comparison.verdict == "better"
    sent = ["\n".join(each.content for each in request.messages) for request in model.requests]
    assert any("Call `make check` for this: How do I test part 0?" in each for each in sent)


def test_x7_the_servers_of_a_project_start_only_where_the_user_permits_it(here: Path):
    file(".mcp.json", json.dumps({"mcpServers": {"boats": {"command": "boats", "args": ["--stdio"]}}}))
    (suite,) = loaded(".mcp.json", cases=cases("cases.json"))
    assert [each.name for each in suite.program.servers] == ["boats"]
    with pytest.raises(NotTrusted, match="boats"):
        tried((suite,), Model(obeys))


def test_x36_an_agent_finds_the_file_in_its_workspace(here: Path):
    file(), cases(count=6)
    (suite,) = loaded(in_agent=True)
    seen: dict[str, list[str]] = {}

    def answer(task: AgentTask) -> Any:
        texts = [path.read_text() for path, place in task.files if place == "AGENTS.md"]
        seen.setdefault(task.side, []).extend(texts)
        return trace(obeys(" ".join(texts))), ()

    sides = ablation_of((suite,), TestOptions(), environment()).sides
    chosen = TestOptions(cache=False, agents=AgentOptions(agent_choices(("codex",))), sides=sides)
    report = asyncio.run(run_tests([suite], chosen, Options(), environment(), agents=FakeAgents(answer)))
    assert seen["with AGENTS.md"] == [AGENTS] * 6
    assert seen["without AGENTS.md"] == []
    assert "make check" not in seen['without "Tests"'][0] and "Use tabs" in seen['without "Tests"'][0]
    assert report.comparisons[0].comparison.difference.value == 1.0


def test_x34_an_ablation_ranks_sections_by_what_their_absence_does(here: Path):
    file(), cases(count=12)
    suites = loaded()
    ablation = ablation_of(suites, TestOptions(), environment())
    found = ablated(ablation, tried((ablation.suite,), Model(obeys), sides=ablation.sides))
    data = ablation_json(found)
    assert [(each["section"], each["difference"], each["verdict"]) for each in data["sections"]] == [
        ('"Tests"', 1.0, "better"),
        ('"House"', 0.0, "cannot tell"),
        ('"Style"', 0.0, "cannot tell"),
    ]
    assert data["sections"][0]["p_adjusted"] <= 0.05
    assert '"Tests": +1.00 [+1.00, +1.00]: better with it' in ablation_text(found)


def test_x34_too_few_cases_merge_sections_or_say_so(here: Path):
    many = "".join(f"## Part {at}\n\nText {at}.\n\n" for at in range(12))
    file(text=f"# All\n\nFirst.\n\n{many}")
    for count, sections, said in ((20, 8, ""), (8, 5, "some are merged"), (6, 8, "no section can get a verdict")):
        cases(count=count)
        found = ablation_of(loaded(), TestOptions(), environment())
        assert (len(found.sides), said in " ".join(found.notes)) == (sections, True)


def test_x34_sections_share_no_text_and_leave_none_out():
    source = SourceText("---\nname: x\n---\n\nFirst.\n\n# A\n\n## B\n\nb\n\n### C\n\nc\n\n## B\n\nd\n", "SKILL.md")
    found = sections_of(source)
    assert [each.title for each in found] == ["the beginning", '"B"', '"C"', '"B" (2)']
    assert without(source, found[1]).count("## B") == 2  # a heading stays where headings below it do
    assert sections_of(SourceText("No heading.\n", "AGENTS.md")) == ()
    assert sections_of(SourceText("", "AGENTS.md")) == ()
    merged = sections_of(source, 3)
    assert [each.title for each in merged] == ["the beginning", '"B" and 1 more', '"B"']


def test_x34_power_is_that_of_the_test_that_decides():
    assert [least_cases(each) for each in (1, 2, 4, 8)] == [6, 7, 8, 9]
    assert [most_comparisons(each) for each in (5, 6, 7, 8, 9)] == [0, 1, 3, 6, 12]
    small, large = powers(8, 3, 1)
    assert 0.2 < small.chance < 0.3 and 0.7 < large.chance < 0.8
    assert powers(8, 3, 6)[1].chance < large.chance < powers(12, 3, 1)[1].chance
    assert [each.chance for each in powers(5, 100, 1)] == [None, None]
    assert powers(8, 3, 1) == powers(8, 3, 1)


def test_x34_the_plan_of_a_comparison_says_its_power(here: Path):
    file(), cases()
    plan = plan_tests(loaded(), TestOptions(), Options(), environment())
    assert [(each.difference, each.comparisons) for each in plan.powers] == [(0.3, 1), (0.5, 1)]
    status, at = test(here, "AGENTS.md", "--ablate", "sections", "--plan", "--format", "json")
    assert (status, len(json.loads(at.out)["power"])) == (0, 2)
    assert json.loads(at.out)["power"][0]["comparisons"] == 4


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (None, "no such file of cases"),
        ("{", "bad.json:1"),
        ('{"evals": []}', "no case"),
        ("[1]", "bad.json"),
    ],
)
def test_x34_bad_cases_are_refused_with_their_place(here: Path, written: str | None, said: str):
    file()
    if written is not None:
        Path("bad.json").write_text(written)
    status, at = test(here, "AGENTS.md", "--cases", "bad.json")
    assert status in (1, 2) and said in at.out + at.err
    assert "Traceback" not in at.err


def test_x34_a_subject_without_sections_has_no_ablation(here: Path):
    file(text="One paragraph.\n"), cases()
    with pytest.raises(RunError, match="has no sections"):
        ablation_of(loaded(), TestOptions(), environment())


def test_x34_a_subject_that_changes_under_the_run_is_tried_as_it_was(here: Path):
    path = file()
    cases(count=6)
    suites = loaded()
    ablation = ablation_of(suites, TestOptions(), environment())

    def meddles(text: str) -> str:
        path.write_text("Nothing.\n")
        return obeys(text)

    report = tried((ablation.suite,), Model(meddles), sides=ablation.sides)
    assert [each.comparison.difference.value for each in report.comparisons] == [1.0, 0.0, 1.0, 0.0]


def test_x34_settings_of_a_host_are_not_tried(here: Path):
    file(".claude/settings.json", "{}")
    status, at = test(here, ".claude/settings.json", "--cases", str(cases()))
    assert status != 0 and "(settings) is not tried on cases" in at.err


def test_x34_a_test_document_has_its_own_cases(here: Path):
    Path("triage.test.md").write_text("---\ntests: ./triage.md\n---\n\n## A\n\n```yaml input\nrequest: x\n```\n")
    status, at = test(here, "triage.test.md", "--cases", str(cases()))
    assert status != 0 and "has cases of its own" in at.err


@pytest.mark.parametrize(("given", "other"), [("command", "url"), ("url", "command")])
def test_x38_a_word_of_a_server_that_is_no_text_is_left_out(given: str, other: str):
    (server,) = servers_in(SourceText(json.dumps({"mcpServers": {"docs": {given: "x", other: 5}}}), "mcp.json"))
    assert (getattr(server, given), getattr(server, other)) == ("x", None)
