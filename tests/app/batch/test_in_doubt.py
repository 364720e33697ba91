"""X29. A tool call that may have been made when the process died is not made again untold. The server is a fake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.runtime.messages import ModelReply, ToolCall
from prosa.runtime.ports import ServerTool, ToolResult
from tests.app.batch.labels import LABEL, Letters, home, program
from tests.runtime.worlds import FakeServers


class Calls(Letters):
    """Calls the one tool, then answers."""

    async def complete(self, request: Any, on_text: Any = None) -> ModelReply:
        if request.messages[-1].role == "tool":
            return ModelReply('{"n": 3}')
        return ModelReply("", (ToolCall("1", request.tools[-1].name, "{}"),), finish="tool_calls")


class Server(FakeServers):
    """Answers, or ends the process as the call is under way."""

    def __init__(self, *, dies: bool) -> None:
        super().__init__([ServerTool("files", "remove", "", {"type": "object"}, False)])
        self.dies = dies

    async def call(self, server: str, tool: str, arguments: Any) -> ToolResult:
        self.calls.append((server, tool, dict(arguments)))
        if self.dies:
            raise KeyboardInterrupt
        return ToolResult("done")


def test_x29_a_row_in_doubt_fails_and_is_repeated_when_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X29."""
    path = program(tmp_path)
    path.write_text(LABEL.replace("output:", "mcp_servers: [{name: files, command: x}]\noutput:"))

    def ran(server: Server, **options: Any) -> prosa.BatchResult:
        monkeypatch.setattr("prosa.app.run.world.servers", lambda *_: server)
        return prosa.batch(path, [{"text": "a"}], provider=Calls(), environ=home(tmp_path), **options)

    with pytest.raises(KeyboardInterrupt):
        ran(Server(dies=True))
    living = Server(dies=False)
    (failure,) = ran(living).failures()
    assert failure.kind == "in-doubt" and living.calls == []
    (failure,) = ran(living, retry_failed=True).failures()
    assert failure.kind == "in-doubt" and living.calls == []
    found = ran(living, retry_failed=True, rerun_in_doubt=True)
    assert found.ok and len(living.calls) == 1
