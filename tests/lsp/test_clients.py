"""Clients that others wrote: Neovim, the protocol library of VS Code from npm, and pytest-lsp, which knows what editors
say of themselves and holds every answer against the protocol (X30)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient, LspSpecificationWarning, client_capabilities, make_test_lsp_client

from tests import warm
from tests.house.tree import ROOT

HERE = Path(__file__).parent
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
def server(tmp_path: Path) -> list[str]:
    """How the server is started."""
    return [str(warm.scripts(tmp_path / "bin") / "prosa"), "lsp", "--stdio"]


@pytest.fixture
def written(project: Path) -> Path:
    (project / "a.md").write_text(TEXT)
    (project / "other.md").write_text("# Other\n")
    return project


@pytest.mark.parametrize("editor", editors())
def test_x30_neovim_shows_fixes_and_leaves(
    editor: str, written: Path, server: list[str], environ: Mapping[str, str], tmp_path: Path
):
    """X30. Diagnostics of the project, a fix applied, a change with a wide character, a definition."""
    seen = tmp_path / "seen.json"
    told = {
        "PROSA_SEEN": str(seen),
        "PROSA_ROOT": str(written),
        "PROSA_FILE": str(written / "a.md"),
        "PROSA_COMMAND": json.dumps(server),
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


def test_x30_the_protocol_library_of_vs_code(written: Path, server: list[str], environ: Mapping[str, str]):
    """X30. CRLF, characters of two units, versions, and a good end."""
    assert (PEERS / "vscode-languageserver-protocol").is_dir(), "the programs of others are missing; run: make peers"
    client = [NODE, HERE / "protocol_client.js", written, written / "a.md", *server]
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


@pytest.mark.parametrize("spoken", ["emacs", "neovim", "visual-studio-code"])
def test_x30_what_editors_say_of_themselves_gets_answers_that_they_understand(
    spoken: str, written: Path, server: list[str], environ: Mapping[str, str]
):
    """X30. A client of pytest-lsp in the words of an editor; what the protocol does not allow to it is an error."""
    told = asyncio.run(_session(spoken, written, server, environ))
    assert told == {
        "diagnostics": ["unresolved-link", "unused-suppression"],
        "hover": True,
        "symbols": ["Other"],
        "items": True,
        "definition": "other.md",
    }


async def _session(spoken: str, folder: Path, server: list[str], environ: Mapping[str, str]) -> dict[str, Any]:
    client = make_test_lsp_client()
    with warnings.catch_warnings():
        warnings.simplefilter("error", LspSpecificationWarning)
        await client.start_io(*server, cwd=str(folder), env={**os.environ, **environ})
        try:
            async with asyncio.timeout(SECONDS):
                return await _asked(client, spoken, folder)
        finally:
            await client.shutdown_session()


async def _asked(client: LanguageClient, spoken: str, folder: Path) -> dict[str, Any]:
    root = folder.as_uri()
    await client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(spoken),
            root_uri=root,
            workspace_folders=[types.WorkspaceFolder(uri=root, name="root")],
        )
    )
    uri = f"{root}/a.md"
    for name, text in (("other.md", "# Other\n"), ("a.md", f"{TEXT}\n[other](other.md)\n")):
        document = types.TextDocumentItem(uri=f"{root}/{name}", language_id="markdown", version=1, text=text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    while len(client.diagnostics.get(uri, ())) < 2:
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    here = {"text_document": types.TextDocumentIdentifier(uri=uri), "position": types.Position(line=6, character=10)}
    definition = await client.text_document_definition_async(types.DefinitionParams(**here))
    first = definition[0] if isinstance(definition, list) else definition
    other = types.TextDocumentIdentifier(uri=f"{root}/other.md")
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=other))
    items = await client.text_document_completion_async(types.CompletionParams(**here))
    return {
        "diagnostics": sorted(str(each.code) for each in client.diagnostics[uri]),
        "hover": await client.text_document_hover_async(types.HoverParams(**here)) is not None,
        "symbols": [each.name for each in symbols or ()],
        "items": bool(items.items if isinstance(items, types.CompletionList) else items),
        "definition": getattr(first, "target_uri", getattr(first, "uri", "")).rpartition("/")[2],
    }
