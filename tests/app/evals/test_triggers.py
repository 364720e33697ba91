"""X32: which of all the skills in a folder a model loads for a request, by their names and descriptions."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prosa
from prosa.evaluation.routing import Routing, confusion
from prosa.render import tests as render
from prosa.runtime.messages import ModelReply, ModelRequest
from tests.app.evals.skilled import (
    MARK,
    Model,
    neighbours,
    obeys,
    ran,
    routed,
    skill,
    triggers,
)
from tests.app.evals.suites import test
from tests.cli.programs import user


def test_x32_triggering_is_which_of_all_neighbours_a_model_loads_by_name_and_description(here: Path):
    folder = neighbours()
    model = Model(obeys, routed)
    report = ran(here, model, folder, repeat=3)
    (suite,) = report.suites
    assert suite.confusion is not None
    assert {row.expected: dict(row.loaded) for row in suite.confusion.rows} == {
        "tide-times": {"tide-times": 3},
        "ferry-fares": {"ferry-fares": 3},
        "knots": {"none": 3},  # it says itself that the request is its own
        "not tide-times": {"none": 3},
    }
    assert len(model.requests) == 12  # one call for each request: nobody asks what comes after the choice
    for each in model.requests:
        text = "\n".join(message.content for message in each.messages)
        assert MARK not in text and "Add up." not in text
        assert "Tells what a crossing with the ferry costs." in text
        assert [tool.name for tool in each.tools] == ["skill"]
    shown = render.tests_text(report)
    assert "  ferry-fares: What does the ferry cost? (loaded 3 of 3)" in shown
    assert "✗ How do I tie a bowline?" in shown
    assert "loaded: expected knots, found none" in shown
    assert not report.ok


def test_x32_a_request_that_is_not_for_the_skill_must_not_load_it(here: Path):
    folder = neighbours()
    report = ran(here, Model(obeys, lambda _: ["tide-times", "knots"]), folder)
    (suite,) = report.suites
    assert [suite.fails(at) for at in range(4)] == [False, True, True, True]
    assert suite.confusion is not None
    assert all(dict(row.loaded) == {"several": 1} for row in suite.confusion.rows)


def test_x32_a_model_that_gives_no_reply_loads_nothing_and_is_counted_apart(here: Path):
    folder = neighbours()
    status, at = test(here, str(folder), "--replay", "nowhere/else")
    assert status == 2
    (here / "tapes").mkdir()
    status, at = test(here, str(folder), "--replay", "tapes", "--format", "json")
    assert status == 1
    (suite,) = json.loads(at.out)["suites"]
    assert suite["program"] == "tide-times"
    assert {name for row in suite["routing"]["confusion"] for name in row["loaded"]} == {"not measured"}


def test_x32_a_skill_that_does_not_exist_is_not_loaded(here: Path):
    folder = neighbours()
    (suite,) = ran(here, Model(obeys, lambda _: ["nobody"]), folder).suites
    assert suite.confusion is not None
    assert suite.confusion.columns == ("tide-times", "none")


def test_x32_a_skill_that_only_users_start_is_not_among_those_that_are_offered(here: Path):
    folder = neighbours()
    path = here / "skills/knots/SKILL.md"
    path.write_text(path.read_text().replace("---\n\n", "disable-model-invocation: true\n---\n\n"))
    (suite,) = ran(here, Model(obeys, routed), folder).suites
    assert suite.routing is not None
    assert suite.routing.offered == ("tide-times", "ferry-fares")


def test_x32_the_skill_that_is_tried_has_no_better_place_than_the_others(here: Path):
    folder = neighbours()
    model = Model(obeys, routed)
    ran(here, model, folder)
    text = model.requests[0].messages[0].content
    places = [text.index(f"- {name}: ") for name in ("ferry-fares", "knots", "tide-times")]
    assert places == sorted(places)


def test_x32_neighbours_are_those_of_the_project(here: Path):
    folder = neighbours()
    (folder / ".git").mkdir()  # a project of its own, whatever lies beside it on this machine
    (here / "skills/again").symlink_to(folder)
    (suite,) = ran(here, Model(obeys, routed), folder).suites
    assert suite.routing is not None
    assert suite.routing.offered == ("tide-times",)
    (folder / ".git").rmdir()
    (suite,) = ran(here, Model(obeys, routed), folder).suites
    assert suite.routing is not None
    assert set(suite.routing.offered) == {"tide-times", "ferry-fares", "knots"}


NAMES = st.sampled_from(["own", "a", "b", ""])


@given(
    st.lists(
        st.tuples(NAMES, st.lists(st.lists(st.sampled_from(["own", "a", "b"]), max_size=3), min_size=1)), max_size=6
    )
)
def test_x32_every_repeat_counts_in_one_cell(found: list[tuple[str, list[list[str]]]]):
    belongs = {str(at): name for at, (name, _) in enumerate(found)}
    routing = Routing("own", ("own", "a", "b"), belongs)
    table = confusion(routing, [(str(at), repeats) for at, (_, repeats) in enumerate(found)])
    assert sum(row.total for row in table.rows) == sum(len(repeats) for _, repeats in found)
    assert {name for row in table.rows for name in row.loaded} <= set(table.columns)
    for at, (name, repeats) in enumerate(found):
        for loaded in repeats:
            right = (name in loaded) if name == "own" else "own" not in loaded and (not name or name in loaded)
            assert (routing.missed(str(at), loaded) is None) is right


def test_x32_a_description_is_compared_with_what_it_was(here: Path):
    folder = neighbours()
    triggers(folder, *({"query": f"When is high water at port {at}?", "should_trigger": True} for at in range(6)))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *arguments], check=True, cwd=here)
    skill(described="Tells the MOON.")

    class Reader(Model):
        """Loads the skill whose description it can tell from the request."""

        async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
            self.load = lambda text: [] if "MOON" in request.messages[0].content else routed(text)
            return await super().complete(request, on_text)

    report = ran(here, Reader(obeys), folder, repeat=2, against="HEAD")
    now, before = report.suites
    assert (now.baseline, before.baseline, before.label) == (False, True, "HEAD")
    (told,) = report.comparisons
    assert told.comparison.difference.value == -1.0  # no request finds its skill any more
    assert told.comparison.verdict == "worse"


def test_x32_neighbours_that_cannot_be_read_are_told_and_two_of_one_name_are_refused(here: Path):
    folder = neighbours()
    (here / "skills" / "broken").mkdir()
    (here / "skills" / "broken" / "SKILL.md").write_text("---\nname: [\n---\nx\n")
    told: list[str] = []
    model = Model(obeys, routed)
    from prosa.app.evals.load import find_tests, load_suites
    from prosa.app.evals.run import run_tests
    from prosa.app.evals.variants import TestOptions
    from prosa.app.options import Environment, Options
    from prosa.settings import Settings

    environment = Environment(user(here), Settings(), notice=told.append)
    suites = load_suites(find_tests([str(folder)]), Options(), environment)
    report = asyncio.run(run_tests(suites, TestOptions(), Options(), environment, provider=model))
    assert any("broken is not among the skills that are offered" in each for each in told)
    assert report.suites[0].routing is not None
    assert "broken" not in report.suites[0].routing.offered
    (here / "skills" / "broken" / "SKILL.md").write_text("---\nname: knots\ndescription: x\n---\nx\n")
    with pytest.raises(prosa.RunError, match="two skills are named 'knots'"):
        ran(here, model, folder)
