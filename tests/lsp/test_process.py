"""The server as a process: how it ends, what it makes of garbage, and what it never does (X6, X9, X30)."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from prosa.cli import lsp
from prosa.cli.main import main
from prosa.extras import install_line
from prosa.lsp import wire
from prosa.lsp.wire import BrokenWire, TooLarge, read_message
from tests.cli.desk import desk
from tests.lsp.editor import SECONDS, process


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def test_x30_goodbye_ends_the_process_well_and_leaving_does_not(project: Path, environ: Mapping[str, str]):
    """X30. `exit` after `shutdown` is 0; `exit` alone, or nothing more to read, is 1; nothing else is on the wire."""
    with process(project, environ) as (editor, started):
        editor.initialize(project)
        editor.until(editor.open(project / "a.md", "[x](gone.md)\n"), ["unresolved-link"])
        editor.shut_down()
        assert started.wait(SECONDS) == 0
        assert started.stderr.read() == b""
    with process(project, environ) as (editor, started):
        editor.initialize(project)
        editor.notify("exit")
        assert started.wait(SECONDS) == 1
    with process(project, environ) as (editor, started):
        editor.initialize(project)
        started.stdin.close()
        assert started.wait(SECONDS) == 1


def test_x30_the_process_ends_when_that_of_the_client_is_gone(project: Path, environ: Mapping[str, str]):
    """X30. Though its input is still open."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with process(project, environ) as (editor, started):
        params = {"processId": gone.pid, "rootUri": project.as_uri(), "capabilities": {}}
        editor.ask("initialize", params)
        assert started.wait(SECONDS) == 1


def test_x30_garbage_ends_in_a_sentence(project: Path, environ: Mapping[str, str]):
    """X9, X30. A line without an end is not kept in memory."""
    with process(project, environ) as (_, started):
        with pytest.raises(BrokenPipeError):
            for _ in range(100):
                started.stdin.write(b"x" * 1_000_000)
                started.stdin.flush()
        assert started.wait(SECONDS) == 1
        words = started.stderr.read().decode()
        assert "not a language client" in words and "Traceback" not in words


def test_x30_two_servers_use_one_cache(project: Path, environ: Mapping[str, str]):
    """X10, X30. Each tells of what its own editor has open."""
    for number in range(50):
        (project / f"{number}.md").write_text(f"# Number {number}\n[x]({number + 1}.md)\n")
    with process(project, environ) as (one, _), process(project, environ) as (two, _):
        for editor in (one, two):
            editor.initialize(project)
        uris = [editor.open(project / "49.md") for editor in (one, two)]
        for editor, uri in zip((one, two), uris, strict=True):
            editor.until(uri, ["unresolved-link"])
        one.until(uris[0], [], one.change(uris[0], "# Other\n"))
        two.until(uris[1], ["unresolved-link"], two.change(uris[1], "[y](gone.md)\n"))
        for editor in (one, two):
            editor.shut_down()


WATCHED = """
import os, sys
FORBIDDEN = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.system", "os.spawn", "pty.spawn",
    "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request",
    "webbrowser.open", "ctypes.dlopen")
def hook(event, arguments):
    if event in FORBIDDEN:
        sys.stderr.write(f"did {event} {arguments}\\n")
        sys.stderr.flush()
        os._exit(99)
sys.addaudithook(hook)
from prosa.cli.main import main
sys.exit(main(["lsp", "--stdio"]))
"""

HOSTILE = {
    "a.md": "---\nname: a\ninput: {type: object}\nmcp_servers: {x: {command: touch}}\n---\n{{ .x }} !`id`\n",
    "b.mda": "---\ndoc-id: 7d0c9d0e-0f0b-4d3a-8a55-1f2e3d4c5b6a\n---\n\n```ai-script\n"
    '{"script-id": "s", "prompt": "x", "auto-run": true, "runtime-env": "http://127.0.0.1:1/"}\n```\n',
    "c.md": "% plugins.x = exec\n\n### @user:\n\n% !id\n",
    "d.md": "---\nid: d\ntype: page\ntitle: D\nactions: [{id: go, method: POST, url: 'http://127.0.0.1:1/x'}]\n---\n[x](//h/x)\n",
    "skills/e/SKILL.md": "---\nname: e\ndescription: x\nallowed-tools: Bash(*)\n---\n!`id`\n\n<script>x</script>\n",
}


