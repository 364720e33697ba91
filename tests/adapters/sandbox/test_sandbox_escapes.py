"""Ways out of the sandbox, each tried (L23, LA18, X10): every one must end in a refusal inside the program."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from prosa.adapters.sandbox.cache import compiled_component
from prosa.adapters.sandbox.interpreter import Interpreter
from prosa.adapters.sandbox.process import component

MB = 2**20

TRY = """
def attempt(name, action):
    try:
        print(name, "worked:", action())
    except (OSError, AttributeError, ImportError, RuntimeError) as refusal:
        print(name, "refused")
"""

FILES = """
import os
for path in ("/etc/passwd", "../etc/passwd", "/tmp/../etc/passwd", "/tmp/../../../etc/passwd", "//etc/passwd",
             "/proc/self/environ", "/proc/self/mem", "/dev/null", "../log", "/tmp/../log", "/", "..", "/tmp/.."):
    attempt(path, lambda: open(path).read(4))
    attempt(path, lambda: os.listdir(path))
    attempt(path, lambda: os.stat(path))
    attempt(path, lambda: open(path + "/new", "w"))
    attempt(path, lambda: os.chdir(path))
"""

LINKS = """
import os
for target in ("/etc/passwd", "/etc", "/", "..", "../..", "../log", "../../../../../etc/passwd", "/proc/self/root"):
    try:
        os.symlink(target, "link")
    except OSError:
        print(target, "refused")
        continue
    attempt(target, lambda: open("link").read(4))
    attempt(target, lambda: os.listdir("link"))
    attempt(target, lambda: open("link/new", "w"))
    attempt(target, lambda: os.chdir("link"))
    os.unlink("link")
