"""Servers whose tools a program names: which tools are offered, when the server starts, and what differs from it."""

from __future__ import annotations

import pytest

from prosa.runtime.digest import closure_digests
from prosa.runtime.errors import ToolServerError
from prosa.runtime.events import Noticed, RunFailed, ToolCalled, ToolsOffered
from prosa.runtime.ports import ServerTool
from tests.runtime.worlds import FakeServers, call, load, run, text_of

READ = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
ANY = {"type": "object"}
OWN = (
    ServerTool("files", "read", "Reads a file.", READ, read_only=True),
    ServerTool("files", "write", "Writes a file.", ANY),
    ServerTool("web", "get", "Gets a page.", ANY),
)
NAMED = """\
mcp_servers:
  - name: files
    command: x
    tools:
      - {name: write, description: Writes a file., parameters: {type: object}}
      - name: read
        description: Reads a file.
        read_only: true
        parameters: {properties: {path: {type: string}}, required: [path]}
"""
EARLY = "mcp_servers: [{name: files, command: x, tools: [{name: write}, {name: read}]}]\n"
ANSWER = {"content": {"n": 1}}


def reads(*paths):
    return {"tool_calls": [call("mcp__files__read", {"path": path}) for path in paths]}


def ran(tmp_path, more, *replies, servers=None, **options):
    servers = servers or FakeServers(OWN)
    return run(load(tmp_path, text_of(more=more)), {}, [*replies], servers=servers, **options), servers


def test_l21_a_server_whose_tools_are_named_does_not_start_when_none_is_called(tmp_path):
    result, servers = ran(tmp_path, NAMED, ANSWER)
    assert result.output == {"n": 1}
    assert servers.log == []
    assert [tool.name for tool in result.requests[0].tools] == ["mcp__files__write", "mcp__files__read"]


def test_l21_it_starts_once_when_its_tools_are_called_and_ends_with_the_run(tmp_path):
    result, servers = ran(tmp_path, NAMED, reads("a", "b"), reads("c"), ANSWER)
    assert result.output == {"n": 1}
    assert servers.log == ["start files", "stop files"]
    assert sorted(arguments["path"] for _, _, arguments in servers.calls) == ["a", "b", "c"]


def test_l21_the_run_is_the_same_as_with_a_server_that_starts_at_once(tmp_path):
    """Requests, events, their order, answers and the summary."""
    replies = (reads("a"), {"tool_calls": [call("mcp__files__write", {}), call("mcp__files__gone", {})]}, ANSWER)
    late, _ = ran(tmp_path, NAMED, *replies)
    early, servers = ran(tmp_path, EARLY, *replies)
    assert servers.log == ["start files", "stop files"]
    assert late.requests == early.requests
    assert late.events == early.events
    assert late.summary == early.summary


def test_l21_tools_without_parameters_are_named_for_a_server_that_starts_at_once(tmp_path):
    more = "mcp_servers: [{name: files, command: x, tools: [{name: read, description: Mine.}]}]\n"
    result, servers = ran(tmp_path, more, ANSWER)
    assert servers.log == ["start files", "stop files"]
    (tool,) = result.requests[0].tools
    assert (tool.name, tool.description, tool.parameters) == ("mcp__files__read", "Mine.", READ)


def test_l21_lw7_servers_that_wait_and_servers_that_run_keep_the_order_of_declaration(tmp_path):
    more = f"{NAMED}  - {{name: web, command: y}}\n  - {{name: none, command: z, tools: []}}\n"
    result, servers = ran(tmp_path, more, ANSWER)
    names = ("mcp__files__write", "mcp__files__read", "mcp__web__get")
    assert tuple(tool.name for tool in result.requests[0].tools) == names
    assert next(each for each in result.events if isinstance(each, ToolsOffered)).tools == names
    assert servers.log == ["start web", "stop web"]


def test_la11_x18_a_server_that_does_not_start_when_it_is_called_ends_the_run(tmp_path):
    result, servers = ran(tmp_path, NAMED, reads("a"), ANSWER, servers=FakeServers(OWN, broken="files"))
    assert isinstance(result.error, ToolServerError)
    assert "files did not start" in result.error.message
    assert len(result.requests) == 1
    assert [type(each) for each in result.events[-2:]] == [ToolCalled, RunFailed]
    assert servers.calls == []


@pytest.mark.parametrize("more", [NAMED, EARLY], ids=["late", "early"])
def test_la11_a_tool_that_the_server_does_not_have_ends_the_run(tmp_path, more):
    """Also where another tool of it was called."""
    result, servers = ran(tmp_path, more, reads("a"), ANSWER, servers=FakeServers(OWN[:1]))
    assert isinstance(result.error, ToolServerError)
    assert result.error.message == "MCP server 'files' does not have the tool 'write', which the program names"
    assert "it has read" in result.error.hint
    assert servers.calls == []
    assert servers.log == ["start files", "stop files"]


def test_l21_parameters_that_the_server_does_not_know_are_told_once(tmp_path):
    own = ServerTool("files", "read", "", READ)
    more = (
        "mcp_servers:\n  - name: files\n    command: x\n    tools: [{name: read, parameters: {properties: {p: {}}}}]\n"
    )
    again = {"tool_calls": [call("mcp__files__read", {"p": "a"}), call("mcp__files__read", {"p": "b"})]}
    result, servers = ran(tmp_path, more, again, again, ANSWER, servers=FakeServers([own]))
    told = [each.message for each in result.events if isinstance(each, Noticed)]
    where = "see `tools` of the server in the program"
    assert told == [
        f"number: MCP server 'files': read needs `path`, which the program does not name; {where}",
        f"number: MCP server 'files': read does not know `p`, which the program names; {where}",
    ]
    assert len(servers.calls) == 4


def test_l21_programs_that_declare_a_server_in_the_same_way_share_it_whatever_they_name(tmp_path):
    inner = "mcp_servers: [{name: files, command: x, tools: [{name: read, parameters: {}}]}]\n"
    (tmp_path / "inner.md").write_text(text_of("inner", more=inner), encoding="utf-8")
    replies = (reads("a"), {"tool_calls": [call("inner", {"text": "b"})]}, reads("c"), ANSWER, ANSWER)
    result, servers = ran(tmp_path, f"imports: [./inner.md]\n{NAMED}", *replies)
    assert result.output == {"n": 1}
    assert servers.log == ["start files", "stop files"]


def test_x27_named_tools_count_for_the_digest_of_a_program_and_no_other_digest_changes(tmp_path):
    def digest(more):
        ((_, found),) = closure_digests(load(tmp_path, text_of(more=more)))
        return found

    plain = digest("mcp_servers: [{name: files, command: x}]\n")
    assert plain == "f64bdad252bf90cd246dc9629a940bf13e67250b9ac0d106648fbaf720f4c983"
    assert len({plain, digest(EARLY), digest(NAMED)}) == 3
