"""The servers of a program, started and ended together: the runtime's view of MCP.

In: server configurations in the order of their declaration. Out: a session with the tools of all of them (L21). Fails
if one does not start (LA11), and never leaves the context before all their processes are gone, even if the caller is
cancelled meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from prosa.data import Value
from prosa.regex import regex
from prosa.runtime.errors import ToolServerError
from prosa.runtime.ports import ServerConfig, ServerSession, ServerTool, ToolResult

if TYPE_CHECKING:
    from prosa.adapters.mcp.credential import Credentials
    from prosa.adapters.mcp.server import Server

START_SECONDS = 30.0
"""`npx` may have to download a server first: six seconds for a small one."""
CALL_SECONDS = 60.0
RESULT_LIMIT = 256 * 1024
"""Bytes of a tool result (X9)."""
STOP_SECONDS = 15.0
"""Time limit for all servers to end. Each has its own, shorter limit; this one is for unforeseen cases."""


class McpServers:
    """Implements the `ToolServers` port. `environ` is the user's environment, of which servers get the part that X18
    allows; `credentials` returns the credential of a server over HTTP.

    `start_timeout` and `call_timeout` are seconds, `result_limit` bytes; `notice` gets sentences about tolerated
    problems, such as a tool that was left out.
    """

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        credentials: Credentials | None = None,
        start_timeout: float = START_SECONDS,
        call_timeout: float = CALL_SECONDS,
        result_limit: int = RESULT_LIMIT,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self._environ = environ
        self._credentials = credentials or (lambda _: None)
        self._seconds = (start_timeout, call_timeout)
        self._limit = result_limit
        self._notice = notice or (lambda _: None)

    @asynccontextmanager
    async def connect(self, servers: Sequence[ServerConfig], *, cwd: str) -> AsyncIterator[ServerSession]:
        """Start all servers at once. Raises `ToolServerError` for the first that does not start (X18, LA11)."""
        running = [self._server(config, cwd) for config in servers]
        try:
            for server in running:
                server.begin()
            yield _Session({server.name: server for server in running}, await _tools(running))
        finally:
            await _end(running)

    def _server(self, config: ServerConfig, cwd: str) -> Server:
        # The SDK takes half a second to import, so it is only loaded when there is a server.
        from prosa.adapters.mcp.connection import Launch
        from prosa.adapters.mcp.server import Server, ServerBounds

        _check(config)
        env = server_environment(config.name, config.env, self._environ) if config.command is not None else {}
        credential = self._credentials(config.url) if config.url is not None else None
        return Server(Launch(config, env, cwd, credential), ServerBounds(*self._seconds, self._limit), self._notice)


class _Session:
    """Running servers, by name."""

    def __init__(self, servers: Mapping[str, Server], tools: Sequence[ServerTool]) -> None:
        self._servers = servers
        self._tools = tuple(tools)
        self._names = {(tool.server, tool.name) for tool in tools}

    @property
    def tools(self) -> Sequence[ServerTool]:
        return self._tools

    @property
    def is_lost(self) -> bool:
        return any(server.is_gone for server in self._servers.values())

    async def call(self, server: str, tool: str, arguments: Mapping[str, Value]) -> ToolResult:
        """Call a tool. Never raises because of a server or a model; only if the caller is cancelled."""
        if server not in self._servers:
            return ToolResult(f"There is no MCP server '{server}'.", is_error=True)
        if (server, tool) not in self._names:
            return ToolResult(f"The MCP server '{server}' has no tool '{tool}'.", is_error=True)
        try:
            json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, TypeError, RecursionError) as problem:
            return ToolResult(f"The arguments of '{tool}' cannot be sent as JSON: {problem}", is_error=True)
        return await self._servers[server].call(tool, arguments)


def _check(config: ServerConfig) -> None:
    """Refuse what no route can be found for. Programs are checked before; other callers may not be."""
    problem = ""
    if (config.command is None) == (config.url is None):
        problem = "it needs either a command or a URL"
    elif config.command is not None and config.transport not in ("auto", "stdio"):
        problem = f"transport '{config.transport}' needs a URL, not a command"
    elif config.url is not None and config.transport == "stdio":
        problem = "transport 'stdio' needs a command, not a URL"
    elif config.url is not None:
        problem = _url_problem(config.url)
    if problem:
        raise ToolServerError(
            f"MCP server '{config.name}' cannot start: {problem}", hint="see mcp_servers in the program"
        )


def _url_problem(url: str) -> str:
    try:
        parts = urlsplit(url)
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if valid and "@" in parts.netloc:
        return "its URL carries a name or a password; a credential comes from your own settings alone"
    if not url.startswith(("http://", "https://")):
        return "its URL does not start with http:// or https://"
    return "" if valid else "its URL is not valid"


async def _tools(servers: Sequence[Server]) -> list[ServerTool]:
    """Return the tools of all servers, in the order of declaration."""
    if servers:
        await asyncio.wait([server.ready for server in servers], return_when=asyncio.FIRST_EXCEPTION)
    failed = [server for server in servers if server.ready.done() and server.ready.exception() is not None]
    if failed:
        raise failed[0].ready.exception() or AssertionError
    return [tool for server in servers for tool in server.ready.result()]


async def _end(servers: Sequence[Server]) -> None:
    """Stop all servers and waits for them, also while this task is being cancelled."""
    for server in servers:
        server.stop()
    tasks = [server.task for server in servers]
    await _wait(tasks, STOP_SECONDS)
    for task in tasks:
        task.cancel()
    await _wait(tasks, 1.0)


async def _wait(tasks: Sequence[asyncio.Task[None]], seconds: float) -> None:
    """Wait for the tasks. A cancellation meanwhile is passed on afterwards, for the wait is bounded."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    cancelled: asyncio.CancelledError | None = None
    while (left := [task for task in tasks if not task.done()]) and loop.time() < deadline:
        try:
            await asyncio.wait(left, timeout=deadline - loop.time())
        except asyncio.CancelledError as cancellation:
            cancelled = cancellation
    if cancelled is not None:
        raise cancelled


