"""`prosa probe` in this process, and a site's failing checks by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from prosa.cli import probe as command
from prosa.cli.errors import guarded
from prosa.cli.parser import Parser
from tests.cli.desk import Desk, desk


def probe(*words: str) -> tuple[int, Desk]:
    """The exit status and what was written."""
    at = desk()

    def work() -> int:
        parser = Parser(console=at.console, prog="prosa probe", description="Probe.")
        command.configure(parser)
        return command.run(parser.parse_anywhere(words), at.console)

    return guarded(at.console, words, work), at


def report(*words: str) -> dict[str, Any]:
    """The report as JSON."""
    _, at = probe(*words, "--format", "json")
    assert not at.err, at.err
    value: dict[str, Any] = json.loads(at.out)
    return value


def failing(*words: str) -> set[str]:
    """The ids of the checks that failed."""
    return {each["id"] for each in report(*words)["checks"] if each["status"] == "failed"}


def check(whole: dict[str, Any], name: str) -> dict[str, Any]:
    """One check of a report."""
    found: dict[str, Any] = next(each for each in whole["checks"] if each["id"] == name)
    return found


def written(folder: Path, files: dict[str, str]) -> str:
    """A folder with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(folder)
