"""The compiled interpreter's file: private, atomic, replaced when damaged, compiled once (X10)."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prosa.adapters.sandbox import WasmSandbox, process
from prosa.adapters.sandbox import cache as cache_module
from prosa.adapters.sandbox.cache import CacheRefused, compiled_component
from prosa.adapters.sandbox.process import component
from prosa.runtime.errors import SandboxError

FAKE = [sys.executable, "-c", "import sys, pathlib; pathlib.Path(sys.argv[-1]).write_bytes(b'compiled')"]
"""A compiler that takes no time."""

PACKED = Path(__file__)
"""What it does not look at."""


def compiles(folder: Path, packed: Path | None = None, **options: object) -> tuple[Path, int]:
    """The file, and how often it was compiled for that."""
    notices: list[None] = []
    path = compiled_component(folder, packed or PACKED, FAKE, on_compile=lambda: notices.append(None), **options)
    path.chmod(0o600)
    return path, len(notices)


def test_x10_compiled_once_into_a_private_folder(tmp_path):
    folder = tmp_path / "new" / "cache"
    path, count = compiles(folder)
    assert (count, path.parent) == (1, folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert compiles(folder) == (path, 0)


def test_x10_the_name_carries_component_version_and_processor(tmp_path, monkeypatch):
    from importlib.metadata import version

    path, _ = compiles(tmp_path / "cache")
    assert f"-wasmtime-{version('wasmtime')}-" in path.name
    monkeypatch.setattr(cache_module, "_processor", lambda: "flags: other")
    assert compiles(tmp_path / "cache")[0] != path
    other = tmp_path / "other.xz"
    other.write_bytes(b"another component")
    assert compiles(tmp_path / "cache", other)[0].name[:20] != path.name[:20]


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_x10_a_folder_that_others_can_write_is_refused(tmp_path, mode):
    folder = tmp_path / "cache"
    compiles(folder)
    folder.chmod(mode)
    with pytest.raises(CacheRefused, match="can be changed by other users") as refused:
        compiles(folder)
    assert f"chmod go-w {folder}" in refused.value.hint


def test_x10_a_file_that_others_can_write_is_refused(tmp_path):
    path, _ = compiles(tmp_path / "cache")
    path.chmod(0o666)
    with pytest.raises(CacheRefused, match="can be changed by other users"):
        compiled_component(tmp_path / "cache", PACKED, FAKE)


def test_x10_another_owner_is_refused(tmp_path, monkeypatch):
    compiles(tmp_path / "cache")
    monkeypatch.setattr(cache_module.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(CacheRefused, match="belongs to another user"):
        compiles(tmp_path / "cache")


def test_x10_a_link_in_place_of_the_file_is_refused(tmp_path):
    path, _ = compiles(tmp_path / "cache")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CacheRefused, match="not a regular file"):
        compiles(tmp_path / "cache")


def test_x10_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheRefused, match="cannot be used"):
        compiles(tmp_path / "file" / "cache")


def test_x10_a_compiler_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(CacheRefused, match="does not compile: no space"):
        compiled_component(tmp_path / "cache", PACKED, [sys.executable, "-c", "raise SystemExit('no space')"])
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["compile.lock"]


def test_x10_leftovers_and_old_versions_are_removed(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    for name in ("python-a.cwasm.1.part", "python-old.cwasm", "python-recent.cwasm", "other"):
        (folder / name).write_text("")
    os.utime(folder / "python-old.cwasm", (0, time.time() - 31 * 86_400))
    path, _ = compiles(folder)
    assert {entry.name for entry in folder.iterdir()} == {"python-recent.cwasm", "other", "compile.lock", path.name}


def test_x10_two_processes_compile_once(tmp_path):
    script = (
        "import sys\nfrom pathlib import Path\nfrom prosa.adapters.sandbox.cache import compiled_component\n"
        "folder, packed, *compiler = sys.argv[1:]\n"
        "compiled_component(Path(folder), Path(packed), compiler, on_compile=lambda: print('compiling'))"
    )
    slow = "import sys, time, pathlib; time.sleep(0.3); pathlib.Path(sys.argv[-1]).write_bytes(b'x')"
    command = [sys.executable, "-c", script, str(tmp_path / "cache"), str(PACKED), sys.executable, "-c", slow]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(process.communicate()[0] for process in both) == ["", "compiling\n"]
    assert [process.returncode for process in both] == [0, 0]


def story(folder: Path) -> tuple[str, list[str]]:
    """Runs one program with a real sandbox on this cache; gives its output and what a person was told."""
    notices: list[str] = []

    async def run() -> str:
        async with WasmSandbox(folder, notice=notices.append) as sandbox:
            return (await sandbox.run("print(1)", timeout=10, memory=2**27)).stdout

    return asyncio.run(run()), notices


def test_x10_a_damaged_file_is_compiled_anew_and_a_person_is_told(cache, tmp_path, monkeypatch):
    story(cache)
    sound = compiled_component(cache, component(), ["false"])
    copying = [sys.executable, "-c", f"import shutil, sys; shutil.copy({str(sound)!r}, sys.argv[-1])"]
    command = process._command
    monkeypatch.setattr(process, "_command", lambda module: copying if module == "cache" else command(module))
    folder = tmp_path / "cache"
    assert story(folder) == ("1\n", ["compiling the sandbox, once for this machine"])
    damaged = folder / sound.name
    for harm in (
        lambda file: file.truncate(10_000_000),
        lambda file: file.write(b"nonsense"),
        lambda file: file.truncate(0),
    ):
        with damaged.open("r+b") as file:
            harm(file)
        assert story(folder) == ("1\n", ["compiling the sandbox, once for this machine"])
        assert damaged.stat().st_size == sound.stat().st_size
    assert story(folder) == ("1\n", [])


def test_x10_a_refused_cache_is_a_sandbox_error_with_a_hint(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(SandboxError, match="loading it would run their code") as refused:
        story(folder)
    assert "chmod go-w" in refused.value.hint
