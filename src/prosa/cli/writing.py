"""New texts into files: each replaced whole and only when it is still what was read. In: changes. Out: files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from prosa.adapters.files import replace_file
from prosa.cli.console import Console
from prosa.cli.errors import say
from prosa.source import FileProblem, SourceText


@dataclass(frozen=True, slots=True)
class Change:
    """A document before and after. ``is_stdin`` is one that has no file to be written to."""

    path: Path
    before: SourceText
    after: str
    is_stdin: bool = False


def write_changes(changes: Sequence[Change], console: Console) -> list[Change]:
    """Replaces the files; gives those that were refused, each with a sentence on stderr. The others are written."""
    return [change for change in changes if not change.is_stdin and not _written(change, console)]


def _written(change: Change, console: Console) -> bool:
    try:
        replace_file(change.path, change.after, expect_digest=change.before.digest)
    except FileProblem as problem:
        say(console, str(problem))
    except OSError as error:
        say(console, f"{change.path}: {error.strerror or error}; it was not written")
    else:
        return True
    return False
