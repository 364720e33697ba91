"""The loop against scripted replies: requests, feedback, iterations, the final iteration."""

from __future__ import annotations

import asyncio
import json

import pytest

from prosa.runtime.errors import InputRefused, OutputRefused, ProviderError
from prosa.runtime.events import AnswerRejected, AttemptFailed, RunFailed, RunFinished, RunStarted
from prosa.runtime.execute import ExitStack, execute
from prosa.runtime.messages import ModelReply
from prosa.runtime.world import World
from prosa.testing import FakeClock
from tests.runtime.worlds import FakeSandbox, FakeServers, call, load, run, text_of


def test_l10_l11_l15_the_first_request_holds_description_schema_body_and_tools(tmp_path):
    program = load(tmp_path)
    ran = run(program, {"text": "seven"}, [{"content": {"n": 7}}], sandbox=FakeSandbox())
    assert ran.output == {"n": 7}
    (request,) = ran.requests
    assert [message.role for message in request.messages] == ["system", "user"]
    system, user = request.messages
    assert "Gives a number." in system.content
    assert json.dumps(program.output_schema, indent=2) in system.content
    assert user.content.strip() == "Say a number for seven."
    assert [tool.name for tool in request.tools] == ["python"]
    assert (request.output.name, request.output.strict) == ("output", True)
    assert request.output.schema == program.output_schema
    assert request.model_name == "gpt-4o"


def test_l12_lw1_the_input_is_validated_before_anything_is_asked(tmp_path):
    ran = run(load(tmp_path), {"text": 7}, [{"content": {"n": 7}}])
    assert isinstance(ran.error, InputRefused)
    assert "/text" in ran.error.message
    assert "string" in ran.error.message
    assert ran.requests == []


