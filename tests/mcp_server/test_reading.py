"""The tools that read, in both eras of the protocol: what they answer, and what they never tell (X23, X30)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError

from prosa.app.site.keeper import IndexThread
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.mcp_server.tools import READ_TOOLS
from prosa.schema import Schema
from tests.depth import examples
from tests.mcp_server.folder import FILES, served, write

MODES = ("legacy", "2026-07-28")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return write(tmp_path / "docs")


def call(folder: Path, name: str, arguments: dict[str, Any], mode: str = "auto") -> Any:
    async def run() -> Any:
        async with served(folder, mode) as client:
            return await client.call_tool(name, arguments)

    return asyncio.run(run())


def answer(folder: Path, name: str, **arguments: Any) -> Any:
    found = call(folder, name, arguments)
    assert not found.is_error, found.content[0].text
    (tool,) = (each for each in READ_TOOLS if each.name == name)
    assert Schema(tool.output).problems(found.structured_content) == []
    assert json.loads(found.content[0].text) == found.structured_content
    return found.structured_content


def refused(folder: Path, name: str, **arguments: Any) -> str:
    found = call(folder, name, arguments)
    assert found.is_error
    return found.content[0].text


@pytest.mark.parametrize("mode", MODES)
def test_the_tools_are_six_read_only_and_small(folder: Path, mode: str):
    async def run() -> Any:
        async with served(folder, mode) as client:
            return (await client.list_tools()).tools

    tools = asyncio.run(run())
    assert [each.name for each in tools] == [each.name for each in READ_TOOLS]
    assert all(each.annotations.read_only_hint and each.output_schema for each in tools)
    text = json.dumps([each.model_dump(by_alias=True, exclude_none=True) for each in tools])
    assert len(text) / 4 <= 1_500


@pytest.mark.parametrize("mode", MODES)
def test_search_finds_sections_and_says_where(folder: Path, mode: str):
    found = call(folder, "search", {"query": "boats"}, mode).structured_content
    (hit,) = found["hits"]
    assert (hit["path"], hit["id"], hit["section"], found["complete"]) == ("guide/pier.md", "pier", "the-pier", True)


def test_search_can_be_limited(folder: Path):
    assert len(answer(folder, "search", query="words", limit=1)["hits"]) == 1
    assert [each["path"] for each in answer(folder, "search", query="pier", where="status=draft")["hits"]] == [
        "index.md"
    ]
    assert "expected a value" in refused(folder, "search", query="x", where="a==(")


def test_a_document_is_read_by_path_id_and_section(folder: Path):
    whole = answer(folder, "read", document="guide/pier.md")
    assert whole["text"] == FILES["guide/pier.md"] and whole["next_line"] is None
    assert answer(folder, "read", document="pier") == whole
    part = answer(folder, "read", document="pier", section="opening")
    assert part["text"] == "## Opening\n\nAlways.\n" and part["line"] == 10
    assert "did you mean opening?" in refused(folder, "read", document="pier", section="openning")
    assert "did you mean guide/pier.md?" in refused(folder, "read", document="guide/peer.md")


def test_a_long_document_is_read_in_pieces_that_begin_at_headings(folder: Path):
    text, line, pieces = "", 1, 0
    while line:
        found = answer(folder, "read", document="long.md", start_line=line, max_tokens=1_000)
        assert len(found["text"]) <= 4_000
        assert line == 1 or found["text"].startswith("## Part")
        text, line, pieces = text + found["text"], found["next_line"], pieces + 1
    assert text == FILES["long.md"] and pieces > 5


def test_whole_numbers_may_be_written_with_a_fraction(folder: Path):
    """1.0 is an integer of JSON Schema."""
    assert answer(folder, "search", query="words", limit=1.0) == answer(folder, "search", query="words", limit=1)
    given = {"document": "long.md", "start_line": 9, "max_tokens": 1_000}
    floats = {name: float(each) if isinstance(each, int) else each for name, each in given.items()}
    found = call(folder, "read", floats).structured_content
    assert json.dumps(found) == json.dumps(answer(folder, "read", **given))


def test_outline_links_and_list(folder: Path):
    outline = answer(folder, "outline", document="pier")
    assert [(each["text"], each["section"]) for each in outline["headings"]] == [
        ("The pier", "the-pier"),
        ("Opening", "opening"),
    ]
    assert outline["fields"]["id"] == "pier"
    assert [each["path"] for each in answer(folder, "links", document="index.md")["links"]] == ["guide/pier.md"]
    assert [each["id"] for each in answer(folder, "links", document="pier")["backlinks"]] == ["home"]
    listed = answer(folder, "list")
    paths = [each["path"] for each in listed["documents"]]
    assert paths == ["greet.md", "guide/pier.md", "index.md", "long.md", "tell.md"] and listed["next_cursor"] is None
    assert [each["path"] for each in answer(folder, "list", cursor="greet.md")["documents"]] == paths[1:]
    assert [each["path"] for each in answer(folder, "list", where="status=draft")["documents"]] == ["index.md"]


def test_a_text_is_checked_before_it_is_written(folder: Path):
    found = answer(folder, "check", text="# New\n\n[a](guide/pier.md), [b](guide/gone.md)\n")
    assert [(each["rule"], each["line"]) for each in found["diagnostics"]] == [("unresolved-link", 3)]
    assert answer(folder, "check", document="pier") == {"path": "guide/pier.md", "diagnostics": []}
    assert answer(folder, "check", text="---\nid: [\n---\n", **{"as": "mdh"})["diagnostics"]
    assert "give one of" in refused(folder, "check")
    assert "unknown dialect 'mhd'" in refused(folder, "check", text="x", **{"as": "mhd"})


def test_x23_what_is_not_published_is_not_there(folder: Path):
    """X23: no tool, resource or prompt knows of it, not even that a file is there."""
    hidden = ("secret.mda", ".hidden/note.md", "ignored.md", "secret-program.md", "../cache", "/etc/passwd", "")
    for name in hidden:
        for tool in ("read", "outline", "links", "check"):
            text = refused(folder, tool, document=name)
            assert "canary" not in text.lower() and str(folder) not in text
    assert answer(folder, "search", query="canary")["hits"] == []
    said = answer(folder, "check", text="[a](secret.mda) [b](ignored.md) [[secret]] [d](secret-programm.md)\n")
    assert [each["rule"] for each in said["diagnostics"]].count("unresolved-link") == 3
    assert "secret.mda" not in json.dumps([each["notes"] for each in said["diagnostics"]])
    assert "secret-program.md" not in json.dumps(said).replace("secret-programm.md", "")

    async def run() -> Any:
        async with served(folder) as client:
            resources = [each.name for each in (await client.list_resources()).resources]
            prompts = [each.name for each in (await client.list_prompts()).prompts]
            for uri in (f"prosa:///{name}" for name in hidden):
                with pytest.raises(MCPError, match="Resource not found"):
                    await client.read_resource(uri)
            return resources, prompts

    resources, prompts = asyncio.run(run())
    assert resources == ["greet.md", "guide/pier.md", "index.md", "long.md", "tell.md"]
    assert prompts == ["greet"]  # `tell` imports what is not published


@pytest.mark.parametrize("ready", [True, False])
def test_x23_a_document_of_any_suffix_that_is_not_published_is_not_there_for_a_check(folder: Path, ready: bool):
    """X23: a link to it leads nowhere, whatever its name ends in."""
    names = [f"hidden{suffix}" for suffix in DOCUMENT_SUFFIXES]
    for name in names:
        (folder / name).write_text("---\ntitle: Canary\nclassification: secret\n---\n# Canary\n")
    text = "".join(f"[x]({name})\n" for name in names)

    async def run() -> Any:
        async with served(folder, ready=ready) as client:
            return (await client.call_tool("check", {"text": text})).structured_content

    found = [each["rule"] for each in asyncio.run(run())["diagnostics"]]
    assert found.count("unresolved-link") == len(names)


@pytest.mark.parametrize("mode", MODES)
def test_resources_are_the_texts_of_documents(folder: Path, mode: str):
    async def run() -> Any:
        async with served(folder, mode) as client:
            (template,) = (await client.list_resource_templates()).resource_templates
            text = (await client.read_resource("prosa:///guide/pier.md")).contents[0].text
            return template.uri_template, text

    assert asyncio.run(run()) == ("prosa:///{+path}", FILES["guide/pier.md"])


def test_what_needs_the_index_waits_for_it_and_nothing_else_does(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """An agent that asks at once, as one does that starts the server for its question, would find nothing."""
    monkeypatch.setattr("prosa.app.site.agents.READY_SECONDS", 60)

    async def run() -> tuple[str, list[Any]]:
        async with served(folder, ready=False) as client:
            read = await client.call_tool("read", {"document": "guide/pier.md"})
            asked = {"search": {"query": "boats"}, "list": {}, "links": {"document": "pier"}}
            found = [(await client.call_tool(*each)).structured_content for each in asked.items()]
            return read.structured_content["text"], found

    text, found = asyncio.run(run())
    assert text == FILES["guide/pier.md"]
    assert [each["complete"] for each in found] == [True, True, True] and found[0]["hits"]


def test_an_id_that_is_asked_for_before_the_index_is_there_is_told_so(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(IndexThread, "_look", lambda _, __: None)

    async def run() -> str:
        async with served(folder, ready=False) as client:
            return (await client.call_tool("read", {"document": "pier"})).content[0].text

    assert "not known before the index is there: give the path" in asyncio.run(run())


def test_wrong_calls_are_answers_and_unknown_tools_errors(folder: Path):
    async def run() -> None:
        async with served(folder) as client:
            wrong = await client.call_tool("read", {"document": 3})
            assert wrong.is_error and "document" in wrong.content[0].text
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool("greet", {"who": "Ann"})  # nothing runs unless the user allowed it
            with pytest.raises(MCPError, match="Invalid cursor"):
                await client.list_tools(cursor="-1")

    asyncio.run(run())


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=30), st.text(max_size=10), st.integers(1, 10**6))
def test_no_question_ends_in_a_fault(folder: Path, text: str, other: str, number: int):
    async def run() -> None:
        async with served(folder, ready=False) as client:
            for name, arguments in (
                ("read", {"document": text, "section": other, "start_line": number}),
                ("search", {"query": text, "where": other}),
                ("check", {"text": text or "x", "as": other} if other else {"text": text or "x"}),
                ("list", {"cursor": text}),
            ):
                found = await client.call_tool(name, arguments)
                assert found.content[0].text

    asyncio.run(run())
