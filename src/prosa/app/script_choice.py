"""What becomes of a choice among the scripts of a document: which are ready to run and which are refused. Runs nothing.

In: a document with its scripts and what the user chose. Out: rows, jobs, and refusals with their reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from prosa.app.choices import DEFAULT_MODEL
from prosa.app.running import Refused
from prosa.runtime.errors import RunError

if TYPE_CHECKING:
    from prosa.app.scripts import Preparing, ScriptFile, ScriptJob
    from prosa.dialects.magi.choosing import Choice, Row
    from prosa.dialects.magi.context import ContextMode


def states_of(file: ScriptFile) -> dict[str, str]:
    """How the results of a document stand, by address; nothing for scripts that came beside it (X19)."""
    from prosa.dialects.magi.states import statuses

    if file.beside is not None:
        return {}
    return {script.address: status.state for script, status in statuses(file.model)}


def modes_of(file: ScriptFile) -> dict[str, ContextMode]:
    """The context that each result was made with, by address: what is stale is refreshed in the same way (X19)."""
    from prosa.dialects.magi.owners import owners_of
    from prosa.dialects.magi.script_hash import context_mode

    if file.beside is not None:
        return {}
    return {script.address: context_mode(region.about.context) for script, region in owners_of(file.model).pairs}


def rows_of(file: ScriptFile, choice: Choice, states: Mapping[str, str]) -> tuple[Row, ...]:
    """A row for each script, in the order in which they would run (MA13)."""
    from prosa.dialects.magi.choosing import choose

    return choose(file.scripts, choice, wrong=_wrong(file, choice), states=states)


def made_ready(
    rows: Iterable[Row], choice: Choice, preparing: Preparing
) -> tuple[tuple[ScriptJob, ...], tuple[Refused, ...]]:
    """The jobs of the scripts that can run, in their order, and those that were chosen and cannot."""
    jobs: list[ScriptJob] = []
    refused: list[Refused] = []
    for row in rows:
        if not (row.runs or row.kind == "error"):
            continue
        try:
            if not row.runs:
                raise RunError(row.why)
            jobs.append(preparing.ready(row.script, choice.text_for(row.script)))
        except RunError as error:
            name = preparing.choices.model_name or row.script.fields.text("model-name") or DEFAULT_MODEL
            refused.append(Refused(row.script.address, name, error))
    return tuple(jobs), tuple(refused)


def _wrong(file: ScriptFile, choice: Choice) -> dict[str, str]:
    """What keeps scripts from running: the first error of each, and where no result can be written."""
    from prosa.dialects.magi.placing import refusal

    path = (file.beside or file.source).path
    found = {address: f"{path}:{each[0].start.line}: {each[0].message}" for address, each in file.errors.items()}
    if choice.writes and file.beside is None:
        for script in file.scripts:
            why = refusal(script)
            if why is not None:
                found.setdefault(script.address, f"its result cannot be written: {why}")
    return found
