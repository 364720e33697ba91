"""Attempts of a fake agent in the box and without one: how each ends, what is read, and that nothing is left."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from prosa.adapters.agents import attempt as module
from prosa.adapters.agents import workspace as workspaces
from prosa.adapters.agents.attempt import Order, run_attempt
from prosa.adapters.agents.discover import Installed, find_agent
from prosa.adapters.agents.scripted_service import ScriptedService
from prosa.adapters.agents.workspace import DiskFull, WorkspaceProblem
from prosa.records.agent import AgentTrace
from tests.adapters.agents.fake_pi import install
from tests.adapters.agents.truth import (
    CASES,
    LOAD,
    SAY,
    TIDES,
    WRITE,
    Case,
    NoPrices,
    attempt,
    deed,
    error,
    script,
    skill,
    wrongs,
)

FEW = {"time-out": 3.0, "too many files": 30.0}


@pytest.fixture
def here(tmp_path: Path) -> Installed:
    """The fake, as it is found."""
    path = f"{install(tmp_path / 'bin')}:/usr/bin:/bin"
    found = find_agent("pi", {"PATH": path})
    return replace(found, version="0.74.2")


def run(here: Installed, case: Case, folder: Path, **more: Any) -> AgentTrace:
    """One attempt of the fake."""
    return asyncio.run(attempt("pi", case, here=here, **more))


@pytest.mark.parametrize("case", [each for each in CASES if not each.only], ids=lambda each: each.name)
def test_what_is_read_of_an_attempt_is_the_truth(case: Case, here: Installed, tmp_path: Path) -> None:
    trace = run(here, replace(case, timeout=FEW.get(case.name, 60.0)), tmp_path)
    assert wrongs("pi", case, trace) == [], trace.reason
    assert trace.version == "0.74.2"
    assert trace.unseen == () or case.end == "files"


def test_without_a_box_the_attempt_is_the_same(here: Installed, tmp_path: Path) -> None:
    case = next(each for each in CASES if each.name == "with skill")
    trace = run(here, case, tmp_path, boxed=False)
    assert wrongs("pi", case, trace) == [], trace.reason


@pytest.mark.parametrize(
    ("mode", "end", "words"),
    [
        ("silent", "silent", "before its first model request: no idea"),
        ("noise", "silent", "before its first model request"),
        ("hang", "silent", "made no model request within"),
        ("cut", "unreadable", "has no end"),
        ("long", "unreadable", "more than 16 MiB"),
        ("stays", "done", ""),
    ],
)
def test_an_agent_that_does_not_work(
    mode: str, end: str, words: str, here: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINGER_SECONDS", 0.5)
    known = replace(here.known, environment=lambda setting: {"FAKE_PI": mode})
    timeout = 2.0 if mode == "hang" else 60.0
    case = Case("it", (SAY,), skills=(), timeout=timeout)
    trace = run(replace(here, known=known), case, tmp_path, boxed=False)
    assert (trace.end, words in trace.reason) == (end, True), trace.reason


@pytest.mark.parametrize("lines", [(error(400),), (WRITE, error(400))], ids=["at once", "after a call"])
def test_an_agent_that_prints_an_error_of_the_service_as_its_answer(
    lines: tuple[Any, ...], here: Installed, tmp_path: Path
) -> None:
    """Qwen Code 0.15 ends so: without an error, and with the words of the service as its last."""
    known = replace(here.known, environment=lambda setting: {"FAKE_PI": "glosses"})
    trace = run(replace(here, known=known), Case("it", lines, skills=()), tmp_path, boxed=False)
    assert trace.end == "service" and "status 400" in trace.reason


def test_an_agent_that_is_gone_is_missing(here: Installed, tmp_path: Path) -> None:
    trace = run(replace(here, path=tmp_path / "gone"), Case("it", (SAY,), skills=()), tmp_path, boxed=False)
    assert (trace.end, trace.calls) == ("missing", ())
    assert "did not start" in trace.reason


def order(folder: Path, **more: Any) -> Order:
    """An order in the user's own home."""
    made = skill(folder / "skills", "tide-times", TIDES)
    return Order("pi", "", "When?", (made,), home="user", boxed=False, timeout=60, **more)


def own(here: Installed, folder: Path, service: ScriptedService, key: str) -> AgentTrace:
    """An attempt with the user's own home, in which the service is set up."""
    setting = module.Setting(service.base_url("chat").removesuffix("/v1"), key, "m", "chat", "")
    for path, text in here.known.files(setting).items():
        (folder / "home" / path).parent.mkdir(parents=True)
        (folder / "home" / path).write_text(text)
    environ = {**os.environ, "HOME": str(folder / "home")}
    run = run_attempt(order(folder), here, None, wire="chat", prices=NoPrices(), folder=folder / "run", environ=environ)
    return asyncio.run(run)[0]


