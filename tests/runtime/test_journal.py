"""X25: the seam of the journal. A call is known by its path, whatever starts first."""

from __future__ import annotations

import asyncio
import json
from itertools import cycle

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.app.journal.stored import decoded
from prosa.records.recording import request_data
from prosa.runtime import events
from prosa.runtime.budget import tokens_upper
from prosa.runtime.digest import as_json, request_digest
from prosa.runtime.execute import execute
from prosa.runtime.journal import UNRECORDED, chained
from prosa.runtime.messages import ModelReply, ModelRequest, ToolCall
from prosa.runtime.ports import ToolResult
from prosa.runtime.prompt import Transcript
from prosa.runtime.world import World
from prosa.testing import FakeClock
from tests.depth import examples
from tests.runtime.worlds import FakeSandbox, FakeServers, call, load, run, text_of

CALLS = 6


class Recording:
    """A journal that writes down every call and its answer by path, in the order in which calls begin."""

    def __init__(self):
        self.calls = {}
        self.asked = []

    async def reply(self, step, ask):
        self.asked.append(step.path)
        answer = await ask()
        assert step.path not in self.calls
        self.calls[step.path] = (step.request, answer)
        return answer

    async def result(self, step, use):
        self.asked.append(step.path)
        answer = await use()
        assert step.path not in self.calls
        self.calls[step.path] = (step.tool, dict(step.arguments), answer)
        return answer


class Playing:
    """A journal that answers from what another one wrote down; nothing may be called."""

    def __init__(self, calls):
        self.calls = calls

    async def reply(self, step, ask):
        request, answer = self.calls[step.path]
        assert request == step.request
        return answer

    async def result(self, step, use):
        return self.calls[step.path][-1]


class Delaying:
    """A model that calls the import several times at once with equal arguments, in each program below too, and answers
    after as many turns of the event loop as it is told."""

    def __init__(self, turns):
        self.turns = cycle(turns)
        self.answered = 0

    async def complete(self, request, on_text=None):
        for _ in range(next(self.turns)):
            await asyncio.sleep(0)
        names = [tool.name for tool in request.tools if tool.name != "python"]
        if names and request.messages[-1].role != "tool":
            asked = [ToolCall(f"c{n}", names[0], json.dumps({"text": "same"})) for n in range(CALLS)]
            return ModelReply("", tuple(asked))
        self.answered += 1
        return ModelReply(json.dumps({"n": 7}))

    async def aclose(self):
        pass


def nested(folder):
    (folder / "deep.md").write_text(text_of("deep"), encoding="utf-8")
    (folder / "helper.md").write_text(text_of("helper", more="imports: [./deep.md]\n"), encoding="utf-8")
    return load(folder, text_of(more="imports: [./helper.md]\n"))


def recorded(program, turns):
    journal, told = Recording(), []
    world = World(Delaying(turns), FakeClock(), FakeServers(), listener=told.append, journal=journal)
    assert asyncio.run(execute(program, {"text": "it"}, world)) == {"n": 7}
    return journal, told


def test_x25_the_paths_of_calls_do_not_depend_on_which_of_them_starts_first(tmp_path_factory):
    program = nested(tmp_path_factory.mktemp("nested"))
    expected, _ = recorded(program, [0])
    orders = set()

    @settings(max_examples=examples(40), deadline=None)
    @given(st.lists(st.integers(0, 9), min_size=1, max_size=23))
    def same(turns):
        found, _ = recorded(program, turns)
        assert found.calls == expected.calls
        orders.add(tuple(found.asked))

    same()
    assert len(orders) > 1  # calls did begin in different orders
    models = 2 + CALLS * (2 + CALLS)
    tools = CALLS * (1 + CALLS)
    assert len(expected.calls) == models + tools
    assert {"1", "1.0", "1.0/1", "1.0/1.5", "1.0/1.5/1", "1.0/2", "2"} <= set(expected.calls)


def test_x25_events_carry_the_path_of_what_they_are_about(tmp_path):
    journal, told = recorded(nested(tmp_path), [3, 1, 4])
    asked = {events.path_of(each) for each in told if isinstance(each, events.ModelAsked | events.ToolCalled)}
    answered = {events.path_of(each) for each in told if isinstance(each, events.ModelAnswered | events.ToolAnswered)}
    assert asked == answered == set(journal.calls)
    started = [events.path_of(each) for each in told if isinstance(each, events.RunStarted)]
    assert len(set(started)) == len(started) == 1 + CALLS * (1 + CALLS)


def test_x25_a_journal_that_knows_the_answers_is_all_that_a_run_needs(tmp_path):
    program = nested(tmp_path)
    journal, _ = recorded(program, [0])
    provider = Delaying([0])
    world = World(provider, FakeClock(), FakeServers(), journal=Playing(journal.calls))
    assert asyncio.run(execute(program, {"text": "it"}, world)) == {"n": 7}
    assert provider.answered == 0


def test_x25_only_calls_that_are_made_are_asked_about(tmp_path):
    """Arguments that the schema refuses and tools that do not exist are answered without the journal."""
    journal = Recording()
    replies = [
        {"tool_calls": [call("python", {"code": 1}), call("nothing", {}), call("python", {"code": "x"})]},
        {"content": {"n": 1}},
    ]
    run(load(tmp_path), {}, replies, sandbox=FakeSandbox(), journal=journal)
    assert journal.asked == ["1", "1.2", "2"]


def test_x25_of_two_journals_the_outer_one_is_asked_first():
    class Knows:
        async def result(self, step, use):
            return ToolResult("outer") if step == "known" else await use()

    async def used():
        return ToolResult("made")

    inner = Recording.__new__(Recording)

    async def through(step, use):
        return ToolResult(f"inner {(await use()).content}")

    inner.result = through
    both = chained(Knows(), inner)
    assert asyncio.run(both.result("known", used)).content == "outer"
    assert asyncio.run(both.result("new", used)).content == "inner made"
    assert chained(UNRECORDED, inner) is inner
    assert chained(inner, UNRECORDED) is inner


@settings(max_examples=examples(30))
@given(st.text(), st.text())
def test_x25_what_a_service_wants_back_survives_the_journal_and_is_no_part_of_what_is_compared(content, opaque):
    reply = ModelReply(content, (ToolCall("c1", "python", "{}"),), opaque=opaque)
    assert decoded(as_json(reply), ModelReply) == reply
    made = [Transcript().with_tool_calls(each, [ToolResult("3")]) for each in (reply, replace(reply, opaque=""))]
    assert [each.messages[0].opaque for each in made] == [opaque, ""]
    asked = [ModelRequest("m", each.messages) for each in made]
    assert request_digest(asked[0]) == request_digest(asked[1])
    assert request_data(asked[0]) == request_data(asked[1])
    assert tokens_upper(asked[0]) >= tokens_upper(asked[1]) + len(opaque)
