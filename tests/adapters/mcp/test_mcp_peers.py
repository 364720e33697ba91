"""L19, L21 and LW14 against servers of other projects: npm's filesystem and everything, PyPI's time."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from prosa.adapters.mcp import McpServers
from prosa.runtime.ports import ServerConfig
from tests.adapters.mcp.support import run, wait_until


def talk(config, work, **options):
    async def main():
        async with McpServers(environ=os.environ, **options).connect([config], cwd="/") as session:
            return await work(session)

    return run(main())


def test_lw14_the_filesystem_server_reads_and_writes(node, peer, tmp_path):
    """LW14, LW2, L21: a real server, end to end, in its folder and not outside."""
    (tmp_path / "a.txt").write_text("hello")

    async def work(session):
        names = {tool.name for tool in session.tools}
        read = await session.call("files", "read_text_file", {"path": str(tmp_path / "a.txt")})
        written = await session.call("files", "write_file", {"path": str(tmp_path / "b.txt"), "content": "ü"})
        outside = await session.call("files", "read_text_file", {"path": "/etc/passwd"})
        return names, read, written, outside

    config = ServerConfig("files", command=node, args=(peer("server-filesystem"), str(tmp_path)))
    names, read, written, outside = talk(config, work)
    assert {"read_text_file", "write_file", "list_directory"} <= names
    assert (read.content, read.is_error, written.is_error) == ("hello", False, False)
    assert (tmp_path / "b.txt").read_text() == "ü"
    assert outside.is_error
    assert "Access denied" in outside.content


async def everything(session):
    echo = await session.call("everything", "echo", {"message": "hi"})
    total = await session.call("everything", "get-sum", {"a": 2, "b": 40})
    image = await session.call("everything", "get-tiny-image", {})
    structured = await session.call("everything", "get-structured-content", {"location": "New York"})
    unknown = await session.call("everything", "no-such-tool", {})
    assert len(session.tools) > 10
    assert all(tool.parameters["type"] == "object" for tool in session.tools)
    assert echo.content == "Echo: hi"
    assert "42" in total.content
    assert "[image, image/png, " in image.content
    assert "temperature" in json.loads(structured.content)
    assert unknown.is_error
    return {tool.name for tool in session.tools}


def test_lw14_l19_the_everything_server_over_stdio(node, peer):
    """LW14, L19."""
    config = ServerConfig("everything", command=node, args=(peer("server-everything"),))
    assert {"echo", "get-env"} <= talk(config, everything)


@pytest.mark.parametrize(
    ("mode", "path", "transport"),
    [("streamableHttp", "/mcp", "auto"), ("sse", "/sse", "auto"), ("sse", "/sse", "sse")],
)
def test_lw14_l19_la9_the_everything_server_over_http(node, peer, mode, path, transport):
    """LW14, L19, LA9: the same server over both kinds of HTTP; `auto` finds which."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {"PORT": str(port), "PATH": os.environ["PATH"]}
    process = subprocess.Popen(
        [node, peer("server-everything"), mode], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        assert wait_until(lambda: listens(port))
        config = ServerConfig("everything", url=f"http://127.0.0.1:{port}{path}", transport=transport)
        assert "echo" in talk(config, everything)
    finally:
        process.kill()
        process.wait()


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 0.2).close()
    except OSError:
        return False
    return True


def test_lw14_the_time_server_of_pypi():
    """LW14, L21: a server on the same SDK, in its newest protocol."""
    spec = find_spec("mcp_server_time")
    assert spec is not None, "mcp-server-time is not installed; run: make peers"
    environment = {"PYTHONPATH": str(Path(spec.origin).parents[1])}
    config = ServerConfig("time", command=sys.executable, args=("-m", "mcp_server_time"), env=environment)

    async def work(session):
        good = await session.call("time", "get_current_time", {"timezone": "Europe/Berlin"})
        bad = await session.call("time", "get_current_time", {"timezone": "Nowhere/None"})
        return [tool.name for tool in session.tools], good, bad

    names, good, bad = talk(config, work)
    assert names == ["get_current_time", "convert_time"]
    assert json.loads(good.content)["timezone"] == "Europe/Berlin"
    assert bad.is_error
    assert "Nowhere/None" in bad.content


def test_x18_real_servers_start_together(node, peer, tmp_path):
    """X18: as many as a program may declare, in one context."""

    async def main():
        configs = [
            ServerConfig("files", command=node, args=(peer("server-filesystem"), str(tmp_path))),
            ServerConfig("everything", command=node, args=(peer("server-everything"),)),
        ]
        async with McpServers(environ=os.environ).connect(configs, cwd=str(tmp_path)) as session:
            results = [await session.call("everything", "echo", {"message": str(i)}) for i in range(20)]
            return [tool.server for tool in session.tools], results

    servers, results = run(main())
    assert servers == sorted(servers, key=["files", "everything"].index)
    assert [result.content for result in results] == [f"Echo: {i}" for i in range(20)]
