"""Which scripts of a document are run, and what becomes of the choice: ready, refused, or passed over. Runs nothing.

In: a document with its scripts, or scripts beside it, and what the user chose (M41). Out: rows, jobs, and refusals with
their reasons. Options that contradict each other are a ValueError.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from prosa.app.options import DEFAULT_MODEL, Environment, Options
from prosa.app.run.jobs import Refused
from prosa.app.scripts.load import TOOLS, ScriptFile, load_scripts
from prosa.dialects.magi.choosing import Choice
from prosa.runtime.errors import RunError
from prosa.source import SourceText

if TYPE_CHECKING:
    from prosa.app.scripts.load import Preparing, ScriptFile, ScriptJob
    from prosa.app.scripts.write import Writer
    from prosa.dialects.magi.choosing import Row
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


Instructions: TypeAlias = str | Path | Sequence[Mapping[str, Any]] | Mapping[str, Any]
"""Scripts beside a document: the path of a JSON file, or what such a file holds."""

BESIDE = "<scripts>"
"""What instructions that are data are called in messages."""


def choice_of(
    ids: str | Iterable[str], text: str | Mapping[str, str] | None, *, auto: bool, stale: bool, write: bool, **more: Any
) -> Choice:
    """The choice: these, those that ask for it, or all. ``more`` are further fields of `Choice`. Raises ValueError."""
    names = (ids,) if isinstance(ids, str) else tuple(ids)
    if names and auto:
        raise ValueError("`ids` and `auto` choose differently: give one of them")
    texts = dict(text) if isinstance(text, Mapping) else {}
    every, text = not names and not auto, text if isinstance(text, str) else None
    return Choice(names, auto, every, stale, writes=write or stale, text=text, texts=texts, **more)


def requested(
    document: Path | SourceText, scripts: Instructions | None, choice: Choice, choices: Options, around: Environment
) -> ScriptFile:
    """The document with its scripts, or those beside it. Raises `RunError`, `FileProblem`, and ValueError for results
    that have no place."""
    if choice.writes and isinstance(document, SourceText):
        raise ValueError("results are written into a document that is a file, and this is a text")
    if choice.writes and scripts is not None:
        raise ValueError("results are written below blocks of the document, and `scripts` come beside it")
    file = load_scripts(document, choices, around.settings, _beside(scripts))
    if choice.auto:
        _require_trust(file, around)
    return file


def require_tools(names: Iterable[str]) -> tuple[str, ...]:
    """The names of tools that are granted (X15). Raises ValueError for one that does not exist."""
    tools = tuple(dict.fromkeys(names))
    for name in tools:
        if name not in TOOLS:
            raise ValueError(f"there is no tool {name!r}; known: {', '.join(TOOLS)}")
    return tools


def writer_of(file: ScriptFile, choice: Choice, choices: Options, around: Environment) -> Writer | None:
    """What writes results into the document, where that was asked for."""
    from prosa.adapters.files import MAX_DOCUMENT_BYTES, RootedFiles, config_dir
    from prosa.app.scripts.write import writer_for

    if not choice.writes:
        return None
    files = RootedFiles(max_size=choices.max_size or around.settings.max_size or MAX_DOCUMENT_BYTES)
    return writer_for(file, files, config_dir(around.environ), force=choice.force)


def _beside(scripts: Instructions | None) -> Path | SourceText | None:
    """The file of instructions, or the text that data make. Raises TypeError for data that JSON does not have."""
    if scripts is None or isinstance(scripts, str | Path):
        return None if scripts is None else Path(scripts)
    data = dict(scripts) if isinstance(scripts, Mapping) else list(scripts)
    return SourceText(json.dumps(data, ensure_ascii=False, indent=1), BESIDE)


def _require_trust(file: ScriptFile, around: Environment) -> None:
    """X7: that a document asks to run by itself is a wish; who trusts it decides."""
    from prosa.adapters.files import config_dir
    from prosa.adapters.files.trust_store import TrustStore

    source = file.trusted_source
    if not TrustStore(config_dir(around.environ)).trusts(Path(source.path), source.digest):
        hint = f"read it, then run: prosa trust {source.path}" if source.digest else "only a file can be trusted"
        raise RunError(f"{source.path} is not trusted, so nothing in it runs by itself", hint=hint)
