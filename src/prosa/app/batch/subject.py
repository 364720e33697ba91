"""What is run over rows: a program, a skill, or one ai-script of a document (X29, M41).

In: what the user names. Out: the program of every row, and for a script how its input is made of a row: what a reader
would have entered is the column ``text``, and a column ``context`` stands in place of the document.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.check.gather import dialect_here
from prosa.app.run.load import ready_program
from prosa.app.scripts.choose import selection
from prosa.app.scripts.load import load_scripts
from prosa.data import Value
from prosa.dialects.magi.choosing import Choice, document_text
from prosa.runtime.digest import digest_of
from prosa.runtime.errors import BatchRefused
from prosa.runtime.lower.magi import given
from prosa.schema import ArgumentProblem

if TYPE_CHECKING:
    from prosa.adapters.providers.table import ProviderRow
    from prosa.app.options import Environment, Options
    from prosa.dialects.magi import Script
    from prosa.runtime.program import Program

MARK = "#"
"""Between a document and the id of its script, where one word names both."""


class ScriptRows(Struct, frozen=True):
    """How the inputs of a script are made of rows. ``context`` is what is sent of its document, ``provider`` the one
    that the block names."""

    script: Script
    context: str
    provider: ProviderRow | None = None

    fields = frozenset(("text", "context"))

    @property
    def digest(self) -> str:
        """What decides its requests beside the program and the row."""
        return digest_of(given(self.script, self.context))

    def given(self, row: Mapping[str, Value]) -> Value:
        """Return the input for a row. Raises `ArgumentProblem` for one with neither of the columns."""
        found = {name: _text(value) for name, value in row.items() if value is not None}
        if not found:
            raise ArgumentProblem("text", "the row has no input for a script: `text`, `context` or both")
        context = document_text(found["context"]) if "context" in found else self.context
        return given(self.script, context, found.get("text", ""))


class Subject(Struct, frozen=True):
    """What is run over rows; ``script`` where it is no program of its own."""

    program: Program
    script: ScriptRows | None = None


def subject_of(
    file: str | Path,
    script: str,
    options: Options,
    environment: Environment,
    *,
    named: bool = True,
    to_run: bool = True,
) -> Subject:
    """Return what a file and the id of a script name; ``doc.mda#id`` names both. ``named`` and ``to_run`` are those of
    `ready_program`. Raises what it does, and `BatchRefused` for a document without a choice among its scripts."""
    path, script = _parts(Path(file), script)
    if dialect_here(path) != "magi":
        if script:
            message = f"{script!r} is to be an ai-script, and {path} is read as a program"
            raise BatchRefused(message, hint="scripts are in documents that end in .mda")
        return Subject(ready_program(path, options, environment, named=named, to_run=to_run))
    loaded = load_scripts(path, options, environment.settings)
    if not script:
        known = ", ".join(each.address for each in loaded.scripts[:10]) or "none"
        raise BatchRefused(f"which script of {path} runs over the rows? it has: {known}", hint="--script ID")
    found = selection(loaded, Choice((script,), text="a row"), options, environment)
    found.require_named()
    job = found.preparing.ready(found.chosen[0].script)
    program = replace(job.program, file=path.name, folder=str(path.parent))
    return Subject(program, ScriptRows(job.script, str(job.given["context"]), job.row))


def _parts(path: Path, script: str) -> tuple[Path, str]:
    if script or MARK not in path.name or path.exists():
        return path, script
    name, _, script = path.name.partition(MARK)
    return path.with_name(name or path.name), script


def _text(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
