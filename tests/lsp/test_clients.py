"""Clients that others wrote: Neovim, and the protocol library of VS Code from npm (X30)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.house.tree import ROOT

HERE = Path(__file__).parent
SERVER = [sys.executable, "-m", "prosa", "lsp", "--stdio"]
NODE = Path(sys.executable).with_name("node")
PEERS = ROOT / "tests" / "peers" / "node_modules"
SECONDS = 180
TEXT = "[x](gone.md)\n\n<!-- prosa-ignore unresolved-link -->\n\ntext\n"


def editors() -> list[str]:
    """The editors of this machine. One that is not there is left out, unless `PROSA_EDITORS=required`, as in CI."""
    found = [name for name in ("nvim",) if shutil.which(name)]
    assert found or os.environ.get("PROSA_EDITORS") != "required", "install Debian's package neovim"
    return found


@pytest.fixture
def written(project: Path) -> Path:
    (project / "a.md").write_text(TEXT)
    (project / "other.md").write_text("# Other\n")
    return project


@pytest.mark.parametrize("editor", editors())
def test_x30_neovim_shows_fixes_and_leaves(editor: str, written: Path, environ: Mapping[str, str], tmp_path: Path):
    """X30. Diagnostics of the project, a fix applied, a change with a wide character, a definition."""
    seen = tmp_path / "seen.json"
    told = {
        "PROSA_SEEN": str(seen),
        "PROSA_ROOT": str(written),
        "PROSA_FILE": str(written / "a.md"),
        "PROSA_COMMAND": json.dumps(SERVER),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    command = [editor, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {HERE / 'neovim.lua'}"]
    ran = subprocess.run(
        command, env={**os.environ, **environ, **told}, cwd=written, capture_output=True, timeout=SECONDS, check=False
    )
    found = json.loads(seen.read_text("utf-8")) if seen.exists() else {"problem": ran.stderr.decode()}
    assert "problem" not in found, found["problem"]
    assert found["first"] == "unresolved-link unused-suppression"
    assert "remove the comment" in found["actions"]
    assert found["fixed"] == "unresolved-link"
    assert found["text"] == "[x](gone.md)\n\n\ntext"
    assert found["typed"] is True
    assert found["target"] == str(written / "other.md")
    assert found["stopped"] is True


def test_x30_the_protocol_library_of_vs_code(written: Path, environ: Mapping[str, str]):
    """X30. CRLF, characters of two units, versions, and a good end."""
    assert (PEERS / "vscode-languageserver-protocol").is_dir(), "the programs of others are missing; run: make peers"
    client = [NODE, HERE / "protocol_client.js", written, written / "a.md", *SERVER]
    ran = subprocess.run(
        client,
        env={**os.environ, **environ, "NODE_PATH": str(PEERS)},
        cwd=written,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    place = {"start": {"line": 2, "character": 4}, "end": {"line": 2, "character": 11}}
    assert found["server"]["name"] == "prosa"
    assert found["first"] == [["unresolved-link", place, 1]]
    assert [each["uri"] for each in found["definition"]] == [(written / "other.md").as_uri()]
    assert found["symbols"]
    assert found["actions"] == ["ignore unresolved-link here", "ignore unresolved-link in this file"]
    assert (found["version"], found["status"]) == (2, 0)
