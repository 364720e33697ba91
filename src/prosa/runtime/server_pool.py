"""MCP servers of a run: started once, and ended with the run (L21), or with the last of the runs that share them, as
rows of a batch do (X29). They start before the first model call of a program that declares them; a server with fully
declared tools starts on the first call of one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Value
from prosa.runtime.errors import ToolServerError
from prosa.runtime.ports import NamedTool, ServerConfig, ServerSession, ServerTool, ToolServers
from prosa.runtime.program import worded

Key = tuple[tuple[str, ...], str]


class ServerPool(Struct):
    """Running servers by what was declared. ``stack`` belongs to the run and ends them."""

    servers: ToolServers
    stack: AsyncExitStack
    _open: dict[Key, ServerSession] = field(default_factory=dict)
    _locks: dict[Key, asyncio.Lock] = field(default_factory=dict)

    async def session(self, declared: tuple[ServerConfig, ...], folder: str) -> ServerSession:
        """Return the session of some servers, which start together. Raises `ToolServerError` when one does not
        (LA11)."""
        plain = tuple(replace(server, tools=None) for server in declared)
        key = (tuple(repr(server) for server in plain), folder)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key not in self._open:
                self._open[key] = await self.stack.enter_async_context(self.servers.connect(plain, cwd=folder))
            return self._open[key]


class KeptServers(Struct):
    """Servers that several runs share, one after the other and at the same time; implements `ToolServers`. They start
    with the first run that needs them and end with `aclose`; after a permanent failure the next run gets new ones."""

    servers: ToolServers
    _open: dict[Key, _Shared] = field(default_factory=dict)
    _locks: dict[Key, asyncio.Lock] = field(default_factory=dict)

    @asynccontextmanager
    async def connect(self, servers: Sequence[ServerConfig], *, cwd: str) -> AsyncIterator[ServerSession]:
        """Return the running servers; leaving the context leaves them running."""
        shared = await self._shared(servers, cwd)
        shared.users += 1
        try:
            yield shared.session
        except GeneratorExit:
            raise
        except BaseException:
            await shared.left()
            raise
        await shared.left()

    async def _shared(self, servers: Sequence[ServerConfig], cwd: str) -> _Shared:
        key = (tuple(repr(server) for server in servers), cwd)
        async with self._locks.setdefault(key, asyncio.Lock()):
            shared = self._open.get(key)
            if shared is not None and shared.session.is_lost:
                del self._open[key]
                await shared.retire()
                shared = None
            if shared is None:
                stack = AsyncExitStack()
                session = await stack.enter_async_context(self.servers.connect(servers, cwd=cwd))
                shared = self._open[key] = _Shared(session, stack)
            return shared

    async def aclose(self) -> None:
        """End all servers."""
        shareds = list(self._open.values())
        self._open.clear()
        await asyncio.gather(*(shared.stack.aclose() for shared in shareds))


class _Shared(Struct, eq=False):
    """One session, the runs that use it, and its exit stack. A retired one ends with the last of them."""

    session: ServerSession
    stack: AsyncExitStack
    users: int = 0
    retired: bool = False

    async def left(self) -> None:
        self.users -= 1
        if self.retired and not self.users:
            await self.stack.aclose()

    async def retire(self) -> None:
        self.retired = True
        if not self.users:
            await self.stack.aclose()


class WaitingServer(Struct):
    """A server that starts when one of its tools is called; ``notice`` reports differences from the declaration."""

    pool: ServerPool
    config: ServerConfig
    folder: str
    notice: Callable[[str], None]
    compared: bool = False

    async def session(self) -> ServerSession:
        """Return the running server. Raises `ToolServerError` when it does not start, or lacks a tool that is named."""
        session = await self.pool.session((self.config,), self.folder)
        if not self.compared:
            offered(self.config, session.tools, self.notice)
            self.compared = True
        return session


def offered(config: ServerConfig, tools: Iterable[ServerTool], notice: Callable[[str], None]) -> list[ServerTool]:
    """Return the tools of a running server that a model is offered: all, or those that the program names, in its order
    and in its words. Raises `ToolServerError` for one that the server does not have."""
    own = [tool for tool in tools if tool.server == config.name]
    if config.tools is None:
        return own
    by_name = {tool.name: tool for tool in own}
    missing = [tool.name for tool in config.tools if tool.name not in by_name]
    if missing:
        raise _lacking(config, missing, [*by_name])
    for named in config.tools:
        for difference in _differences(named, by_name[named.name].parameters):
            notice(f"MCP server {config.name!r}: {difference}; see `tools` of the server in the program")
    return [worded(config.name, named, by_name[named.name]) for named in config.tools]


def _lacking(config: ServerConfig, missing: Sequence[str], names: Sequence[str]) -> ToolServerError:
    words = f"the tool {missing[0]!r}" if len(missing) == 1 else f"the tools {', '.join(map(repr, missing))}"
    has = ", ".join(names[:MAX_NAMES]) + (" …" if len(names) > MAX_NAMES else "")
    return ToolServerError(
        f"MCP server {config.name!r} does not have {words}, which the program names",
        hint=f"correct `tools` of the server in the program; it has {has or 'no tools'}",
    )


MAX_NAMES = 20
"""Tools of a server that a message names."""


def _differences(named: NamedTool, own: Mapping[str, Value]) -> Iterator[str]:
    """Yield what the parameters of a program's tool have that the server's do not know, and the other way round where
    the server needs it. Types are judged by the server, call by call."""
    declared, known = _names(named.parameters), _names(own)
    if declared is None or known is None:
        return
    required = own.get("required")
    needs = [str(name) for name in required if name not in declared] if isinstance(required, list) else []
    if needs:
        yield f"{named.name} needs {_quoted(needs)}, which the program does not name"
    if unknown := [name for name in declared if name not in known]:
        yield f"{named.name} does not know {_quoted(unknown)}, which the program names"


def _names(parameters: Mapping[str, Value] | None) -> list[str] | None:
    properties = parameters.get("properties") if parameters is not None else None
    return [*properties] if isinstance(properties, Mapping) else None


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:MAX_NAMES])
