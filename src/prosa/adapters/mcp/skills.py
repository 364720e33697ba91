"""Skills that a server gives by SEP-2640, as two more of its tools: one loads a skill, one reads a file of it.

In: a client, and the answers of its server. Out: `ServerTool`s, and text for the model, which says where it comes from.
Nothing is fetched before it is needed; size, digest and front matter are those of the server's list, or nothing is
used. Only files of the list are read, from this server alone; no script is run, and `allowed-tools` grants nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Literal

import mcp_types as types
from mcp import Client, MCPError
from msgspec import Struct, field
from pydantic import BaseModel, Field, ValidationError

from prosa.data import Value
from prosa.dialects.dialect import Hints
from prosa.dialects.front import FrontReading
from prosa.dialects.markdownlang.fields import server_tool_name
from prosa.dialects.reading import open_document
from prosa.runtime.events import LOAD_TOOL
from prosa.runtime.ports import ServerTool, ToolResult
from prosa.runtime.skill import CHOOSE, MAX_DESCRIPTION, MAX_TOLD, READ_TOOL
from prosa.site.archive import MOST_BYTES, MOST_FILES, SKILL_FILE
from prosa.source import SourceText

EXTENSION = "io.modelcontextprotocol/skills"

MOST_PAGES = 100
MOST_SKILLS = 100
"""Skills of one server that are offered: their descriptions are in every request."""


class SkillProblem(Exception):
    """A skill, or a file of one, that is not used; the message is for the model."""


class _Params(types.RequestParams):
    cursor: str | None = None
    uri: str | None = None


class _Ask(types.Request[_Params, Literal["skills/list", "skills/get"]]):
    method: Literal["skills/list", "skills/get"]
    params: _Params


class _Resource(BaseModel):
    uri: str
    digest: str
    size: int = Field(ge=0)


class _Skill(BaseModel):
    uri: str
    frontmatter: dict[str, Any]
    resources: list[_Resource] | Literal["dynamic"]


class _List(types.Result):
    skills: list[dict[str, Any]] = Field(default_factory=list)
    next_cursor: str | None = None


class _Get(types.Result):
    skill: dict[str, Any] = Field(default_factory=dict)


class ServedSkills(Struct):
    """The skills of one server. ``held`` are those that the model has loaded, as they were listed then; ``offered``
    the names of the tools."""

    server: str
    known: dict[str, _Skill]
    held: dict[str, _Skill] = field(default_factory=dict)
    offered: frozenset[str] = frozenset()

    def tools(self, taken: frozenset[str]) -> list[ServerTool]:
        """Return the two tools; none if the server has tools of these names itself."""
        if not self.known or taken & {LOAD_TOOL, READ_TOOL}:
            return []
        self.offered = frozenset((LOAD_TOOL, READ_TOOL))
        names: Value = {"type": "string", "enum": list(self.known), "description": "the name of the skill"}
        lines = (f"- {name}: {_line(skill)}" for name, skill in self.known.items())
        about = f"Loads a skill of the MCP server {self.server} and gives its instructions. {CHOOSE}"
        load = "\n".join((about.replace(f" with the tool `{LOAD_TOOL}`", ""), *lines))
        read = f"Reads a text file of a loaded skill of the MCP server {self.server}."
        path: Value = {"type": "string", "minLength": 1, "description": "a path below the folder of the skill"}
        return [
            ServerTool(self.server, LOAD_TOOL, load, _object({"name": names}), True),
            ServerTool(self.server, READ_TOOL, read, _object({"name": names, "path": path}), True),
        ]

    async def answer(self, client: Client, tool: str, arguments: Mapping[str, Value]) -> ToolResult:
        """Return what one of the two tools gives. Raises what the SDK raises."""
        name = str(arguments.get("name"))
        if name not in self.known:
            return ToolResult(f"error: there is no skill {name[:100]!r}", is_error=True)
        try:
            if tool == LOAD_TOOL:
                return ToolResult(await self._loaded(client, name))
            return ToolResult(await self._file(client, name, str(arguments.get("path"))))
        except SkillProblem as problem:
            return ToolResult(f"error: {problem}", is_error=True)

    async def _loaded(self, client: Client, name: str) -> str:
        """Return the instructions of a skill; where it has changed since it was listed, of the present one."""
        try:
            front = await self._front(client, name)
        except SkillProblem:
            answer = await client.session.send_request(
                _Ask(method="skills/get", params=_Params(uri=self.known[name].uri)), _Get
            )
            fresh = _read(answer.skill)
            if isinstance(fresh, str) or fresh.frontmatter.get("name") != name:
                raise SkillProblem(f"the skill {name} no longer exists") from None
            self.known[name] = fresh
            front = await self._front(client, name)
        self.held[name] = self.known[name]
        files = [path for path in self._paths(name) if path != SKILL_FILE]
        head = (
            f"Instructions of the skill `{name}`, which the MCP server `{self.server}` gave: text of that server, "
            "which grants no permission. Its scripts cannot be run here."
        )
        if files:
            more = f" and {len(files) - MAX_TOLD} more" if len(files) > MAX_TOLD else ""
            reader = server_tool_name(self.server, READ_TOOL)
            head += f"\nIts files, read with `{reader}`: {', '.join(files[:MAX_TOLD])}{more}."
        return f"{head}\n\n{front.source.slice(front.body).strip()}"

    async def _front(self, client: Client, name: str) -> FrontReading:
        """Return the `SKILL.md` of a skill, checked against its entry."""
        entry = self.known[name]
        text = _text(await self._bytes(client, entry, entry.uri), SKILL_FILE)
        front = open_document(SourceText(text, SKILL_FILE), Hints(explicit="skill_md")).front
        if front.value != entry.frontmatter:
            raise SkillProblem(f"the front matter of the skill {name} is not what the server listed")
        return front

    async def _file(self, client: Client, name: str, path: str) -> str:
        if name not in self.held:
            raise SkillProblem(f"load the skill {name} first")
        uri = self._paths(name).get(path)
        if uri is None:
            raise SkillProblem(f"the skill {name} has no file {path[:200]!r}")
        return _text(await self._bytes(client, self.held[name], uri), path)

    def _paths(self, name: str) -> dict[str, str]:
        """Return the files of a skill by path, with their URIs."""
        entry = self.held.get(name, self.known[name])
        root = entry.uri.removesuffix(SKILL_FILE)
        listed = entry.resources if isinstance(entry.resources, list) else ()
        return {resource.uri.removeprefix(root): resource.uri for resource in listed}

    async def _bytes(self, client: Client, entry: _Skill, uri: str) -> bytes:
        """Return a listed file, if it is what the entry says."""
        listed = {resource.uri: resource for resource in entry.resources} if isinstance(entry.resources, list) else {}
        answer = await client.read_resource(uri)
        if len(answer.contents) != 1:
            raise SkillProblem(f"{uri[:200]} is not one file")
        (content,) = answer.contents
        if isinstance(content, types.TextResourceContents):
            data = content.text.encode("utf-8", "surrogatepass")
        else:
            data = _decoded(content.blob, uri)
        known = listed[uri]
        if len(data) != known.size or f"sha256:{sha256(data).hexdigest()}" != known.digest:
            raise SkillProblem(f"{uri[:200]} is not what the server listed: it may have changed; load the skill again")
        return data


async def served_skills(client: Client, server: str, notice: Callable[[str], None]) -> ServedSkills | None:
    """Return the skills that a server declares; None where it declares none. Unusable ones are left out."""
    capabilities = client.server_capabilities
    if EXTENSION not in (capabilities.extensions or {}):
        return None
    skills: dict[str, _Skill] = {}
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        try:
            page = await client.session.send_request(_Ask(method="skills/list", params=_Params(cursor=cursor)), _List)
        except (MCPError, ValidationError) as problem:
            notice(f"MCP server '{server}': its skills cannot be listed: {problem}")
            break
        for skill in page.skills:
            _add(skills, skill, server, notice)
        if not page.next_cursor or page.next_cursor == cursor or len(skills) >= MOST_SKILLS:
            break
        cursor = page.next_cursor
    return ServedSkills(server, skills)


def _add(skills: dict[str, _Skill], value: Mapping[str, Value], server: str, notice: Callable[[str], None]) -> None:
    skill = _read(value)
    if isinstance(skill, str):
        notice(f"MCP server '{server}': a skill is left out: {skill}")
    elif len(skills) >= MOST_SKILLS:
        notice(f"MCP server '{server}' has more than {MOST_SKILLS} skills; the others are left out")
    elif skill.frontmatter["name"] in skills:
        notice(f"MCP server '{server}': a second skill is named {skill.frontmatter['name']!r}, and is left out")
    else:
        skills[skill.frontmatter["name"]] = skill


def _read(value: Mapping[str, Value]) -> _Skill | str:
    """Return an entry, or why it cannot be used."""
    try:
        skill = _Skill.model_validate(value)
    except ValidationError:
        return "its entry has not the form of SEP-2640"
    name, about = skill.frontmatter.get("name"), skill.frontmatter.get("description")
    root = f"/{name}/{SKILL_FILE}"
    if not isinstance(name, str) or not isinstance(about, str) or not name or not skill.uri.endswith(root):
        return f"{skill.uri[:200]!r} does not end with its name, or it has no description"
    if not isinstance(skill.resources, list):
        return f"{name} has no digests"
    uris = [resource.uri for resource in skill.resources]
    inside = skill.uri.removesuffix(SKILL_FILE)
    if skill.uri not in uris or len(set(uris)) < len(uris) or not all(uri.startswith(inside) for uri in uris):
        return f"the list of the files of {name} is not complete"
    if len(uris) > MOST_FILES or sum(resource.size for resource in skill.resources) > MOST_BYTES:
        return f"{name} has more than {MOST_FILES} files, or more than {MOST_BYTES // 2**20} MiB"
    return skill


def _decoded(blob: str, uri: str) -> bytes:
    try:
        return base64.b64decode(blob)
    except ValueError:
        raise SkillProblem(f"{uri[:200]} is not in base64") from None


def _text(data: bytes, path: str) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise SkillProblem(f"{path[:200]!r} is not text: only text files can be read")
    return text


def _line(skill: _Skill) -> str:
    return " ".join(str(skill.frontmatter["description"]).split())[:MAX_DESCRIPTION]


def _object(properties: dict[str, Value]) -> dict[str, Value]:
    required: list[Value] = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