def test_x6_nothing_is_executed_and_nobody_is_asked(project: Path, environ: Mapping[str, str]):
    """X6, X30. While hostile documents are opened, checked, formatted and asked about; a forbidden step ends the
    process at once."""
    command = [sys.executable, "-c", WATCHED]
    for name, text in HOSTILE.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    with process(project, environ, command=command) as (editor, started):
        editor.initialize(project)
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
        for name in HOSTILE:
            uri = editor.open(project / name)
            editor.diagnostics(uri)
            at = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 4}}
            editor.ask("textDocument/codeAction", {**at, "range": whole, "context": {"diagnostics": []}})
            editor.ask("textDocument/formatting", {**at, "options": {"tabSize": 4, "insertSpaces": True}})
            for method in ("hover", "completion", "definition", "documentSymbol", "foldingRange"):
                editor.ask(f"textDocument/{method}", at)
        editor.ask("workspace/symbol", {"query": "e"})
        editor.shut_down()
        assert started.wait(SECONDS) == 0, started.stderr.read()


def test_x30_a_session_outlives_messages_that_are_none(project: Path, environ: Mapping[str, str]):
    """X9, X30. Each is told of, where it can be answered it is, and the next one is read."""
    log = project.parent / "wire.log"
    with process(project, environ, "--log", str(log)) as (editor, started):
        editor.initialize(project)
        for body in (b"{", b"[" * 100_000, b"\xff\xfe", b"[]", b"3", b'{"jsonrpc": "1.0"}'):
            editor.write(framed(body))
            assert "was not read" in editor.told("window/logMessage")["message"]
        wrong = {"textDocument": 3}
        assert editor.answer(editor.begin("textDocument/hover", wrong))["error"]["code"] == -32602
        editor.notify("textDocument/didChange", wrong)
        assert "could not be understood" in editor.told("window/logMessage")["message"]
        editor.write(
            framed(
                b'{"jsonrpc": "2.0", "id": 77, "method": "textDocument/hover", "params": {"a": '
                + b"[" * 500
                + b"]" * 500
                + b"}}"
            )
        )
        assert "error" in editor.answer(77)
        editor.write(b"content-length: 2\r\nX-Other: 1\r\n\r\n{}")
        assert "was not read" in editor.told("window/logMessage")["message"]
        editor.until(editor.open(project / "a.md", "[x](gone.md)\n"), ["unresolved-link"])
        editor.shut_down()
        assert started.wait(SECONDS) == 0
    assert "textDocument/publishDiagnostics" in log.read_text("utf-8")


def test_x9_a_message_has_a_header_with_its_length():
    assert read_message(io.BytesIO(framed(b"{}"))) == b"{}"
    assert read_message(io.BytesIO(b"content-length:  2\n\nab")) == b"ab"
    assert read_message(io.BytesIO(b"")) is None
    assert read_message(io.BytesIO(b"Content-Length: 9\r\n\r\nab")) is None


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"hello\n",
        b"\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: -2\r\n\r\n",
        b"Content-Length: 99999999999999999999999\r\n\r\n",
        b"a: 1\r\n" * 100,
        b"x" * 10_000_000,
    ],
)
def test_x9_what_is_no_header_is_said(data: bytes):
    with pytest.raises(BrokenWire, match=r".+"):
        read_message(io.BytesIO(data))


def test_x9_a_message_that_is_too_large_is_passed_over(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wire, "MAX_MESSAGE", 100)
    stream = io.BytesIO(framed(b"x" * 1_000) + framed(b"{}"))
    assert read_message(stream) == TooLarge(1_000)
    assert read_message(stream) == b"{}"


def test_x30_the_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    """X30. And where it comes from."""
    monkeypatch.setattr(lsp, "is_installed", lambda extra: False)
    at = desk()
    assert main(["lsp"], at.console) == 2
    assert install_line("lsp") in at.err


def test_x30_no_other_command_loads_the_library():
    """X30. A check starts as quickly as without it."""
    script = "import sys; from prosa.cli.main import main; main(['check', sys.argv[1]]); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script, __file__], capture_output=True, text=True, check=False)
    names = {*ran.stdout.split()}
    assert "prosa.rules.engine" in names
    assert not {"pygls", "lsprotocol", "cattrs", "attrs"} & names
