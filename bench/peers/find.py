"""Where peers are installed, and the checkers that `prosa check` is measured against, each with its defaults. In:
documents. Out: commands.

A peer is looked for where `install` puts it, then on PATH; one that is nowhere, or does not work, has no command and a
reason, which the page shows. Reasons name no path and no host.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prosa.adapters.files import cache_dir

HERE = Path(__file__).resolve().parent
SUFFIXES = ("md", "mda", "ymj")
ASKED_SECONDS, INSTALL_SECONDS = 60, 1_800

ENVIRONMENTS: Mapping[str, str] = {"venv": "python.lock", "clients": "clients.lock"}
"""Environments of Python with their locks, each by itself: what their programs need may differ."""
NODE: Mapping[str, Path] = {"node": HERE, "promptfoo": HERE / "promptfoo"}
"""Folders of npm with the places of their locks."""
REASONS = "reasons.json"


@dataclass(frozen=True, slots=True)
class Peer:
    """A program with its version, and the words that start it; no words: it was not found, for a ``reason``."""

    name: str
    start: tuple[str, ...] = ()
    version: str = ""
    reason: str = ""

    @property
    def title(self) -> str:
        """What stands in the table."""
        return f"{self.name} {self.version}".strip()


ABSENT: dict[str, str] = {}
"""Peers that this process looked for in vain or left out, each with the reason."""
VERSIONS: dict[str, str] = {}
"""Those that it found."""


def leave_out(name: str, reason: str) -> None:
    """Say that a peer is not compared, on the terminal and for the page."""
    if ABSENT.get(name) != reason:
        print(f"{name} is left out: {reason}", file=sys.stderr, flush=True)
    ABSENT[name] = reason
    VERSIONS.pop(name, None)


def folder() -> Path:
    """Return where peers are installed."""
    named = os.environ.get("PROSA_BENCH_PEERS")
    return Path(named) if named else cache_dir(os.environ) / "bench-peers"


def install() -> dict[str, str]:
    """Install what of the pinned peers is not there, and return why an environment could not be installed, by its name.

    What was installed from the same lock before stays, without a question to any index.
    """
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    works: dict[str, tuple[Path, Callable[[Path, Path], None]]] = {
        **{name: (HERE / lock, _with_pip) for name, lock in ENVIRONMENTS.items()},
        **{name: (own / "package-lock.json", _with_npm) for name, own in NODE.items()},
    }
    reasons: dict[str, str] = {}
    for name, (lock, work) in works.items():
        stamp = place / name / ".installed"
        if stamp.is_file() and stamp.read_bytes() == lock.read_bytes():
            continue
        print(f"installing the peers of {lock.parent.name}/{lock.name} …", file=sys.stderr, flush=True)
        try:
            work(place / name, lock)
            stamp.write_bytes(lock.read_bytes())
        except (OSError, subprocess.SubprocessError) as problem:
            reasons[name] = _why(problem)
            print(f"  not installed: {reasons[name]}", file=sys.stderr, flush=True)
    (place / REASONS).write_text(json.dumps(reasons), encoding="utf-8")
    return reasons


def _with_pip(place: Path, lock: Path) -> None:
    python = place / "bin" / "python"
    if not python.exists():
        _ran([sys.executable, "-m", "venv", "--clear", str(place)])
    # The lock is complete. Asked for dependencies, pip refuses hashes wherever one is named with an extra.
    pinned = ["--require-hashes", "--no-deps", "--only-binary=:all:", "-r", str(lock)]
    _ran([str(python), "-m", "pip", "install", "--disable-pip-version-check", "-q", "--retries=1", *pinned])


def _with_npm(place: Path, lock: Path) -> None:
    npm = shutil.which("npm", path=_path())
    if npm is None:
        raise FileNotFoundError("npm")
    place.mkdir(exist_ok=True)
    for file in (lock, lock.with_name("package.json"), lock.with_name(".npmrc")):
        shutil.copy(file, place / file.name)
    _ran([npm, "ci", "--loglevel=error", "--fetch-retries=1"], place)


def _ran(command: Sequence[str], place: Path | None = None) -> None:
    done = _ended(command, os.environ | {"PATH": _path()}, INSTALL_SECONDS, place)
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if "error" in line.lower() and " at " not in line]
        print("\n".join(told[:3]), file=sys.stderr, flush=True)
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)


def _ended(
    command: Sequence[str], environ: Mapping[str, str], seconds: int, place: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Return a command that has ended, with what it printed. Raises `OSError`, and `TimeoutExpired` after a time."""
    return subprocess.run(
        command,
        cwd=place,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )


_NO_NETWORK = re.compile(
    r"connection (?:refused|error|broken)|ECONNREFUSED|ENOTFOUND|ENETUNREACH|EAI_AGAIN|ETIMEDOUT|Max retries exceeded"
    r"|Failed to establish|Name or service not known|No matching distribution",
    re.IGNORECASE,
)


def _why(problem: Exception) -> str:
    """Return a reason without a path and without a host."""
    if isinstance(problem, FileNotFoundError) and problem.args == ("npm",):
        return "npm is not on this machine"
    if isinstance(problem, subprocess.TimeoutExpired):
        return f"the installation took longer than {INSTALL_SECONDS // 60} minutes"
    if isinstance(problem, subprocess.CalledProcessError):
        if _NO_NETWORK.search(f"{problem.stderr}{problem.stdout}"):
            return "the package index could not be reached, or does not have the pinned version"
        if "EBADPLATFORM" in problem.stderr:
            return "the pinned version is not for this kind of machine"
        return f"the installer ended with status {problem.returncode}"
    return f"the installation failed: {getattr(problem, 'strerror', None) or type(problem).__name__}"


CHECKERS = ("rumdl", "markdownlint-cli2", "mdformat")
_OF_NODE = {"markdownlint-cli2": "node", "ctxlint": "node", "promptfoo": "promptfoo"}
_VERSION = re.compile(r"\bv?(\d+(?:\.\d+)+[0-9A-Za-z.+-]{0,20})")


def find(names: Sequence[str] = CHECKERS) -> dict[str, Peer]:
    """Return the peers by name, missing ones among them."""
    return {name: program(name) for name in names}


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


def program(name: str, environ: Mapping[str, str] | None = None) -> Peer:
    """Return a program that tells its version, from the environments of peers or from PATH."""
    return _noted(_program(name, environ))


def library(name: str, environment: str, start: Sequence[str], package: str = "") -> Peer:
    """Return a package of an environment, which is started by words after its interpreter."""
    python = folder() / environment / "bin" / "python"
    if not python.exists():
        return _noted(Peer(name, reason=missing(environment)))
    question = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    found = asked(Peer(name, (str(python), *start)), (str(python), "-c", question, package or name))
    return _noted(found if found.start else Peer(name, reason=missing(environment)))


def _noted(peer: Peer) -> Peer:
    if peer.start:
        VERSIONS[peer.name] = peer.version
    else:
        leave_out(peer.name, peer.reason)
    return peer


def _program(name: str, environ: Mapping[str, str] | None) -> Peer:
    own = [folder() / each / "bin" for each in ENVIRONMENTS]
    own += [folder() / each / "node_modules" / ".bin" for each in NODE]
    found = shutil.which(name, path=os.pathsep.join(map(str, own))) or shutil.which(name)
    if found is None:
        return Peer(name, reason=missing(_OF_NODE.get(name, "venv")))
    node = shutil.which("node", path=_path())
    if name in _OF_NODE and node is None:
        return Peer(name, reason="node is not on this machine")
    start = (node, found) if name in _OF_NODE and node else (found,)
    return asked(Peer(name, start), (*start, "--version"), environ)


def asked(peer: Peer, command: Sequence[str], environ: Mapping[str, str] | None = None) -> Peer:
    """Return the peer with its version, or without a command where it tells none."""
    reason = ""
    try:
        said = _ended(command, environ or os.environ, ASKED_SECONDS)
    except subprocess.TimeoutExpired:
        reason = f"does not tell its version within {ASKED_SECONDS} s"
    except OSError as problem:
        reason = f"does not start ({problem.strerror})"
    else:
        version = _VERSION.search(said.stdout) or _VERSION.search(said.stderr)
        if version and not said.returncode:
            return Peer(peer.name, peer.start, version[1])
        reason = f"ended with status {said.returncode} when it was asked for its version"
        reason = reason if said.returncode else "does not tell its version"
    return Peer(peer.name, reason=reason)


def missing(environment: str) -> str:
    """Return why nothing of an environment is there."""
    try:
        reasons = json.loads((folder() / REASONS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        reasons = {}
    return str(reasons.get(environment, "not installed"))


def _path() -> str:
    """Node comes with the development requirements."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