def test_l13_la8_feedback_is_in_the_next_system_message_and_the_answer_stays(tmp_path):
    wrong = '{"n": "seven"}'
    ran = run(load(tmp_path), {}, [{"content": wrong}, {"content": {"n": 7}}])
    assert ran.output == {"n": 7}
    first, second = ran.requests
    assert "not accepted" not in first.messages[0].content
    assert "/n: " in second.messages[0].content
    assert "integer" in second.messages[0].content
    assert [message.role for message in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[2].content == wrong
    assert "/n: " in second.messages[3].content and "integer" in second.messages[3].content
    assert ran.summary.errors == 1


def test_one_answer_that_fails_where_one_is_allowed(tmp_path):
    ran = run(load(tmp_path, iterations=1), {}, [{"content": "no"}])
    assert ran.error.message.startswith("validation failed: no valid output after 1 iteration: ")


def test_l13_la7_ten_answers_that_fail_end_the_run(tmp_path):
    ran = run(load(tmp_path), {}, [{"content": "no"}] * 11)
    assert isinstance(ran.error, OutputRefused)
    assert "10 iterations" in ran.error.message
    assert len(ran.requests) == 10
    assert ran.summary.iterations == 10
    assert sum(isinstance(event, AnswerRejected) for event in ran.events) == 10


def test_l14_la6_empty_content_counts_as_an_empty_object(tmp_path):
    accepting = text_of().replace("  required: [n]\n", "")
    assert run(load(tmp_path, accepting), {}, [{"content": ""}]).output == {}
    ran = run(load(tmp_path), {}, [{"content": ""}, {"content": {"n": 1}}])
    assert ran.output == {"n": 1}
    assert "n" in ran.requests[1].messages[0].content.split("not accepted")[1]


def test_l14_la6_an_empty_object_is_only_offered_where_the_schema_takes_it(tmp_path):
    accepting = text_of().replace("  required: [n]\n", "")
    offered = run(load(tmp_path, accepting), {}, [{"content": {}}]).requests[0].messages[0].content
    refused = run(load(tmp_path), {}, [{"content": {"n": 1}}]).requests[0].messages[0].content
    assert "answer {}" in offered
    assert "answer {}" not in refused


def test_lw6_an_empty_object_and_a_scalar_are_possible_outputs(tmp_path):
    scalar = text_of().split("output:")[0] + "output: { type: string }\n---\nSay it.\n"
    program = load(tmp_path, scalar)
    ran = run(program, {}, [{"content": {"value": "hello"}}])
    assert ran.output == "hello"
    assert ran.requests[0].output.schema["properties"]["value"] == {"type": "string"}


def test_la5_a_schema_that_is_no_object_is_wrapped_and_unwrapped(tmp_path):
    program = load(
        tmp_path, text_of().split("output:")[0] + "output: { type: array, items: { type: integer } }\n---\nGo.\n"
    )
    assert run(program, {}, [{"content": {"value": [1, 2]}}]).output == [1, 2]
    assert run(program, {}, [{"content": [1, 2]}]).output == [1, 2]
    ran = run(program, {}, [{"content": {"value": ["x"]}}, {"content": {"value": [3]}}])
    assert ran.output == [3]


def test_l14_json_in_a_fence_is_read_where_a_model_wraps_its_answer(tmp_path):
    fenced = 'Here you are:\n\n```json\n{"n": 3}\n```\n'
    assert run(load(tmp_path), {}, [{"content": fenced}]).output == {"n": 3}
    two = '```json\n{"n": 3}\n```\n```json\n{"n": 4}\n```\n'
    assert run(load(tmp_path), {}, [{"content": two}, {"content": {"n": 5}}]).output == {"n": 5}


def test_la7_a_tool_turn_is_an_iteration_and_results_go_into_the_next_request(tmp_path):
    sandbox = FakeSandbox()
    replies = [{"tool_calls": [call("python", {"code": "print(1)"}, "a")]}, {"content": {"n": 1}}]
    ran = run(load(tmp_path), {}, replies, sandbox=sandbox)
    assert ran.output == {"n": 1}
    assert ran.summary.iterations == 2
    roles = [message.role for message in ran.requests[1].messages]
    assert roles == ["system", "user", "assistant", "tool"]
    assert ran.requests[1].messages[3].tool_call_id == "a"
    assert json.loads(ran.requests[1].messages[3].content) == {"stdout": "ok\n", "stderr": "", "error": None}


def test_la7_the_last_iteration_has_no_tools_and_says_so(tmp_path):
    program = load(tmp_path, iterations=2)
    replies = [{"tool_calls": [call("python", {"code": "1"})]}, {"content": {"n": 2}}]
    ran = run(program, {}, replies, sandbox=FakeSandbox())
    first, last = ran.requests
    assert [tool.name for tool in first.tools] == ["python"]
    assert last.tools == ()
    assert "last iteration" in last.messages[0].content
    assert "last iteration" not in first.messages[0].content


def test_la7_tool_calls_on_the_last_iteration_are_no_answer(tmp_path):
    program = load(tmp_path, iterations=1)
    ran = run(program, {}, [{"tool_calls": [call("python", {"code": "1"})]}], sandbox=FakeSandbox())
    assert isinstance(ran.error, OutputRefused)
    assert "no tools" in ran.error.message


def test_l16_la7_transient_errors_are_tried_again_and_are_no_iterations(tmp_path):
    clock = FakeClock()
    busy = {"error": {"message": "busy", "kind": "rate-limit", "status": 429, "retry_after": 3}}
    down = {"error": {"message": "down", "kind": "server", "status": 503}}
    ran = run(load(tmp_path), {}, [busy, down, {"content": {"n": 1}}], clock=clock)
    assert ran.output == {"n": 1}
    assert ran.summary.iterations == 1
    waits = [event.wait for event in ran.events if isinstance(event, AttemptFailed)]
    assert 3 <= waits[0] <= 4
    assert 0.5 <= waits[1] <= 1.0


def test_l16_ten_further_attempts_then_the_error_says_how_many(tmp_path):
    down = {"error": {"message": "down", "kind": "server", "status": 503}}
    ran = run(load(tmp_path), {}, [down] * 20)
    assert isinstance(ran.error, ProviderError)
    assert "11 attempts" in ran.error.message
    assert len(ran.requests) == 11


def test_l16_errors_that_stay_are_not_tried_again(tmp_path):
    ran = run(load(tmp_path), {}, [{"error": {"message": "wrong key", "kind": "auth", "status": 401}}])
    assert isinstance(ran.error, ProviderError)
    assert len(ran.requests) == 1


def test_l16_a_service_that_asks_for_too_long_a_wait_is_an_error(tmp_path):
    later = {"error": {"message": "tomorrow", "kind": "rate-limit", "status": 429, "retry_after": 3600}}
    ran = run(load(tmp_path), {}, [later])
    assert isinstance(ran.error, ProviderError)
    assert len(ran.requests) == 1


class Absent:
    """Nobody is there; in between somebody is, and is busy."""

    def __init__(self, *absent: bool) -> None:
        self.absent = list(absent)

    async def complete(self, request, on_text=None):
        gone = self.absent.pop(0)
        raise ProviderError("gone" if gone else "busy", kind="network", retryable=True, is_absent=gone)


@pytest.mark.parametrize("before", [(), (False,) * 3, (True, False, True, False)])
def test_la7_nobody_there_is_asked_twice_within_a_second(tmp_path, before):
    provider, clock, events = Absent(*before, True, True), FakeClock(), []
    world = World(provider=provider, clock=clock, servers=FakeServers(), listener=events.append)
    with pytest.raises(ProviderError, match=rf"gone \(after {len(before) + 2} attempts\)") as caught:
        asyncio.run(execute(load(tmp_path), {}, world))
    waits = [event.wait for event in events if isinstance(event, AttemptFailed)]
    assert waits[-1] <= 0.5
    assert (caught.value.is_absent, provider.absent) == (True, [])


class Refusing:
    """A provider whose model refuses."""

    async def complete(self, request, on_text=None):
        return ModelReply("", finish="refusal", refusal="I will not")


def test_refusals_are_clear_errors(tmp_path):
    world = World(provider=Refusing(), clock=FakeClock(), servers=FakeServers())
    with pytest.raises(OutputRefused, match="I will not"):
        asyncio.run(execute(load(tmp_path), {}, world))


def test_events_begin_once_and_end_once(tmp_path):
    good = run(load(tmp_path), {}, [{"content": {"n": 1}}])
    assert isinstance(good.events[0], RunStarted)
    assert isinstance(good.events[-1], RunFinished)
    bad = run(load(tmp_path), {}, [])
    ends = [event for event in bad.events if isinstance(event, RunFailed | RunFinished)]
    assert len(ends) == 1
    assert ends[0] is bad.events[-1]


def test_x13_defaults_are_filled_in_before_rendering(tmp_path):
    text = text_of().replace("text: { type: string }", "text: { type: string, default: nine }")
    ran = run(load(tmp_path, text), {}, [{"content": {"n": 9}}])
    assert ran.requests[0].messages[1].content.strip() == "Say a number for nine."


def test_template_errors_name_the_line_of_the_file(tmp_path):
    from prosa.runtime.errors import TemplateRefused

    text = text_of().replace("text: { type: string }", "text: {}").replace("{{ .text }}", "{{ .text.deep }}")
    ran = run(load(tmp_path, text), {"text": "x"}, [])
    assert isinstance(ran.error, TemplateRefused)
    line = next(i for i, each in enumerate(text.splitlines(), 1) if ".text.deep" in each)
    assert ran.error.message.startswith(f"main.md:{line}:")


@pytest.mark.parametrize("dropped", [False, True])
def test_x9_a_run_that_is_dropped_closes_nothing_and_any_other_end_closes_all(dropped: bool) -> None:
    """X9. What waits on an event loop that was stopped cannot wait for anything to close."""
    closed: list[str] = []

    async def close() -> None:
        await asyncio.sleep(0)
        closed.append("all")

    async def work() -> None:
        async with ExitStack() as stack:
            stack.push_async_callback(close)
            await asyncio.Event().wait()

    async def cancel() -> None:
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def drop() -> None:
        task = work()
        task.send(None)
        task.close()

    asyncio.run(drop() if dropped else cancel())
    assert closed == ([] if dropped else ["all"])