attempt("hard link", lambda: os.link("/etc/passwd", "hard"))
attempt("hard link up", lambda: os.link("../log", "hard"))
attempt("rename in", lambda: os.rename("../log", "mine"))
attempt("rename out", lambda: (open("mine", "w").close(), os.rename("mine", "../mine")))
attempt("rename root", lambda: os.rename("/tmp", "/other"))
attempt("mkdir out", lambda: os.mkdir("../new"))
attempt("unlink out", lambda: os.unlink("../log"))
"""

NETWORK = """
import socket, urllib.request, http.client, ftplib
port = PORT
for family, address in ((socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port))):
    attempt("tcp", lambda: socket.socket(family).connect(address))
    attempt("udp", lambda: socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", address))
    attempt("bind", lambda: socket.socket(family).bind((address[0], 0)))
attempt("create", lambda: socket.create_connection(("127.0.0.1", port), timeout=1))
attempt("dns", lambda: socket.getaddrinfo("localhost", 80))
attempt("dns", lambda: socket.gethostbyname("example.org"))
attempt("http", lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/"))
attempt("http", lambda: http.client.HTTPConnection("127.0.0.1", port).request("GET", "/"))
attempt("ftp", lambda: ftplib.FTP("127.0.0.1"))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("pair", lambda: socket.socketpair())
import asyncio
attempt("asyncio", lambda: asyncio.run(asyncio.open_connection("127.0.0.1", port)))
"""

PROCESSES = """
import os, subprocess, multiprocessing, threading, concurrent.futures, asyncio
attempt("run", lambda: subprocess.run(["true"]))
attempt("shell", lambda: subprocess.getoutput("true"))
attempt("system", lambda: os.system("true"))
attempt("popen", lambda: os.popen("true").read())
attempt("fork", lambda: os.fork())
attempt("exec", lambda: os.execv("/bin/true", ["true"]))
attempt("spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
attempt("kill", lambda: os.kill(1, 0))
attempt("process", lambda: multiprocessing.Process(target=print).start())
attempt("thread", lambda: threading.Thread(target=print).start())
attempt("pool", lambda: concurrent.futures.ThreadPoolExecutor().submit(print).result())
attempt("asyncio", lambda: asyncio.run(asyncio.create_subprocess_exec("true")))
for name in ("ctypes", "_ctypes", "cffi", "_posixsubprocess", "mmap", "fcntl", "resource", "pty"):
    attempt(name, lambda: __import__(name))
"""

BATTERY = {"files": FILES, "links": LINKS, "network": NETWORK, "processes": PROCESSES}


@pytest.mark.parametrize("code", BATTERY.values(), ids=BATTERY)
def test_l23_every_attempt_is_refused(python, code):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        result = python(TRY + code.replace("PORT", str(listening.getsockname()[1])))
        with pytest.raises(TimeoutError):
            listening.accept()
    assert result.error is None, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) > 10
    assert [line for line in lines if not line.endswith("refused")] == []


def test_l23_no_open_descriptor_leads_anywhere(python):
    code = """
import os
for descriptor in range(256):
    for action in (lambda: os.read(descriptor, 10), lambda: os.listdir(descriptor), lambda: os.write(descriptor, b"x"),
                   lambda: os.open("../log", os.O_RDONLY, dir_fd=descriptor)):
        try: found = action()
        except (OSError, NotImplementedError, TypeError): continue
        if found not in (b"", 1): print(descriptor, found)
"""
    result = python(code)
    assert (result.stdout, result.error) == ("", None)


def test_l23_the_environment_is_empty(python, monkeypatch):
    monkeypatch.setenv("SECRET_FOR_TEST", "hunter2")
    code = "import os, sys, getpass; print(dict(os.environ), os.getenv('PATH'), sys.argv, os.getcwd(), sys.path)"
    assert python(code).stdout == "{} None ['program.py'] /tmp ['/tmp']\n"


def test_l23_nothing_of_the_host_is_in_the_interpreter(python):
    code = """
import sys, platform, tempfile, os, pathlib
text = repr([sys.executable, sys.prefix, sys.path, platform.uname(), os.path.expanduser("~"), tempfile.gettempdir(),
             [getattr(m, "__file__", "") for m in list(sys.modules.values())]])
print(text)
"""
    text = python(code).stdout
    assert socket.gethostname() not in text
    assert str(Path.home()) not in text
    assert str(Path(__file__).parents[3]) not in text


FORGED = [
    "code = (lambda: 0).__code__\ntype(lambda: 0)(code.replace(co_code=bytes([255] * 200)), {})()",
    "code = (lambda: 0).__code__\ntype(lambda: 0)(code.replace(co_code=bytes([100, 200] * 90), co_stacksize=1), {})()",
]
ABORTS = [
    "import os; os.abort()",
    "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
]


@pytest.mark.parametrize("code", FORGED)
def test_l23_forged_bytecode_stays_inside(python, code):
    """What it does depends on the memory of this build: a trap, an exception or nothing; never more than that."""
    ran = python(code, timeout=1)
    assert ran.error is None or ran.error.startswith("execution failed: ")
    assert python("print('next')").stdout == "next\n"


@pytest.mark.parametrize("code", ABORTS)
def test_l23_a_crash_stays_inside(python, code):
    said = "execution failed: the interpreter aborted (a deadlock, os.abort or broken bytecode)"
    assert python(code, timeout=1).error == said
    assert python("print('next')").stdout == "next\n"


def test_l23_bytecode_of_every_opcode_stays_inside(python):
    code = """
function = lambda: 0
for opcode in range(START, START + 32):
    forged = function.__code__.replace(co_code=bytes([opcode, 255, 35, 0] * 4), co_stacksize=1)
    try: type(function)(forged, {})()
    except BaseException: pass
"""
    for start in range(0, 256, 32):
        python(code.replace("START", str(start)), timeout=1)
    assert python("print('next')").stdout == "next\n"


def test_l23_links_planted_in_the_folder_by_the_host_lead_nowhere(cache, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    folder = tmp_path / "run"
    folder.mkdir()
    for name, target in (("absolute", secret), ("relative", "../secret"), ("folder", ".."), ("root", "/")):
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe")
    code = (
        TRY
        + """
import os
for path in ("absolute", "relative", "folder/secret", f"root/{SECRET!r}"):
    attempt(path, lambda: open(path).read())
    attempt(path, lambda: open(path, "w").write("overwritten"))
    attempt(path, lambda: os.truncate(path, 0))
    attempt(path, lambda: os.utime(path))
"""
    )
    interpreter = Interpreter(compiled_component(cache, component(), ["false"]))
    with interpreter.instance(str(folder)) as instance:
        answer = instance.run(code.replace("SECRET", repr(str(secret))), timeout=5, memory=128 * MB)
    assert answer["error"] is None, answer
    assert "worked" not in answer["stdout"]
    assert answer["stdout"].count("refused") == 16
    assert secret.read_text() == "hunter2"
