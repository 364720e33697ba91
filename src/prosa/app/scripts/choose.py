"""Which scripts of a document are run, and the result of the choice: ready, refused, or skipped. Runs nothing.

In: a document with its scripts, or scripts beside it, and the user's choice (M41). Out: rows, jobs, and refusals with
their reasons. Options that contradict each other are a ValueError.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.options import DEFAULT_MODEL, Environment, Options
from prosa.app.permission import require_trust
from prosa.app.runs import Refused
from prosa.app.scripts.load import TOOLS, Preparing, ScriptFile, ScriptJob, load_scripts
from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.dialects.magi.choosing import DEFAULT_CONTEXT, Choice, Row, choose, context_mode, statuses, visible
from prosa.dialects.magi.result_text import owners_of, refusal
from prosa.runtime.errors import RunError
from prosa.source import SourceText

if TYPE_CHECKING:
    from prosa.dialects.magi.choosing import ContextMode


def states_of(file: ScriptFile) -> dict[str, str]:
    """Return how the results of a document stand, by address; nothing for scripts that came beside it (X19)."""
    if file.beside is not None:
        return {}
    return {script.address: status.state for script, status in statuses(file.model)}


def modes_of(file: ScriptFile) -> dict[str, ContextMode]:
    """Return the context of each result, by address: a stale one is refreshed in the same way (X19)."""
    if file.beside is not None:
        return {}
    return {script.address: context_mode(region.about.context) for script, region in owners_of(file.model).pairs}


def rows_of(file: ScriptFile, choice: Choice, states: Mapping[str, str]) -> tuple[Row, ...]:
    """Return a row for each script, in the order in which they would run (MA13)."""
    return choose(file.scripts, choice, wrong=_wrong(file, choice), states=states)


class ScriptNotRun(RunError):
    """A script that was named and does not run. ``kind`` is the kind of reason, ``why`` the reason alone."""

    def __init__(self, row: Row, path: Path) -> None:
        hint = f"run: prosa check {path}" if row.kind == "error" else ""
        super().__init__(f"`{row.script.address}` was not run: {row.why}", hint=hint)
        self.kind = row.kind
        self.why = row.why
        self.script = row.script


class Selection(Struct, frozen=True):
    """A document with its scripts, the user's choice, and its result."""

    preparing: Preparing
    choice: Choice
    rows: tuple[Row, ...]
    states: Mapping[str, str]

    @property
    def file(self) -> ScriptFile:
        """The document."""
        return self.preparing.file

    @property
    def chosen(self) -> tuple[Row, ...]:
        """Those that run, or would but for an error."""
        return tuple(row for row in self.rows if row.runs or row.kind == "error")

    def narrowed(self, choice: Choice) -> Selection:
        """Return the same with another choice."""
        return replace(self, choice=choice, rows=rows_of(self.file, choice, self.states))

    def require_named(self) -> None:
        """Raise `ScriptNotRun` for a script that was named and does not run, before anything does. One whose result is
        kept is passed over."""
        for row in self.rows:
            if self.choice.ids and row.kind not in ("runs", "not-chosen", "result"):
                raise ScriptNotRun(row, self.file.path)

    def passed_over(self) -> list[str]:
        """Return why chosen scripts do not run, in words; a kept result is only mentioned if nothing runs."""
        kinds = {"environment", "edited", "text"} | (set() if any(row.runs for row in self.rows) else {"result"})
        return [f"note: {row.script.address} is not run: {row.why}" for row in self.rows if row.kind in kinds]

    def made_ready(self) -> ReadyScripts:
        """Return the jobs of the scripts that can run, in their order, and those that were chosen and cannot."""
        jobs: list[ScriptJob] = []
        refused: list[Refused] = []
        for row in self.chosen:
            try:
                if not row.runs:
                    raise RunError(row.why)
                jobs.append(self.preparing.ready(row.script, self.choice.text_for(row.script)))
            except RunError as error:
                name = self.preparing.options.model_name or row.script.fields.text("model-name") or DEFAULT_MODEL
                refused.append(Refused(row.script.address, name, error))
        return ReadyScripts(self, tuple(jobs), tuple(refused))


