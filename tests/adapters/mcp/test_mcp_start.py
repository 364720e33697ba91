"""How servers start, what they offer, and what is said when one does not start."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from prosa.adapters.mcp import McpServers
from prosa.runtime.errors import ToolServerError
from prosa.runtime.ports import ServerConfig, ToolServers
from tests.adapters.mcp.support import alive, odd, processes, run


def servers(**options) -> ToolServers:
    return McpServers(environ=os.environ, **options)


def start(*configs, cwd="/", **options):
    """The tools of the servers; they are stopped again."""

    async def main():
        async with servers(**options).connect(configs, cwd=cwd) as session:
            return list(session.tools)

    return run(main())


def refused(*configs, **options) -> ToolServerError:
    with pytest.raises(ToolServerError) as caught:
        start(*configs, **options)
    assert caught.value.hint
    return caught.value


def test_l18_l21_tools_of_all_servers_come_in_the_order_of_declaration():
    """L18, L21: all servers, each with its own list."""
    tools = start(odd(name="b"), odd("no-tools", name="none"), odd(name="a"))
    assert [tool.server for tool in tools] == ["b"] * (len(tools) // 2) + ["a"] * (len(tools) // 2)
    assert [tool.name for tool in tools[:3]] == ["echo", "pid", "env"]
    assert (tools[0].description, tools[0].parameters) == ("does echo", {"type": "object"})


def test_l21_all_pages_of_a_list_are_read():
    assert [tool.name for tool in start(odd("paged"))] == [tool.name for tool in start(odd())]


def test_l21_no_servers_need_no_library():
    code = """
import asyncio, sys
from prosa.adapters.mcp import McpServers
async def main():
    async with McpServers(environ={}).connect([], cwd="/") as session:
        assert session.tools == ()
        assert (await session.call("a", "b", {})).is_error
asyncio.run(main())
print(sorted({"mcp", "anyio", "pydantic", "httpx2"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_x18_servers_start_concurrently(tmp_path):
    """X18: each waits at its start until all six are there."""
    configs = [odd(f"meet={tmp_path}", "others=6", name=f"s{number}") for number in range(6)]
    assert {tool.server for tool in start(*configs, start_timeout=60)} == {config.name for config in configs}


@pytest.mark.parametrize("mode", ["garbage", "flood", "dies-of-news"])
def test_x18_servers_that_only_look_broken_start(mode, capfd):
    """X18: text on stdout, a flood on stderr, and death of the newest protocol's first question are survived."""
    assert start(odd(mode))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("depth", [150, 400, 3000, 100_000])
def test_x9_a_list_with_a_schema_that_is_too_deep_is_named_at_once(depth):
    """X9, LA11: nobody waits for the end of the start time."""
    problem = refused(odd(f"deep={depth}", name="deep"), start_timeout=60)
    assert "nested too deeply" in problem.message and "MCP server 'deep'" in problem.message


def test_x18_a_crash_at_start_is_explained(capfd):
    """X18, LA11: name, command, status, the end of stderr, and what to do; and nothing leaks to our streams."""
    problem = refused(odd("crash-at-start", name="db"))
    for part in ("MCP server 'db'", "status 7", "odd.py crash-at-start", "cannot read config.toml"):
        assert part in problem.message
    assert "disabled: true" in problem.hint
    assert capfd.readouterr() == ("", "")


def test_x18_a_server_that_hangs_at_start_is_given_up():
    """X18, LA11: within the bound, with its last words."""
    problem = refused(odd("hang-at-start"), start_timeout=2.5)
    assert "not ready within 2.5 s" in problem.message
    assert "waiting for a lock" in problem.message


@pytest.mark.parametrize(
    ("config", "cwd", "expected"),
    [
        (ServerConfig("a", command="no-such-program-here"), "/", "'no-such-program-here' was not found"),
        (ServerConfig("a", command="/etc/passwd"), "/", "may not be executed"),
        (ServerConfig("a", command="true"), "/no/such/folder", "no folder /no/such/folder"),
        (ServerConfig("a", command="true", args=("a\0b",)), "/", "cannot be started"),
        (ServerConfig("a", command="true"), "/", "ended with status 0"),
        (ServerConfig("a", command="kill $$"), "/", "not found"),
        (ServerConfig("a", command="sh", args=("-c", "kill -9 $$")), "/", "ended by signal 9"),
        (ServerConfig("a", command="sh", args=("-c", "echo not MCP; exit 1")), "/", "not MCP"),
        (ServerConfig("a"), "/", "either a command or a URL"),
        (ServerConfig("a", command="x", url="http://x"), "/", "either a command or a URL"),
        (ServerConfig("a", command="x", transport="sse"), "/", "'sse' needs a URL"),
        (ServerConfig("a", url="http://x", transport="stdio"), "/", "'stdio' needs a command"),
        (ServerConfig("a", url="ftp://x"), "/", "http://"),
    ],
)
def test_l18_la11_a_start_that_cannot_work_is_one_sentence(config, cwd, expected):
    """L18, LA10, LA11: never a traceback, an exception group or a bare `Connection closed`."""
    problem = refused(config, cwd=cwd)
    assert "MCP server 'a'" in problem.message
    assert expected in problem.message
    assert "Group" not in problem.message


def test_la11_one_failing_server_stops_the_others(tmp_path):
    """LA11: the run ends, and with it the servers that did start."""
    started = tmp_path / "started"
    problem = refused(odd(f"counter={started}", name="good"), odd("crash-at-start", name="bad"))
    assert "'bad'" in problem.message
    assert not [command for command in processes().values() if "odd.py" in command]


def test_la11_two_failing_servers_give_the_first_one_declared_and_no_noise(capfd):
    problem = refused(odd("crash-at-start", name="one"), odd("crash-at-start", name="two"))
    assert "'one'" in problem.message or "'two'" in problem.message
    assert capfd.readouterr() == ("", "")


def test_l21_bad_entries_of_a_list_are_left_out_with_a_notice():
    """L21: one bad tool does not take the others away."""
    notices = []
    names = [tool.name for tool in start(odd("bad-tools"), notice=notices.append)]
    assert names[-3:] == ["no-schema", "no-type", "odd-extras"]
    assert len(notices) == 6
    for name in ("'wrong-type'", "'odd-properties'", "'odd-required'", "'text-schema'", "tool number"):
        assert any(name in notice and "'odd'" in notice for notice in notices)


def test_l21_parameters_are_always_an_object_schema():
    tools = {tool.name: tool.parameters for tool in start(odd("bad-tools"))}
    assert tools["no-schema"] == {"type": "object"}
    assert tools["no-type"] == {"type": "object", "properties": {"a": True}}


def test_x9_a_list_without_end_is_refused():
    assert "does not end" in refused(odd("endless")).message


def test_x18_a_stubborn_server_is_killed_in_bounded_time():
    """X18: it ignores its closed stdin and SIGTERM."""

    async def main():
        async with servers().connect([odd("stubborn")], cwd="/") as session:
            return int((await session.call("odd", "pid", {})).content)

    pid = run(main())
    assert not alive(pid)
