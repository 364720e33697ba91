"""A console whose streams are texts, for tests that call a command in this process."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

from prosa.cli.console import Console


class Terminal(io.StringIO):
    """A text that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Desk:
    """A console and what was written to it."""

    console: Console

    @property
    def out(self) -> str:
        return self.console.stdout.getvalue()  # type: ignore[attr-defined]

    @property
    def err(self) -> str:
        return self.console.stderr.getvalue()  # type: ignore[attr-defined]


def desk(typed: str = "", environ: Mapping[str, str] | None = None, *, terminal: bool = False) -> Desk:
    """A desk with ``typed`` on standard input; on a ``terminal`` a person can be asked."""
    stream = Terminal if terminal else io.StringIO
    return Desk(Console(stream(typed), stream(), stream(), dict(environ or {}), terminal))
