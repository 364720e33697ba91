"""What one server offers, and the calls to it: waiting, under way, lost.

Callers in other tasks only wait for futures, so cancelling one never cancels anything inside the SDK but the one call.
Every call has one `ToolResult`, whatever happens; a lost one is never repeated, for it may have done its work. A tool
that breaks the protocol is left out with a notice that names it, and a list that does not end is not followed.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from typing import assert_never

import anyio
import mcp_types as types
from mcp import Client, MCPError
from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from prosa.adapters.mcp import words
from prosa.adapters.mcp.observed import Observed
from prosa.adapters.mcp.skills import ServedSkills
from prosa.data import Value
from prosa.runtime.errors import ToolServerError
from prosa.runtime.ports import ServerTool, ToolResult

SETTLE_SECONDS = 1.0
"""For the other calls under way when a connection is lost: their answers may already have arrived."""


class _Call(Struct, frozen=True, eq=False):
    tool: str
    arguments: dict[str, Value]
    answer: asyncio.Future[ToolResult]


class Calls:
    """The calls of a server named `name`; `seconds` bound a call, `limit` the bytes of a result. `advice` says what a
    user can do about a call that failed."""

    def __init__(self, name: str, *, seconds: float, limit: int, advice: Callable[[Observed], str]) -> None:
        self._advice = advice
        self.skills: ServedSkills | None = None
        """The skills of the connection that is served, as tools beside its own."""
        self.answered = False
        """Whether the connection that is served, or was last, has answered a call."""
        self._name = name
        self._seconds = seconds
        self._limit = limit
        self._waiting: deque[_Call] = deque()
        self._lost: list[tuple[_Call, str, Observed]] = []
        self._wake = asyncio.Event()

    @property
    def any_lost(self) -> bool:
        """Whether a caller waits for the outcome of a lost connection."""
        return bool(self._lost)

    async def ask(self, tool: str, arguments: Mapping[str, Value]) -> ToolResult:
        """Return the answer of a tool, or words about why there is none. Cancelling the caller cancels the call."""
        call = _Call(tool, dict(arguments), asyncio.get_running_loop().create_future())
        self._waiting.append(call)
        self._wake.set()
        return await call.answer

    async def wanted(self) -> None:
        """Wait until there is a call."""
        while not self._waiting:
            self._wake.clear()
            await self._wake.wait()

    async def serve(self, client: Client, seen: Observed) -> None:
        """Answer calls, as many at a time as there are, until the connection has `ended`."""
        self.answered = False
        async with anyio.create_task_group() as running:
            with anyio.CancelScope() as accepting:
                running.start_soon(_cancel_when_ended, seen, accepting)
                while True:
                    await self.wanted()
                    running.start_soon(self._answer, client, self._waiting.popleft(), seen)
            running.cancel_scope.deadline = anyio.current_time() + SETTLE_SECONDS

    def tell_lost(self, what: str) -> None:
        """Answer the calls lost with a connection; `what` describes the recovery."""
        for call, how, seen in self._lost:
            self._finish(call, f"The MCP server '{self._name}' {how or f'was lost: {words.ended(seen)}'}. {what}")
        self._lost.clear()

    def refuse_waiting(self, why: str) -> None:
        """Answer the calls that no connection has seen."""
        while self._waiting:
            self._finish(self._waiting.popleft(), why)

    async def _answer(self, client: Client, call: _Call, seen: Observed) -> None:
        """One call. When it is cut short, it is among the lost ones; when its caller has gone, it is forgotten."""
        with anyio.CancelScope() as scope:
            call.answer.add_done_callback(lambda answer: scope.cancel() if answer.cancelled() else None)
            how = ""
            try:
                how = await self._ask(client, call, seen)
            finally:
                if not call.answer.done():
                    self._lost.append((call, how, seen))

    async def _ask(self, client: Client, call: _Call, seen: Observed) -> str:
        """Ask, and answer the call. When it leaves the call open, it returns how the server failed it, if it knows."""
        try:
            with anyio.fail_after(self._seconds):
                answer = await self._answered(client, call)
        except TimeoutError:
            seen.hurry = True
            seen.failure = "it gave no answer in time"
            seen.ended.set()
            return f"gave no answer to '{call.tool}' within {self._seconds:g} s"
        except (MCPError, ValidationError, RuntimeError, ValueError) as problem:
            if isinstance(problem, MCPError) and words.is_loss(problem):
                seen.failure = seen.failure or words.loss(problem)
                seen.ended.set()
                return ""
            self.answered = True
            self._finish(call, f"The tool '{call.tool}' failed: {words.reason(problem, seen)}{self._advice(seen)}")
        else:
            self.answered = True
            if not call.answer.done():
                call.answer.set_result(replace(answer, content=cut(answer.content, self._limit)))
        return ""

    async def _answered(self, client: Client, call: _Call) -> ToolResult:
        if self.skills is not None and call.tool in self.skills.offered:
            return await self.skills.answer(client, call.tool, call.arguments)
        return to_result(await client.call_tool(call.tool, call.arguments), self._limit)

    def _finish(self, call: _Call, text: str) -> None:
        if not call.answer.done():
            call.answer.set_result(ToolResult(cut(text, self._limit), is_error=True))


async def _cancel_when_ended(seen: Observed, scope: anyio.CancelScope) -> None:
    await seen.ended.wait()
    scope.cancel()


# A tool's answer as text for the model. In: the SDK's result. Out: a `ToolResult`: texts joined with line ends, the
# structured content when there is no text, one line for other content, all cut at a limit with a sentence that says so
# (X9). Refuses nothing: an answer that cannot be shown is described.


def to_result(answer: types.CallToolResult, limit: int) -> ToolResult:
    """Return the answer within `limit` bytes of UTF-8, the sentence about the cut included."""
    pieces = [_piece(block) for block in answer.content]
    has_text = any(isinstance(block, types.TextContent) for block in answer.content)
    if answer.structured_content is not None and not has_text:
        pieces.append(json.dumps(answer.structured_content, ensure_ascii=False))
    return ToolResult(cut("\n".join(pieces), limit), is_error=answer.is_error)


def cut(text: str, limit: int) -> str:
    """Return the text, or as much of its start as fits into `limit` bytes together with a sentence that it was cut
    (X9)."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode()
    sentence = f"\n[Cut here: the whole result has {len(data)} bytes, and only the first {{}} are shown.]"
    room = max(0, limit - len(sentence.encode()) - len(str(limit)))
    shown = data[:room].decode("utf-8", "ignore")
    return shown + sentence.format(len(shown.encode()))


