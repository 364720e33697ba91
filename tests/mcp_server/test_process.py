"""`prosa mcp` as a process: standard input and output, HTTP, clients that vanish, and garbage on the wire."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from prosa.app.trust import accept_agreement
from prosa.cli.main import main
from tests import warm
from tests.cli.desk import desk
from tests.house.tree import ROOT
from tests.mcp_server.folder import write

TOKEN = "a-token-that-is-long-enough"
LONGEST = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return write(tmp_path / "docs")


def environ(folder: Path) -> dict[str, str]:
    known = {"HOME": str(folder.parent), "PROSA_CACHE_DIR": str(folder.parent / "cache"), "TOKEN": TOKEN}
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), **known}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_starts_it_and_both_eras_are_spoken(folder: Path, mode: str):
    """A plain process for one of them, a forked one for the other."""
    plain = [sys.executable, "-m", "prosa"]
    command, *words = plain if mode == "auto" else [str(warm.scripts(folder.parent / "bin") / "prosa")]
    started = StdioServerParameters(command=command, args=[*words, "mcp", str(folder)], env=environ(folder))

    async def run() -> tuple[str, str]:
        async with Client(started, mode=mode) as client:
            found = await client.call_tool("read", {"document": "guide/pier.md"})
            assert [each.name for each in (await client.list_prompts()).prompts] == ["greet"]
            return client.protocol_version, found.structured_content["path"]

    version, path = asyncio.run(run())
    assert path == "guide/pier.md"
    assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28")


def test_x25_a_run_that_an_agent_began_is_in_the_history(folder: Path):
    """X25."""
    accept_agreement({"HOME": str(folder.parent)}, 0)
    replies = folder.parent / "replies.jsonl"
    replies.write_text('{"content": "{\\"text\\": \\"Hello\\"}"}\n')
    command = str(warm.scripts(folder.parent / "bin") / "prosa")
    words = ["mcp", str(folder), "--allow-run", "*", "--model", f"scripted:{replies}"]
    server = StdioServerParameters(command=command, args=words, env=environ(folder))

    async def run() -> None:
        async with Client(server) as client:
            found = await client.call_tool("greet", {"who": "Ann"})
            assert found.structured_content == {"text": "Hello"}

    asyncio.run(run())
    listing = [sys.executable, "-m", "prosa", "runs", "--format", "jsonl"]
    told = warm.run(listing, env=environ(folder), capture_output=True, text=True, check=True).stdout
    assert [(each["program"], each["door"], each["state"]) for each in map(json.loads, told.splitlines())] == [
        ("greet", "mcp", "done")
    ]


@contextmanager
def started(folder: Path, *words: str, command: str = "mcp") -> Iterator[subprocess.Popen[bytes]]:
    """The server as a process that is ended at the end."""
    line = [sys.executable, "-m", "prosa", command, str(folder), *words]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = warm.popen(line, env=environ(folder), **pipes)
    try:
        yield process
    finally:
        process.kill()
        process.wait(LONGEST)
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}},
}


def line(message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def test_garbage_on_the_wire_ends_nothing(folder: Path):
    garbage = [b"\n", b"{\n", b"\xff\xfe\n", b"[]\n", b"null\n", b'{"jsonrpc": "2.0", "id": null, "method": "x"}\n']
    with started(folder) as process:
        for each in (*garbage, b'"' + b"x" * 2_000_000 + b'"\n', line(INITIALIZE)):
            process.stdin.write(each)
        process.stdin.flush()
        for _ in range(len(garbage) + 2):
            found = json.loads(process.stdout.readline())
            if found.get("id") == 1:
                break
        assert found["result"]["serverInfo"]["name"] == "prosa"
        process.stdin.close()
        assert process.wait(LONGEST) == 0


def test_a_line_that_is_no_message_is_answered(folder: Path):
    """Its client waits for an answer, for as long as it has patience."""
    wrong = {
        b"not json": (None, -32700),
        b'{"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": "skill://\\ud800"}}': (2, -32700),
        b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}': (None, -32700),
        b"[" * 50_000: (None, -32700),
        b'{"id": 3, "method": "ping"}': (3, -32600),
        b'{"jsonrpc": "2.0", "id": "four", "method": "ping", "params": [1]}': ("four", -32600),
        b'[{"jsonrpc": "2.0", "id": 5, "method": "ping"}]': (None, -32600),
        b'{"jsonrpc": "2.0", "id": true, "method": 6}': (None, -32600),
        b'{"jsonrpc": "2.0", "id": null, "method": "ping"}': (None, -32600),
        b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}': (None, -32600),
        b'{"jsonrpc": "2.0", "id": true, "method": "ping"}': (None, -32600),
    }
    unanswered = [
        b"",
        b'{"jsonrpc": "2.0", "method": "notifications/x", "params": [1]}',
        b'{"jsonrpc": "2.0", "id": 7, "result": 7}',
        b'{"jsonrpc": "2.0", "id": 8, "error": "\\ud800"}',
    ]
    with started(folder) as process:
        out, err = process.communicate(line(INITIALIZE) + b"\n".join([*unanswered, *wrong, b""]), timeout=LONGEST)
    found = {each["id"]: each for each in map(json.loads, out.splitlines()) if each["id"] is not None}
    nameless = [json.loads(each)["error"]["code"] for each in out.splitlines() if json.loads(each)["id"] is None]
    assert "result" in found.pop(1) and b"Traceback" not in err
    assert [(name, each["error"]["code"]) for name, each in found.items()] == [
        each for each in wrong.values() if each[0] is not None
    ]
    assert nameless == [code for name, code in wrong.values() if name is None]


def test_it_ends_with_its_client_and_prints_nothing_but_the_protocol(folder: Path):
    with started(folder) as process:
        out, err = process.communicate(line(INITIALIZE), timeout=LONGEST)
        assert process.returncode == 0
        assert [json.loads(each)["id"] for each in out.splitlines()] == [1]
        assert b"Traceback" not in err


@contextmanager
def over_http(folder: Path, *words: str) -> Iterator[str]:
    with started(folder, "--http", "--port", "0", *words) as process:
        said = process.stderr.readline().decode()
        (url,) = re.findall(r"http://\S+", said)
        yield url
        process.terminate()
        assert process.wait(LONGEST) == 0


async def until_complete(client: Client) -> None:
    """Waits for the index: ids are not known before."""
    deadline = time.monotonic() + LONGEST
    while not (await client.call_tool("list", {})).structured_content["complete"]:
        assert time.monotonic() < deadline


def test_over_http_it_answers_clients_of_this_machine_alone(folder: Path):
    with over_http(folder) as url:

        async def run() -> str:
            async with Client(url) as client:
                await until_complete(client)
                return (await client.call_tool("read", {"document": "pier"})).structured_content["path"]

        assert asyncio.run(run()) == "guide/pier.md"
        headers = {"accept": "application/json, text/event-stream"}
        for name, value in (("host", "evil.example"), ("origin", "https://evil.example")):
            answer = httpx2.post(url, json=INITIALIZE, headers=headers | {name: value})
            assert answer.status_code in (403, 421)
        assert httpx2.post(url, content=b"x" * 5_000_000, headers=headers).status_code in (400, 413, 415)


def test_over_http_a_token_is_demanded_where_there_is_one(folder: Path):
    with over_http(folder, "--token-env", "TOKEN", "--include-private") as url:
        headers = {"accept": "application/json, text/event-stream"}
        assert httpx2.post(url, json=INITIALIZE, headers=headers).status_code == 401
        wrong = headers | {"authorization": "Bearer x"}
        assert httpx2.post(url, json=INITIALIZE, headers=wrong).status_code == 401
        right = headers | {"authorization": f"Bearer {TOKEN}"}
        assert httpx2.post(url, json=INITIALIZE, headers=right).status_code == 200


@contextmanager
def site(folder: Path, *words: str) -> Iterator[str]:
    with started(
        folder, "--mcp", "--port", "0", "--access-log", str(folder.parent / "log"), *words, command="serve"
    ) as it:
        url = ""
        while not url:
            said = it.stderr.readline().decode()
            url = "".join(re.findall(r"at (http://\S+)/", said))
        yield url
        it.terminate()
        assert it.wait(LONGEST) == 0


def test_a_site_answers_agents_beside_its_pages(folder: Path):
    with site(folder) as url:

        async def run() -> list[str]:
            async with Client(f"{url}/mcp") as client:
                await until_complete(client)
                for _ in range(30):  # more than a client may change in a while
                    found = await client.call_tool("read", {"document": "pier"})
                return [found.structured_content["path"], *[each.name for each in (await client.list_tools()).tools]]

        assert asyncio.run(run()) == ["guide/pier.md", "search", "read", "outline", "links", "check", "list"]
        assert httpx2.get(f"{url}/guide/pier.md").status_code == 200
        answer = httpx2.post(f"{url}/mcp", json=INITIALIZE, headers={"origin": "https://evil.example"})
        assert answer.status_code == 403
    assert '"/mcp"' in (folder.parent / "log").read_text()


def test_x23_a_closed_site_answers_agents_that_know_its_token(folder: Path):
    """X23."""
    with site(folder, "--include-private", "--token-env", "TOKEN") as url:
        headers = {"accept": "application/json, text/event-stream"}
        assert httpx2.post(f"{url}/mcp", json=INITIALIZE, headers=headers).status_code == 401
        right = headers | {"authorization": f"Bearer {TOKEN}"}
        assert httpx2.post(f"{url}/mcp", json=INITIALIZE, headers=right).status_code == 200


def test_a_site_without_the_flag_has_no_such_place(folder: Path):
    with started(folder, "--port", "0", command="serve") as process:
        (url,) = re.findall(r"at (http://\S+)/", process.stderr.readline().decode())
        assert httpx2.post(f"{url}/mcp", json=INITIALIZE).status_code in (404, 405)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--include-private", "--http"), "needs a token"),
        (("--token-env", "TOKEN"), "is about --http"),
        (("--client", "zed"), "prosa mcp config"),
        (("gone",), "no such folder"),
    ],
)
def test_wrong_use_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str):
    monkeypatch.chdir(folder)
    at = desk(environ=environ(folder))
    assert main(["mcp", *words], at.console) == 2 and said in at.err


@pytest.mark.parametrize("client", ["claude", "vscode", "cursor", "codex", "gemini", "zed"])
def test_config_prints_what_a_client_needs(folder: Path, monkeypatch: pytest.MonkeyPatch, client: str):
    monkeypatch.chdir(folder.parent)
    at = desk()
    assert main(["mcp", "config", "docs", "--client", client, "--allow-run", "guides/*"], at.console) == 0
    if client == "codex":
        (server,) = tomllib.loads(at.out)["mcp_servers"].values()
    else:
        key = {"vscode": "servers", "zed": "context_servers"}.get(client, "mcpServers")
        server = json.loads(at.out)[key]["docs"]
    assert server["command"] == "prosa"
    assert server["args"] == ["mcp", str(folder), "--allow-run", "guides/*"]


def test_a_folder_called_config_is_named_with_its_dot(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "config").mkdir()
    monkeypatch.chdir(folder)
    at = desk()
    assert main(["mcp", "config"], at.console) == 2 and "a folder of that name is ./config" in at.err
    words = ["-m", "prosa", "mcp", "./config"]
    process = warm.run(
        [sys.executable, *words], input=line(INITIALIZE), capture_output=True, env=environ(folder), check=False
    )
    assert process.returncode == 0 and b"serverInfo" in process.stdout
