"""X29. Tool servers are up as long as their batch, not started for each row; one that died is there again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.runtime.messages import ModelReply, ToolCall
from prosa.runtime.ports import ServerTool
from tests.adapters.mcp.support import ODD
from tests.app.batch.labels import LABEL, Letters, home, program
from tests.runtime.worlds import FakeServers


class Calls(Letters):
    """Calls the tool that the row names, and answers with the number that it gave, else 0."""

    async def complete(self, request: Any, on_text: Any = None) -> ModelReply:
        last = request.messages[-1]
        if last.role == "tool":
            return ModelReply(json.dumps({"n": int(last.content) if last.content.isdigit() else 0}))
        wanted = next(each for each in request.tools if each.name.endswith(last.content.strip()))
        return ModelReply("", (ToolCall("1", wanted.name, "{}"),), finish="tool_calls")


def declared(folder: Path, *args: str) -> Path:
    """The program with a server."""
    server = {"name": "odd", "command": sys.executable, "args": ["-I", str(ODD), *args]}
    path = program(folder)
    path.write_text(LABEL.replace("output:", f"mcp_servers: [{json.dumps(server)}]\noutput:"))
    return path


@pytest.mark.parametrize("at_once", [1, 20])
def test_x29_servers_start_once_for_all_rows_and_end_with_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
):
    """X29: also where rows begin together."""
    fake = FakeServers([ServerTool("odd", "x" * 5, "", {"type": "object"}, True)])
    monkeypatch.setattr("prosa.app.run.world.servers", lambda *_: fake)
    rows = [{"text": "xxxxx"}] * 40
    found = prosa.batch(declared(tmp_path), rows, provider=Calls(), environ=home(tmp_path), concurrency=at_once)
    assert found.ok and len(fake.calls) == 40 and fake.log == ["start odd", "stop odd"]


def test_x29_a_server_that_does_not_start_is_tried_again_with_the_next_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """X29: each row fails with its kind."""
    fake = FakeServers([ServerTool("odd", "x", "", {"type": "object"}, True)], broken="odd")
    monkeypatch.setattr("prosa.app.run.world.servers", lambda *_: fake)

    def mended(result: prosa.RowResult) -> None:
        fake.broken = ""

    options: dict[str, Any] = {"environ": home(tmp_path), "concurrency": 1, "on_row": mended}
    found = prosa.batch(declared(tmp_path), [{"text": "x"}] * 3, provider=Calls(), **options)
    assert [each.kind for each in found.failures()] == ["provider"]
    assert found.summary.done == 2 and fake.log == ["start odd", "stop odd"]


def test_x29_a_server_that_dies_twice_in_a_row_is_there_again_for_the_next_row(tmp_path: Path):
    """X29: a real process; the rows that it failed go on with what the tool said."""
    path = declared(tmp_path, f"counter={tmp_path / 'starts'}")
    rows = [{"text": each} for each in ("pid", "pid", "crash", "crash", "pid", "pid")]
    found = prosa.batch(path, rows, provider=Calls(), environ=home(tmp_path), concurrency=1)
    first, second, *dead, third, fourth = [each.output["n"] for each in found.rows()]
    assert first == second and third == fourth and first != third and dead == [0, 0]
    assert (tmp_path / "starts").read_text() == "xxx"  # begun, begun again within the session, begun anew


def test_x29_one_process_serves_rows_at_once(tmp_path: Path):
    """X29."""
    path = declared(tmp_path, f"counter={tmp_path / 'starts'}")
    rows = [{"text": "pid"}] * 12
    found = prosa.batch(path, rows, provider=Calls(), environ=home(tmp_path))
    assert found.ok and len({each.output["n"] for each in found.rows()}) == 1
    assert (tmp_path / "starts").read_text() == "x"
