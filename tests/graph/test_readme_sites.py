"""A README that stands for its folder has the URL of the folder, in the graph as on the site (HA2, X21)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from tests import warm

NODE = "---\nid: {0}\ntype: page\ntitle: {0}\n---\n# {0}\n\n{1}\n"


def links(folder: Path, file: str) -> dict[str, list[dict[str, object]]]:
    command = [sys.executable, "-m", "prosa", "links", file, "--root", ".", "--format", "json"]
    environ = {**os.environ, "HOME": str(folder / ".home"), "XDG_CACHE_HOME": str(folder / ".cache")}
    done = warm.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environ)
    return json.loads(done.stdout)


def targets(folder: Path) -> list[object]:
    return [each["target"] for each in links(folder, "a.md")["out"] if each["resolved"]]


def test_ha2_a_link_to_a_folder_leads_to_its_readme_until_an_index_stands_there(tmp_path: Path):
    """HA2, X21. The index is refreshed after each change, and knows that the URL has moved."""
    (tmp_path / "guide").mkdir()
    (tmp_path / "a.md").write_text(NODE.format("a", "[guide](/guide/)"))
    assert targets(tmp_path) == []
    (tmp_path / "guide" / "README.md").write_text(NODE.format("g", "Text."))
    assert targets(tmp_path) == ["g"]
    (tmp_path / "guide" / "index.md").write_text(NODE.format("i", "Text."))
    assert targets(tmp_path) == ["i"]
    (tmp_path / "guide" / "index.md").unlink()
    assert targets(tmp_path) == ["g"]
