"""Tools of a recorded run are offered as they were, and nothing is started, sent or run (X27)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from prosa.app.options import Record, Replay, SiteRights
from prosa.app.run.recordings import load_recording as load_cassette
from prosa.records.replay import RecordedServers
from prosa.runtime.errors import ReplayDrift, SandboxError
from prosa.runtime.events import ToolsOffered
from prosa.testing import ScriptedProvider
from tests import warm
from tests.adapters.mcp.support import ODD
from tests.app.run.recordings.runs import asks, only, program, ran, says, told
from tests.app.run.site_tools.runs import text_of
from tests.app.run.site_tools.site import running
from tests.cli.programs import SOURCE, user

GIVEN = {"text": "apples"}


def with_server(folder: Path, command: str = sys.executable) -> Path:
    """A program with an MCP server and an import."""
    program(folder, "inner")
    server = json.dumps({"name": "odd", "command": command, "args": ["-I", str(ODD)]})
    return program(folder, "say", f"mcp_servers: [{server}]\nimports: [./inner.md]\n")


TOOLS = (
    asks(("mcp__odd__echo", {"a": [1, "ß"]}), ("inner", {"text": "b"}), ("nowhere", {}), program="say"),
    says(1, program="inner"),
    asks(("mcp__odd__fail", {}), program="say"),
    says(2, program="say"),
)


def test_x27_servers_imports_and_unknown_tools_play_without_a_server(tmp_path: Path) -> None:
    path = with_server(tmp_path)
    first, again = list[Any](), list[Any]()
    result = ran(path, GIVEN, TOOLS, record=Record(tmp_path / "tapes"), events=first)
    with_server(tmp_path, "/nowhere/at/all")
    played = ran(path, GIVEN, replay=Replay(tmp_path / "tapes"), events=again)
    assert told(played) == told(result)
    offered = [[each.tools for each in events if isinstance(each, ToolsOffered)] for events in (first, again)]
    assert offered[0] == offered[1] and "mcp__odd__echo" in offered[0][0]
    texts = [each.content for each in played.messages if each.role == "tool"]
    assert texts[0] == '{"a": [1, "\\u00df"]}' and texts[1] == '{"n": 1}' and texts[3] == "no such row"


FORBIDDEN = """
import sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.posix_spawn", "os.exec", "os.fork"):
        raise SystemExit(f"{event}: {arguments}")

