"""X36. The box, for real: what an agent in it can reach, and that nothing of it survives."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from prosa.adapters.agents.box import HOME, SHARED_BYTES, boxed
from prosa.adapters.agents.children import started
from prosa.adapters.agents.relay import MOST_THREADS
from tests.adapters.agents.fakes import DAEMON, MANY, PATH, ours, run_boxed, until
from tests.adapters.agents.test_children import kill_half_way

PYTHON = str(Path(sys.executable).resolve())

SPY = """
import json, os, socket, sys
places = json.loads(sys.argv[1])
got = {}

def attempt(name, work):
    try:
        got[name] = work()
    except Exception as error:
        got[name] = type(error).__name__

def send(family, kind, address):
    with socket.socket(getattr(socket, family), getattr(socket, kind)) as made:
        made.settimeout(2)
        if isinstance(address, str):
            made.connect(address)
            made.send(b"out")
        elif kind == "SOCK_DGRAM":
            made.sendto(b"out", tuple(address))
        else:
            made.connect(tuple(address))
            made.send(b"out")
        return "sent"

def read(path):
    with open(path, "rb") as file:
        return file.read(4096).decode("latin-1")

def write(path):
    with open(path, "a") as file:
        file.write("x")
    return "written"

for family, kind, address in places["send"]:
    attempt(f"{family} {kind} {address}", lambda: send(family, kind, address))
attempt("name", lambda: socket.gethostbyname("example.org"))
for path in places["read"]:
    attempt(f"read {path}", lambda: read(path))
for path in places["write"]:
    attempt(f"write {path}", lambda: write(path))
