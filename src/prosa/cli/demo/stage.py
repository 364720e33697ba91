"""What the parts of the tour share: commands that are shown and done, short paths, lines as wide as the terminal.

In: a console. Out: one whose stderr folds long lines between words. Nothing is cut but the marks below a source line.
"""

from __future__ import annotations

import io
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO, cast

from prosa.cli.console import Console
from prosa.regex import regex

if TYPE_CHECKING:
    from prosa.app.evals.reports import Subject

PAGE = "Its page, with every answer, is yours to open in a browser:"

WIDTH = 80
"""Columns where there is no terminal that says how many it has."""

LEAST = 40
"""Columns that are folded to at least; a narrower terminal folds itself."""

_STYLES = regex(r"\x1b\[[0-9;]*m")
_MARKS = regex(r"\s*(\d+ )?\|\s+(\x1b\[[0-9;]*m)*\^+(\x1b\[[0-9;]*m)*\s*")
_WORDS = regex(r"\s*(?:'[^']*'|[^\s'])+|\s+|'")


class Folded(io.TextIOBase):
    """A stream that folds the lines written to it. What has no line end behind it, such as a prompt, stays as it is."""

    def __init__(self, stream: TextIO, width: int) -> None:
        self.stream, self.width = stream, width

    def write(self, text: str, /) -> int:
        """Write the text, its long lines as several."""
        whole, end, rest = text.rpartition("\n")
        lines = (line for part in whole.split("\n") for line in fold(part, self.width)) if end else ()
        self.stream.write("".join(f"{line}\n" for line in lines) + rest)
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self.stream.flush()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self.stream.isatty()


def fold(line: str, width: int) -> Iterator[str]:
    """Return a line in pieces of at most ``width`` columns, broken between words; a longer word stays whole.

    A command continues after a backslash, with quoted arguments whole. Marks below a source line are cut.
    """
    if _columns(line) <= width or "\r" in line:
        yield line
        return
    if _MARKS.fullmatch(line):
        yield line[: width + len(line) - _columns(line)]
        return
    plain = line.lstrip()
    command = plain.startswith(("$ ", "prosa "))
    indent, end = " " * (len(line) - len(plain) + (4 if command else 2)), " \\" if command else ""
    now = ""
    for word in _WORDS.findall(line) if command else _spaced(line):
        if now.strip() and _columns(now + word) > width - len(end):
            yield now.rstrip() + end
            now = indent + word.lstrip()
        else:
            now += word
    yield now.rstrip()


def _spaced(line: str) -> Iterator[str]:
    """Yield the words of a line, each with the spaces before it."""
    start = 0
    while start < len(line):
        end = start
        while end < len(line) and line[end] == " ":
            end += 1
        while end < len(line) and line[end] != " ":
            end += 1
        yield line[start:end]
        start = end


def _columns(text: str) -> int:
    return len(_STYLES.sub("", text)) if "\x1b" in text else len(text)


def folded(console: Console) -> Console:
    """Return the console with a stderr that folds, and with it as stdout too."""
    stream: TextIO | Folded = console.stderr
    if not isinstance(stream, Folded):
        stream = Folded(console.stderr, max(get_terminal_size((WIDTH, 24)).columns, LEAST))
    text_stream = cast("TextIO", stream)
    return console.changed(stdout=text_stream, stderr=text_stream)


def show(console: Console, *words: str, environ: str = "") -> int:
    """Print a command as a person would type it, and do it; return its exit status. ``environ`` stands before it."""
    from prosa.cli.main import main

    console.err(f"$ {environ}prosa {shlex.join(words)}")
    status = main(list(words), console)
    console.err("")
    return status


def lasting_folder(console: Console) -> Path:
    """Return where pages stay after the tour: the user's cache, or where there is none a temporary folder."""
    from prosa.app.text_files import private_folder

    try:
        return private_folder("demo", console.environ)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="prosa-demo-"))


def show_page(console: Console, subject: Subject, name: str) -> None:
    """Write a report that stays after the tour, and say where it is."""
    from prosa.app.evals.reports import ReportTarget, write_report

    page = write_report(subject, ReportTarget(lasting_folder(console) / name, "html"), console.note)
    console.err(f"{PAGE}\n  {near(page, console)}\n")


def near(path: Path, console: Console) -> str:
    """Return a path as short as a person would write it: from the current folder, or from home."""
    for base, mark in ((Path.cwd(), ""), (Path(console.environ.get("HOME") or "/nowhere"), "~/")):
        if path.is_relative_to(base):
            return f"{mark}{path.relative_to(base).as_posix()}"
    return str(path)
