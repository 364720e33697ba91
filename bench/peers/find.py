"""Where peers are installed, and the checkers that `prosa check` is measured against, each with its defaults. In:
documents. Out: commands.

Nothing is installed unless asked for. A peer is looked for where `install` puts it, then on PATH; one that is nowhere
has no command, and the table says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from prosa.adapters.files import cache_dir

HERE = Path(__file__).resolve().parent
SUFFIXES = ("md", "mda", "ymj")


@dataclass(frozen=True, slots=True)
class Peer:
    """A program with its version, and the words that start it; no words: it is not installed."""

    name: str
    start: tuple[str, ...] = ()
    version: str = ""

    @property
    def title(self) -> str:
        """What stands in the table."""
        return f"{self.name} {self.version}".strip()


def folder() -> Path:
    """Return where peers are installed."""
    named = os.environ.get("PROSA_BENCH_PEERS")
    return Path(named) if named else cache_dir(os.environ) / "bench-peers"


def install() -> None:
    """Install the pinned peers. Raises CalledProcessError with the installer's words on the terminal."""
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
    pip = [str(place / "venv" / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "-qq"]
    # The lock is complete. Asked for dependencies, pip refuses hashes wherever one is named with an extra.
    pinned = ["--require-hashes", "--no-deps", "--only-binary=:all:", "-r", str(HERE / "python.lock")]
    subprocess.run([*pip, *pinned], check=True)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(HERE / name, place / name)
    subprocess.run(["npm", "ci", "--loglevel=error"], check=True, cwd=place, env=os.environ | {"PATH": _path()})


CHECKERS = ("rumdl", "markdownlint-cli2", "mdformat")
_OF_NODE = ("markdownlint-cli2", "ctxlint")


def find(names: Sequence[str] = CHECKERS) -> dict[str, Peer]:
    """Return the peers by name, missing ones among them."""
    return {name: _peer(name) for name in names}


def rumdl(peer: Peer, cache: Path | None) -> Sequence[str]:
    """Check the documents below the working folder, those that it would not take for Markdown too."""
    every = ",".join(f"**/*.{suffix}" for suffix in SUFFIXES)
    kept = ["--no-cache"] if cache is None else ["--cache-dir", str(cache)]
    return [*peer.start, "check", *kept, "--include", every, "."]


def markdownlint(peer: Peer) -> Sequence[str]:
    """Check the documents below the working folder."""
    return [*peer.start, f"**/*.{{{','.join(SUFFIXES)}}}"]


def mdformat(peer: Peer, documents: Sequence[Path]) -> Sequence[str]:
    """Check the documents, which it takes one by one where they are not called `.md`."""
    return [*peer.start, "--check", *map(str, documents)]


def _path() -> str:
    """Node comes with the development requirements."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"


def _peer(name: str) -> Peer:
    own = (folder() / "venv" / "bin", folder() / "node_modules" / ".bin")
    found = shutil.which(name, path=os.pathsep.join(map(str, own))) or shutil.which(name)
    if found is None:
        return Peer(name)
    node = shutil.which("node", path=_path())
    start = (node, found) if name in _OF_NODE and node else (found,)
    said = subprocess.run([*start, "--version"], capture_output=True, text=True, check=False)
    return Peer(name, start, _version(said.stdout + said.stderr))


def _version(text: str) -> str:
    words = (word.lstrip("v") for word in text.split())
    return next((word for word in words if word[:1].isdigit()), "")
