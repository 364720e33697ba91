"""Tools that index or link a folder of Markdown, against which `prosa index` is measured. In: folders. Out: commands.

markdown-vault-mcp keeps a full-text index in SQLite; obsidiantools is a library that links a folder in memory. zk and
other tools in Go or Rust are in no package registry that `install` uses.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.peers.find import HERE, Peer, folder

_ASK = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"


def find() -> dict[str, Peer]:
    """Return the peers by name, missing ones among them. They are looked for where `install` puts them only."""
    return {name: _peer(name) for name in ("markdown-vault-mcp", "obsidiantools", "networkx")}


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
    done = subprocess.run([*peer.start, "arrange"], input=json.dumps(pairs), capture_output=True, text=True, check=True)
    return float(done.stdout)


def _peer(name: str) -> Peer:
    binaries = folder() / "venv" / "bin"
    python = binaries / "python"
    if not python.exists():
        return Peer(name)
    asked = subprocess.run([str(python), "-c", _ASK, name], capture_output=True, text=True, check=False)
    if asked.returncode:
        return Peer(name)
    programs: Mapping[str, tuple[str, ...]] = {"markdown-vault-mcp": (str(binaries / name),)}
    start = programs.get(name, (str(python), str(HERE / "graph_tools.py")))
    return Peer(name, start, asked.stdout.strip())
