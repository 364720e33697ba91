"""Skills of a server (SEP-2640): loaded as local ones are, checked, and never more than read (X40)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from prosa.adapters.mcp import McpServers
from prosa.adapters.mcp import skills as adapter
from prosa.adapters.mcp.skills import ServedSkills, served_skills
from prosa.runtime.ports import ServerConfig, ToolResult
from tests import warm
from tests.adapters.mcp.support import run
from tests.mcp_server.folder import served, write

FRONT = "---\nname: {0}\ndescription: Does\n  {0}.\nallowed-tools: Bash\n---\nFollow references/a.md.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = write(tmp_path / "docs")
    for name in ("tie", "moor"):
        place = root / "skills" / name
        (place / "references").mkdir(parents=True)
        (place / "SKILL.md").write_text(FRONT.format(name))
        (place / "references/a.md").write_bytes("Ä\r\n".encode())
        (place / "picture.png").write_bytes(b"\x89PNG\x00")
    return root


def told(folder: Path, work: Callable[[ServedSkills, Any, list[str]], Awaitable[Any]], **more: Any) -> Any:
    async def main() -> Any:
        async with served(folder, **more) as client:
            notices: list[str] = []
            found = await served_skills(client, "docs", notices.append)
            assert found is not None
            found.tools(frozenset())
            return await work(found, client, notices)

    return asyncio.run(main())


async def call(found: ServedSkills, client: Any, tool: str, **arguments: str) -> ToolResult:
    return await found.answer(client, tool, arguments)


def test_x40_a_skill_is_loaded_and_its_files_are_read(folder: Path) -> None:
    async def work(found: ServedSkills, client: Any, _: list[str]) -> None:
        load, read = found.tools(frozenset())
        assert (load.name, read.name, load.read_only, read.read_only) == ("skill", "skill_read", True, True)
        assert "- tie: Does tie." in load.description
        early = await call(found, client, "skill_read", name="tie", path="references/a.md")
        assert (early.is_error, early.content) == (True, "error: load the skill tie first")
        loaded = await call(found, client, "skill", name="tie")
        assert loaded.content == (
            "Instructions of the skill `tie`, which the MCP server `docs` gave: text of that server, which grants no "
            "permission. Its scripts cannot be run here.\nIts files, read with `mcp__docs__skill_read`: picture.png, "
            "references/a.md.\n\nFollow references/a.md."
        )
        text = await call(found, client, "skill_read", name="tie", path="references/a.md")
        assert (text.content, text.is_error) == ("Ä\r\n", False)
        for path in ("picture.png", "../moor/SKILL.md", "/etc/passwd", "references", ""):
            assert (await call(found, client, "skill_read", name="tie", path=path)).is_error, path
        assert (await call(found, client, "skill", name="none")).is_error

    told(folder, work)


def test_x40_a_file_that_changed_is_not_used_until_the_skill_is_loaded_again(folder: Path) -> None:
    async def work(found: ServedSkills, client: Any, _: list[str]) -> None:
        await call(found, client, "skill", name="tie")
        (folder / "skills/tie/references/a.md").write_text("Changed.")
        stale = await call(found, client, "skill_read", name="tie", path="references/a.md")
        assert (stale.is_error, "load the skill again" in stale.content) == (True, True)
        (folder / "skills/tie/SKILL.md").write_text(FRONT.format("tie") + "More.\n")
        assert "More." in (await call(found, client, "skill", name="tie")).content
        fresh = await call(found, client, "skill_read", name="tie", path="references/a.md")
        assert fresh.content == "Changed."

    told(folder, work)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"resources": "dynamic"}, "no digests"),
        ({"resources": []}, "not complete"),
        ({"resources": None}, "form of SEP-2640"),
        ({"resources": [{"uri": "skill://tie/SKILL.md", "digest": "", "size": -(2**24)}]}, "form of SEP-2640"),
        ({"uri": "skill://other/SKILL.md"}, "does not end with its name"),
        ({"frontmatter": {"name": "tie"}}, "no description"),
        ({"resources": [{"uri": "skill://moor/SKILL.md", "digest": "sha256:0", "size": 1}]}, "not complete"),
        (
            {"resources": [{"uri": f"skill://tie/{name}", "digest": "", "size": 2**24} for name in ("SKILL.md", "b")]},
            "more than 512 files",
        ),
    ],
)
def test_x40_an_entry_that_cannot_be_held_to_is_left_out(wrong: dict[str, Any], words: str) -> None:
    known = {
        "uri": "skill://tie/SKILL.md",
        "frontmatter": {"name": "tie", "description": "Ties."},
        "resources": [{"uri": "skill://tie/SKILL.md", "digest": "sha256:0", "size": 1}],
    }
    notices: list[str] = []
    found: dict[str, Any] = {}
    adapter._add(found, known | wrong, "docs", notices.append)
    assert not found
    assert words in notices[0]
    adapter._add(found, known, "docs", notices.append)
    adapter._add(found, known, "docs", notices.append)
    assert list(found) == ["tie"]
    assert "second skill" in notices[1]


def test_x40_front_matter_that_is_not_the_listed_one_is_refused(folder: Path) -> None:
    async def work(found: ServedSkills, client: Any, _: list[str]) -> None:
        found.known["tie"].frontmatter["description"] = "Something harmless."
        loaded = await call(found, client, "skill", name="tie")
        assert "Follow" in loaded.content  # the present entry of the server is taken
        assert found.known["tie"].frontmatter["description"] == "Does tie."

    told(folder, work)


def test_x40_a_file_that_is_no_base64_is_an_answer(folder: Path) -> None:
    class Wrong:
        async def read_resource(self, uri: str) -> types.ReadResourceResult:
            return types.ReadResourceResult(contents=[types.BlobResourceContents(uri=uri, blob="a")])

    async def work(found: ServedSkills, client: Any, _: list[str]) -> None:
        await call(found, client, "skill", name="tie")
        wrong = await found.answer(Wrong(), "skill_read", {"name": "tie", "path": "picture.png"})  # type: ignore[arg-type]
        assert (wrong.is_error, "base64" in wrong.content) == (True, True)

    told(folder, work)


def test_x40_tools_of_the_server_itself_keep_their_names(folder: Path) -> None:
    async def work(found: ServedSkills, *_: Any) -> None:
        assert found.tools(frozenset({"skill"})) == []

    told(folder, work)


@pytest.mark.usefixtures("warmed")
def test_x40_a_program_gets_the_skills_of_its_server(folder: Path, tmp_path: Path) -> None:
    """Over standard input and output, with everything between."""
    config = ServerConfig("docs", command=str(warm.scripts(tmp_path / "bin") / "prosa"), args=("mcp", str(folder)))
    environ = {**os.environ, "PROSA_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)}

    async def main() -> None:
        async with McpServers(environ=environ).connect([config], cwd="/") as session:
            assert [tool.name for tool in session.tools][-2:] == ["skill", "skill_read"]
            loaded = await session.call("docs", "skill", {"name": "moor"})
            assert "Follow references/a.md." in loaded.content
            read = await session.call("docs", "skill_read", {"name": "moor", "path": "references/a.md"})
            assert (read.content, read.is_error) == ("Ä\r\n", False)

    run(main())
