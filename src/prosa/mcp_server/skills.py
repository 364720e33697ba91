"""Skills over the Model Context Protocol (SEP-2640, extension `io.modelcontextprotocol/skills`): their list with the
digests of all files, one of them by its URI, its folders, and its files as resources (X23, X40).

In: the skills of a site, and of a folder that the user named. Out: answers. Nothing of a skill runs here.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar
from urllib.parse import unquote

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from prosa.app.site.live import LiveSite
from prosa.app.site.skills import PublishedSkill, Skills
from prosa.data import Value
from prosa.render.json import finite
from prosa.render.plain import safe
from prosa.site.archive import SKILL_FILE
from prosa.site.assets import asset_type
from prosa.source.url import quoted_path

EXTENSION = "io.modelcontextprotocol/skills"
SCHEME = "skill://"
DIRECTORY = "inode/directory"
MARKDOWN = "text/markdown"

READY_SECONDS = 2.0
"""How long a question waits for the first scan of the files."""

PAGE = 100
"""Skills of one page, and entries of a folder."""

T = TypeVar("T")
Context: TypeAlias = ServerRequestContext[Any, Any]


class SkillParams(types.RequestParams):
    """The parameters of `skills/get`."""

    uri: str


class DirectoryParams(types.PaginatedRequestParams):
    """The parameters of `resources/directory/read`."""

    uri: str


class ListSkillsResult(types.PaginatedResult, types.CacheableResult):
    """The answer to `skills/list`."""

    skills: list[dict[str, Any]]
    result_type: Literal["complete"] = "complete"


class GetSkillResult(types.CacheableResult):
    """The answer to `skills/get`."""

    skill: dict[str, Any]
    result_type: Literal["complete"] = "complete"


class ReadDirectoryResult(types.PaginatedResult):
    """The answer to `resources/directory/read`."""

    resources: list[types.Resource]
    result_type: Literal["complete"] = "complete"


class SkillAnswers(Struct, frozen=True):
    """The answers about skills. Of two skills with one name that of the first of ``sources`` is given."""

    site: LiveSite
    sources: Sequence[Skills]
    places: asyncio.Semaphore

    async def list_skills(self, _: Context, params: types.PaginatedRequestParams) -> ListSkillsResult:
        """Return a page of the skills, by name."""
        every = await self._ask(self._all)
        start = _start(params.cursor)
        end = start + PAGE
        page = [_entry(skill) for skill in every[start:end]]
        return ListSkillsResult(skills=page, next_cursor=str(end) if end < len(every) else None)

    async def get_skill(self, _: Context, params: SkillParams) -> GetSkillResult:
        """Return one skill in its present state. Raises `MCPError` for a URI that is none of a skill."""
        name, path = _parts(params.uri)
        named = await self._ask(lambda: self._named(name)) if path == SKILL_FILE else None
        if named is None:
            raise MCPError(types.INVALID_PARAMS, f"No skill is served at {safe(params.uri[:500])}")
        return GetSkillResult(skill=_entry(named[1]))

    async def read_directory(self, _: Context, params: DirectoryParams) -> ReadDirectoryResult:
        """Return what a folder of a skill holds. Raises `MCPError` for what is no folder."""
        name, path = _parts(params.uri)
        named = await self._ask(lambda: self._named(name))
        children = _children(named[1], path) if named is not None else []
        if not children:
            raise MCPError(types.INVALID_PARAMS, f"{safe(params.uri[:500])} is not a directory resource")
        start = _start(params.cursor)
        end = start + PAGE
        return ReadDirectoryResult(resources=children[start:end], next_cursor=str(end) if end < len(children) else None)

    async def read(self, uri: str) -> types.ReadResourceResult:
        """Return a file of a skill. Raises `MCPError` for one that is not given away."""
        name, path = _parts(uri)
        data = await self._ask(lambda: self._file(name, path))
        if data is None:
            raise MCPError(types.INVALID_PARAMS, f"Resource not found: {safe(uri[:500])}")
        return types.ReadResourceResult(contents=[_content(uri, path, data)])

    def _all(self) -> list[PublishedSkill]:
        by_name: dict[str, PublishedSkill] = {}
        for source in self.sources:
            for skill in source.all():
                by_name.setdefault(skill.name, skill)
        return sorted(by_name.values(), key=lambda published: published.name)

    def _named(self, name: str) -> tuple[Skills, PublishedSkill] | None:
        for source in self.sources:
            if (skill := source.current(name)) is not None:
                return source, skill
        return None

    def _file(self, name: str, path: str) -> bytes | None:
        named = self._named(name)
        return named[0].file(named[1], path) if named is not None else None

    async def _ask(self, question: Callable[[], T]) -> T:
        """Answer in a thread, once the files of the site are known; few questions at once read files."""

        def asked() -> T:
            self.site.index.wait_ready(READY_SECONDS)
            return question()

        async with self.places:
            return await asyncio.to_thread(asked)


def add_skills(server: Server[Any], answers: SkillAnswers) -> None:
    """Declare the extension, and answer its methods."""
    server.extensions[EXTENSION] = {"directoryRead": True}
    server.add_request_handler("skills/list", types.PaginatedRequestParams, answers.list_skills)
    server.add_request_handler("skills/get", SkillParams, answers.get_skill)
    server.add_request_handler("resources/directory/read", DirectoryParams, answers.read_directory)


def _entry(skill: PublishedSkill) -> dict[str, Value]:
    listed: list[Value] = [
        {"uri": _uri(skill.name, file.path), "digest": f"sha256:{file.digest}", "size": file.size}
        for file in skill.files
    ]
    return {"uri": _uri(skill.name, SKILL_FILE), "frontmatter": finite(skill.front), "resources": listed}


def _uri(name: str, path: str) -> str:
    return f"{SCHEME}{name}/{quoted_path(path)}" if path else f"{SCHEME}{name}"


def _parts(uri: str) -> tuple[str, str]:
    """Return the name of a skill and the path of a file below it; empty names for any other URI."""
    if not uri.startswith(SCHEME):
        return "", ""
    name, _, path = uri.removeprefix(SCHEME).partition("/")
    try:
        return name, unquote(path, errors="strict")
    except ValueError:
        return "", ""


def _children(skill: PublishedSkill, folder: str) -> list[types.Resource]:
    """Return the files and folders directly in a folder of a skill, by name."""
    front = f"{folder}/" if folder else ""
    resources: dict[str, types.Resource] = {}
    for file in skill.files:
        if file.path.startswith(front):
            name, slash, _ = file.path[len(front) :].partition("/")
            kind, size = (DIRECTORY, None) if slash else (_media_type(file.path), file.size)
            uri = _uri(skill.name, f"{front}{name}")
            resources.setdefault(name, types.Resource(uri=uri, name=name, mime_type=kind, size=size))
    return list(resources.values())


def _media_type(path: str) -> str:
    if path.lower().endswith((".md", ".markdown")):
        return MARKDOWN
    return asset_type(path) or "text/plain"


def _content(uri: str, path: str, data: bytes) -> types.TextResourceContents | types.BlobResourceContents:
    """Return a file as text, which is the same bytes in UTF-8; anything else in base64."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        blob = base64.b64encode(data).decode("ascii")
        kind = asset_type(path) or "application/octet-stream"
        return types.BlobResourceContents(uri=uri, mime_type=kind, blob=blob)
    return types.TextResourceContents(uri=uri, mime_type=_media_type(path), text=text)


def _start(cursor: str | None) -> int:
    """Return where a page begins. Raises `MCPError` for an invalid cursor."""
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 9):
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor")
    return int(cursor or 0)
