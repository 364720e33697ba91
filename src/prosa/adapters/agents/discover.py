"""Whether an agent is installed here, in which version, and what of this machine it needs to run.

In: the name of an agent and the user's environment. Out: an `Installed`, or a sentence that says how to install it. The
agent is asked for its version only where no file says it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import Struct

from prosa.adapters.agents.table import AGENTS, KnownAgent
from prosa.source import ProsaError

VERSION_SECONDS: Final = 30.0
"""How long an agent may take to say its version; the slowest takes 6 seconds on a busy machine."""

_SYSTEM: Final = ("/usr/local/bin", "/usr/bin", "/bin")
_SHEBANG_BYTES: Final = 256


class AgentMissing(ProsaError):
    """An agent, or a program that it needs, that is not here, as a whole sentence."""


class Installed(Struct, frozen=True):
    """An agent that is here. ``path`` is its program; ``roots`` are the folders and files that it needs to read beside
    the system's own, and ``programs`` the folders of PATH in which it finds its interpreter and its tools."""

    known: KnownAgent
    path: Path
    version: str
    roots: tuple[Path, ...] = ()
    programs: tuple[Path, ...] = ()


def find_agent(name: str, environ: Mapping[str, str]) -> Installed:
    """Return where an agent of `AGENTS` is, by the PATH of the environment. Raises `AgentMissing`."""
    known, search = AGENTS[name], environ.get("PATH", "")
    executable = shutil.which(known.command, path=search)
    if executable is None:
        raise AgentMissing(f"{known.name} is not installed: npm install -g {known.package}")
    path = Path(executable).resolve()
    needed = [path, *_needed(known, path, environ)]
    roots = tuple(dict.fromkeys(_root(file) for file in needed))
    programs = tuple(dict.fromkeys(file.parent for file in needed[1:]))
    version = _packaged(known, path) or _asked(path, programs)
    return Installed(known, path, version, roots, programs)


def _needed(known: KnownAgent, path: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the interpreter of a script, and the programs of the row."""
    for name in (*_interpreter(path), *known.needs):
        executable = shutil.which(name, path=environ.get("PATH", ""))
        if executable is None:
            raise AgentMissing(f"{known.name} needs the program `{name}`, which is not on PATH")
        program = Path(executable).resolve()
        is_shim = Path(name).name == "node" and (program.name != "node" or bool(_interpreter(program)))
        yield _real_node(Path(executable), environ) or program if is_shim else program


def _real_node(shim: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the Node.js that a script or a version manager on PATH starts; None where it does not say."""
    try:
        run = subprocess.run(
            [shim, "-p", "process.execPath"],
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=VERSION_SECONDS,
            env=dict(environ),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    real = Path(run.stdout.decode("utf-8", "replace").strip())
    return real.resolve() if real.is_absolute() and real.is_file() else None


def _interpreter(path: Path) -> tuple[str, ...]:
    """Return the program after ``env`` in the first line of a script, or the one that stands there itself."""
    try:
        with path.open("rb") as file:
            line = file.read(_SHEBANG_BYTES).split(b"\n", 1)[0].decode("utf-8", "replace")
    except OSError:
        return ()
    words = line[2:].split() if line.startswith("#!") else []
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return tuple(words[:1])


def _root(path: Path) -> Path:
    """Return what a program needs to read: the outermost folder of packages that it lies in; the folder above ``bin``
    of an interpreter; the file alone elsewhere."""
    parts = path.parts
    if "node_modules" in parts:
        return Path(*parts[: parts.index("node_modules") + 1])
    above = path.parent.parent
    return above if path.parent.name == "bin" and (above / "lib").is_dir() and len(above.parts) > 2 else path


def _packaged(known: KnownAgent, path: Path) -> str:
    """Return the version in the npm package that the program belongs to; empty where there is none."""
    for folder in path.parents:
        try:
            manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(manifest, dict) and manifest.get("name") == known.package:
            return str(manifest.get("version") or "")
    return ""


def _asked(path: Path, programs: tuple[Path, ...]) -> str:
    with TemporaryDirectory(prefix="prosa-agent-") as home:
        env = {"HOME": home, "PATH": ":".join((*map(str, programs), *_SYSTEM)), "LANG": "C.UTF-8"}
        try:
            run = subprocess.run(
                [path, "--version"],
                capture_output=True,
                check=False,
                stdin=subprocess.DEVNULL,
                timeout=VERSION_SECONDS,
                env=env,
                cwd=home,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
    match = re.search(r"\d+\.\d+\.\d+", run.stdout.decode("utf-8", "replace"))
    return match.group() if match else ""


def system_path(installed: Installed) -> str:
    """Return the PATH of an agent that sees nothing of the user's."""
    return ":".join(dict.fromkeys((*map(str, installed.programs), *_SYSTEM)))
