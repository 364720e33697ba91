"""Tools that index or link a folder of Markdown, against which `prosa index` is measured. In: folders. Out: commands.

markdown-vault-mcp keeps a full-text index in SQLite; obsidiantools is a library that links a folder in memory. zk and
other tools in Go or Rust are in no package registry that `install` uses.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.measure import MOST_SECONDS
from bench.peers.find import HERE, Peer, leave_out, library

VAULT = "markdown-vault-mcp"


def find() -> dict[str, Peer]:
    """Return the peers by name, missing ones among them. They are looked for where `install` puts them only."""
    tools = str(HERE / "graph_tools.py")
    found = {name: library(name, "venv", [tools]) for name in ("obsidiantools", "networkx")}
    return {VAULT: find_vault(), **found}


def find_vault() -> Peer:
    """Return a program that has no flag for its version."""
    found = library(VAULT, "venv", [])
    return replace(found, start=(str(Path(found.start[0]).with_name(VAULT)),)) if found.start else found


def vault_index(peer: Peer, place: Path, file: Path) -> Sequence[str]:
    """Build an index anew."""
    return [*peer.start, "index", "--source-dir", str(place), "--index-path", str(file), "--force"]


def vault_refresh(peer: Peer, place: Path, file: Path) -> Sequence[str]:
    """Bring an index up to date."""
    return [*peer.start, "reindex", "--source-dir", str(place), "--index-path", str(file)]


def vault_search(peer: Peer, place: Path, file: Path, words: str) -> Sequence[str]:
    """Ask an index for ten hits, which it has to be told of by a variable."""
    told = ("env", f"MARKDOWN_VAULT_MCP_INDEX_PATH={file}")
    return [*told, *peer.start, "search", "--source-dir", str(place), words]


def link_folder(peer: Peer, place: Path) -> Sequence[str]:
    """Read and link every page of a folder, and ends."""
    return [*peer.start, "link", str(place)]


def arranged(peer: Peer, pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return the milliseconds that networkx needs to give every node of a graph its place; None where it is not
    installed."""
    if not peer.start:
        return None
    command = [*peer.start, "arrange"]
    try:
        done = subprocess.run(
            command, input=json.dumps(pairs), capture_output=True, text=True, check=True, timeout=MOST_SECONDS
        )
        return float(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        leave_out(peer.name, "its arrangement of a graph failed")
        return None