attempt("processes", lambda: sorted(int(name) for name in os.listdir("/proc") if name.isdigit())[-1])
attempt("kill", lambda: os.kill(places["pid"], 9))
attempt("tops", lambda: sorted(os.listdir("/")))
attempt("environment", lambda: sorted(os.environ))
attempt("capabilities", lambda: [line for line in open("/proc/self/status") if line.startswith("CapEff")][0].split()[1])
attempt("keys", lambda: sorted(os.listdir("/etc/ssl")))
print(json.dumps(got))
"""


class Canaries:
    """Listeners outside of the box. What arrives at one is kept."""

    def __init__(self, folder: Path, open_ones: ExitStack) -> None:
        self.arrived: list[str] = []
        self.addresses: list[tuple[str, str, object]] = []
        path, name = str(folder / "outside.sock"), f"\0prosa-canary-{secrets.token_hex(8)}"
        kinds = [
            ("AF_INET", "SOCK_STREAM", ("127.0.0.1", 0)),
            ("AF_INET6", "SOCK_STREAM", ("::1", 0)),
            ("AF_INET", "SOCK_DGRAM", ("127.0.0.1", 0)),
            ("AF_INET6", "SOCK_DGRAM", ("::1", 0)),
            ("AF_UNIX", "SOCK_STREAM", name),
            ("AF_UNIX", "SOCK_DGRAM", f"{name}-d"),
            ("AF_UNIX", "SOCK_STREAM", path),
        ]
        for family, kind, address in kinds:
            made = open_ones.enter_context(socket.socket(getattr(socket, family), getattr(socket, kind)))
            made.bind(address)
            if kind == "SOCK_STREAM":
                made.listen()
            self.addresses.append((family, kind, made.getsockname() if family != "AF_UNIX" else address))
            threading.Thread(target=self._listen, args=(made, f"{family} {kind}"), daemon=True).start()

    def _listen(self, made: socket.socket, name: str) -> None:
        while True:
            try:
                made.accept()[0].close() if made.type == socket.SOCK_STREAM else made.recvfrom(10)
            except OSError:
                return
            self.arrived.append(name)


@pytest.fixture
def canaries(tmp_path: Path) -> Iterator[Canaries]:
    with ExitStack() as open_ones:
        yield Canaries(tmp_path, open_ones)


def spy(tmp_path: Path, canaries: Canaries, **more: list[str]) -> dict[str, object]:
    """What a program in the box got. A datagram to its own loopback can be sent there, and is lost."""
    others = [("AF_INET", "SOCK_STREAM", ("192.0.2.1", 80)), ("AF_INET", "SOCK_DGRAM", ("192.0.2.1", 53))]
    places = {"send": [*canaries.addresses, *others], "pid": os.getpid(), "read": [], "write": [], **more}
    ended = run_boxed([PYTHON, "-I", "-S", "-c", SPY, json.dumps(places)], tmp_path)
    assert ended.stderr == ""
    return json.loads(ended.lines[0])


def test_x36_nothing_leaves_the_box_by_any_socket(tmp_path: Path, canaries: Canaries):
    got = spy(tmp_path, canaries)
    sockets = {name: value for name, value in got.items() if name.startswith("AF_")}
    sent = [name for name, value in sockets.items() if value == "sent"]
    assert len(sockets) == 9 and all("SOCK_DGRAM" in name and "192.0.2.1" not in name for name in sent)
    assert canaries.arrived == [] and got["name"] == "gaierror"


def test_x36_the_canaries_can_sing(tmp_path: Path, canaries: Canaries):
    """Without the box the same program reaches every one of them."""
    for family, kind, address in canaries.addresses:
        with socket.socket(getattr(socket, family), getattr(socket, kind)) as made:
            made.connect(address)
            if kind == "SOCK_DGRAM":
                made.send(b"x")
    asyncio.run(until(lambda: len(canaries.arrived) == 7))
    assert len(canaries.arrived) == 7


def test_x36_no_file_of_the_user_can_be_read_and_none_of_the_system_written(tmp_path: Path, canaries: Canaries):
    secret = tmp_path / "secret"
    secret.write_text("canary")
    shared = Path(f"/dev/shm/prosa-canary-{os.getpid()}")
    shared.write_text("canary")
    user_s = [
        str(secret),
        str(shared),
        "/etc/shadow",
        "/etc/hostname",
        str(Path("/root", ".bashrc")),
        "/proc/1/root/etc/shadow",
    ]
    system = ["/usr/x", "/x", "/etc/x", "/etc/passwd", "/dev/x", "/proc/sys/kernel/panic", "/proc/sysrq-trigger"]
    try:
        got = spy(tmp_path, canaries, read=["/etc/passwd", *user_s], write=[*system, "/workspace/x", f"{HOME}/x"])
    finally:
        shared.unlink()
    assert got["read /etc/passwd"] == (Path(boxed.__code__.co_filename).parent / "etc/passwd").read_text()
    assert {got[f"read {path}"] for path in user_s} <= {"FileNotFoundError", "PermissionError"}
    assert {got[f"write {path}"] for path in system} <= {"OSError", "FileNotFoundError", "PermissionError"}
    assert (got["write /workspace/x"], got[f"write {HOME}/x"]) == ("written", "written")
    assert (tmp_path / "work/x").read_text() == (tmp_path / "home/x").read_text() == "x"
    assert secret.read_text() == "canary"


def test_x36_no_process_environment_or_right_of_ours_is_in_the_box(tmp_path: Path, canaries: Canaries):
    os.environ["PROSA_CANARY_KEY"] = "canary"
    try:
        got = spy(tmp_path, canaries)
    finally:
        del os.environ["PROSA_CANARY_KEY"]
    assert got["environment"] == ["HOME", "LANG", "PATH", "PROSA_ATTEMPT", "PWD"]
    assert got["processes"] < 10 and got["kill"] in ("ProcessLookupError", "OverflowError")
    assert int(str(got["capabilities"]), 16) == 0
    assert "private" not in got["keys"]
    assert not {"srv", "mnt", "media", "work", "sys", "boot"} & set(got["tops"])


def test_x36_only_what_is_named_is_readable(tmp_path: Path):
    (tmp_path / "lib/agent").mkdir(parents=True)
    (tmp_path / "lib/agent/main.js").write_text("agent")
    (tmp_path / "lib/other").write_text("canary")
    (tmp_path / "link").symlink_to("lib/agent")
    shown = [tmp_path / "link"]
    script = f"cat {tmp_path}/link/main.js {tmp_path}/lib/agent/main.js; ls {tmp_path}/lib; touch {tmp_path}/link/x"
    ended = run_boxed(["sh", "-c", script], tmp_path, readable=shown)
    assert ended.lines[0].startswith("agent") and "other" not in " ".join(ended.lines)
    assert "Read-only file system" in ended.stderr


def test_x36_links_of_the_workspace_lead_nowhere_in_the_box(tmp_path: Path):
    (tmp_path / "secret").write_text("canary")
    (tmp_path / "work").mkdir()
    (tmp_path / "work/out").symlink_to(tmp_path / "secret")
    ended = run_boxed(["sh", "-c", "cat out; ln /usr/bin/env hard; mknod dev c 1 5"], tmp_path)
    assert ended.lines == [] and (tmp_path / "secret").read_text() == "canary"
    assert not (tmp_path / "work/hard").exists() and not (tmp_path / "work/dev").exists()


def test_x36_memory_that_looks_like_a_disk_is_bounded(tmp_path: Path):
    script = "for at in /dev/shm /tmp; do head -c 400000000 /dev/zero > $at/big; stat -c %s $at/big; done"
    ended = run_boxed(["sh", "-c", script], tmp_path)
    assert int(ended.lines[0]) <= SHARED_BYTES and int(ended.lines[1]) < 300_000_000
    assert ended.stderr.count("No space left on device") == 2


def test_x36_the_box_hands_on_the_status_and_the_socket(tmp_path: Path):
    path = tmp_path / "tap.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        threading.Thread(target=_echo, args=(listening,), daemon=True).start()
        code = """
