"""X45: every door calls a document by the same name, which in a vault no heading gives."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from prosa.cli.main import main
from tests.cli.desk import desk
from tests.mcp_server.folder import served
from tests.render.page.elements import Tree, tree

FILES = {
    "notes/.obsidian/app.json": "{}",
    "notes/Home.md": "Begin at [[Pacemaker]].\n",
    "notes/Pacemaker.md": "It beats.\n\n# Habits\n\nFirst.\n\n# References\n\nBack [[Home]]. Beats per minute.\n",
    "notes/Heart.md": "# References\n\nBeats, [[Pacemaker]].\n",
    "notes/Blood.md": "# Blood\n\nBeats.\n\n# Cells\n",
    "docs/guide.md": "Beats.\n\n# Install\n\n# Use\n",
    "docs/start.md": "# First *steps*\n\nBeats, see [the guide](guide.md).\n",
}
NAMES = {
    "notes/Home.md": "Home",
    "notes/Pacemaker.md": "Pacemaker",
    "notes/Heart.md": "Heart",
    "notes/Blood.md": "Blood",
    "docs/guide.md": "guide",
    "docs/start.md": "First steps",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a vault in it."""
    monkeypatch.setenv("PROSA_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "both"
    (root / ".git").mkdir(parents=True)
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.chdir(root)
    return root


def said(*words: str) -> str:
    found = desk(environ={"PROSA_CACHE_DIR": str(Path.cwd().parent / "cache")})
    assert main([*words], found.console) == 0, found.err
    return found.out


def titles() -> dict[str, str]:
    rows = json.loads(said("query", "SELECT path, title FROM documents", "--format", "json"))["rows"]
    return {row["path"]: row["title"] for row in rows}


def test_x45_every_command_of_the_corpus_says_the_same_name(folder: Path):
    assert titles() == NAMES
    nodes = json.loads(said("graph", "--format", "json"))["nodes"]
    assert {each["path"]: each["title"] for each in nodes} == NAMES
    hits = json.loads(said("search", "beats", "--format", "json"))["hits"]
    assert {each["path"]: each["title"] for each in hits}.items() <= NAMES.items()
    assert "References" not in said("links", "notes/Home.md")
    assert "References" not in said("graph", "--format", "mermaid")


def test_x45_agents_are_told_the_same_name(folder: Path):
    async def ask() -> object:
        async with served(folder) as client:
            found = await client.call_tool("search", {"query": "beats"})
            return found.structured_content

    assert {each["path"]: each["title"] for each in asyncio.run(ask())["hits"]}.items() <= NAMES.items()  # type: ignore[index]


def heads(page: Tree) -> list[str]:
    return [each.text.removesuffix(" #") for each in page.all("h1")]


def test_x45_pages_and_lists_say_the_same_name_and_no_heading_twice(folder: Path):
    said("build", ".", "../out")
    out = folder.parent / "out"
    for path, name in NAMES.items():
        page = tree((out / path).with_suffix(".html").read_text())
        assert page.one("title").text.split(" · ")[0] == name
        assert heads(page)[0] == name
        assert len(heads(page)) == len({*heads(page)})
    assert heads(tree((out / "notes/Pacemaker.html").read_text())) == ["Pacemaker", "Habits", "References"]
    assert heads(tree((out / "notes/Heart.html").read_text())) == ["Heart", "References"]
    assert heads(tree((out / "notes/Blood.html").read_text())) == ["Blood", "Cells"]
    listing = tree((out / "notes/index.html").read_text())
    assert {each.text for each in listing.all("a")} >= {"Home", "Pacemaker", "Heart", "Blood"}
    assert "References" not in listing.seen
    index = (out / "llms.txt").read_text()
    assert all(f"[{name}]" in index for name in NAMES.values())
    assert {each["title"] for each in json.loads((out / "mdh/nodes.json").read_text())["nodes"]} >= {*NAMES.values()}


def test_x45_a_vault_in_another_folder_counts_from_the_next_look_on(folder: Path):
    """The documents themselves stay the same."""
    assert titles()["docs/start.md"] == "First steps"
    (folder / "docs/.obsidian").mkdir()
    assert titles()["docs/start.md"] == "start"
    (folder / ".obsidian").mkdir()
    (folder / "docs/.obsidian").rmdir()
    assert titles()["docs/start.md"] == "start"
    (folder / ".obsidian").rmdir()
    assert titles() == NAMES


def test_x45_below_the_folder_of_a_vault_notes_are_notes(folder: Path):
    (folder / "notes/in").mkdir()
    (folder / "notes/in/a.md").write_text("# References\n")
    rows = json.loads(said("graph", "notes/in", "--format", "json"))["nodes"]
    assert [each["title"] for each in rows] == ["a"]


def test_x45_a_site_of_notes_is_called_by_the_title_of_its_first_page_else_by_its_folder(folder: Path):
    (folder / "notes/README.md").write_text("# References\n")
    said("build", "notes", "../out")
    assert tree((folder.parent / "out/Heart.html").read_text()).one("title").text == "Heart · notes"
    (folder / "notes/README.md").write_text("---\ntitle: Body\n---\n# References\n")
    said("build", "notes", "../out2")
    assert tree((folder.parent / "out2/Heart.html").read_text()).one("title").text == "Heart · Body"
