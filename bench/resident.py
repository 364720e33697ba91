"""One document beside five thousand: edited in a workspace that stays in memory, and given to a hook among three.

The corpus is that of `check`, mixed and generated. An edit is a new text of one document; its baseline is the analysis
of that text alone, which no workspace can save. A hook is a process that checks three documents which name others, with
a warm cache; its baseline is a warm check of the whole.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from bench.checking import FINDINGS
from bench.measure import Row, calls, middle, process, python
from bench.mixed_corpus import write_corpus
from prosa.app.check.check import CheckOptions
from prosa.app.check.workspace import Workspace
from prosa.rules.analyse import analyse
from prosa.source import SourceText

COUNT = 5_000
RUNS = 5
EDITED = (("plain", "≤ 2 ms"), ("ymj", ""), ("magi", ""), ("mdh", ""))
"""Dialects of which a document is edited."""

WORDS = "Another line, and [a link](nowhere.md)."


def rows(documents: int = COUNT, runs: int = RUNS) -> Iterator[Row]:
    """Yield the table."""
    with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name:
        folder = Path(name, "mixed").resolve()
        write_corpus(folder, documents)
        (folder / ".git").mkdir()
        workspace = Workspace.open(folder, CheckOptions(jobs=None), {})
        for dialect, aim in EDITED:
            yield _edited(workspace, dialect, documents, aim)
        yield from _hook(workspace, Path(name, "cache"), documents, runs)


def _edited(workspace: Workspace, dialect: str, documents: int, aim: str) -> Row:
    """Return an edit of a document of a dialect, each time another one."""
    resident = workspace.resident
    path = next(real for real, each in resident.seen.items() if each.facts.dialect == dialect)
    text = path.read_text("utf-8")
    at = text.find("\n\n", text.find("\n---", 1) + 1) + 2
    numbers = count()

    def edited() -> str:
        """Return a paragraph near the beginning grows and shrinks, so that all that follows moves."""
        return f"{text[:at]}{WORDS * (next(numbers) % 3)}\n\n{text[at:]}"

    def edit() -> object:
        return workspace.update(path, edited())

    source = SourceText(edited(), str(path), "0" * 64)
    alone = calls(lambda: analyse(source, resident.analyzer.hints(path), resident.analyzer.files)) / 1000
    spent = calls(edit) / 1000
    workspace.update(path)
    return Row(f"{dialect} document edited beside {documents:,}", spent, "ms", "its analysis alone", alone, aim)


def _hook(workspace: Workspace, cache: Path, documents: int, runs: int) -> Iterator[Row]:
    """Yield a warm check of three documents; all must have names that others may have, or nothing beside is looked
    at."""
    environ = {**os.environ, "PROSA_CACHE_DIR": str(cache)}
    cache.mkdir(mode=0o700)
    entries = workspace.resident.seen.items()
    wanted = [next(real for real, each in entries if each.facts.dialect == name) for name in ("plain", "magi", "ymj")]
    three = python("-m", "prosa", "check", *(str(real) for real in wanted))
    whole = python("-m", "prosa", "check", ".")
    done = [
        [process(command, environ, folder=workspace.root, fine=FINDINGS) for command in (whole, three)]
        for _ in range(runs + 1)
    ][1:]
    everything, some = (middle(each) for each in zip(*done, strict=True))
    what, whole_name = f"hook: three of {documents:,}, warm", "warm check of all"
    yield Row(f"{what}, wall", some.wall, "ms", whole_name, everything.wall, "≤ 250 ms")
    yield Row(f"{what}, CPU", some.used, "ms", whole_name, everything.used)
