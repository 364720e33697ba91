"""The arguments of `prosa serve`: what it refuses, what it mounts, what it says (X5, X6, X23)."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from threading import Event

import pytest

from prosa.cli.demo.site import served
from prosa.cli.main import main
from prosa.cli.parser import WrongUse
from prosa.cli.serve import application
from prosa.source import FileProblem
from prosa.web.log import MAX_WAITING, BackgroundLines
from prosa.web.serving import hosts_of
from tests import warm

APP = """
began = []

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        assert (await receive())["type"] == "lifespan.startup"
        began.append("up")
        await send({"type": "lifespan.startup.complete"})
        assert (await receive())["type"] == "lifespan.shutdown"
        open("ended", "w").write("well")
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = f"{scope['path']} {scope['method']} {began}".encode()
    await send({"type": "http.response.start", "status": 202, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": body})

async def plain(scope, receive, send):
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"plain"})

nothing = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROSA_CACHE_DIR", str(tmp_path / ".cache"))
    (tmp_path / "api.py").write_text(APP)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.md").write_text("---\nid: a\ntype: page\ntitle: A\n---\n# A\n")
    return tmp_path


def command(*more: str) -> list[str]:
    return [sys.executable, "-m", "prosa", "serve", "site", "--port", "0", *more]


def forked(folder: Path, *more: str) -> list[str]:
    """The same as a shell starts it."""
    return [str(warm.scripts(folder / "bin") / "prosa"), *command(*more)[3:]]


Start = Callable[[], "subprocess.Popen[str]"]


