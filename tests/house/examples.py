"""Examples in documentation, as something that runs: in comes a Markdown page, out come its fences and what they gave.

A fence whose info string has a second word (`markdown greet.md`) is written to that file. A `console` fence is a
transcript: each line after `$ ` is run, the lines below it are what it prints, standard error included. In what is
expected, `…` stands for any text, and a line that is only `…` for any lines. A `python` fence is run as a script. All
fences of a page share one folder and run in their order. Other fences are only text.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

SECONDS = 60


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


def differences(page: str, folder: Path, environ: Mapping[str, str]) -> Iterator[Difference]:
    """Runs the examples of a page in a folder; gives those that do not hold."""
    for fence in fences(page):
        if fence.file:
            (folder / fence.file).write_text(fence.text, encoding="utf-8")
        elif fence.language == "console":
            for command, expected in commands(fence):
                printed = _run(["sh", "-c", command], folder, environ)
                if not matches(expected, printed):
                    yield Difference(fence.line, command, expected, printed)
        elif fence.language == "python":
            printed = _run([sys.executable, "-c", f"{fence.text}\nprint('<well>')"], folder, environ)
            if not printed.endswith("<well>\n"):
                yield Difference(fence.line, "python", "no exception", printed)


def matches(expected: str, printed: str) -> bool:
    """Whether the output is what the page shows."""
    lines = [re.escape(line).replace("…", ".*") + "\n" for line in expected.strip().splitlines()]
    pattern = "".join(r"(?:.*\n)*" if line == ".*\n" else line for line in lines)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed.strip().splitlines())) is not None


def surroundings(home: Path) -> dict[str, str]:
    """An environment without a key, in which the commands of this installation are found first."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "MARKDOWNLANG_AGREE": "Trans rights are human rights"}


def _run(command: list[str], folder: Path, environ: Mapping[str, str]) -> str:
    done = subprocess.run(
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