class ReadyScripts(Struct, frozen=True):
    """Scripts that are ready to run, and those that were chosen and cannot."""

    selection: Selection
    jobs: tuple[ScriptJob, ...]
    refused: tuple[Refused, ...]

    @property
    def order(self) -> list[str]:
        """The addresses of all that were chosen."""
        return [row.script.address for row in self.selection.chosen]


def selection(
    file: ScriptFile,
    choice: Choice,
    options: Options,
    environment: Environment,
    *,
    context: ContextMode | None = None,
    tools: tuple[str, ...] = (),
    replaced: bool = False,
) -> Selection:
    """Evaluate a choice. ``context`` is what is sent (None: the document, and for a stale result its original
    context); ``tools`` are granted; ``replaced`` is true if the caller passes a provider. Raises `RunError` for an id
    that no script has."""
    _require_known(file, choice)
    states = states_of(file)
    modes = modes_of(file) if choice.stale and context is None else {}
    mode = context or DEFAULT_CONTEXT
    preparing = Preparing(file, options, environment, mode, tools, visible(file.model), replaced, modes)
    return Selection(preparing, choice, rows_of(file, choice, states), states)


def _require_known(file: ScriptFile, choice: Choice) -> None:
    known = [script.address for script in file.scripts]
    for name in choice.ids:
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near}?" if near else f"its scripts are {', '.join(known[:10]) or 'none'}"
            raise RunError(f"{file.path} has no script {name!r}", hint=hint)


def _wrong(file: ScriptFile, choice: Choice) -> dict[str, str]:
    """Return what keeps scripts from running: the first error of each, and where no result can be written."""
    path = (file.beside or file.source).path
    problems = {address: f"{path}:{error[0].start.line}: {error[0].message}" for address, error in file.errors.items()}
    if choice.writes and file.beside is None:
        for script in file.scripts:
            why = refusal(script)
            if why is not None:
                problems.setdefault(script.address, f"its result cannot be written: {why}")
    return problems


Instructions: TypeAlias = str | Path | Sequence[Mapping[str, Value]] | Mapping[str, Value]
"""Scripts beside a document: the path of a JSON file, or what such a file holds."""

BESIDE = "<scripts>"
"""What instructions that are data are called in messages."""


def choice_of(
    ids: str | Iterable[str],
    text: str | Mapping[str, str] | None,
    *,
    auto: bool,
    stale: bool,
    write: bool,
    **more: Any,  # noqa: ANN401 - fields of `Choice`, of several types
) -> Choice:
    """Return the choice: these, those that ask for it, or all. ``more`` are further fields of `Choice`. Raises
    ValueError."""
    names = (ids,) if isinstance(ids, str) else tuple(ids)
    if names and auto:
        raise ValueError("`ids` and `auto` choose differently: give one of them")
    texts = dict(text) if isinstance(text, Mapping) else {}
    every, text = not names and not auto, text if isinstance(text, str) else None
    return Choice(names, auto, every, stale, writes=write or stale, text=text, texts=texts, **more)


def requested(
    document: Path | SourceText,
    scripts: Instructions | None,
    choice: Choice,
    options: Options,
    environment: Environment,
) -> ScriptFile:
    """Return the document with its scripts, or those beside it. Raises `RunError`, `FileProblem`, and ValueError for
    results that have no place."""
    if choice.writes and isinstance(document, SourceText):
        raise ValueError("results are written into a document that is a file, and this is a text")
    if choice.writes and scripts is not None:
        raise ValueError("results are written below blocks of the document, and `scripts` come beside it")
    file = load_scripts(document, options, environment.settings, _beside(scripts))
    if choice.auto:
        require_trust(file.trusted_source, environment.environ)
    return file


def require_tools(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of tools that are granted (X15). Raises ValueError for one that does not exist."""
    tools = tuple(dict.fromkeys(names))
    for name in tools:
        if name not in TOOLS:
            raise ValueError(f"there is no tool {name!r}; known: {', '.join(TOOLS)}")
    return tools


def _beside(scripts: Instructions | None) -> Path | SourceText | None:
    """Return the file of instructions, or the text that data make. Raises TypeError for data that JSON does not
    have."""
    if scripts is None or isinstance(scripts, str | Path):
        return None if scripts is None else Path(scripts)
    data = dict(scripts) if isinstance(scripts, Mapping) else list(scripts)
    return SourceText(json.dumps(data, ensure_ascii=False, indent=1), BESIDE)
