"""Servers that start for a call: real processes, none of which stays whatever happens while they start."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from prosa.adapters.mcp import McpServers
from prosa.runtime.errors import LimitExceeded, ToolServerError
from tests.adapters.mcp.support import ODD
from tests.runtime.worlds import call, load, run, text_of

TWO = {"tool_calls": [call("mcp__odd__pid", {}), call("mcp__odd__pid", {})]}
ANSWER = {"content": {"n": 1}}


def ran(folder: Path, *modes: str, **choices: float):
    """A run whose first reply calls a tool of the server twice at once, and whose second calls it again."""
    tools = [{"name": "pid", "parameters": {"type": "object"}}]
    server = {"name": "odd", "command": sys.executable, "args": ["-I", str(ODD), *modes], "tools": tools}
    program = load(folder, text_of(more=f"mcp_servers: [{json.dumps(server)}]\n"), **choices)
    return run(program, {}, [TWO, TWO, ANSWER], servers=McpServers(environ=os.environ))


def test_l21_x18_one_process_answers_all_calls_and_ends_with_the_run(tmp_path: Path) -> None:
    found = ran(tmp_path)
    assert found.output == {"n": 1}
    told = {each.content for each in found.requests[-1].messages if each.role == "tool"}
    assert len(told) == 1 and told.pop().isdigit()


def test_la11_x18_a_server_that_crashes_while_calls_wait_for_it_ends_the_run_with_its_words(tmp_path: Path) -> None:
    found = ran(tmp_path, "crash-at-start")
    assert isinstance(found.error, ToolServerError)
    assert "cannot read config.toml" in found.error.message
    assert len(found.requests) == 1


@pytest.mark.usefixtures("quick")
def test_x9_x18_the_wall_clock_ends_a_run_that_waits_for_a_start(tmp_path: Path) -> None:
    found = ran(tmp_path, "hang-at-start", wall_clock=0.5)
    assert isinstance(found.error, LimitExceeded)
