"""A program loads a skill of its server, and a replay does so without the server (SEP-2640, X40, X27)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from prosa.app.options import Record, Replay
from prosa.runtime.events import ToolsOffered
from tests.app.run.recordings.runs import asks, program, ran, says, told

GIVEN = {"text": "apples"}
STEPS = (
    asks(("mcp__docs__skill", {"name": "tie"}), program="say"),
    asks(("mcp__docs__skill_read", {"name": "tie", "path": "knots.md"}), program="say"),
    says(1, program="say"),
)


def test_x40_a_program_loads_a_skill_of_its_server_and_a_replay_needs_none(tmp_path: Path) -> None:
    docs = tmp_path / "docs/tie"
    docs.mkdir(parents=True)
    (docs / "SKILL.md").write_text("---\nname: tie\ndescription: Ties.\n---\nSee knots.md.\n")
    (docs / "knots.md").write_text("A bowline.\n")
    server = {"name": "docs", "command": sys.executable, "args": ["-m", "prosa", "mcp", str(tmp_path / "docs")]}
    path = program(tmp_path, "say", f"mcp_servers: [{json.dumps(server)}]\n")
    events: list[Any] = []
    result = ran(path, GIVEN, STEPS, record=Record(tmp_path / "tapes"), events=events)
    offered = next(each.tools for each in events if isinstance(each, ToolsOffered))
    assert {"mcp__docs__skill", "mcp__docs__skill_read"} <= set(offered)
    texts = [each.content for each in result.messages if each.role == "tool"]
    assert texts[0].endswith("\n\nSee knots.md.")
    assert "which the MCP server `docs` gave" in texts[0]
    assert texts[1] == "A bowline.\n"
    program(tmp_path, "say", f"mcp_servers: [{json.dumps({**server, 'command': '/nowhere/at/all'})}]\n")
    assert told(ran(path, GIVEN, replay=Replay(tmp_path / "tapes"))) == told(result)
