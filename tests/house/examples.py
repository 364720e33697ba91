"""Examples in documentation, as something that runs: in comes a Markdown page, out come its fences and what they gave.

A fence whose info string has a second word (`markdown greet.md`) is written to that file. A `console` fence is a
transcript: each line after `$ ` is run, the lines below it are what it prints, standard error included. In what is
expected, `…` stands for any text, and a line that is only `…` for any lines. A `prosa serve … &` goes on until the page
ends: it takes a free port, and the address that the page shows stands for it. A `python` fence is run as a script. All
fences of a page share one folder and run in their order. Other fences are only text.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from tests import warm
from tests.compiled import lend_compiled
from tests.house.tree import ROOT
from tests.warm.interpreter import SCRIPTS

SECONDS = 60
SHELL = frozenset("|&;<>()$`\\*?[]{}#~!\n")
"""Characters that may mean something to a shell, besides quotation marks."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: the words of its info string, its text, and the line of its first fence (1-based)."""

    words: tuple[str, ...]
    text: str
    line: int

    @property
    def language(self) -> str:
        """The first word, or nothing."""
        return self.words[0] if self.words else ""

    @property
    def file(self) -> str | None:
        """The file it is written to."""
        return self.words[1] if len(self.words) > 1 else None


@dataclass(frozen=True, slots=True)
class Difference:
    """An example that printed something else than the page says."""

    line: int
    command: str
    expected: str
    printed: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.command}\n--- the page says\n{self.expected}\n--- it printed\n{self.printed}"


def fences(text: str) -> Iterator[Fence]:
    """The fenced blocks of a page, backticks only, none inside another."""
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        opened = re.match(r"(`{3,})([^`]*)$", line)
        if not opened:
            continue
        body = []
        for _, inner in lines:
            if inner.rstrip() == opened[1]:
                break
            body.append(inner)
        yield Fence(tuple(opened[2].split()), "".join(f"{each}\n" for each in body), number)


def commands(fence: Fence) -> Iterator[tuple[str, str]]:
    """The commands of a transcript with what each should print."""
    for part in re.split(r"^\$ ", fence.text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = f"{command[:-1]}{more}"
        yield command, expected


@dataclass(slots=True)
class Servers:
    """The servers that a page has started, and the addresses that they have in truth, by those that the page shows."""

    folder: Path
    environ: Mapping[str, str]
    stack: ExitStack
    known: dict[str, str] = field(default_factory=dict)

    def start(self, command: str) -> str:
        """Starts a server on a free port; gives the line that says where it is, as the page has it."""
        port = re.search(r"--port (\d+)", command)
        shown = f"127.0.0.1:{port[1] if port else 8000}"
        plain = command.replace(f" {port[0]}", "") if port else command
        started = re.sub(r"^((?:\w+=\S+ )*)", r"\1exec ", f"{plain} --port 0 --access-log {os.devnull}")
        log = (self.folder / f".serve-{len(self.known)}.log").open("w+")
        process = subprocess.Popen(["sh", "-c", started], cwd=self.folder, env=dict(self.environ), stderr=log)
        self.stack.callback(_end, process, log)
        until = time.monotonic() + SECONDS
        while "serving" not in (line := Path(log.name).read_text()) and process.poll() is None:
            assert time.monotonic() < until, "the server says nothing"
            time.sleep(0.02)
        found = re.search(r"127\.0\.0\.1:\d+", line)
        self.known[shown] = found[0] if found else shown
        return self.shown(line)

    def real(self, command: str) -> str:
        """A command with the addresses that the servers have."""
        for shown, real in self.known.items():
            command = command.replace(shown, real)
        return command

    def shown(self, printed: str) -> str:
        """What was printed, with the addresses of the page."""
        for shown, real in self.known.items():
            printed = printed.replace(real, shown)
        return printed


def _end(process: subprocess.Popen[bytes], log: TextIO) -> None:
    process.terminate()
    process.wait(SECONDS)
    log.close()


def differences(page: str, folder: Path, environ: Mapping[str, str]) -> Iterator[Difference]:
    """Runs the examples of a page in a folder; gives those that do not hold."""
    with ExitStack() as stack:
        yield from _differences(page, folder, environ, Servers(folder, environ, stack))


def _differences(page: str, folder: Path, environ: Mapping[str, str], servers: Servers) -> Iterator[Difference]:
    for fence in fences(page):
        if fence.file:
            target = folder / fence.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(fence.text, encoding="utf-8")
        elif fence.language == "console":
            for command, expected in commands(fence):
                if command.endswith(" &"):
                    printed = servers.start(command.removesuffix(" &"))
                else:
                    printed = servers.shown(_run(_words(servers.real(command)), folder, environ))
                if not matches(expected, printed):
                    yield Difference(fence.line, command, expected, printed)
        elif fence.language == "python":
            printed = _run([sys.executable, "-c", f"{fence.text}\nprint('<well>')"], folder, environ)
            if not printed.endswith("<well>\n"):
                yield Difference(fence.line, "python", "no exception", printed)


def _words(command: str) -> list[str]:
    """A command without its shell, if all that a shell would do is to part its words and to find the program."""
    first, _, _ = command.partition(" ")
    if first in SCRIPTS and not set(command) & SHELL:
        return [str(Path(sys.executable).with_name(first)), *shlex.split(command)[1:]]
    return ["sh", "-c", command]


def matches(expected: str, printed: str) -> bool:
    """Whether the output is what the page shows."""
    lines = [re.escape(line).replace("…", ".*") + "\n" for line in expected.strip().splitlines()]
    pattern = "".join(r"(?:.*\n)*" if line == ".*\n" else line for line in lines)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed.strip().splitlines())) is not None


def surroundings(home: Path) -> dict[str, str]:
    """An environment without a key, in which the commands of this installation are found first, and the package of the
    tree that these tests belong to, whatever is installed."""
    places = (warm.scripts(home / ".local" / "bin"), Path(sys.executable).parent, os.environ.get("PATH", ""))
    tested = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH", ""))))
    lend_compiled(home / ".cache" / "prosa")
    agreed = {"MARKDOWNLANG_AGREE": "Trans rights are human rights"}
    path = os.pathsep.join(map(str, places))
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "PYTHONPATH": tested, **agreed}


def _run(command: list[str], folder: Path, environ: Mapping[str, str]) -> str:
    done = warm.run(
        command,
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    return done.stdout
