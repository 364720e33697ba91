"""Skills over the protocol (SEP-2640): listed with digests, read as they are listed, published ones alone (X40)."""

from __future__ import annotations

import asyncio
import base64
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, types
from mcp.shared.exceptions import MCPError
from pydantic import Field

from prosa.app.site import skills as published
from prosa.app.site.skills import FolderSkills, Skills
from tests.mcp_server.folder import served, write

EXTENSION = "io.modelcontextprotocol/skills"
FRONT = (
    "---\nname: {0}\ndescription: Does {0}.\nlicense: MIT\nmetadata: {{version: 1.10}}\n{1}---\nSee references/a.md.\n"
)


class Params(types.RequestParams):
    uri: str = ""
    cursor: str | None = None


class Ask(types.Request[Params, Literal["skills/list", "skills/get", "resources/directory/read"]]):
    method: Literal["skills/list", "skills/get", "resources/directory/read"]
    params: Params


class Answer(types.Result):
    skills: list[dict[str, Any]] = Field(default_factory=list)
    skill: dict[str, Any] = Field(default_factory=dict)
    resources: list[dict[str, Any]] = Field(default_factory=list)
    next_cursor: str | None = None
    result_type: str = ""
    ttl_ms: int | None = None
    cache_scope: str | None = None


async def ask(client: Client, method: Any, **params: Any) -> Answer:
    return await client.session.send_request(Ask(method=method, params=Params(**params)), Answer)


def put(folder: Path, name: str, more: str = "", **files: bytes) -> None:
    place = folder / "skills" / name
    (place / "references").mkdir(parents=True, exist_ok=True)
    (place / "SKILL.md").write_bytes(FRONT.format(name, more).encode())
    for path, data in files.items():
        (place / path.replace("__", "/")).write_bytes(data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = write(tmp_path / "docs")
    put(root, "tie", references__a="ä\r\n".encode(), references__b=b"\xff\x00")
    put(root, "plain")
    put(root, "third", references__c=b"")
    put(root, "classified", "classification: secret\n")
    return root


async def read(client: Client, uri: str) -> bytes:
    (content,) = (await client.read_resource(uri)).contents
    if isinstance(content, types.BlobResourceContents):
        return base64.b64decode(content.blob)
    return content.text.encode()


def test_x40_a_client_of_others_reads_every_skill_as_it_is_listed(folder: Path) -> None:
    """The official client of the `mcp` library, which the lock pins."""

    async def run() -> None:
        async with served(folder) as client:
            assert client.server_capabilities.extensions == {EXTENSION: {"directoryRead": True}}
            assert client.server_capabilities.resources is not None
            listed = await ask(client, "skills/list")
            assert (listed.result_type, listed.ttl_ms, listed.cache_scope) == ("complete", 0, "private")
            assert [each["frontmatter"]["name"] for each in listed.skills] == ["plain", "third", "tie"]
            for each in listed.skills:
                assert each["uri"] == f"skill://{each['frontmatter']['name']}/SKILL.md"
                assert each["frontmatter"]["metadata"] == {"version": 1.1}
                for one in each["resources"]:
                    data = await read(client, one["uri"])
                    assert (f"sha256:{sha256(data).hexdigest()}", len(data)) == (one["digest"], one["size"])
                assert (await ask(client, "skills/get", uri=each["uri"])).skill == each
            uris = [each["uri"] for each in listed.skills[2]["resources"]]
            assert uris == ["skill://tie/SKILL.md", "skill://tie/references/a", "skill://tie/references/b"]

    asyncio.run(run())


def test_x40_folders_of_a_skill_are_listed(folder: Path) -> None:
    async def run() -> None:
        async with served(folder) as client:
            root = await ask(client, "resources/directory/read", uri="skill://tie")
            assert [(each["name"], each["mimeType"]) for each in root.resources] == [
                ("SKILL.md", "text/markdown"),
                ("references", "inode/directory"),
            ]
            inner = await ask(client, "resources/directory/read", uri="skill://tie/references")
            assert [each["uri"] for each in inner.resources] == ["skill://tie/references/a", "skill://tie/references/b"]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("method", "uri"),
    [
        ("skills/get", "skill://none/SKILL.md"),
        ("skills/get", "skill://classified/SKILL.md"),
        ("skills/get", "skill://tie/references/a"),
        ("skills/get", "skill://tie"),
        ("skills/get", "prosa:///skills/tie/SKILL.md"),
        ("resources/directory/read", "skill://tie/SKILL.md"),
        ("resources/directory/read", "skill://tie/none"),
        ("resources/directory/read", "skill://"),
        ("resources/read", "skill://classified/SKILL.md"),
        ("resources/read", "skill://tie/../plain/SKILL.md"),
        ("resources/read", "skill://tie/%2e%2e/plain/SKILL.md"),
        ("resources/read", "skill://tie/references"),
        ("resources/read", "skill://tie/%ff"),
    ],
)
def test_x40_what_is_no_skill_is_an_error_of_the_protocol(folder: Path, method: Any, uri: str) -> None:
    async def run() -> None:
        async with served(folder) as client:
            with pytest.raises(MCPError) as caught:
                await (client.read_resource(uri) if method == "resources/read" else ask(client, method, uri=uri))
            assert caught.value.error.code == -32602

    asyncio.run(run())


def test_x40_a_changed_skill_has_new_digests(folder: Path) -> None:
    async def run() -> None:
        async with served(folder) as client:
            before = (await ask(client, "skills/get", uri="skill://tie/SKILL.md")).skill
            (folder / "skills/tie/references/a").write_bytes(b"other")
            after = (await ask(client, "skills/get", uri="skill://tie/SKILL.md")).skill
            assert before["resources"][1]["digest"] != after["resources"][1]["digest"]
            assert await read(client, "skill://tie/references/a") == b"other"

    asyncio.run(run())


def test_x23_a_folder_that_the_user_names_is_given_too(folder: Path, tmp_path: Path) -> None:
    put(tmp_path / ".claude", "mine", "classification: secret\n", references__a=b"x")
    put(tmp_path / ".claude", "tie")
    named = Skills(FolderSkills(tmp_path / ".claude/skills"))

    async def run() -> None:
        async with served(folder, skills=(named,)) as client:
            listed = (await ask(client, "skills/list")).skills
            assert [each["frontmatter"]["name"] for each in listed] == ["mine", "plain", "third", "tie"]
            assert len(listed[3]["resources"]) == 1  # that of the user comes first
            assert await read(client, "skill://mine/references/a") == b"x"

    asyncio.run(run())


def test_x40_a_large_catalogue_comes_in_pages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = published.PublishedSkill("s", "d", "s", {"name": "s", "description": "d"}, (), "")
    from msgspec.structs import replace

    every = tuple(replace(one, name=f"s-{number:05}") for number in range(10_000))
    monkeypatch.setattr(Skills, "all", lambda _: every)

    async def run() -> None:
        async with served(folder) as client:
            found, cursor = [], None
            while True:
                page = await ask(client, "skills/list", cursor=cursor)
                found += page.skills
                if (cursor := page.next_cursor) is None:
                    break
            assert (len(found), len({each["uri"] for each in found})) == (10_000, 10_000)
            with pytest.raises(MCPError):
                await ask(client, "skills/list", cursor="x")

    asyncio.run(run())
