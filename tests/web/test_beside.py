"""`prosa build --beside`: what agents need beside the pages of another generator, and nothing over them (X40)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prosa.cli import build as command
from prosa.cli.errors import guarded
from prosa.cli.parser import Parser
from tests.cli.desk import Desk, desk
from tests.web.asking import put

DOCS = {
    "index.md": "# Home\n\nSee [the pier](guide/pier.md#opening), [[pier]], ![a](img/a.png), [it](https://x.example).\n",
    "guide/pier.md": "---\nauthor: Ada\n---\n# Pier\n\n"
    "Back [home](../index.md), [here](/guide/pier/), [x][y].\n\n[y]: ../d.md\n",
    "d.md": "# Draft\n",
    "secret.md": "---\nclassification: secret\n---\nsecret-text\n",
    "skills/tie/SKILL.md": "---\nname: tie\ndescription: Ties.\n---\nTie.\n",
}
SITE = {
    "index.html": "<!doctype html><p>Home",
    "guide/pier/index.html": "<!doctype html><p>Pier",
    "secret/index.html": "<p>published by mistake",
    "img/a.png": "PNG",
}


def build(tmp_path: Path, *words: str) -> tuple[int, Desk]:
    at = desk("", {"PROSA_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)})

    def work() -> int:
        parser = Parser(console=at.console, prog="prosa build", description="Build.")
        command.configure(parser)
        return command.run(parser.parse_anywhere(words), at.console)

    return guarded(at.console, words, work), at


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for path, text in DOCS.items():
        put(tmp_path / "docs", path, text)
    for path, text in SITE.items():
        put(tmp_path / "site", path, text)
    return tmp_path / "docs", tmp_path / "site"


def written(folder: Path) -> set[str]:
    every = {each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()}
    return every - {".prosa-build.json", *SITE}


def test_x40_agents_get_what_they_need_beside_the_pages(folders: Any, tmp_path: Path) -> None:
    docs, site = folders
    status, at = build(tmp_path, str(docs), str(site), "--beside", str(site), "--base-url", "https://h.example/p")
    assert status == 0, at.err
    assert written(site) == {
        "index.md",
        "guide/pier/index.md",
        "llms.txt",
        "llms-full.txt",
        ".well-known/agent-skills/index.json",
        ".well-known/agent-skills/tie/SKILL.md",
    }
    home = (site / "index.md").read_text()
    assert "[the pier](/p/guide/pier/index.md#opening), [pier](/p/guide/pier/index.md), ![a](/p/img/a.png)" in home
    assert "[it](https://x.example)" in home
    assert "d.md" not in home  # its generator did not publish it
    pier = (site / "guide/pier/index.md").read_text()
    assert "author: Ada" in pier
    assert "Back [home](/p/index.md), [here](/p/guide/pier/index.md), [x][y].\n\n[y]: ../d.md" in pier
    assert "https://h.example/p/guide/pier/index.md" in (site / "llms.txt").read_text()
    assert "note: d.md is left out: no page of the site is made of it" in at.err
    for path in written(site):
        assert b"secret-text" not in (site / path).read_bytes()
    for path, text in SITE.items():
        assert (site / path).read_text() == text
    put(docs, "guide/pier.md", "---\nid: p\ntype: page\ntitle: Pier\nactions: [{id: a, method: GET, url: /a}]\n---\n")
    assert build(tmp_path, str(docs), str(site), "--beside", str(site))[0] == 0
    assert list(json.loads((site / "openapi.json").read_text())["paths"]) == ["/a"]
    assert json.loads((site / ".well-known/api-catalog").read_text())["linkset"][0]["item"] == [{"href": "/"}]


def test_x40_no_file_of_others_is_written_over(folders: Any, tmp_path: Path) -> None:
    docs, site = folders
    put(site, "llms.txt", "mine")
    status, at = build(tmp_path, str(docs), str(site), "--beside", str(site))
    assert (status, (site / "llms.txt").read_text()) == (1, "mine")
    assert "llms.txt was not made by a build" in at.err
    assert (site / "index.md").is_file()
    put(docs, "index.md", "# Other\n")
    assert build(tmp_path, str(docs), str(site), "--beside", str(site))[0] == 1
    assert "# Other" in (site / "index.md").read_text()  # its own file is written again
    (site / "index.md").write_text("changed by hand")
    build(tmp_path, str(docs), str(site), "--beside", str(site))
    assert (site / "index.md").read_text() == "changed by hand"


def test_x40_a_folder_of_its_own_and_a_dry_run(folders: Any, tmp_path: Path) -> None:
    docs, site = folders
    out = tmp_path / "out"
    status, at = build(tmp_path, str(docs), str(out), "--beside", str(site), "--dry-run")
    assert (status, "would write: guide/pier/index.md" in at.out, out.exists()) == (0, True, False)
    assert build(tmp_path, str(docs), str(out), "--beside", str(site))[0] == 0
    assert written(site) == set()
    assert "guide/pier/index.md" in written(out)


def test_a_site_of_other_documents_is_wrong_use(folders: Any, tmp_path: Path) -> None:
    docs, _ = folders
    put(tmp_path / "other", "x/y.html", "")
    assert build(tmp_path, str(docs), str(tmp_path / "out"), "--beside", str(tmp_path / "other"))[0] == 2
    assert build(tmp_path, str(docs), str(tmp_path / "out"), "--beside", str(tmp_path / "none"))[0] == 2
