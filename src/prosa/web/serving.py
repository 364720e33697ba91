"""A site on a socket: bound before any output, served until stopped, ended without cutting off answers.

In: an application and a bound socket. Out: nothing; it returns after a signal, once the last answer is sent.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from types import FrameType
from typing import TYPE_CHECKING, Any

from prosa.asgi import Asgi
from prosa.source.url import is_loopback
from prosa.web.limits import SPARE, ConnectionLimits

if TYPE_CHECKING:
    import uvicorn

SIGNALS = (signal.SIGINT, signal.SIGTERM)

GRACE = 5
"""Seconds that answers under way have to end after a signal."""

KEEP_ALIVE = 15
"""Seconds that an idle connection stays open."""

BACKLOG = 512

_BOUNDS = ConnectionLimits()


def bound(host: str, port: int) -> socket.socket:
    """Return a listening socket. Port 0 is any free one. Raises `OSError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(BACKLOG)
        made.set_inheritable(False)
    except BaseException:
        made.close()
        raise
    return made


def address_of(made: socket.socket, host: str) -> str:
    """Return the address under which people of this machine reach a socket: `http://127.0.0.1:8000`."""
    port = made.getsockname()[1]
    shown = "127.0.0.1" if host == "0.0.0.0" else "::1" if host == "::" else host  # noqa: S104 - shown, not bound
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def hosts_of(host: str, port: int, more: tuple[str, ...]) -> frozenset[str]:
    """Return the values of `Host` that mean this site: names of this machine where it is bound to it, and those the
    user allows."""
    names = {f"[{host}]" if ":" in host else host, *more}
    if is_loopback(host) or host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        names |= {"localhost", "127.0.0.1", "[::1]"}
    with_port = {f"{name}:{port}" for name in names}
    return frozenset(authority.lower() for authority in (*with_port, *(names if port == 80 else ()), *more))


def serve(
    app: Asgi,
    made: socket.socket,
    started: Callable[[], None],
    *,
    bounds: ConnectionLimits = _BOUNDS,
    stopping: Callable[[], None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; a second one does not wait for answers under way. ``started`` is called when the
    first request may come, ``stopping`` at a signal, so that answers without an end can end. Must be called in the
    main thread."""
    import uvicorn

    # Errors of clients are in the access log; on stderr they could fill that up and block everything.
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    config = uvicorn.Config(
        app,
        http=protocol(bounds),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # believed only of proxies that the user names, by the application
        lifespan="on",
        limit_concurrency=bounds.connections + SPARE,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        ws="none",
        h11_max_incomplete_event_size=bounds.head_bytes,
    )
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(_serve(uvicorn.Server(config), made, started, stopping))


def protocol(bounds: ConnectionLimits) -> Any:
    """Return what makes connections of sockets: our own, or the name of the slower one, which has the bound of a head
    alone, where its parser cannot be loaded."""
    try:
        import httptools
    except ImportError:
        return "h11"
    del httptools
    from prosa.web.protocol import guarded

    return guarded(bounds)


async def _serve(
    server: uvicorn.Server, made: socket.socket, started: Callable[[], None], stopping: Callable[[], None] | None
) -> None:
    """Without the server's own signals: it would raise them once more at its end."""
    loop = asyncio.get_running_loop()

    def stop(number: int, _frame: FrameType | None = None) -> None:
        server.handle_exit(number, None)
        if stopping is not None:
            stopping()

    for number in SIGNALS:
        try:
            loop.add_signal_handler(number, stop, number)
        except NotImplementedError:  # a system whose event loops have no signals
            signal.signal(number, stop)
    server.capture_signals = nullcontext  # type: ignore[assignment,method-assign]
    server.startup = _telling(server, started)  # type: ignore[method-assign]
    await server.serve([made])


def _telling(server: uvicorn.Server, started: Callable[[], None]) -> Callable[..., Coroutine[Any, Any, None]]:
    """Return the start of a server that reports its success."""
    begin = server.startup

    async def startup(sockets: list[socket.socket] | None = None) -> None:
        await begin(sockets)
        if server.started:
            started()

    return startup
