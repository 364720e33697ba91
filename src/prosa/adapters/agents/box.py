"""The box in which an agent runs (X36): bubblewrap, with no network but the tap's socket, and no real home.

In: a command and what it may reach. Out: the command that runs it in the box, or the reason why there is no box here.
What is not named here is not there: the system is read-only, users and names are made up, and the environment is the
one that the caller gives to the process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from prosa.source import ProsaError
from prosa.systems import ISOLATION

WORKSPACE: Final = "/workspace"
"""Where the workspace is in the box."""

HOME: Final = "/home/agent"
"""Where the home is in the box."""

RELAY_URL: Final = "http://127.0.0.1:8377"
"""Where the tap is reached in the box."""

TMP_BYTES = 256 * 2**20
"""Bytes of `/tmp` in the box, which are memory."""

SHARED_BYTES = 64 * 2**20
"""Bytes of `/dev/shm` in the box."""

TRY_SECONDS = 10.0
"""How long the attempt to make a box may take."""

_SOCKET = "/run/prosa/tap.sock"
_RELAY = "/run/prosa/relay.py"
_OWN = Path(__file__).parent

_FLAGS = (
    *("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
    *("--uid", "1000", "--gid", "1000", "--hostname", "prosa"),
)
_ROOTS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
_SHOWN = (
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ca-certificates"),
    # Not the folders above them: keys stand in `private` beside these.
    *("/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem"),
    "/etc/pki/ca-trust/extracted",
)
"""What of `/etc` programs need that is the same for every user."""

_NEVER = ("/", "/dev", "/etc", "/home", "/proc", "/root", "/run", "/srv", "/sys", "/tmp", "/var", "/mnt", "/media")  # noqa: S108
_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")


class BoxRefused(ProsaError):
    """A folder that may not be shown to an agent, as a whole sentence."""


class Isolation(Struct, frozen=True):
    """How agents are kept apart here, and if they cannot be, the sentence that says why."""

    kind: Literal["bubblewrap", "none"]
    reason: str = ""


@cache
def isolation() -> Isolation:
    """Return whether there is a box here. It is tried, once per process: an installed bubblewrap may be forbidden to
    make one."""
    if sys.platform != "linux":
        return Isolation("none", ISOLATION)
    if shutil.which("bwrap") is None:
        return Isolation("none", "bubblewrap is not installed: install the package `bubblewrap` of your system")
    exe, readable = _interpreter()
    command = [*_box(readable), "--", exe, "-I", "-S", "-c", ""]
    try:
        tried = subprocess.run(
            command, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=TRY_SECONDS, env={}
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Isolation("none", f"bubblewrap cannot be run here: {error}")
    if not tried.returncode:
        return Isolation("bubblewrap")
    stderr = " ".join(tried.stderr.decode("utf-8", "replace").split())[:300]
    return Isolation("none", f"bubblewrap cannot make a box here: {stderr or f'status {tried.returncode}'}{_hint()}")


def _hint() -> str:
    try:
        is_restricted = _APPARMOR.read_text(encoding="ascii").strip() == "1"
    except OSError:
        return ""
    return f" (AppArmor restricts user namespaces: see `sysctl {_APPARMOR.name}`)" if is_restricted else ""


def boxed(
    command: Sequence[str],
    *,
    workspace: Path,
    home: Path,
    readable: Iterable[Path] = (),
    socket: Path | None = None,
) -> list[str]:
    """Return the command that runs another one in the box, in the folder `WORKSPACE`.

    ``readable`` are further folders and files, at their own paths: the agent's package and interpreter. With
    ``socket``, what listens on it is at `RELAY_URL`. The process must be started with the environment of the agent,
    which bubblewrap hands on. Raises `BoxRefused` for a readable folder that would show the user's files.
    """
    exe, of_python = _interpreter()
    shown = [*map(_shown, readable), *((path, path) for path in of_python)]
    places = [
        *_binds(pair for pair in shown if not pair[0].is_relative_to("/usr")),
        *("--bind", str(workspace), WORKSPACE, "--bind", str(home), HOME),
    ]
    if socket is None:
        return [*_box((), places), "--chdir", WORKSPACE, "--", *command]
    places += ["--ro-bind", str(socket), _SOCKET, "--ro-bind", str(_OWN / "relay.py"), _RELAY]
    relay = [exe, "-I", "-S", _RELAY, _SOCKET, RELAY_URL.rpartition(":")[2]]
    return [*_box((), places), "--chdir", WORKSPACE, "--", *relay, *command]


def _box(readable: Iterable[Path], places: Sequence[str] = ()) -> list[str]:
    """Return bubblewrap with the system, read-only, and further places in it."""
    return [
        *(shutil.which("bwrap") or "bwrap", *_FLAGS, "--ro-bind", "/usr", "/usr", *_roots()),
        # Root of this machine stays the owner of these, whatever it is called in the box.
        *("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"),
        *("--dev", "/dev", "--size", str(SHARED_BYTES), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108
        *("--size", str(TMP_BYTES), "--perms", "1777", "--tmpfs", "/tmp", "--symlink", "/tmp", "/var/tmp"),  # noqa: S108
        *(part for path in sorted((_OWN / "etc").iterdir()) for part in ("--ro-bind", str(path), f"/etc/{path.name}")),
        *(part for path in _SHOWN for part in ("--ro-bind-try", path, path)),
        *_binds((path, path) for path in readable),
        *places,
        *("--remount-ro", "/"),
    ]


def _roots() -> Iterator[str]:
    """Yield the folders of programs and libraries beside `/usr`, which are links on most systems."""
    for path in map(Path, _ROOTS):
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _binds(pairs: Iterable[tuple[Path, Path]]) -> Iterator[str]:
    for source, target in pairs:
        yield from ("--ro-bind", str(source), str(target))


def _shown(path: Path) -> tuple[Path, Path]:
    """Return where something readable really is, and where it is shown."""
    import pwd  # POSIX has it alone, and the commands that list agents load this module everywhere

    real = path.resolve()
    homes = {Path.home().resolve(), Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()}
    if str(real) in _NEVER or any(home.is_relative_to(real) for home in homes):
        raise BoxRefused(f"{path} cannot be shown to an agent: it holds more than a program")
    return real, path.absolute()


@cache
def _interpreter() -> tuple[str, tuple[Path, ...]]:
    """Return the interpreter that runs this program, without its environment, and the folders that it needs."""
    exe = Path(sys.executable).resolve()
    needed = {exe, Path(sys.base_prefix).resolve(), Path(sys.base_exec_prefix).resolve()}
    return str(exe), tuple(sorted(path for path in needed if not path.is_relative_to("/usr")))
