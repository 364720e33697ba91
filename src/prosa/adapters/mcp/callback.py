"""The address on this machine to which a browser returns after a login (RFC 8252, section 7.3).

In: the `state` of the request. Out: the code of the first request that has it. Listens on 127.0.0.1 alone, for the
length of one login; requests of anyone else are refused and waited past.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

from mcp.shared.auth import AuthorizationCodeResult

from prosa.runtime.errors import LoginError

HOST, PATH = "127.0.0.1", "/callback"

MAX_HEAD = 16 * 1024
"""Bytes of the request of a browser; a code has some hundred."""

HEAD_SECONDS = 10.0

_PAGE = """\
HTTP/1.1 {status}\r
Content-Type: text/html; charset=utf-8\r
Cache-Control: no-store\r
Referrer-Policy: no-referrer\r
Connection: close\r
\r
<!doctype html><title>Prosa</title><p>{words}"""


class Callback:
    """One login. ``state`` is set before the browser is sent away."""

    def __init__(self) -> None:
        self.port = 0
        self.state = ""
        self._result: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

    @property
    def url(self) -> str:
        """The redirect URI."""
        return f"http://{HOST}:{self.port}{PATH}"

    async def result(self) -> AuthorizationCodeResult:
        """Wait for the browser. Raises `LoginError` where the login was refused there."""
        return await self._result

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n"), HEAD_SECONDS)
            status, words = self._taken(head.decode("latin-1").split(" "))
            writer.write(_PAGE.format(status=status, words=words).encode())
            await writer.drain()
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return  # not a browser
        finally:
            writer.close()

    def _taken(self, line: list[str]) -> tuple[str, str]:
        parts = urlsplit(line[1]) if len(line) == 3 and line[0] == "GET" else None
        if parts is None or parts.path != PATH:
            return "404 Not Found", "There is nothing here."
        parameters = {name: values[0] for name, values in parse_qs(parts.query).items() if len(values) == 1}
        if not self.state or not secrets.compare_digest(parameters.get("state", "").encode(), self.state.encode()):
            return "400 Bad Request", "This is not the answer to the login that was started here."
        if self._result.done():
            return "400 Bad Request", "This login has had its answer."
        if error := parameters.get("error"):
            about = parameters.get("error_description", "")
            self._result.set_exception(LoginError(f"the login was refused: {error}{about and f' ({about})'}"))
            return "200 OK", "The login was refused. You can close this page."
        self._result.set_result(
            AuthorizationCodeResult(
                code=parameters.get("code", ""), state=parameters["state"], iss=parameters.get("iss")
            )
        )
        return "200 OK", "You can close this page and return to the terminal."


@asynccontextmanager
async def listening(port: int = 0) -> AsyncIterator[Callback]:
    """Listen at a free port, or at a certain one where the server knows this client by it. Raises `LoginError`."""
    made = Callback()
    try:
        server = await asyncio.start_server(made.answer, HOST, port, limit=MAX_HEAD)
    except (OSError, OverflowError) as error:
        raise LoginError(f"port {port} of this machine cannot be used: {error}", hint="choose another --port") from None
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