@pytest.fixture
def started(folder: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts servers, and ends those that a test leaves."""
    running: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        pipes = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        running.append(warm.popen(command(), cwd=folder, **pipes))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def asked(url: str, method: str, path: str, **headers: str) -> tuple[int, str]:
    connection = HTTPConnection(url.removeprefix("http://"), timeout=30)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_an_application_answers_below_api_with_its_whole_path(folder: Path):
    """H11. It hears of the beginning and of the end, and the guard stands before it too."""
    with served(forked(folder, "--api", "api.py:app"), os.environ, folder) as url:
        assert asked(url, "POST", "/api/x/y") == (202, "/api/x/y POST ['up']")
        assert asked(url, "GET", "/apis")[0] == 404
        assert asked(url, "GET", "/")[1].startswith("---\nid: a\n")
        assert asked(url, "POST", "/api/x", Origin="https://elsewhere.example")[0] == 403
        assert asked(url, "GET", "/api/x", Host="elsewhere.example")[0] == 421
    assert (folder / "ended").read_text() == "well"


def test_an_application_without_a_life_of_its_own_is_served(folder: Path):
    with served(forked(folder, "--api", "api.py:plain"), os.environ, folder) as url:
        assert asked(url, "GET", "/api") == (200, "plain")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("api.py", "expected FILE.py:NAME or MODULE:NAME"),
        ("api.py:", "expected FILE.py:NAME"),
        ("none.py:app", "no such file"),
        ("no_such_module_here:app", "cannot be imported"),
        ("api.py:other", "there is no application called other"),
        ("api.py:nothing", "there is no application called nothing"),
    ],
)
def test_what_is_no_application_is_refused(folder: Path, name: str, words: str):
    with pytest.raises((WrongUse, FileProblem), match=words):
        application(name)


def test_a_file_with_an_error_is_told_in_words(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "bad.py").write_text("import no_such_module_here\n")
    (folder / "worse.py").write_text("1 /\n")
    for name in ("bad", "worse"):
        assert main(["serve", "site", "--port", "0", "--api", f"{name}.py:app"]) == 2
        said = capsys.readouterr().err
        assert f"{name}.py cannot be imported" in said and "Traceback" not in said


def test_a_module_is_found_from_the_current_folder(folder: Path):
    (folder / "berths_of_this_test.py").write_text("async def app(scope, receive, send): ...\n")
    assert asyncio.iscoroutinefunction(application("berths_of_this_test:app"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "no such folder"),
        (["site", "--port", "70000"], "not a port"),
        (["site", "--port", "-1"], "not a port"),
        (["site", "--host", "0.0.0.0"], "the site has no name"),
        (["site", "--base-url", "example.org"], "--base-url must be a URL"),
        (["site", "--layout", "tree"], "--layout tree: expected one of"),
        (["site", "--access-log", "no/such/folder/x.log"], "No such file"),
    ],
)
def test_wrong_use_is_told(folder: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]):
    assert main(["serve", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_port_that_is_taken_is_told(folder: Path, capsys: pytest.CaptureFixture[str]):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "site", "--port", str(taken.getsockname()[1])]) == 1
    assert "cannot be bound" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_well(started: Start, number: int):
    process = started()
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith("serving site at http://127.0.0.1:")
    process.send_signal(number)
    out, _ = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, "")


def test_the_log_is_where_the_user_wants_it(folder: Path):
    with served(forked(folder, "--access-log", "requests.log"), os.environ, folder) as url:
        asked(url, "GET", "/?q=private")
    line = (folder / "requests.log").read_text()
    assert '"path": "/"' in line and "private" not in line


@pytest.mark.parametrize(
    ("host", "more", "ours", "foreign"),
    [
        ("127.0.0.1", (), ["127.0.0.1:80", "localhost", "[::1]:80"], ["example.org", "127.0.0.1.nip.example", ""]),
        ("127.0.0.1", ("Notes.example",), ["notes.example", "notes.example:80"], ["other.example"]),
        ("10.1.2.3", ("n.example",), ["10.1.2.3", "n.example"], ["localhost"]),
    ],
)
def test_the_names_of_a_site(host: str, more: tuple[str, ...], ours: list[str], foreign: list[str]):
    """X8. A name that was bound anew to a loopback address is no name of ours."""
    names = hosts_of(host, 80, more)
    assert set(ours) <= names
    assert names.isdisjoint(foreign)


def test_a_log_that_nobody_reads_does_not_stop_the_site(started: Start):
    """A full pipe holds up nobody: requests are answered, and a signal still ends the site."""
    process = started()
    assert process.stderr is not None
    url = process.stderr.readline().split(" at ")[1].split("/ ")[0]
    path = "/" + "x" * 2_000
    assert {asked(url, "GET", path)[0] for _ in range(150)} == {404}
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def test_lines_that_cannot_be_written_are_counted():
    go, taken, seen = Event(), Event(), list[str]()

    def slow(text: str) -> None:
        taken.set()
        go.wait(60)
        seen.append(text)

    lines = BackgroundLines(slow)
    lines.write("first")
    taken.wait(60)
    for _ in range(MAX_WAITING):
        lines.write("waits")
    lines.write("lost\nlost too")
    go.set()
    while len(seen) < MAX_WAITING + 1:
        taken.wait(0.001)
    lines.write("last")
    lines.close()
    assert seen[0] == "first" and seen[-1] == '{"lost": 2}\nlast'


def test_below_a_path_the_application_is_found_with_and_without_it(folder: Path):
    """H11. A URL of an action begins at the root of the host; a proxy may pass the path on."""
    with served(
        forked(folder, "--api", "api.py:app", "--base-url", "http://127.0.0.1/notes"), os.environ, folder
    ) as url:
        assert asked(url, "GET", "/api/x")[1].startswith("/api/x GET")
        assert asked(url, "GET", "/notes/api/x")[1].startswith("/api/x GET")
        assert asked(url, "GET", "/notes/")[1].startswith("---\nid: a\n")
        assert asked(url, "GET", "/notes")[0] == 308
        assert asked(url, "GET", "/")[0] == 404


def test_x8_a_closed_site_gets_the_token_of_a_call_once_it_asks(folder: Path, capsys: pytest.CaptureFixture[str]):
    """X8, X23. The page itself asks for it; nothing of it is shown."""
    action = "actions:\n  - {id: a.get, method: GET, url: /api/x, auth: {type: none}}\n"
    (folder / "site" / "index.md").write_text(f"---\nid: a\ntype: page\ntitle: A\n{action}---\n# A\n")
    environ = {**os.environ, "TOKEN": "open-sesame-please"}
    closed = forked(folder, "--api", "api.py:plain", "--include-private", "--token-env", "TOKEN")
    with served(closed, environ, folder) as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKEN", "open-sesame-please")
        words = ["call", f"{url}/", "a.get", "--token-env", "TOKEN", "--dry-run"]
        assert main(words) == 0
        said = capsys.readouterr()
        assert f"GET {url}/api/x" in said.out and "open-sesame" not in said.out + said.err
        assert main(words[:3]) == 1


def test_what_a_client_sends_wrong_is_not_told_on_stderr(started: Start):
    """It could fill up what nobody reads."""
    process = started()
    assert process.stderr is not None
    port = int(process.stderr.readline().split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        connection.sendall(b"no http\r\n\r\n")
        assert b" 400 " in connection.recv(1_000)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    assert said == ""


@pytest.mark.parametrize(
    ("arguments", "words", "without"),
    [
        (["serve", "api.py"], "api.py is not a folder", "no such"),
        (["serve", "site", "--host", "nohost.invalid", "--allow-host", "x"], "cannot be bound", "--port"),
        (["probe", "http://10.0.0.1/"], "add --allow-private", "check the URL"),
    ],
)
def test_a_hint_is_about_the_mistake(
    folder: Path, arguments: list[str], words: str, without: str, capsys: pytest.CaptureFixture[str]
):
    assert main(arguments) in (1, 2)
    said = capsys.readouterr().err
    assert words in said and without not in said
