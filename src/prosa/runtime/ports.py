"""The ports of the runtime as small Protocols. Adapters implement them; fakes are beside the adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Literal, Protocol, TypeAlias

from msgspec import Struct

from prosa.data import Value
from prosa.runtime.messages import ModelReply, ModelRequest, ToolSpec, Usage
from prosa.source.values import PartlyCompared, PartlyShown

OnText: TypeAlias = Callable[[str], None]


class Provider(Protocol):
    """A service that answers messages."""

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Make one attempt, without retries, and return the reply. With ``on_text`` the reply streams and each piece
        is passed to it.

        Raises `prosa.runtime.errors.ProviderError`, which says whether a retry makes sense.
        """
        ...

    async def aclose(self) -> None:
        """Release connections. Safe to call twice."""
        ...


class ToolResult(Struct, frozen=True):
    """What a tool call gave, as text for the model."""

    content: str
    is_error: bool = False


class Tool(Protocol):
    """Something a model can call. ``kind`` decides how it is counted: only non-program calls are `tools_called`."""

    @property
    def spec(self) -> ToolSpec:
        """Its description for the model."""
        ...

    @property
    def kind(self) -> Literal["python", "mcp", "program", "action", "skill", "mail"]:
        """What answers it."""
        ...

    @property
    def repeatable(self) -> bool:
        """Whether a call that may have been made can be made again: it changes nothing outside of the run (X25)."""
        ...

    @property
    def moves(self) -> bool:
        """Whether a call changes the offered tools, so that its result alone cannot replace it."""
        ...

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Run the tool. ``path`` is the place of the call in the run. A failure the model can react to is a result with
        ``is_error``, not an exception."""
        ...


class SteadyTool(Struct, frozen=True):
    """A tool whose calls can be made again and change no offer."""

    repeatable: ClassVar[bool] = True
    moves: ClassVar[bool] = False


class Body(Protocol):
    """The text of the user message, for an input."""

    @property
    def text(self) -> str:
        """As it is written, for a digest."""
        ...

    def render(self, data: Value, *, schema: Mapping[str, Value] | bool | None = None) -> str:
        """For plain JSON ``data``. Raises `prosa.template.TemplateError`."""
        ...


class SandboxResult(Struct, frozen=True):
    """What a program in the sandbox printed; ``error`` is None when it ended well (L22)."""

    stdout: str
    stderr: str
    error: str | None


class Sandbox(Protocol):
    """CPython in WebAssembly. Every run gets a fresh interpreter."""

    async def run(
        self, code: str, *, timeout: float, memory: int, folder: str | None = None, outputs: str | None = None
    ) -> SandboxResult:
        """Run code for at most ``timeout`` seconds of wall clock and ``memory`` bytes. It may read ``folder``, as
        `/skill`, and with it ``outputs``, as `/outputs`, but no link that leads out of them.

        Every outcome of the code is a result. Raises `prosa.runtime.errors.SandboxError` only when the sandbox itself
        cannot work.
        """
        ...

    async def aclose(self) -> None:
        """End the worker."""
        ...


MOUNT = "/skill"
"""The folder of a skill as its scripts see it."""


class SkillFiles(Protocol):
    """Reads what lies below the folders of skills (X32)."""

    def read(self, folder: str, path: str, first: int, most: int) -> ToolResult:
        """Return at most ``most`` bytes of a text file, from line ``first`` on, or the names in a folder. Anything
        that is no text, outside of ``folder``, or reached through a link out of it, is an error result."""
        ...


class NamedTool(Struct, frozen=True):
    """A tool of an MCP server as declared by a program. None leaves a value to the server."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Value] | None = None
    read_only: bool | None = None


NamedBy: TypeAlias = Literal["argument", "trust", "document"]
"""Who named what declares a server: an argument of this call, a chat that the user trusts, or any other document."""


class Origin(Struct, frozen=True):
    """The document that declares a server, and whether the user named it (X7): by default none that may start one.

    ``path`` is the document as named, ``digest`` the SHA-256 of the bytes that were read, ``line`` that of the server;
    all are empty without a document.
    """

    by: NamedBy = "document"
    path: str = ""
    digest: str = ""
    line: int = 0


UNNAMED = Origin()
"""The origin of what nothing else is known of."""


