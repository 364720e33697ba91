"""What cannot run or be delivered: told once, in every record, and never at the cost of a result."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.main import main
from tests.app.scripts.documents import asked, block, document, own, run, whole_summary
from tests.cli.desk import Terminal, desk
from tests.cli.programs import events_in, prosa, script
from tests.model_server.server import ModelServer


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A document with a good script between two that cannot run."""
    high = {"priority": "high", "parameters": {"model": "mine"}, "model-name": "m"}
    return document(tmp_path, "Text.\n", block("broken").replace('"Do it."', ""), block("good"), block("odd", **high))


def test_l44_a_script_that_cannot_run_is_in_the_summary_and_the_events(mixed: Path):
    status, at = run(mixed, "--all", "--summary", "--events", "jsonl")
    assert status == 1
    told = [(each["script"], each["success"], each["model"]) for each in whole_summary(at.err)["scripts"]]
    assert told == [("odd", False, "m"), ("@3", False, "gpt-4o"), ("good", True, "gpt-4o")]
    events = events_in(at.err)
    failed = [(each["program"], each["error"]) for each in events if each["event"] == "run-failed"]
    assert failed[0] == ("odd", "the parameter `model` is refused")
    assert failed[1][0] == "@3" and "is not JSON" in failed[1][1]
    assert len({each["scope"] for each in events if each["event"].startswith("run-")}) == 3


def test_l42_the_duration_of_a_script_ends_with_it(tmp_path: Path, model_server: ModelServer):
    path = document(tmp_path, block("quick", "Quick."), block("slow", "Slow."))
    model_server.script({"contains": "Quick.", "content": "1"}, {"contains": "Slow.", "content": "2", "delay": 0.8})
    _, at = asked(model_server, path, "--all", "--summary", "--jobs", "2")
    quick, slow = whole_summary(at.err)["scripts"]
    assert float(quick["duration"][:-1]) < float(slow["duration"][:-1])
    assert quick["end_time"] < slow["end_time"]


def test_x17_the_ways_on_are_told_once_for_all_scripts(tmp_path: Path):
    path = document(tmp_path, *map(block, "abc"))
    status, at = prosa("run", path, "--all", environ=own(tmp_path))
    assert status == 1
    assert at.err.count("no model to ask") == 3 and at.err.count("Three ways on") == 1


def test_x17_a_local_server_is_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from prosa.adapters.providers import local
    from prosa.runtime.errors import ProviderError

    looked: list[int] = []

    async def find(name: str | None, **places: Any) -> Any:
        looked.append(1)
        raise ProviderError("no local model server was found", kind="missing", retryable=False)

    monkeypatch.setattr(local, "find_local", find)
    path = document(tmp_path, *map(block, "abc"))
    status, at = prosa("run", path, "--all", "--model", "local", environ=own(tmp_path))
    assert (status, len(looked), at.err.count("no local model server")) == (1, 1, 3)


def test_m28_a_provider_flag_that_nobody_knows_is_wrong_use(mixed: Path):
    for command in ("run", "plan"):
        status, at = prosa(command, mixed, "--all", "--provider", "opnai", environ=own(mixed.parent))
        assert (status, at.out) == (2, "")
        assert at.err == "error: --provider: there is no provider `opnai`\n  did you mean openai?\n"


@pytest.mark.parametrize("argv", [("--input", "x"), ("ask=x",)])
def test_m37_a_text_that_no_chosen_script_takes_is_wrong_use(argv: tuple[str, ...], report: Path):
    status, at = run(report, "--script", "sum", *argv)
    assert (status, at.out) == (2, "")
    assert "takes a text" in at.err


def test_x19_stale_is_about_results_and_not_about_blocks_without_one(mixed: Path):
    assert run(mixed, "--script", "good", "--write")[0] == 0
    status, at = run(mixed, "--stale", replies=({"error": "never asked"},))
    assert (status, at.out) == (0, "")
    assert "nothing to run" in at.err and "error" not in at.err


def test_a_result_follows_the_status_line_on_a_line_of_its_own(tmp_path: Path):
    path = document(tmp_path, *map(block, "ab"))
    screen = Terminal()
    environ = {**own(tmp_path), "TERM": "xterm"}
    console = desk("", environ, terminal=True).console.changed(stdout=screen, stderr=screen)
    model = script(tmp_path, {"content": "One."}, {"content": "Two."})
    assert main(["run", str(path), "--all", "--model", model], console) == 0
    shown = screen.getvalue()
    assert "finished after" in shown and "\r\x1b[K## a\n\nOne.\n" in shown and "\r\x1b[K\n## b\n\nTwo.\n" in shown


def test_an_output_file_on_a_full_disk_costs_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = document(tmp_path, *map(block, "ab"))

    def full(descriptor: int, data: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    replies = ({"content": "One."}, {"content": "Two."})
    model = script(tmp_path, *replies)
    with monkeypatch.context() as patched:
        patched.setattr("prosa.adapters.files.write.os.write", full)
        argv = ("run", path, "--all", "--jobs", "1", "--output", tmp_path / "out", "--model", model)
        status, at = prosa(*argv, environ=own(tmp_path))
    assert (status, at.out) == (1, "## a\n\nOne.\n\n## b\n\nTwo.\n")
    assert f"error: --output {tmp_path / 'out'}: No space left on device" in at.err and "printed instead" in at.err
    assert not (tmp_path / "out").exists()
