"""The cache of the compiled interpreter: found or compiled once, and refused in a place that others can change.

In: a folder. Out: a file that is safe to load. Loading it runs native code, so the folder and the file must belong to
the user and not be writable by others (X10). The name carries the component's sha256, the wasmtime version and the
processor's features, so no stale or foreign file is ever picked up.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from prosa.adapters.sandbox.limits import UNUSED_DAYS


class CacheRefused(Exception):
    """The compiled interpreter cannot be had from this folder; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def compiled_component(
    folder: Path,
    packed: Path,
    compiler: Sequence[str],
    *,
    fresh: bool = False,
    on_compile: Callable[[], None] = lambda: None,
) -> Path:
    """Return the compiled interpreter in ``folder``, made of ``packed`` by the command ``compiler`` and both paths.

    ``fresh`` discards an existing file first. Two processes may call this at once: one compiles, the other waits.
    """
    try:
        _make_private(folder)
        target = folder / _name(packed)
        if fresh or not _is_usable(target):
            _compile_once(packed, target, compiler, fresh, on_compile)
            _is_usable(target)
        os.utime(target)
    except OSError as error:
        raise CacheRefused(
            f"the sandbox's cache {folder} cannot be used: {error.strerror or error}",
            "make the folder writable for you, or choose another cache folder with XDG_CACHE_HOME",
        ) from error
    return target


def _name(packed: Path) -> str:
    from importlib.metadata import version

    with packed.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    features = hashlib.sha256(_processor().encode()).hexdigest()
    return f"python-{digest[:32]}-wasmtime-{version('wasmtime')}-{platform.machine()}-{features[:12]}.cwasm"


def _processor() -> str:
    """Return what compiled code may depend on: the feature flags of the first processor, where the system tells
    them."""
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.lower().startswith(("flags", "features")):
                return line
    return platform.processor()


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_shared(folder, folder.stat())
    _refuse_foreign(folder, folder.lstat())


def _is_usable(target: Path) -> bool:
    """Return whether the file exists. Raises `CacheRefused` if another user could have written it."""
    try:
        state = target.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(state.st_mode):
        raise CacheRefused(f"{target} is not a regular file", f"remove it: rm -r {target}")
    _refuse_shared(target, state)
    return True


def _refuse_shared(path: Path, state: os.stat_result) -> None:
    if sys.platform == "win32":
        return  # rights there are lists, inherited from the profile folder, which is private
    _refuse_foreign(path, state)
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CacheRefused(
            f"the sandbox's cache {path} can be changed by other users; loading it would run their code",
            f"remove it, or: chmod go-w {path}",
        )


def _refuse_foreign(path: Path, state: os.stat_result) -> None:
    if sys.platform == "win32":
        return
    if state.st_uid != os.geteuid():
        raise CacheRefused(
            f"the sandbox's cache {path} belongs to another user; loading it would run their code",
            "choose another cache folder with XDG_CACHE_HOME",
        )


def _compile_once(
    packed: Path, target: Path, compiler: Sequence[str], fresh: bool, on_compile: Callable[[], None]
) -> None:
    """Compile under a lock, in a process of its own: it takes 500 MB, which the worker must not keep."""
    with _locked(target.parent / "compile.lock"):
        if fresh:
            target.unlink(missing_ok=True)
        elif _is_usable(target):
            return
        on_compile()
        _tidy(target.parent)
        command = [*compiler, str(packed), str(target)]
        nothing = subprocess.DEVNULL
        done = subprocess.run(command, check=False, stdin=nothing, stdout=nothing, stderr=subprocess.PIPE)
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2] or f"status {done.returncode}"
            room = f"is there room in {target.parent}, and half a gigabyte of memory?"
            raise CacheRefused(f"the sandbox's interpreter does not compile: {last}", room)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of the cache, waiting for it."""
    with path.open("a") as lock:
        if sys.platform == "win32":
            _wait_for(lock.fileno())
        else:
            import fcntl

            os.fchmod(lock.fileno(), 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _wait_for(descriptor: int) -> None:
    """Lock a file of Windows, whose own call waits for ten seconds only."""
    import msvcrt

    os.lseek(descriptor, 0, os.SEEK_SET)
    while True:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError as error:
            if error.errno not in (errno.EDEADLK, errno.EACCES):
                raise
        else:
            return


def _tidy(folder: Path) -> None:
    """Remove what an interrupted compilation left and what no version used for long. Called under the lock."""
    for part in folder.glob("python-*.part"):
        part.unlink(missing_ok=True)
    oldest = time.time() - UNUSED_DAYS * 86_400
    for old in folder.glob("python-*.cwasm"):
        if old.lstat().st_mtime < oldest:
            old.unlink(missing_ok=True)


def main() -> None:
    """Compile in a process of its own. The arguments are the paths of the packed component and of the target."""
    import lzma

    from wasmtime.component import Component

    from prosa.adapters.sandbox.interpreter import engine

    packed, target = Path(sys.argv[-2]), Path(sys.argv[-1])
    compiled = Component(engine(), lzma.decompress(packed.read_bytes())).serialize()
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    with part.open("xb") as file:
        if sys.platform != "win32":
            os.fchmod(file.fileno(), 0o600)
        file.write(compiled)
        file.flush()
        os.fsync(file.fileno())
    part.replace(target)