def _piece(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent():
            return f"[image, {block.mime_type}, {_decoded(block.data)} bytes, not shown]"
        case types.AudioContent():
            return f"[audio, {block.mime_type}, {_decoded(block.data)} bytes, not shown]"
        case types.EmbeddedResource():
            return _resource(block.resource)
        case types.ResourceLink():
            facts = [block.uri, block.mime_type, f"{block.size} bytes" if block.size is not None else None]
            return f"[link to resource {block.name}: {', '.join(fact for fact in facts if fact)}]"
        case _:
            assert_never(block)


def _resource(resource: types.TextResourceContents | types.BlobResourceContents) -> str:
    if isinstance(resource, types.BlobResourceContents):
        kind = resource.mime_type or "unknown type"
        return f"[resource {resource.uri}, {kind}, {_decoded(resource.blob)} bytes, not shown]"
    size = len(resource.text.encode("utf-8", "replace"))
    return f"[resource {resource.uri}, {resource.mime_type or 'text'}, {size} bytes]\n{resource.text}"


def _decoded(base64: str) -> int:
    """Return the number of bytes in a base64 text, without decoding it."""
    return len(base64.rstrip("=")) * 3 // 4


PAGES = 100
"""Pages of one list. Servers send ten to a hundred tools a page."""
TOOLS = 1000
"""Tools of one server. Model services stop at 128; more is a list that does not end."""

Notice = Callable[[str], None]


async def list_tools(client: Client, server: str) -> list[ServerTool]:
    """Return all pages (L21). Raises `ToolServerError` for a list that does not end; a server without tools has
    none."""
    tools: list[ServerTool] = []
    cursor: str | None = None
    for _ in range(PAGES):
        page = await _page(client, cursor)
        if page is None:
            return tools
        tools += [_tool(server, tool) for tool in page.tools]
        if not page.next_cursor:
            return tools
        if page.next_cursor == cursor or len(tools) > TOOLS:
            break
        cursor = page.next_cursor
    raise ToolServerError(
        f"MCP server '{server}' has a list of tools that does not end",
        hint=f"at most {PAGES} pages and {TOOLS} tools are read",
    )


async def _page(client: Client, cursor: str | None) -> types.ListToolsResult | None:
    try:
        return await client.list_tools(cursor=cursor)
    except MCPError as problem:
        # Servers of prompts and resources only do not know the method.
        if problem.code == types.METHOD_NOT_FOUND and cursor is None:
            return None
        raise


def _tool(server: str, tool: types.Tool) -> ServerTool:
    reads = bool(tool.annotations and tool.annotations.read_only_hint)
    return ServerTool(server, tool.name, tool.description or tool.title or "", tool.input_schema, reads)


def mend(result: dict[str, Value], server: str, notice: Notice) -> None:
    """Make a raw `tools/list` answer readable, in place; other answers stay unchanged.

    The SDK refuses a whole list for one bad entry. Only the used parts of an entry are kept: output schemas are not,
    since the model gets the tool's answer even if it violates its own schema.
    """
    tools = result.get("tools")
    if not isinstance(tools, list):
        return
    mended: list[Value] = []
    for number, entry in enumerate(tools, 1):
        problem = _problem(entry) if isinstance(entry, Mapping) else "it is not an object"
        if problem:
            notice(f"MCP server '{server}': {_named(entry, number)} is left out: {problem}")
        elif isinstance(entry, Mapping):
            mended.append(_kept(entry))
    result["tools"] = mended


def _named(entry: Value, number: int) -> str:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return f"tool '{name[:100]}'" if isinstance(name, str) and name else f"tool number {number}"


def _kept(entry: Mapping[str, Value]) -> dict[str, Value]:
    kept = {key: entry[key] for key in ("name", "title", "description") if isinstance(entry.get(key), str)}
    schema = entry.get("inputSchema")
    own = schema if isinstance(schema, Mapping) else {}
    return kept | {"inputSchema": {"type": "object", **own}, **_annotations(entry)}


def _annotations(entry: Mapping[str, Value]) -> dict[str, Value]:
    """Return whether the tool says that it only reads; a hint in another form does not count."""
    annotations = entry.get("annotations")
    reads = isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True
    return {"annotations": {"readOnlyHint": True}} if reads else {}


def _problem(entry: Mapping[str, Value]) -> str:
    """Return why an entry cannot be used, or the empty text."""
    if not isinstance(entry.get("name"), str) or not entry["name"]:
        return "it has no name"
    schema = entry.get("inputSchema")
    if schema is None:
        return ""
    if not isinstance(schema, Mapping):
        return "its inputSchema is not an object"
    return _schema_problem(schema)


def _schema_problem(schema: Mapping[str, Value]) -> str:
    if schema.get("type", "object") != "object":
        return f"its inputSchema has type {str(schema['type'])[:40]!r}, and arguments are always an object"
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping) or not all(
        isinstance(value, Mapping | bool) for value in properties.values()
    ):
        return "the properties of its inputSchema are not schemas"
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return "'required' in its inputSchema is not a list of names"
    if not isinstance(schema.get("$schema", ""), str):
        return "'$schema' in its inputSchema is not text"
    return ""
