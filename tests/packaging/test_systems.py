"""What other systems lack or do differently: each sentence of `prosa.systems` has a test, and is in the documentation.

Windows is played here by fakes that refuse what it refuses. Job objects, pipes and files were also tried by hand with
CPython for Windows under Wine.
"""

# ruff: noqa: N802 - a fake has the names of what it plays

from __future__ import annotations

import asyncio
import ctypes
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from prosa import systems
from prosa.adapters.agents import box, children
from prosa.adapters.files import lock, write
from prosa.adapters.mcp import stdio
from prosa.adapters.mcp.observed import Observed
from prosa.adapters.processes import job_object as job
from prosa.adapters.sandbox import cache, temp_folder
from prosa.adapters.sqlite import opening, update
from prosa.corpus.found import Scan
from tests.house.tree import ROOT
from tests.packaging.sharing import refusing_open_files

SENTENCES = (systems.AGENTS, systems.ISOLATION, systems.SCRIPTS, *systems.WINDOWS)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What asks for the system is told that it is Windows, and files that are open can be neither moved nor removed."""
    monkeypatch.setattr(sys, "platform", "win32")
    locking = SimpleNamespace(LK_NBLCK=2, LK_LOCK=1, locking=lambda descriptor, kind, size: None)
    monkeypatch.setitem(sys.modules, "msvcrt", locking)
    refusing_open_files(monkeypatch)


def test_the_documentation_has_every_sentence():
    text = " ".join((ROOT / "docs" / "install.md").read_text("utf-8").split())
    for each in SENTENCES:
        assert each[1:] in text, each


# ---- sentences of messages ----


def test_agents_are_not_started(windows: None, tmp_path: Path):
    async def start() -> None:
        async with children.started(["agent"], env={}, folder=tmp_path):
            pass

    with pytest.raises(OSError, match=systems.AGENTS):
        asyncio.run(start())


def test_isolation_is_for_linux(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert box.isolation.__wrapped__() == box.Isolation("none", systems.ISOLATION)


def test_a_server_that_is_a_script_gets_no_argument_that_means_something(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("shutil.which", lambda name, path=None: rf"{path}\{name}.CMD" if name == "npx" else None)
    env = {"PATH": r"C:\node"}
    assert stdio.runnable(["npx", "-y", "server@1"], env) == (r"C:\node\npx.CMD", "-y", "server@1")
    for bad in ("a&calc", "%PATH%", '"', "x^y", "a\nb"):
        with pytest.raises(OSError) as refused:
            stdio.runnable(["npx", bad], env)
        assert f"npx {systems.SCRIPTS} {bad!r}" in str(refused.value)
    assert stdio.runnable(["server.exe", "a&b"], env) == ("server.exe", "a&b")


# ---- what is done differently ----


class FakeKernel:
    """The calls of Windows around jobs, as strict as they are: handles are checked, and a process that is in no job
    does not run."""

    def __init__(self) -> None:
        self.handles: dict[int, tuple[str, int]] = {}
        self.jobs: dict[int, list[int]] = {}
        self.flags = self.memory = 0
        self.running: set[int] = set()
        self.assignable = True
        self.log: list[str] = []
        self._threads: list[int] = []

    def _opened(self, kind: str, of: int) -> int:
        handle = 4 * (len(self.handles) + 1)
        self.handles[handle] = (kind, of)
        return handle

    def CreateJobObjectW(self, attributes: None, name: None) -> int:
        handle = self._opened("job", 0)
        self.jobs[handle] = []
        return handle

    def SetInformationJobObject(self, handle: int, kind: int, limits: object, size: int) -> int:
        found = limits._obj
        assert handle in self.jobs and kind == 9 and size == ctypes.sizeof(found) == 144
        self.flags, self.memory = found.flags, found.process_memory
        return 1

    def QueryInformationJobObject(self, handle: int, kind: int, found: object, size: int, _: None) -> int:
        assert kind == 1 and size == ctypes.sizeof(found._obj) == 48
        found._obj.active = len([each for each in self.jobs[handle] if each in self.running])
        return 1

    def OpenProcess(self, rights: int, inherit: bool, pid: int) -> int:
        assert rights == 0x101 and not inherit
        return self._opened("process", pid)

    def AssignProcessToJobObject(self, handle: int, process: int) -> int:
        if not self.assignable:
            return 0
        self.jobs[handle].append(self.handles[process][1])
        return 1

    def CreateToolhelp32Snapshot(self, kind: int, pid: int) -> int:
        self._threads = [7, *(each for held in self.jobs.values() for each in held)]
        return self._opened("snapshot", 0)

    def Thread32First(self, handle: int, entry: object) -> int:
        assert entry._obj.size == ctypes.sizeof(entry._obj) == 28
        return self.Thread32Next(handle, entry)

    def Thread32Next(self, handle: int, entry: object) -> int:
        if not self._threads:
            return 0
        entry._obj.owner = self._threads.pop(0)
        entry._obj.thread = entry._obj.owner + 1000
        return 1

    def OpenThread(self, rights: int, inherit: bool, thread: int) -> int:
        return self._opened("thread", thread - 1000)

    def ResumeThread(self, handle: int) -> int:
        pid = self.handles[handle][1]
        assert any(pid in held for held in self.jobs.values()), "it ran before it was in a job"
        self.running.add(pid)
        return 1

    def TerminateJobObject(self, handle: int, status: int) -> int:
        self.running -= set(self.jobs[handle])
        self.log.append("ended")
        return 1

    def TerminateProcess(self, handle: int, status: int) -> int:
        self.log.append("killed")
        return 1

    def CloseHandle(self, handle: int) -> int:
        kind, _ = self.handles.pop(handle)  # an unknown handle is an error
        if kind == "job":
            self.running -= set(self.jobs.pop(handle))
        return 1


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> FakeKernel:
    fake = FakeKernel()
    monkeypatch.setattr(job, "_kernel", lambda: fake)
    return fake


def test_a_job_holds_a_process_before_it_runs_and_ends_it_with_this_one(kernel: FakeKernel):
    held = job.JobObject()
    assert (
        kernel.flags == 0x2400
    )  # the end of this process closes the handle, which ends all: no folder is removed then
    held.start(42)
    assert (held.count(), kernel.running) == (1, {42})
    held.limit(300)
    assert (kernel.flags, kernel.memory) == (0x2500, 300)
    held.end()
    assert held.count() == 0
    for _ in range(2):
        held.close()
        held.end()
    assert kernel.handles == {}


def test_a_process_that_no_job_takes_is_ended(kernel: FakeKernel):
    held, kernel.assignable = job.JobObject(), False
    with pytest.raises(OSError, match="job object"):
        held.start(42)
    assert (kernel.log, kernel.running) == (["killed"], set())


def test_a_server_is_ended_two_seconds_after_its_input(windows: None, kernel: FakeKernel, monkeypatch):
    waited: list[float] = []

    async def within(seconds: float, condition: object) -> bool:
        waited.append(seconds)
        return condition()

    monkeypatch.setattr(stdio, "_within", within)
    closed: list[str] = []
    stream = SimpleNamespace(close=lambda: closed.append("input"))
    pipes = SimpleNamespace(stdin=stream, stdout=stream, stderr=stream, exited=asyncio.Event())
    transport = SimpleNamespace(get_pid=lambda: 42, get_returncode=lambda: None, close=lambda: None)
    child = stdio.Child(transport, pipes, Observed())
    assert kernel.running == {42}
    asyncio.run(child.end())
    assert (waited[0], closed, kernel.running, kernel.log[0]) == (2.0, ["input"], set(), "ended")
    assert [kind for kind, _ in kernel.handles.values()] == []


def test_files_of_a_sandbox_are_measured_together(windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(temp_folder, "MAX_TEMP_BYTES", 1_000_000)
    (tmp_path / "inner").mkdir()
    for name in ("a", "inner/b"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(600_000)  # nothing of it takes room here, and only its length is known on Windows
    assert temp_folder.over_quota(str(tmp_path)) == "temporary folder limit of 1 MB reached"


def test_a_folder_of_a_sandbox_is_removed_by_its_paths(windows: None, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(temp_folder, "_LONG", "")
    monkeypatch.setattr(temp_folder, "_is_link", lambda entry: entry.is_symlink())
    outside, folder = tmp_path / "outside", tmp_path / "run"
    (outside / "kept").mkdir(parents=True)
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "file").touch()
    (folder / "link").symlink_to(outside)
    temp_folder.remove(str(folder))
    assert not folder.exists() and (outside / "kept").exists()


def test_rights_are_those_of_the_profile(windows: None, tmp_path: Path):
    (tmp_path / "index").touch()
    for path in (tmp_path, tmp_path / "index"):
        path.chmod(path.stat().st_mode | stat.S_IWOTH)  # what Windows says of every folder
    opening.make_private(tmp_path / "index")
    cache._refuse_shared(tmp_path, tmp_path.stat())
    assert (tmp_path / "index").exists()  # neither refuses it


def test_an_index_is_rebuilt_in_its_place(monkeypatch: pytest.MonkeyPatch):
    many = Scan(at_ns=0, documents=dict.fromkeys(map(str, range(100_000))))
    monkeypatch.setattr(update, "CAN_REPLACE", True)
    assert update.is_better_beside(many)
    monkeypatch.setattr(update, "CAN_REPLACE", False)
    assert not update.is_better_beside(many)


def test_a_file_that_another_has_open_is_tried_again_for_a_second(windows: None, tmp_path: Path, monkeypatch):
    target = tmp_path / "a.md"
    target.write_text("old")
    reader, waits = target.open(), []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            reader.close()

    monkeypatch.setattr(write.time, "sleep", wait)
    write.replace_file(target, "new")
    assert (target.read_text(), len(waits)) == ("new", 3)
    with target.open(), pytest.raises(PermissionError):
        write.replace_file(target, "newer")
    assert 0.9 < sum(waits[3:]) < 1.1
    assert os.listdir(tmp_path) == ["a.md"] and target.read_text() == "new"


def test_locks_and_abandoned_files_are_removed_when_they_are_closed(windows: None, tmp_path: Path):
    with lock.only_one(tmp_path / "a.md", tmp_path):
        pass
    assert list((tmp_path / lock.FOLDER).iterdir()) == []
    (tmp_path / ".a.md.0123456789ab.prosa.tmp").touch()
    write.sweep(tmp_path)
    assert not list(tmp_path.glob("*.tmp")) and not list(tmp_path.glob(".*.tmp"))
