"""X33, M20: what meta files lend is shown as lent in every form of a node, and names nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from prosa.cli.main import main
from prosa.data import split_front_matter
from prosa.dialects.front import read_front
from prosa.source import SourceText
from tests.web.asking import Files, put
from tests.web.conftest import Serve

META = """---
globs: ["**/*.md"]
title: Harbour rules
description: Everything about fog
tags: [sea]
audience: [crews]
---
Text.
"""
FILES: Files = {
    "docs/all.mda": META,
    "docs/fog.md": "Fog.\n",
    "docs/ice.md": "---\ntags: [ice]\n---\n# Ice\n",
    "docs/node.md": "---\nid: n\ntype: page\ntitle: Node\n---\n# Node\n",
    "docs/own.md": "---\nlent: mine\n---\n# Own\n",
    "far.md": "# Far\n",
}
BY = "docs/all.mda"


def lent(*names: str) -> dict[str, object]:
    every = {"title": "Harbour rules", "description": "Everything about fog", "tags": ["sea"], "audience": ["crews"]}
    return {name: {"value": every[name], "by": BY} for name in names}


@pytest.mark.parametrize("building", [False, True])
def test_x33_json_markdown_and_page_say_what_is_lent(serve: Serve, building: bool) -> None:
    """X33, M20. With the meta file it comes from; a node's own Markdown stays to the byte."""
    served = serve(FILES, building=building)
    fog = served.get("/docs/fog", "application/json").json
    assert fog["lent"] == lent("title", "description", "tags", "audience")
    assert fog["title"] == "fog" and "tags" not in fog
    markdown = served.get("/docs/fog").text
    assert read_front(SourceText(markdown, "fog.md")).value["lent"] == fog["lent"]  # type: ignore[index]
    ice = served.get("/docs/ice", "application/json").json
    assert ice["lent"] == lent("title", "description", "audience") and ice["tags"] == ["ice"]
    node = served.get("/docs/node", "application/json").json
    assert node["lent"] == lent("description", "tags", "audience")
    assert served.get("/docs/node").text == FILES["docs/node.md"]
    assert "audience (inherited from docs/all.mda)" in served.get("/docs/node", "text/html").text
    assert served.get("/docs/own", "application/json").json["lent"] == "mine"
    assert "lent" not in served.get("/far", "application/json").json
    assert split_front_matter(served.get("/docs/own").text)[0] is not None


def test_x33_a_lent_title_or_description_names_nothing(serve: Serve) -> None:
    """X33. Neither in lists nor in the overview, nor for a page."""
    served = serve(FILES)
    titles = {each["title"] for each in served.get("/mdh/nodes.json").json["nodes"] if each["id"] != BY}
    assert "Harbour rules" not in titles
    told = [line for line in served.get("/llms.txt").text.splitlines() if "all.mda" not in line]
    assert not [line for line in told if "Everything about fog" in line or "Harbour rules" in line]
    page = served.get("/docs/fog", "text/html").text
    assert "<title>Harbour rules" not in page and 'content="Everything about fog"' not in page


@pytest.mark.parametrize("said", ["classification: secret\n", "visibility: private\n"])
def test_x23_nothing_is_told_of_a_meta_file_that_is_not_published(serve: Serve, said: str) -> None:
    """X23, X33. Its classification counts all the same."""
    hidden = META.replace("tags:", f"{said}tags:")
    own = "---\nclassification: public\nvisibility: public\n---\n# Open\n"
    served = serve({"docs/all.mda": hidden, "docs/open.md": own, "docs/fog.md": "# Fog\n"})
    assert served.get("/docs/fog").status == 404
    assert "lent" not in served.get("/docs/open", "application/json").json
    assert "inherited from" not in served.get("/docs/open", "text/html").text


def test_x33_an_edit_of_a_meta_file_shows(serve: Serve) -> None:
    """X33."""
    served = serve(FILES)
    assert served.get("/docs/fog.json").json["lent"]["tags"]["value"] == ["sea"]
    served.write("docs/all.mda", META.replace("[sea]", "[lake]"))
    served.settle()
    assert served.get("/docs/fog.json").json["lent"]["tags"]["value"] == ["lake"]


def test_x33_a_build_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X33, H8."""
    monkeypatch.setenv("PROSA_CACHE_DIR", str(tmp_path / "cache"))
    for path, content in FILES.items():
        put(tmp_path / "site", path, content)
    assert main(["build", str(tmp_path / "site"), str(tmp_path / "out")]) == 0
    assert '"by": "docs/all.mda"' in (tmp_path / "out/docs/fog.json").read_text()
    assert "inherited from docs/all.mda" in (tmp_path / "out/docs/fog.html").read_text()