def test_with_the_users_own_home_there_is_no_tap_and_it_is_said(here: Installed, tmp_path: Path) -> None:
    with ScriptedService(script(Case("it", (LOAD, WRITE, SAY)))) as service:
        trace = own(here, tmp_path, service, "scripted-key")
    assert (trace.end, trace.calls, trace.listed) == ("done", (), None)
    assert (trace.loaded, trace.loaded_first) == (("tide-times",), ("tide-times",))
    assert trace.usage is not None
    assert trace.usage.input_tokens == 3600
    assert any("were not limited" in each for each in trace.unseen)
    assert any("not seen" in each for each in trace.unseen)
    assert [each.path for each in trace.changes] == ["out.txt"]


def test_an_error_of_the_service_is_known_without_a_tap(here: Installed, tmp_path: Path) -> None:
    with ScriptedService(script(Case("it", (SAY,)))) as service:
        trace = own(here, tmp_path, service, "wrong")
    assert trace.end == "service", trace.reason


def test_cancelling_ends_everything(here: Installed, tmp_path: Path) -> None:
    case = Case("it", (deed(shell="echo $$ > pid; setsid sleep 613 & sleep 614"), SAY), skills=())

    async def cancelled() -> None:
        running = asyncio.create_task(attempt("pi", case, here=here, boxed=False))
        while not processes("sleep\x00613"):
            await asyncio.sleep(0.02)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(asyncio.wait_for(cancelled(), 60))
    assert not processes("sleep\x00613")
    assert not processes("sleep\x00614")


def processes(words: str) -> list[str]:
    """The processes whose command line has the words."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words in entry.read_text():
                found.append(entry.parent.name)
        except OSError:
            continue
    return found


def test_files_that_cannot_be_laid_are_refused_and_nothing_is_left(here: Installed, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    given = replace(order(tmp_path), files=((tmp_path / "a.txt", "../a.txt"),))
    made = run_attempt(given, here, None, wire="chat", prices=NoPrices(), folder=tmp_path / "run", environ={})
    with pytest.raises(WorkspaceProblem):
        asyncio.run(made)
    assert [each.name for each in (tmp_path / "run").iterdir() if each.name.startswith("a-")] == []


@pytest.mark.parametrize(
    ("number", "end"), [(errno.ENOSPC, "interrupted"), (errno.EDQUOT, "interrupted"), (errno.EACCES, "files")]
)
def test_changes_that_cannot_be_read_are_no_lack_of_changes(
    number: int, end: str, here: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unkept(*_: object) -> None:
        raise problem_of(number)

    monkeypatch.setattr(module.Workspace, "_keep", unkept)
    trace = run(here, Case("it", (WRITE, SAY), skills=()), tmp_path, boxed=False)
    assert (trace.end, "what changed is not known" in trace.reason) == (end, True)
    assert trace.answered == 2


def problem_of(number: int) -> WorkspaceProblem:
    """What reading a workspace raises for an error of the system."""
    with pytest.raises(WorkspaceProblem) as raised, workspaces._on_disk(Path("disk")):
        raise OSError(number, os.strerror(number))
    return raised.value


def test_a_disk_that_is_full_before_the_agent_starts_is_no_failure(
    here: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "mkdtemp", full)
    with pytest.raises(DiskFull, match="no space left on the disk"):
        run(here, Case("it", (SAY,), skills=()), tmp_path, boxed=False)


def test_a_workspace_that_cannot_be_looked_at_ends_the_attempt(
    here: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def closed(_: object) -> str:
        raise WorkspaceProblem("the folder cannot be read: permission denied")

    monkeypatch.setattr(module.Workspace, "overflow", closed)
    trace = run(here, Case("it", (deed(shell="sleep 60"), SAY), skills=()), tmp_path, boxed=False)
    assert (trace.end, trace.reason) == ("files", "the folder cannot be read: permission denied")


def test_the_evals_of_a_skill_are_not_laid_and_changed_files_are_kept(here: Installed, tmp_path: Path) -> None:
    keep = tmp_path / "out"
    case = Case("it", (deed(shell="find . -name evals* > found; mkdir -p a; echo x > a/b"), SAY))
    trace = run(here, case, tmp_path, boxed=False, keep=keep)
    assert {each.path for each in trace.changes} == {"found", "a/b"}
    assert (keep / "found").read_text() == ""
    assert (keep / "a" / "b").read_text() == "x\n"


def test_the_configuration_is_that_of_the_settings(here: Installed, tmp_path: Path) -> None:
    digests = {run(here, Case("it", (SAY,), skills=()), tmp_path, boxed=False).configuration for _ in range(2)}
    assert len(digests) == 1


def test_a_context_file_is_laid(here: Installed, tmp_path: Path) -> None:
    case = Case("it", (deed(shell="cat AGENTS.md"), SAY), skills=())
    trace = run(here, case, tmp_path, boxed=False, context=(("AGENTS.md", "Use UTC."),))
    assert next(each.text for each in trace.steps if each.kind == "result") == "Use UTC."
    assert trace.changes == ()
