"""The server of the Model Context Protocol over a folder: tools that read, documents as resources, programs as prompts
and, if the user allows it, as tools (X30, X23).

In: requests of a client, over any transport. Out: answers. The library speaks both versions of the protocol;
`app.site` decides the answers. A failed query is an error result, never an error of the protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast
from urllib.parse import unquote

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from prosa import __version__
from prosa.app.check.changed import UnknownRevision
from prosa.app.site import agents
from prosa.app.site.live import LiveSite
from prosa.app.site.skills import SiteSkills, Skills
from prosa.corpus.errors import CorpusError
from prosa.corpus.where.parse import WhereError
from prosa.data import Value
from prosa.diagnostics.nearest import UnknownName
from prosa.mcp_server.programs import Offered, Programs
from prosa.mcp_server.skills import SCHEME as SKILL_SCHEME
from prosa.mcp_server.skills import SkillAnswers, add_skills
from prosa.mcp_server.tools import READ_TOOLS, Arguments, ReadTool
from prosa.render.json import dump
from prosa.render.plain import safe
from prosa.runtime.errors import RunError
from prosa.runtime.events import Event, ModelAsked, ToolCalled
from prosa.runtime.messages import Meter
from prosa.runtime.program import reachable
from prosa.runtime.tools import argument_problems
from prosa.schema import describe_inputs
from prosa.schema.inputs import ArgumentProblem, typed_arguments
from prosa.site.layout import NodeRow
from prosa.source import FileProblem
from prosa.source.url import quoted_path

T = TypeVar("T")
P = ParamSpec("P")
Context: TypeAlias = ServerRequestContext[Any, Any]

SCHEME = "prosa:///"
PAGE = 100
"""Resources, prompts or tools of one page."""

AT_ONCE = 4
"""Questions that read documents at the same time."""

SCALARS = ("string", "number", "integer", "boolean")
INSTRUCTIONS = (
    "Markdown documents of one folder. Start with search or list; outline shows the sections of a document, read reads "
    "one. Documents are named by path or id. check says what is wrong in a text before it is written."
)


_ANSWERED = (agents.UnknownDocument, CorpusError, FileProblem, UnknownName, UnknownRevision, WhereError)
"""Errors of a query that its caller can act on."""


class Answers:
    """The answers to the requests of clients about one site."""

    def __init__(
        self, site: LiveSite, programs: Programs, scope: agents.CheckScope, skills: Sequence[Skills] = ()
    ) -> None:
        self.site, self.programs, self.scope = site, programs, scope
        self._places = asyncio.Semaphore(AT_ONCE)
        own = Skills(SiteSkills(site), site.index.notice)
        self.skills = SkillAnswers(site, (*skills, own), self._places)

    async def list_tools(self, _: object, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Return the tools that read, then the programs that may run."""
        tools = [_read_tool(tool, self.scope) for tool in READ_TOOLS]
        if self.programs.rights.globs:
            tools += [_program_tool(offered) for offered in await asyncio.to_thread(self.programs.runnable)]
        page, cursor = _page(tools, params)
        return types.ListToolsResult(tools=page, next_cursor=cursor)

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Return the answer of a tool; what goes wrong is an answer too."""
        arguments = params.arguments or {}
        tool = next((candidate for candidate in READ_TOOLS if candidate.name == params.name), None)
        if tool is not None:
            if wrong := argument_problems(tool.parameters, arguments):
                return _failed("\n".join(wrong))
            try:
                return _answered(await self._read(tool.ask, self.site, self.scope, cast("Arguments", arguments)))
            except _ANSWERED as error:
                return _failed(self._words(error))
        offered = await asyncio.to_thread(self.programs.named, params.name, to_run=True)
        if offered is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        return await self._run(context, offered, arguments)

    async def _run(self, context: Context, offered: Offered, arguments: Value) -> types.CallToolResult:
        """Run a program; a cancelled request ends its run."""
        meter, progress = Meter(), _Progress(context)
        try:
            output = await self.programs.run(offered, arguments, meter, progress)
        except (RunError, FileProblem) as error:
            return _failed(self._words(error))
        finally:
            await progress.close()
        return _answered(output if isinstance(output, dict) else {"result": output})

    async def list_resources(self, _: object, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """Return the published documents by path."""
        rows = sorted(self.site.index.catalogue.rows, key=lambda row: row.path)
        after = params.cursor if params is not None and params.cursor else ""
        rest = [row for row in rows if row.path > after]
        page = [self._resource(row) for row in rest[:PAGE]]
        return types.ListResourcesResult(resources=page, next_cursor=rest[PAGE - 1].path if len(rest) > PAGE else None)

    def _resource(self, row: NodeRow) -> types.Resource:
        stamp = self.site.stamp(row.path)
        size = stamp.size if stamp is not None else None
        return types.Resource(
            uri=f"{SCHEME}{quoted_path(row.path)}", name=row.path, title=row.title, mime_type="text/markdown", size=size
        )

    async def list_templates(self, _: object, __: object) -> types.ListResourceTemplatesResult:
        """Return any document by its path."""
        uri = f"{SCHEME}{{+path}}"
        template = types.ResourceTemplate(uri_template=uri, name="document", mime_type="text/markdown")
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(self, _: object, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Return the text of a document. Raises `MCPError` for one that is not published, or not there."""
        uri = str(params.uri)
        if uri.startswith(SKILL_SCHEME):
            return await self.skills.read(uri)
        try:
            view = await self._read(self.site.view, unquote(uri.removeprefix(SCHEME), errors="strict"))
        except (FileProblem, ValueError):
            view = None
        if not uri.startswith(SCHEME) or view is None or view.reading is None:
            raise MCPError(types.INVALID_PARAMS, f"Resource not found: {safe(uri[:500])}")
        text = view.reading.front.source.text
        content = types.TextResourceContents(uri=params.uri, mime_type="text/markdown", text=text)
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(self, _: object, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """Return the programs as prompts, which are available without running them."""
        prompts = [_prompt(offered) for offered in await asyncio.to_thread(self.programs.all)]
        page, cursor = _page(prompts, params)
        return types.ListPromptsResult(prompts=page, next_cursor=cursor)

    async def get_prompt(self, _: object, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return the messages of a program, rendered. Raises `MCPError` for no known name and an input that does not
        fit."""
        offered = await asyncio.to_thread(self.programs.named, params.name, to_run=False)
        if offered is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")
        pairs = (params.arguments or {}).items()
        try:
            arguments = typed_arguments(offered.program.input_schema, pairs)
            messages = await asyncio.to_thread(self.programs.messages, offered, arguments)
        except (RunError, ArgumentProblem) as error:
            raise MCPError(types.INVALID_PARAMS, self._words(error)) from None
        prompt_messages = [
            types.PromptMessage(
                role="assistant" if message.role == "assistant" else "user",
                content=types.TextContent(type="text", text=message.content),
            )
            for message in messages
        ]
        return types.GetPromptResult(description=offered.program.description, messages=prompt_messages)

    async def complete(self, _: object, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Return values of a prompt's argument, and paths of documents."""
        typed, name = params.argument.value, params.argument.name
        values: list[str] = []
        if isinstance(params.ref, types.PromptReference):
            offered = await asyncio.to_thread(self.programs.named, params.ref.name, to_run=False)
            fields = describe_inputs(offered.program.input_schema) if offered is not None else ()
            values = [str(value) for field in fields if field.name == name for value in field.enum]
        elif name == "path":
            values = [row.path for row in self.site.index.catalogue.rows]
        matching = [value for value in values if value.startswith(typed)]
        return types.CompleteResult(
            completion=types.Completion(values=matching[:PAGE], total=len(matching), has_more=len(matching) > PAGE)
        )

    async def _read(self, question: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        """Answer a reading query in a thread. Large ones take much memory, so few run at once."""
        async with self._places:
            return await asyncio.to_thread(question, *args, **more)

    def _words(self, error: Exception) -> str:
        """Return what went wrong, with the way on, and without the place of the folder on this machine."""
        hint = getattr(error, "hint", "")
        return self.site.told(f"{error}\n{hint}" if hint else str(error))


def build_server(
    site: LiveSite, programs: Programs, scope: agents.CheckScope, skills: Sequence[Skills] = ()
) -> Server[Any]:
    """Return the server over a site that has been started, with further ``skills`` that the user named. The caller
    chooses the transport."""
    answers = Answers(site, programs, scope, skills)
    server: Server[Any] = Server(
        "prosa",
        version=__version__,
        title=f"Prosa: {site.options.name}",
        instructions=INSTRUCTIONS,
        on_list_tools=answers.list_tools,
        on_call_tool=answers.call_tool,
        on_list_resources=answers.list_resources,
        on_list_resource_templates=answers.list_templates,
        on_read_resource=answers.read_resource,
        on_list_prompts=answers.list_prompts,
        on_get_prompt=answers.get_prompt,
        on_completion=answers.complete,
    )
    add_skills(server, answers.skills)
    return server


class _Progress:
    """Reports the progress of a run to a client: each model call and each tool call is a step."""

    def __init__(self, context: Context) -> None:
        self.context, self.steps = context, 0
        self._sending: set[asyncio.Task[None]] = set()

    def __call__(self, event: Event, /) -> None:
        if isinstance(event, ModelAsked | ToolCalled):
            self.steps += 1
            what = f"call {event.iteration}" if isinstance(event, ModelAsked) else event.tool
            words = f"{event.scope.program}: {what}"
            task = asyncio.ensure_future(self.context.session.report_progress(float(self.steps), None, words))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def close(self) -> None:
        """Wait until all messages have been sent; a disconnected client is no error."""
        await asyncio.gather(*self._sending, return_exceptions=True)


def _read_tool(tool: ReadTool, scope: agents.CheckScope) -> types.Tool:
    since = scope.changed_since if tool.name == "check" else None
    more = f" Without either: in every document that changed since {since}." if since is not None else ""
    return types.Tool(
        name=tool.name,
        description=tool.description + more,
        input_schema=tool.parameters,
        output_schema=tool.output,
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _program_tool(offered: Offered) -> types.Tool:
    """Return a program as a tool: its own schemas, and whether it uses the outside world."""
    program = offered.program
    reaching = any(one.servers or one.sites for one in reachable(program))
    output = program.output_schema
    return types.Tool(
        name=offered.name,
        description=program.description or f"Runs {offered.path}.",
        input_schema=_object_schema(program.input_schema),
        output_schema=output if isinstance(output, dict) and output.get("type") == "object" else None,
        annotations=types.ToolAnnotations(
            read_only_hint=not reaching, destructive_hint=reaching, open_world_hint=reaching
        ),
    )


def _object_schema(schema: Mapping[str, Value] | bool) -> dict[str, Value]:
    return schema if isinstance(schema, dict) and schema.get("type") == "object" else {"type": "object"}


def _prompt(offered: Offered) -> types.Prompt:
    fields = [field for field in describe_inputs(offered.program.input_schema) if field.type in SCALARS or field.enum]
    arguments = [
        types.PromptArgument(name=field.name, description=field.description or field.type, required=field.required)
        for field in fields
    ]
    return types.Prompt(name=offered.name, description=offered.program.description, arguments=arguments)


def _answered(value: Mapping[str, Value]) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=dump(value))]
    return types.CallToolResult(content=content, structured_content=dict(value))


def _failed(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=words)], is_error=True)


def _page(items: list[T], params: types.PaginatedRequestParams | None) -> tuple[list[T], str | None]:
    """Return a page of a list, and where the next one starts. Raises `MCPError` for an invalid cursor."""
    cursor = params.cursor if params is not None else None
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 9):
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor")
    start = int(cursor or 0)
    end = start + PAGE
    return items[start:end], str(end) if end < len(items) else None