class ServerConfig(PartlyShown, PartlyCompared, Struct, frozen=True):
    """One MCP server as a program declares it (L18). Exactly one of ``command`` and ``url`` is set.

    ``env`` values are as written; ``${NAME}`` is replaced by the adapter from the user's environment (X18). ``tools``
    are those that are offered, None for all that it has. ``origin`` decides whether it may start; two equal servers of
    different origins are the same server.
    """

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    url: str | None = None
    transport: Literal["auto", "stdio", "streamable-http", "sse"] = "auto"
    tools: tuple[NamedTool, ...] | None = None
    origin: Origin = UNNAMED

    unshown: ClassVar = frozenset({"origin"})
    uncompared: ClassVar = frozenset({"origin"})

    @property
    def waits(self) -> bool:
        """Whether its tools are completely declared, so that it only starts when one of them is called."""
        return self.tools is not None and all(tool.parameters is not None for tool in self.tools)


class ServerTool(Struct, frozen=True):
    """A tool of a running MCP server under its own, unmangled name. ``read_only`` is the server's hint."""

    server: str
    name: str
    description: str
    parameters: Mapping[str, Value]
    read_only: bool = False


class ServerSession(Protocol):
    """Running MCP servers."""

    @property
    def tools(self) -> Sequence[ServerTool]:
        """All tools of all servers: servers in declaration order, tools in the server's order."""
        ...

    @property
    def is_lost(self) -> bool:
        """Whether one of the servers is gone and is not started again here."""
        ...

    async def call(self, server: str, tool: str, arguments: Mapping[str, Value]) -> ToolResult:
        """Call a tool; a crash or a timeout is an error result after one reconnect (X18)."""
        ...


class ToolServers(Protocol):
    """Starts MCP servers."""

    def connect(self, servers: Sequence[ServerConfig], *, cwd: str) -> AbstractAsyncContextManager[ServerSession]:
        """Start all servers concurrently; leaving the context ends them and every process they started.

        Entering raises `prosa.runtime.errors.ToolServerError` when one does not start (LA11).
        """
        ...


class SiteAction(Protocol):
    """An action of a page, ready to be called (X15). Everything the site wrote in it is bounded and on one line."""

    @property
    def id(self) -> str:
        """Its id on the site."""
        ...

    @property
    def page(self) -> str:
        """The URL of the page that declares it."""
        ...

    @property
    def description(self) -> str:
        """Its description for the model."""
        ...

    @property
    def parameters(self) -> Mapping[str, Value]:
        """The JSON Schema of its arguments."""
        ...

    @property
    def repeatable(self) -> bool:
        """Whether it only reads, so that it may be called again."""
        ...

    async def call(self, arguments: Mapping[str, Value]) -> ToolResult:
        """Send the request. What changes something needs the permission of the run; without it nothing is sent."""
        ...


class SiteSession(Protocol):
    """The sites of one program while it runs, and the pages that it is on: one for each URL that was declared."""

    @property
    def where(self) -> str:
        """The sites, and the page that the run is on, in one sentence for the model."""
        ...

    @property
    def actions(self) -> Sequence[SiteAction]:
        """The actions of these pages, bounded in number; those of the page visited last come first."""
        ...

    async def visit(self, to: str) -> ToolResult:
        """Go to a page: a URL path, the id of a node, the number or the text of a link. Return its text, its links and
        its actions. A page that cannot be read is an error result, and the run stays on its page."""
        ...


class Sites(Protocol):
    """Reaches MDH sites within the bounds and rights of the run (X7, X8)."""

    def open(
        self, urls: Sequence[str], *, result_limit: int, path: str = ""
    ) -> AbstractAsyncContextManager[SiteSession]:
        """Read the page at each URL; leaving the context cancels pending requests.

        ``result_limit`` is bytes of a tool result, ``path`` the path of the program in the run (`Scope.path`).
        Entering raises `prosa.runtime.errors.SiteError` for a page that cannot be read.
        """
        ...


class Clock(Protocol):
    """Time."""

    def now(self) -> datetime:
        """Return the moment, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds since some moment; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; a test may not."""
        ...


class Prices(Protocol):
    """What tokens cost."""

    def cost(self, model_name: str, usage: Usage, service: str | None = None) -> Decimal | None:
        """Return US dollars, or None for a model without a known price (LA27).

        ``service`` is the base URL of the call: a price list is only valid for the service that charges it. None looks
        the model up by its name alone.
        """
        ...
