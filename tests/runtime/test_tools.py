"""The tool layer: python, servers, imported programs; order, limits, names, what the model is told."""

from __future__ import annotations

import asyncio
import json

import pytest

from prosa.runtime.errors import InputRefused, LimitExceeded, RunError, ToolServerError
from prosa.runtime.events import ModelAnswered, ModelAsked, RunFinished, RunStarted, Scope, ToolsOffered, ignore
from prosa.runtime.limits import Limits
from prosa.runtime.messages import ToolCall, ToolSpec
from prosa.runtime.ports import SandboxResult, ServerTool, ToolResult
from prosa.runtime.tools import Toolbox, cut
from prosa.testing import FakeClock
from tests.runtime.worlds import FakeSandbox, FakeServers, call, load, run, text_of

ANY = {"type": "object"}


class Slow:
    """A tool that answers after as many turns of the loop as it is told."""

    kind = "mcp"
    repeatable = moves = False

    def __init__(self, log):
        self.log = log
        self.spec = ToolSpec("slow", "", ANY)

    async def call(self, arguments, path):
        self.log.append(f"start {arguments['n']}")
        for _ in range(arguments["turns"]):
            await asyncio.sleep(0)
        self.log.append(f"end {arguments['n']}")
        return ToolResult(str(arguments["n"]))


def toolbox(*tools, limits=None):
    return Toolbox({tool.spec.name: tool for tool in tools}, limits or Limits(), FakeClock(), ignore, Scope("p"))


def calls(*arguments):
    return [ToolCall(str(i), "slow", json.dumps(each)) for i, each in enumerate(arguments)]


def test_la7_calls_of_one_reply_run_at_once_and_results_keep_their_order():
    log: list[str] = []
    asked = calls({"n": 1, "turns": 9}, {"n": 2, "turns": 1}, {"n": 3, "turns": 4})
    results = asyncio.run(toolbox(Slow(log)).answer(asked, "1"))
    assert [result.content for result in results] == ["1", "2", "3"]
    assert log[:3] == ["start 1", "start 2", "start 3"]
    assert log[3:] == ["end 2", "end 3", "end 1"]


def test_x9_no_more_than_the_allowed_calls_run_at_once():
    log: list[str] = []
    asked = calls(*({"n": n, "turns": 3} for n in range(6)))
    asyncio.run(toolbox(Slow(log), limits=Limits(concurrency=2)).answer(asked, "1"))
    running = most = 0
    for line in log:
        running += 1 if line.startswith("start") else -1
        most = max(most, running)
    assert most == 2


def test_x9_a_long_result_is_cut_and_the_model_is_told():
    result = cut(ToolResult("ä" * 1000), 100)
    assert result.content.startswith("ä" * 50 + "\n[cut:")
    assert "2000 bytes" in result.content
    assert cut(ToolResult("short"), 100).content == "short"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("nothing", "{}", "there is no tool 'nothing'"),
        ("slow", "{", "not valid JSON"),
        ("slow", "[]", "expected an object"),
    ],
)
def test_l31_wrong_calls_are_results_that_say_what_is_wrong(name, arguments, said):
    (result,) = asyncio.run(toolbox(Slow([])).answer([ToolCall("1", name, arguments)], "1"))
    assert result.is_error
    assert said in result.content


def test_an_error_that_ends_the_run_cancels_the_other_calls():
    log: list[str] = []

    class Broken:
        kind = "mcp"
        repeatable = moves = False
        spec = ToolSpec("broken", "", ANY)

        async def call(self, arguments, path):
            raise RunError("gone")

    asked = [*calls({"n": 1, "turns": 500}), ToolCall("2", "broken", "{}")]
    with pytest.raises(RunError, match="gone"):
        asyncio.run(toolbox(Slow(log), Broken()).answer(asked, "1"))
    assert log == ["start 1"]


def test_l22_l23_the_python_tool_gets_the_limits_of_the_program(tmp_path):
    sandbox = FakeSandbox(SandboxResult("", "Traceback …", "execution failed: boom"))
    text = text_of(more="python: { timeout: 5, memory: 64MB }\n")
    replies = [{"tool_calls": [call("python", {"code": "boom"})]}, {"content": {"n": 1}}]
    ran = run(load(tmp_path, text), {}, replies, sandbox=sandbox)
    assert sandbox.runs == [("boom", 5.0, 64 * 1024 * 1024)] or sandbox.runs == [("boom", 5.0, 64_000_000)]
    answer = json.loads(ran.requests[1].messages[3].content)
    assert answer == {"stdout": "", "stderr": "Traceback …", "error": "execution failed: boom"}


def test_l22_arguments_of_python_are_validated(tmp_path):
    sandbox = FakeSandbox()
    replies = [{"tool_calls": [call("python", {"source": "1"})]}, {"content": {"n": 1}}]
    ran = run(load(tmp_path), {}, replies, sandbox=sandbox)
    assert sandbox.runs == []
    assert "code" in ran.requests[1].messages[3].content


def test_x9_long_output_of_python_stays_whole_json(tmp_path):
    sandbox = FakeSandbox(SandboxResult("x" * 1_000_000, "", None))
    replies = [{"tool_calls": [call("python", {"code": "1"})]}, {"content": {"n": 1}}]
    ran = run(load(tmp_path, tool_result=10_000), {}, replies, sandbox=sandbox)
    content = ran.requests[1].messages[3].content
    assert len(content) < 10_000
    assert "1000000 bytes" in json.loads(content)["stdout"]