sys.addaudithook(refuse)
from prosa.cli.main import entry
sys.argv = ["prosa", *sys.argv[1:]]
entry()
"""


@pytest.mark.parametrize("flags", [(), ("--stream",)])
def test_x27_a_replay_connects_to_nothing_and_starts_nothing(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """B1, with servers, imports and Python, streaming or not, in a process that is ended by the first attempt."""
    path = with_server(tmp_path)
    code = asks(("python", {"code": "print(6 * 7)"}), program="say")
    recorded = ran(path, GIVEN, [code, *TOOLS], record=Record(tmp_path / "tapes"))
    environ = {**user(tmp_path), "PYTHONPATH": str(SOURCE), "OPENAI_API_KEY": "", "PATH": ""}
    command = [sys.executable, "-c", FORBIDDEN, "run", str(path), "text=apples", *flags]
    done = warm.run(
        [*command, "--replay", str(tmp_path / "tapes")], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == recorded.output
    live = warm.run([*command, "--replay", str(tmp_path / "tapes"), "--tools", "live"], env=environ, check=False)
    assert live.returncode != 0, "the hook sees the server that is started"


def test_x27_with_tools_live_tools_are_called_and_models_played(tmp_path: Path) -> None:
    path = with_server(tmp_path)
    pid = [asks(("mcp__odd__pid", {}), program="say"), says(2, program="say")]
    ran(path, GIVEN, pid, record=Record(tmp_path / "tapes"))
    replay = Replay(tmp_path / "tapes", "path", tools="live")
    notices: list[str] = []
    played = ran(path, GIVEN, replay=replay, notices=notices)
    was = load_cassette(only(tmp_path / "tapes")).results["1.0"].result
    now = next(each.content for each in played.messages if each.role == "tool")
    assert was is not None and was.content != now and played.output == {"n": 2}
    assert "/messages/3/content" in notices[0]


def test_l21_x27_a_server_whose_tools_are_named_runs_when_one_is_called_and_is_played_without(tmp_path: Path) -> None:
    """The process itself, by the file that it writes when it starts."""
    mark = tmp_path / "started"
    tools = [
        {"name": "echo", "parameters": {"properties": {"a": {"type": "string"}}}},
        {"name": "pid", "parameters": {}},
    ]
    server = {"name": "odd", "command": sys.executable, "args": ["-I", str(ODD), f"counter={mark}"], "tools": tools}
    path = program(tmp_path, "say", f"mcp_servers: [{json.dumps(server)}]\n")
    assert ran(path, GIVEN, [says(1, program="say")]).output == {"n": 1}
    assert not mark.exists()
    replies = (asks(("mcp__odd__echo", {"a": "b"}), ("mcp__odd__pid", {}), program="say"), says(2, program="say"))
    first, again = list[Any](), list[Any]()
    recorded = ran(path, GIVEN, replies, record=Record(tmp_path / "tapes"), events=first)
    started = mark.read_text()
    assert len(started.split()) == 1
    played = ran(path, GIVEN, replay=Replay(tmp_path / "tapes", strict=True), events=again)
    assert told(played) == told(recorded)
    offered = [[each.tools for each in events if isinstance(each, ToolsOffered)] for events in (first, again)]
    assert offered[0] == offered[1] == [("python", "mcp__odd__echo", "mcp__odd__pid")]
    assert next(each.content for each in played.messages if each.role == "tool") == '{"a": "b"}'
    assert mark.read_text() == started


def test_x27_a_tool_that_changed_is_drift(tmp_path: Path) -> None:
    path = with_server(tmp_path)
    ran(path, GIVEN, TOOLS, record=Record(tmp_path / "tapes"))
    text = path.read_text()
    path.write_text(text.replace('"odd"', '"even"'))
    with pytest.raises(ReplayDrift, match=r"/tools/2: recorded .*mcp__odd__echo.*, now nothing"):
        ran(path, GIVEN, replay=Replay(tmp_path / "tapes"))


def test_x27_a_tool_call_without_a_recorded_result_is_named(tmp_path: Path) -> None:
    """The recorded run broke off while the tool was called."""

    class Broken(ScriptedProvider):
        pass

    path = program(tmp_path)
    broken = asks(("python", {"code": "1"}), program="say")
    provider = Broken([broken])
    from prosa.adapters.sandbox import WasmSandbox

    with pytest.MonkeyPatch.context() as patch:

        async def failing(self: Any, code: str, **limits: Any) -> Any:
            raise SandboxError("the sandbox broke", hint="mend it")

        patch.setattr(WasmSandbox, "run", failing)
        with pytest.raises(SandboxError):
            ran(path, GIVEN, provider=provider, record=Record(tmp_path / "tapes"))
    with pytest.raises(SandboxError, match="the sandbox broke") as caught:
        ran(path, GIVEN, replay=Replay(tmp_path / "tapes"))
    assert caught.value.hint == "mend it"


def test_x27_a_machine_without_a_sandbox_is_recorded_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, events = program(tmp_path), list[Any]()
    with monkeypatch.context() as patch:
        patch.setattr("prosa.adapters.sandbox.missing_part", lambda: "there is none")
        ran(path, GIVEN, [says(1)], record=Record(tmp_path / "tapes"))
    assert ran(path, GIVEN, replay=Replay(tmp_path / "tapes"), events=events).output == {"n": 1}
    assert [each.tools for each in events if isinstance(each, ToolsOffered)] == [()]


def test_x27_sites_play_when_they_are_gone(tmp_path: Path) -> None:
    """Pages that the run goes to, and the actions that are tools while it is there."""
    path, events, again = tmp_path / "ask.md", list[Any](), list[Any]()
    with running() as site:
        path.write_text(text_of(site.url))
        replies = [
            asks(
                ("mdh__tides_next", {"path": {"place": "north"}, "query": {"day": "1"}}), ("visit", {"to": "/ferries"})
            ),
            asks(("mdh__sailings_list", {}), ("mdh__tides_next", {"path": {"place": "n"}, "query": {"day": "1"}})),
            asks(("visit", {"to": "/nowhere"})),
            {"content": {}},
        ]
        rights = SiteRights(named=(site.url,))
        result = ran(path, {}, replies, record=Record(tmp_path / "tapes"), events=events, site_rights=rights)
        asked = len(site.asked)
        played = ran(path, {}, replay=Replay(tmp_path / "tapes"), events=again, site_rights=rights)
        assert len(site.asked) == asked > 3
    assert told(played) == told(result)
    gone = ran(path, {}, replay=Replay(tmp_path / "tapes"))
    assert told(gone) == told(result)
    offered = [[each.tools for each in events if isinstance(each, ToolsOffered)] for events in (events, again)]
    assert offered[0] == offered[1] and len(offered[0]) >= 2


def test_x27_what_stands_in_for_a_server_answers_no_call(tmp_path: Path) -> None:
    path = with_server(tmp_path)
    ran(path, GIVEN, TOOLS, record=Record(tmp_path / "tapes"))
    servers = RecordedServers(load_cassette(only(tmp_path / "tapes")))
    assert servers._tools("odd")[0].name == "echo" and servers._tools("even") == []
