"""Skills for agents: prompts for everybody, tools where the user allowed it, none with an unpublished file (X32,
X23)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from prosa.app.options import Options
from prosa.app.trust import accept_agreement
from tests.app.run.skills.worlds import call, skill
from tests.mcp_server.folder import served, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    accept_agreement({"HOME": str(tmp_path)}, 0)
    skill(tmp_path / "docs", "farewell", files={"references/styles.md": "Say `Ahoy`.\n"})
    return write(tmp_path / "docs")


def test_x32_a_skill_is_a_prompt_with_a_request(folder):
    async def run() -> None:
        async with served(folder) as client:
            prompts = {each.name: each for each in (await client.list_prompts()).prompts}
            assert [each.name for each in prompts["farewell"].arguments] == ["request"]
            found = await client.get_prompt("farewell", {"request": "Greet {{ .x }}"})
            assert found.messages[-1].content.text == "Greet {{ .x }}"
            assert [each.name for each in (await client.list_tools()).tools if each.name == "farewell"] == []

    asyncio.run(run())


def test_x32_a_skill_runs_where_it_is_allowed(folder):
    replies = (call("skill_read", path="references/styles.md"), {"content": "Ahoy."})
    file = folder.parent / "replies.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in replies))

    async def run() -> None:
        options = Options(model=f"scripted:{file}")
        async with served(folder, options=options, globs=("farewell/*",)) as client:
            assert "farewell" in [each.name for each in (await client.list_tools()).tools]
            answer = await client.call_tool("farewell", {"request": "Greet Ada."})
            assert (answer.is_error, answer.structured_content) == (False, {"result": "Ahoy."})

    asyncio.run(run())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("references/secret.md", "---\nclassification: confidential\n---\nThe canary.\n"),
        ("ignored.md", "The canary.\n"),
    ],
)
def test_x23_a_skill_with_a_file_that_is_not_published_is_not_offered(folder, path, text):
    place = folder / "farewell" / path
    place.write_text(text)

    async def run() -> None:
        async with served(folder) as client:
            assert "farewell" not in [each.name for each in (await client.list_prompts()).prompts]

    asyncio.run(run())
