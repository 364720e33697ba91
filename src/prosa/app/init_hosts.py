"""The hosts that are used in a project, and the files through which each of them learns something (X38).

In: a folder, the environment, hosts. Out: hosts, and paths below the folder. Programs are looked up by name; none is
executed.
"""

from __future__ import annotations

import posixpath
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files import RootedFiles
from prosa.diagnostics.nearest import UnknownName
from prosa.dialects.context.hosts import HOSTS, Host, host_named
from prosa.dialects.context.mentions import imports_in
from prosa.document import parse
from prosa.source import FileProblem

AGENTS = "AGENTS.md"
"""The file that most hosts read."""

SKILLS = ".agents/skills"
"""The folder of skills that most hosts read."""


class UsedHost(Struct, frozen=True):
    """A host that is used here, and what shows it: a file, a folder, or a program."""

    host: Host
    shown_by: str


def used_hosts(folder: Path, environ: Mapping[str, str]) -> tuple[UsedHost, ...]:
    """Return the hosts whose files are in a project, or whose programs are on the PATH."""
    signs = ((host, _sign(host, folder, environ.get("PATH", ""))) for host in HOSTS)
    return tuple(UsedHost(host, sign) for host, sign in signs if sign)


def _sign(host: Host, folder: Path, search: str) -> str:
    here = (mark for mark in host.marks if (folder / mark).exists())
    installed = (f"{name} on the PATH" for name in host.commands if shutil.which(name, path=search))
    return next(here, "") or next(installed, "")


def hosts_named(names: Sequence[str]) -> tuple[Host, ...]:
    """Return hosts by their short names. Raises `UnknownName`."""
    for name in names:
        if host_named(name) is None:
            raise UnknownName("host", name, [host.name for host in HOSTS])
    return tuple(host for host in HOSTS if host.name in names)


class Instructions(Struct, frozen=True):
    """A file of instructions, by its path below the folder. ``imports`` is the path of AGENTS.md from there, where a
    new file needs nothing but an import; ``why`` says why a host needs nothing more in it."""

    path: str
    imports: str = ""
    why: str = ""


def instructions_of(reader: RootedFiles, folder: Path, hosts: Sequence[Host]) -> tuple[Instructions, ...]:
    """Return the files of instructions that together reach all these hosts, AGENTS.md first where one of them reads it
    or imports it. Raises `FileProblem` for a file that is there and cannot be read."""
    read: dict[str, Host] = {}
    for host in hosts:
        read.setdefault(_file_of(host, folder), host)
    own = [_own(reader, folder, path, host) for path, host in read.items() if path != AGENTS]
    shared = not hosts or AGENTS in read or any(instructions.imports or instructions.why for instructions in own)
    return ((Instructions(AGENTS),) if shared else ()) + tuple(own)


def _file_of(host: Host, folder: Path) -> str:
    """Return the file of instructions that a host reads in the root: AGENTS.md if it always does, else the one that is
    there, else its first."""
    places = [place for place in host.places if place.kind == "instructions" and not place.without]
    for place in places:
        if AGENTS in place.names and not (place.first and (folder / place.names[0]).exists()):
            return AGENTS
    names = places[0].names
    return next((name for name in names if (folder / name).exists()), names[0])


def _own(reader: RootedFiles, folder: Path, path: str, host: Host) -> Instructions:
    """Return what a host needs in a file of its own."""
    file, shared = folder / path, folder / AGENTS
    if not reader.inside_root(file):
        raise FileProblem(file, "outside-root", "leads out of the folder, and is not written")
    if reader.real(file) == reader.real(shared):
        return Instructions(path, why=f"is {AGENTS}")
    if not file.exists():
        return Instructions(path, imports=posixpath.relpath(AGENTS, posixpath.dirname(path)) if host.imports else "")
    targets = (imported.target for imported in imports_in(parse(reader.read(file)))) if host.imports else ()
    is_imported = any(reader.real(file.parent / target) == reader.real(shared) for target in targets)
    return Instructions(path, why=f"imports {AGENTS}" if is_imported else "")


def skill_folders(folder: Path, skill: str, hosts: Sequence[Host]) -> tuple[str, ...]:
    """Return the fewest folders of skills that reach all these hosts: first those where the skill is already."""
    return tuple(_folders(folder, skill, hosts)) or (SKILLS,)


def _folders(folder: Path, skill: str, hosts: Sequence[Host]) -> Iterator[str]:
    left = [host for host in hosts if host.skills]
    while left:

        def gain(place: str, left: Sequence[Host] = tuple(left)) -> tuple[bool, int, int]:
            reached = sum(place in host.skills for host in left)
            return (folder / place / skill).exists(), reached, sum(place in host.skills for host in HOSTS)

        best = max(dict.fromkeys(place for host in left for place in host.skills), key=gain)
        yield best
        left = [host for host in left if best not in host.skills]
