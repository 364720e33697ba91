"""L19, LA9: servers behind a URL, by Streamable HTTP and by the old HTTP+SSE."""

from __future__ import annotations

import json
import socket

import pytest

from prosa.adapters.mcp import McpServers
from prosa.runtime.errors import ToolServerError
from prosa.runtime.ports import ServerConfig
from tests.adapters.mcp.servers.web import TOOLS, web
from tests.adapters.mcp.support import run


def talk(work, *, transport="auto", call_timeout=60.0, start_timeout=60.0, **options):
    """Runs `work(app, call)` against a web server; returns what it returns."""

    async def main():
        servers = McpServers(environ={}, call_timeout=call_timeout, start_timeout=start_timeout)
        async with web(**options) as app:
            config = ServerConfig("web", url=app.url, transport=transport)
            async with servers.connect([config], cwd="/") as session:
                assert [tool.name for tool in session.tools] == list(TOOLS)

                async def call(tool, **arguments):
                    return await session.call("web", tool, arguments)

                result = await work(app, call)
            return result, app.seen

    return run(main())


async def echo(_, call):
    return json.loads((await call("echo", a="ü")).content)


KINDS = [{}, {"stream": True}, {"old": True}]


@pytest.mark.parametrize("options", KINDS)
def test_l19_la9_auto_finds_the_transport(options):
    """L19, LA9: Streamable HTTP first, HTTP+SSE after a 4xx."""
    result, seen = talk(echo, **options)
    assert result == {"a": "ü"}
    assert seen[0] == ("POST /sse" if options.get("old") else "POST /mcp")
    assert ("GET /sse" in seen) == options.get("old", False)


@pytest.mark.parametrize(
    ("transport", "options", "first"), [("streamable-http", {}, "POST /mcp"), ("sse", {"old": True}, "GET /sse")]
)
def test_la9_an_explicit_transport_is_used_and_no_other(transport, options, first):
    result, seen = talk(echo, transport=transport, **options)
    assert result == {"a": "ü"}
    assert seen[0] == first


def test_l21_a_session_is_ended_on_the_server():
    """L21: servers stop on completion."""
    _, seen = talk(echo)
    assert seen[-1] == "DELETE /mcp"


def refused(*, transport="auto", start_timeout=60.0, url=None, **options):
    async def main():
        servers = McpServers(environ={}, start_timeout=start_timeout)
        async with web(**options) as app:
            config = ServerConfig("web", url=url or app.url, transport=transport)
            async with servers.connect([config], cwd="/"):
                raise AssertionError

    with pytest.raises(ToolServerError) as caught:
        run(main())
    assert "'web'" in caught.value.message
    assert caught.value.hint
    return caught.value.message


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"refuse": 500}, "HTTP status 500"),
        ({"refuse": 401}, "HTTP status 401"),
        ({"refuse": 403, "transport": "streamable-http"}, "HTTP status 403"),
        ({"refuse": 404, "transport": "sse"}, "HTTP status 404"),
        ({"old": True, "transport": "streamable-http"}, "HTTP status 404"),
    ],
)
def test_la11_a_refusal_names_the_status(options, expected):
    assert expected in refused(**options)


def test_la11_nobody_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        message = refused(url=f"http://127.0.0.1:{taken.getsockname()[1]}/mcp?token=t0")
    assert "no connection" in message
    assert "t0" not in message


@pytest.mark.parametrize("url", ["http://[bad/mcp", "http://h:99999999/", "http:///mcp", "http://h:port/", "https://"])
def test_l18_a_url_that_is_none(url):
    assert "URL is not valid" in refused(url=url)


def test_la11_a_server_that_hangs_is_given_up():
    assert "not ready within 0.3 s" in refused(hang=True, start_timeout=0.3)


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize(("tool", "expected"), [("drop", ""), ("hang", "no answer to 'hang' within 0.8 s")])
def test_x18_a_lost_connection_is_an_error_result_and_is_made_again(options, tool, expected):
    """X18: a crash and a timeout, on every transport."""

    async def work(_, call):
        return await call(tool), await call("echo", a=1)

    (lost, after), _ = talk(work, call_timeout=0.8, **options)
    assert lost.is_error
    assert expected in lost.content
    assert "connected to again" in lost.content
    assert not after.is_error


def test_x18_a_forgotten_session_is_made_again():
    async def work(app, call):
        await call("forget")
        return await call("echo", a=1), await call("echo", a=2), app.sessions

    (lost, after, sessions), _ = talk(work)
    assert "our session" in lost.content
    assert (lost.is_error, after.is_error, sessions) == (True, False, 2)


def test_x18_an_error_answer_keeps_the_session():
    async def work(app, call):
        return await call("busy"), await call("echo", a=1), app.sessions

    (busy, after, sessions), _ = talk(work)
    assert busy.is_error
    assert "the database is busy" in busy.content
    assert (after.is_error, sessions) == (False, 1)


@pytest.mark.parametrize("options", [{}, {"stream": True}, {"old": True}])
def test_x9_an_answer_that_is_nested_too_deeply_is_an_error_result_at_once(options):
    async def work(_, call):
        return await call("deep"), await call("echo", a=1)

    (deep, after), _ = talk(work, call_timeout=60, **options)
    assert deep.is_error and "within 60" not in deep.content
    assert not after.is_error


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, "larger than 16 MiB"), ({"stream": True}, "16777216 byte limit"), ({"old": True}, "1048576 byte limit")],
)
def test_x9_an_enormous_answer_is_an_error_result(options, expected):
    async def work(_, call):
        return await call("huge", bytes=20_000_000), await call("echo", a=1)

    (huge, after), _ = talk(work, **options)
    assert huge.is_error
    assert expected in huge.content
    assert not after.is_error


@pytest.mark.parametrize("options", KINDS[:2])
def test_x9_a_long_answer_is_cut(options):
    async def work(_, call):
        return await call("huge", bytes=2_000_000)

    result, _ = talk(work, **options)
    assert not result.is_error
    assert len(result.content) <= 256 * 1024
    assert "2000000 bytes" in result.content


def test_x9_a_compressed_answer_is_refused():
    async def work(_, call):
        return await call("zipped"), await call("echo", a=1)

    (zipped, after), _ = talk(work)
    assert zipped.is_error
    assert "compresses" in zipped.content
    assert not after.is_error