def test_la18_without_a_sandbox_the_tool_is_withheld(tmp_path):
    ran = run(load(tmp_path), {}, [{"content": {"n": 1}}], sandbox=None)
    assert ran.requests[0].tools == ()


def test_l24_la17_the_interpreter_server_is_a_preference_and_binds_to_the_built_in(tmp_path):
    text = text_of(more="mcp_servers:\n  - name: python-interpreter\n")
    servers = FakeServers()
    ran = run(load(tmp_path, text), {}, [{"content": {"n": 1}}], sandbox=FakeSandbox(), servers=servers)
    assert "Prefer the `python` tool" in ran.requests[0].messages[0].content
    assert [tool.name for tool in ran.requests[0].tools] == ["python"]
    assert servers.log == []


def test_l24_an_interpreter_server_of_its_own_is_preferred_by_its_tools(tmp_path):
    text = text_of(more="mcp_servers:\n  - { name: python-interpreter, command: x }\n")
    ran = run(load(tmp_path, text), {}, [{"content": {"n": 1}}], sandbox=FakeSandbox())
    assert "Prefer the tools that begin with `mcp__python-interpreter__`" in ran.requests[0].messages[0].content


SERVERS = "mcp_servers:\n  - { name: files, command: x }\n  - { name: off, command: y, disabled: true }\n"


def test_l7_l20_l21_lw2_servers_start_their_tools_work_and_they_stop(tmp_path):
    servers = FakeServers([ServerTool("files", "read_file", "Reads.", ANY)])
    replies = [{"tool_calls": [call("mcp__files__read_file", {"path": "a"})]}, {"content": {"n": 1}}]
    ran = run(load(tmp_path, text_of(more=SERVERS)), {}, replies, servers=servers)
    assert ran.output == {"n": 1}
    assert servers.log == ["start files", "stop files"]
    assert servers.calls == [("files", "read_file", {"path": "a"})]
    assert ran.requests[1].messages[3].content == "read_file done"


def test_l15_a_wrong_input_starts_nothing_and_nothing_is_asked_before_the_tools_are_ready(tmp_path):
    program, servers = load(tmp_path, text_of(more=SERVERS)), FakeServers()
    refused = run(program, {"text": 7}, [{"content": {"n": 1}}], servers=servers)
    assert isinstance(refused.error, InputRefused)
    assert (servers.log, refused.requests) == ([], [])
    ran = run(program, {"text": "seven"}, [{"content": {"n": 1}}], servers=servers)
    assert [type(event) for event in ran.events] == [RunStarted, ToolsOffered, ModelAsked, ModelAnswered, RunFinished]
    assert servers.log == ["start files", "stop files"]


def test_la11_lw2_a_server_that_does_not_start_ends_the_run(tmp_path):
    ran = run(load(tmp_path, text_of(more=SERVERS)), {}, [], servers=FakeServers(broken="files"))
    assert isinstance(ran.error, ToolServerError)
    assert ran.requests == []


def test_lw2_servers_stop_when_the_run_fails(tmp_path):
    servers = FakeServers()
    ran = run(load(tmp_path, text_of(more=SERVERS)), {}, [], servers=servers)
    assert ran.error is not None
    assert servers.log == ["start files", "stop files"]


def test_la12_two_tools_with_one_name_are_an_error(tmp_path):
    servers = FakeServers([ServerTool("files", "a.b", "", ANY), ServerTool("files", "a/b", "", ANY)])
    ran = run(load(tmp_path, text_of(more=SERVERS)), {}, [], servers=servers)
    assert isinstance(ran.error, RunError)
    assert "mcp__files__a_b" in ran.error.message


def test_lw7_tools_come_in_the_same_order_every_time(tmp_path):
    (tmp_path / "helper.md").write_text(text_of("helper"), encoding="utf-8")
    (tmp_path / "another.md").write_text(text_of("another"), encoding="utf-8")
    text = text_of(more=f"imports: [./helper.md, ./another.md]\n{SERVERS}")
    servers = FakeServers([ServerTool("files", "z", "", ANY), ServerTool("files", "a", "", ANY)])
    ran = run(load(tmp_path, text), {}, [{"content": {"n": 1}}], sandbox=FakeSandbox(), servers=servers)
    expected = ["python", "helper", "another", "mcp__files__z", "mcp__files__a"]
    assert [tool.name for tool in ran.requests[0].tools] == expected
    assert next(event for event in ran.events if isinstance(event, ToolsOffered)).tools == tuple(expected)


def test_x9_l17_the_wall_clock_ends_a_run(tmp_path):
    class Hanging(FakeSandbox):
        async def run(self, code, *, timeout, memory):
            await asyncio.sleep(60)
            raise AssertionError("cancelled before this")

    replies = [{"tool_calls": [call("python", {"code": "1"})]}]
    ran = run(load(tmp_path, wall_clock=0.05), {}, replies, sandbox=Hanging())
    assert isinstance(ran.error, LimitExceeded)
    assert "0.05 s" in ran.error.message