# The environment of a stdio server (X18). In: the user's environment and the `env` of a server as written. Out: the
# variables that the server gets: the SDK's short list of safe names plus `env`. Nothing else is inherited, so no
# provider key ever is. `${NAME}` in a value of `env` takes one variable of the user; `$${` stands for a literal `${`.

_REFERENCE = regex(r"\$\$\{|\$\{([^}]*)\}?")
_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def server_environment(server: str, env: Mapping[str, str] | None, environ: Mapping[str, str]) -> dict[str, str]:
    """Return all variables of a server. Raises `ToolServerError` for a variable that the user has not set (X18)."""
    from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS

    # A value that starts with "()" is an exported shell function: code, not data.
    safe = {name: environ[name] for name in DEFAULT_INHERITED_ENV_VARS if not environ.get(name, "()").startswith("()")}
    return safe | {name: _filled(server, name, value, environ) for name, value in (env or {}).items()}


def _filled(server: str, name: str, value: str, environ: Mapping[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        return _variable(server, name, match, environ)

    if not name or "=" in name or "\0" in name + value:
        raise ToolServerError(
            f"MCP server '{server}' cannot start: env has a variable {name!r} that no process can be given",
            hint="a name is not empty and has no '='; neither name nor value has a NUL character",
        )
    return _REFERENCE.sub(replace, value)


def _variable(server: str, name: str, match: re.Match[str], environ: Mapping[str, str]) -> str:
    wanted = match[1]
    if not match[0].endswith("}") or not _NAME.match(wanted):
        raise ToolServerError(
            f"MCP server '{server}' cannot start: env.{name} has {match[0]!r}, which names no variable",
            hint="write ${NAME} for a variable and $${ for a literal ${",
        )
    if wanted not in environ:
        raise ToolServerError(
            f"MCP server '{server}' cannot start: env.{name} needs the environment variable {wanted}, which is not set",
            hint=f"set it first, for example: export {wanted}=…",
        )
    return environ[wanted]
