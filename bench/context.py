"""Context files, beside two linters for them: how many faults each finds in a folder where they were planted, what it
says of real repositories, and what that costs.

The planted folder is that of the tests, one fault in a file. A fault counts as found where a tool says anything of its
file; the row below counts warnings and errors alone. Repositories are those in the folder `--corpus PATH`, or this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.checking import CORPUS_VARIABLE
from bench.measure import MOST_SECONDS, Failed, Row, process, python
from bench.peers import find as peers
from prosa.dialects.context.places import is_agent_place

HERE = Path(__file__).resolve().parents[1]
RUNS = 3


class Said(NamedTuple):
    """What a tool says of a file: ``severe`` is a warning or an error."""

    path: str
    severe: bool


class Contender(NamedTuple):
    """A tool: what the table calls it, the command that checks the working folder, and how its words are read."""

    title: str
    command: Sequence[str]
    read: Callable[[str], Iterator[Said]]

    def says(self, folder: Path) -> list[Said]:
        """Return what it says of the files in a folder that agents read. Raises `Failed` where that cannot be read."""
        command = self.command
        try:
            ran = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, errors="replace", check=False, timeout=MOST_SECONDS
            )
            return [each for each in self.read(ran.stdout) if is_agent_place(each.path)]
        except subprocess.TimeoutExpired:
            raise Failed(command, f"took longer than {MOST_SECONDS:g} s") from None
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Failed(command, f"said nothing that can be read (status {ran.returncode})", ran.stderr) from None


def _prosa(text: str) -> Iterator[Said]:
    for each in json.loads(text)["diagnostics"]:
        yield Said(each["path"].removeprefix("./"), each["severity"] in ("error", "warning"))


def _agnix(text: str) -> Iterator[Said]:
    for each in json.loads(text)["diagnostics"]:
        yield Said(each["file"].removeprefix("./"), each["level"] in ("error", "warning"))


def _ctxlint(text: str) -> Iterator[Said]:
    for file in json.loads(text)["files"]:
        yield from (Said(file["path"], each["severity"] in ("error", "warning")) for each in file["issues"])


def contenders() -> tuple[Contender, list[Contender]]:
    """Return Prosa, and the others, those that are not installed without a command."""
    own = Contender("prosa", python("-m", "prosa", "check", ".", "--no-cache", "--format", "json"), _prosa)
    agnix, ctxlint = peers.find(("agnix", "ctxlint")).values()
    words = {agnix.name: ("--format", "json", "."), ctxlint.name: ("--mcp", "--format", "json", ".")}
    readers = {agnix.name: _agnix, ctxlint.name: _ctxlint}
    others = [
        Contender(each.title, [*each.start, *words[each.name]] if each.start else (), readers[each.name])
        for each in (agnix, ctxlint)
    ]
    return own, others


def rows(runs: int = RUNS) -> Iterator[Row]:
    """Yield the table."""
    own, others = contenders()
    others = [_tried(each) for each in others]
    with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
        yield from _planted(Path(name), own, others)
    yield from _real(repositories(), own, others, runs)


def _tried(other: Contender) -> Contender:
    """Return another tool without its command where it does not work."""
    if not other.command:
        return other
    with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
        Path(name, "AGENTS.md").write_text("# Rules\n\nRead [the guide](guide.md).\n", encoding="utf-8")
        try:
            other.says(Path(name))
        except Failed as problem:
            peers.leave_out(other.title.partition(" ")[0], problem.reason)
            return other._replace(command=())
    return other


def repositories() -> list[Path]:
    """Return the folders of `--corpus`, or this repository."""
    named = os.environ.get(CORPUS_VARIABLE)
    if not named or not Path(named).is_dir():
        return [HERE]
    return sorted(each for each in Path(named).resolve().iterdir() if each.is_dir())


def _planted(folder: Path, own: Contender, others: Sequence[Contender]) -> Iterator[Row]:
    from tests.rules.test_context_files import PLANTED, SOUND, laid

    faults = {path for path, _, rule in PLANTED if rule}
    planted = laid(folder / "planted", {**SOUND, **{path: text for path, text, _ in PLANTED}})
    sound = laid(folder / "sound", SOUND)

    def counted(tool: Contender) -> tuple[float, float, float]:
        said, of_sound = tool.says(planted), tool.says(sound)
        severe = {each.path for each in said if each.severe}
        return len(faults & {each.path for each in said}), len(faults & severe), len(of_sound)

    mine = counted(own)
    for other in others:
        theirs = counted(other) if other.command else (None, None, None)
        yield Row(f"of {len(faults)} planted faults, found", mine[0], "", other.title, theirs[0])
        yield Row("  as a warning or an error", mine[1], "", other.title, theirs[1])
        yield Row("findings in the same project without them", mine[2], "", other.title, theirs[2])


def _real(folders: Sequence[Path], own: Contender, others: Sequence[Contender], runs: int) -> Iterator[Row]:
    where = folders[0].name if len(folders) == 1 else f"{len(folders)} repositories"
    tools = [own, *(each for each in others if each.command)]
    severe = {each.title: sum(said.severe for folder in folders for said in each.says(folder)) for each in tools}
    commands = {each.title: each.command for each in tools}
    used = {name: sum(each.values()) for name, each in _used(commands, folders, runs).items()}
    for other in others:
        yield Row(f"warnings and errors in {where}", severe[own.title], "", other.title, severe.get(other.title))
        yield Row("  processors", used[own.title], "ms", other.title, used.get(other.title))
    each = _used({"with": _WITH, "without": _WITHOUT}, folders, runs)
    ratios = {folder: each["with"][folder] / each["without"][folder] for folder in folders}
    worst = max(folders, key=lambda folder: ratios[folder])
    yield Row(
        f"check of {worst.name}, processors",
        each["with"][worst],
        "ms",
        "without context files",
        each["without"][worst],
        "≤ 1.15x",
    )


_CHECK = "import prosa, sys; prosa.check('.')"
_WITH = python("-c", _CHECK)
_WITHOUT = python(
    "-c",
    "import prosa.app.check.gather as gather, prosa.dialects.table as table;"
    f"table.is_context = lambda _: False; gather.manifests_in = lambda *_: []; {_CHECK}",
)
"""The same check where no file is a context file."""


def _used(commands: Mapping[str, Sequence[str]], folders: Sequence[Path], runs: int) -> dict[str, dict[Path, float]]:
    """Return the milliseconds of processors of each command in each folder: medians of runs in turn."""
    found: dict[str, dict[Path, float]] = {name: {} for name in commands}
    for folder in folders:
        ran: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(runs):
            for name, command in commands.items():
                ran[name].append(process(command, os.environ, folder=folder, fine=(0, 1)).used)
        for name, times in ran.items():
            found[name][folder] = median(times)
    return found
