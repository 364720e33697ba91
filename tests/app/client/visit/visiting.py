"""`prosa visit` in this process, with its streams as texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prosa.cli import visit as command
from prosa.cli.errors import guarded
from prosa.cli.parser import Parser
from tests.cli.desk import Desk, desk

NOWHERE = Path(__file__).parent / "no-settings-here"


def visit(
    *words: str, environ: Mapping[str, str] | None = None, terminal: bool = False, config: Path = NOWHERE
) -> tuple[int, Desk]:
    """The exit status and what was written. ``config`` is the folder of the user's settings."""
    at = desk("", {"PROSA_CONFIG_DIR": str(config), **(environ or {})}, terminal=terminal)

    def work() -> int:
        parser = Parser(console=at.console, prog="prosa visit", description="Visit.")
        command.configure(parser)
        return command.run(parser.parse_anywhere(words), at.console)

    return guarded(at.console, words, work), at


def facts(*words: str, **more: Any) -> dict[str, Any]:
    """The JSON of a visit that goes well."""
    status, at = visit(*words, "--format", "json", **more)
    assert status == 0, at.err
    found: dict[str, Any] = json.loads(at.out)
    return found


def copied(folder: Path) -> dict[str, str]:
    """The pages of a copy, by path, as their bytes say."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes().decode()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.name.startswith(".")
    }
