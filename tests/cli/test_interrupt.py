"""Stopping a run from outside: clean words, the status of the signal, a summary, no process left behind (X18, L44)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.errors import Stopped
from prosa.cli.run.interaction import run_stoppable
from tests import warm
from tests.adapters.mcp.support import ODD, alive, processes, wait_until
from tests.cli.programs import CACHE, events_in, program, script, started, summary_in, user
from tests.model_server.server import ModelServer

PYTHON = {"name": "python", "arguments": {"code": "print('on')\nwhile True: pass"}}
NAMES = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "stopped by signal 15")}


def server(*modes: str) -> str:
    """Front matter with the odd server."""
    return f"mcp_servers: [{{name: odd, command: {sys.executable}, args: {json.dumps(['-I', str(ODD), *modes])}}}]\n"


def hanging(process: subprocess.Popen[bytes], event: str, tool: str | None = None) -> str:
    """What stderr says up to the event in which the run now hangs."""
    heard = ""
    assert process.stderr is not None
    for line in process.stderr:
        heard += line.decode()
        if f'"event": "{event}"' in heard and (tool is None or f'"tool": "{tool}"' in heard.splitlines()[-1]):
            return heard
    raise AssertionError(f"the run ended before {event}: {heard}")


def stopped(process: subprocess.Popen[bytes], number: signal.Signals, heard: str) -> None:
    """Sends the signal and checks everything that is the same for all ways to hang."""
    status, words = NAMES[number]
    below = set(processes(process.pid))
    process.send_signal(number)
    out, rest = process.communicate(timeout=120)
    errors = heard + rest.decode()
    assert process.returncode == status, errors
    assert out == b""
    assert errors.endswith(f"{words}\n")
    assert "Traceback" not in errors and "never retrieved" not in errors
    summary = summary_in(errors)
    assert (summary["success"], summary["error"]) == (False, "interrupted")
    ends = [each for each in events_in(errors) if each["event"] in ("run-failed", "run-finished")]
    assert [(each["event"], each["error"]) for each in ends] == [("run-failed", "interrupted")]
    assert wait_until(lambda: not any(map(alive, below))), below


@pytest.mark.parametrize("number", NAMES)
def test_l44_a_signal_during_a_model_call(number: signal.Signals, tmp_path: Path, model_server: ModelServer):
    model_server.script({"fault": "hang"})
    environ = user(tmp_path, OPENAI_BASE_URL=model_server.base_url)
    process = started("run", program(tmp_path), "--summary", "--events", "jsonl", environ=environ)
    heard = hanging(process, "model-asked")
    assert wait_until(lambda: len(model_server.requests) == 1)
    stopped(process, number, heard)


@pytest.mark.parametrize("number", NAMES)
def test_l44_a_signal_during_a_python_call(number: signal.Signals, tmp_path: Path):
    CACHE.parent.mkdir(exist_ok=True)
    model = script(tmp_path, {"tool_calls": [PYTHON, PYTHON]})
    process = started(
        "run", program(tmp_path), "--summary", "--events", "jsonl", "--model", model, environ=user(tmp_path)
    )
    heard = hanging(process, "tool-called")
    assert wait_until(lambda: bool(processes(process.pid)))
    stopped(process, number, heard)


@pytest.mark.parametrize("mode", ["calm", "stubborn"])
@pytest.mark.parametrize("number", NAMES)
def test_x18_l44_a_signal_during_a_call_of_a_server(number: signal.Signals, mode: str, tmp_path: Path):
    call = {"name": "mcp__odd__spawn", "arguments": {"detached": True}}
    model = script(tmp_path, {"tool_calls": [call]}, {"tool_calls": [{**call, "name": "mcp__odd__hang"}]})
    path = program(tmp_path, more=server(mode))
    process = started("run", path, "--summary", "--events", "jsonl", "--model", model, environ=user(tmp_path))
    heard = hanging(process, "tool-called", "mcp__odd__hang")
    stopped(process, number, heard)


def test_l44_a_signal_while_a_retry_waits(tmp_path: Path):
    model = script(tmp_path, {"error": {"message": "busy", "status": 429, "retry_after": 100}})
    process = started(
        "run", program(tmp_path), "--summary", "--events", "jsonl", "--model", model, environ=user(tmp_path)
    )
    stopped(process, signal.SIGINT, hanging(process, "attempt-failed"))


def test_ctrl_c_at_the_question_for_a_local_server_ends_the_command(tmp_path: Path):
    """X17: the question is asked where Ctrl-C works."""
    import pty

    mine, theirs = pty.openpty()
    command = [sys.executable, "-c", "from prosa.cli.main import entry; entry()", "run", str(program(tmp_path))]
    environ = {"PYTHONPATH": str(Path(__file__).parents[2] / "src"), "TERM": "xterm", **user(tmp_path)}
    with warm.popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ) as process:
        os.close(theirs)
        shown = ""
        while "[y/N]" not in shown:
            shown += os.read(mine, 1024).decode()
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130


async def stopped_inside(number: int, work: Any) -> Any:
    asyncio.get_running_loop().call_later(0.02, os.kill, os.getpid(), number)
    return await work()


def test_what_was_started_ends_before_stopped_is_raised():
    log: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            await asyncio.sleep(0.01)
            log.append("closed")

    with pytest.raises(Stopped, match="stopped by signal 15"):
        run_stoppable(stopped_inside(signal.SIGTERM, work))
    assert log == ["closed"]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_second_signal_does_not_cut_the_shutdown_short():
    log: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(0.05)
            log.append("closed")

    with pytest.raises(Stopped):
        run_stoppable(stopped_inside(signal.SIGTERM, work))
    assert log == ["closed"]


def test_a_result_that_came_in_spite_of_the_signal_is_kept():
    async def work() -> int:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            return 3
        return 4

    assert run_stoppable(stopped_inside(signal.SIGHUP, work)) == 3


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)

    async def work() -> str:
        await asyncio.sleep(0.05)
        return "done"

    try:
        assert run_stoppable(stopped_inside(signal.SIGHUP, work)) == "done"
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_error_of_the_work_passes_through():
    async def work() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run_stoppable(work())