import socket, sys
for size in (3, 5_000_000):
    with socket.create_connection(("127.0.0.1", 8377)) as made:
        import threading
        threading.Thread(target=lambda: (made.sendall(b"x" * size), made.shutdown(socket.SHUT_WR))).start()
        got = b""
        while piece := made.recv(65536):
            got += piece
        print(len(got), flush=True)
sys.exit(7)
"""
        ended = run_boxed([PYTHON, "-I", "-S", "-c", code], tmp_path, socket=path)
        missing = run_boxed(["no-such-agent"], tmp_path, socket=path)
        killed = run_boxed(["sh", "-c", "kill -9 $$"], tmp_path, socket=path)
    assert (ended.lines, ended.status, ended.stderr) == (["3", "5000000"], 7, "")
    assert (missing.status, missing.stderr) == (127, "no-such-agent: No such file or directory\n")
    assert killed.status == 137


def test_x36_threads_in_the_box_are_bounded_by_the_kernel(tmp_path: Path):
    """It is held for ordinary users where the kernel counts each box; the supervisor counts processes for all."""
    path = tmp_path / "tap.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        ended = run_boxed(["grep", "Max processes", "/proc/self/limits"], tmp_path, socket=path)
    counts_boxes = [int(each) for each in os.uname().release.split("-")[0].split(".")[:2]] >= [5, 14]
    soft, hard = ended.lines[0].split()[2:4]
    assert soft == hard and (not counts_boxes or int(hard) <= MOST_THREADS)


def _echo(listening: socket.socket) -> None:
    while True:
        try:
            made = listening.accept()[0]
        except OSError:
            return
        with made:
            got = b""
            while piece := made.recv(65536):
                got += piece
            made.sendall(got)


def test_x36_a_tap_that_is_gone_refuses_connections(tmp_path: Path):
    path = tmp_path / "tap.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
    code = "import socket; made = socket.create_connection(('127.0.0.1', 8377)); print(made.recv(10))"
    ended = run_boxed([PYTHON, "-I", "-S", "-c", code], tmp_path, socket=path)
    assert ended.lines == ["b''"] or "ConnectionReset" in ended.stderr


def hanging(folder: Path) -> list[str]:
    """A boxed agent that starts a daemon and hangs. Its command holds the name of the folder."""
    for name in ("work", "home"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    daemon = [PYTHON, "-S", "-c", DAEMON, "pid", "hang", "bare", str(folder)]
    return boxed(daemon, workspace=folder / "work", home=folder / "home")


def test_x36_50_killed_boxes_leave_no_survivor(tmp_path: Path):
    async def attempt(number: int, free: asyncio.Semaphore) -> None:
        async with free, started(hanging(tmp_path / f"{number}"), env=PATH, folder=tmp_path) as process:
            async for _ in process.lines():
                return

    async def all_of_them() -> None:
        free = asyncio.Semaphore(10)
        await asyncio.gather(*(attempt(number, free) for number in range(MANY)))

    asyncio.run(all_of_them())
    assert len(list(tmp_path.glob("*/work/pid"))) == MANY
    assert ours(str(tmp_path)) == []


def test_x36_no_box_survives_when_prosa_is_killed_half_way(tmp_path: Path):
    kill_half_way(hanging(tmp_path / "one"), tmp_path)
    asyncio.run(until(lambda: not ours(str(tmp_path / "one"))))
    assert ours(str(tmp_path / "one")) == []
