"""Where the folder lies on this machine: no tool, resource or prompt tells (X5, X23)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from prosa.app.options import Options
from prosa.app.trust import accept_agreement
from prosa.mcp_server.tools import READ_TOOLS
from tests.depth import DEEP
from tests.mcp_server.folder import PROGRAM, served, write
from tests.rules.literate import FOLDER, examples

ABOVE = "zanzibar"
"""The folder above the one that is served."""

LEADING_OUT = (
    "---\nname: a\ndescription: d\ninput: {type: object}\noutput: {type: object}\nimports: [%s]\n---\nx\n",
    "---\nymj_spec: 0.5.0\ndoc_summary: x\nattachments:\n  - {uri: %s, sha256: " + "0" * 64 + "}\n---\n# A\n",
    "---\nid: a\ntype: page\ntitle: A\nactions:\n  - {id: g, method: POST, url: /x, body_schema: 'url:%s'}\n---\nx\n",
    "---\ntests: %s\n---\n",
    "% config.include = %s\n\n### @user:\n\nx\n",
    "[a](%s) ![b](%s) [[%s]]\n",
)
TARGETS = (
    "./nope.md",
    "../nope.md",
    "../../nope.md",
    "/nope.md",
    "guide/../../x.md",
    "..",
    "~/x.md",
    "out.md",
    "up/x.md",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / ABOVE / "docs"
    place.mkdir(parents=True)
    (tmp_path / ABOVE / "beside.md").write_text("# Beside\n")
    (place / "out.md").symlink_to("../beside.md")
    (place / "up").symlink_to("..")
    return write(place)


def test_x23_no_tool_tells_where_the_folder_is(folder: Path):
    """X5, X23. Whatever is asked for, in answers, findings with their notes, and errors."""

    async def run() -> None:
        async with served(folder) as client:
            asked: list[tuple[str, dict[str, Any]]] = [("list", {}), ("search", {"query": "boats"})]
            asked += [("search", {"query": "x", "where": "a==("}), ("list", {"where": "a==("})]
            names = ("index.md", "tell.md", "nope.md", "out.md", str(folder / "index.md"), f"../{ABOVE}/x.md", "..")
            tools = [each.name for each in READ_TOOLS if each.name not in ("list", "search")]
            asked += [(tool, {"document": name}) for tool in tools for name in names]
            asked += [("check", {"text": text.replace("%s", to)}) for text in LEADING_OUT for to in TARGETS]
            for tool, arguments in asked:
                said = (await client.call_tool(tool, arguments)).model_dump_json()
                assert ABOVE not in said.replace(json.dumps(arguments)[1:-1], "").replace(names[4], "").replace(
                    names[5], ""
                ), (tool, arguments)

    asyncio.run(run())


def test_x23_no_finding_of_any_rule_tells_where_the_folder_is(folder: Path):
    """X4, X23. The first document of every example of every rule, as a text that is checked; in `make test` of the
    first example of every rule."""
    texts = [
        (next(iter(each.documents.values())), next((flag[3:] for flag in each.flags if flag.startswith("as=")), None))
        for page in sorted(FOLDER.glob("*.md"))
        for each in [*examples(page.read_text("utf-8"))][: None if DEEP else 1]
    ]
    assert len(texts) > 200

    async def run() -> int:
        findings = 0
        async with served(folder) as client:
            for text, dialect in texts:
                if text:
                    arguments = {"text": text, **({"as": dialect} if dialect else {})}
                    said = await client.call_tool("check", arguments)
                    assert not said.is_error and ABOVE not in said.model_dump_json()
                    findings += len(said.structured_content["diagnostics"])
        return findings

    assert asyncio.run(run()) > 200


def test_x23_no_prompt_and_no_run_tells_where_the_folder_is(folder: Path):
    """X5, X23. Also where a program cannot run."""
    accept_agreement({"HOME": str(folder.parent)}, 0)
    for number, target in enumerate(TARGETS):
        text = PROGRAM.replace("name: greet", f"name: p{number}").replace("input:", f"imports: [{target}]\ninput:", 1)
        (folder / f"p{number}.md").write_text(text)
    (folder / "replies.jsonl").write_text("")

    async def run() -> None:
        options = Options(model=f"scripted:{folder / 'replies.jsonl'}")
        async with served(folder, options=options, globs=("*",)) as client:
            said = (await client.list_prompts()).model_dump_json() + (await client.list_tools()).model_dump_json()
            for each in (await client.list_prompts()).prompts:
                for given in ({}, {"who": "Ann"}, {"times": "x"}):
                    try:
                        said += (await client.get_prompt(each.name, given)).model_dump_json()
                    except MCPError as error:
                        said += str(error)
            for each in (await client.list_tools()).tools[len(READ_TOOLS) :]:
                for given in ({}, {"who": "Ann"}):
                    said += (await client.call_tool(each.name, given)).model_dump_json()
            try:
                await client.read_resource(f"prosa:///../{ABOVE}.md")
            except MCPError as error:
                said += str(error).replace(f"prosa:///../{ABOVE}.md", "")
            assert ABOVE not in said

    asyncio.run(run())
