"""The scripts of a document run for a program that calls: each with its result as a value (M41).

In: scripts that were loaded, and a choice. Out: a `ScriptResult` for each script that was chosen and not passed over.
Nothing is printed; a document is changed only through the writer that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prosa.app.run.jobs import Course, Outcome, run_scripts
from prosa.app.scripts.choose import made_ready, modes_of, rows_of, states_of, writer_of
from prosa.app.scripts.load import Preparing, ScriptFile
from prosa.app.scripts.write import Batches
from prosa.runtime.errors import RunError
from prosa.runtime.events import Listener, ignore

if TYPE_CHECKING:
    from prosa.app.options import Environment, Options
    from prosa.dialects.magi.choosing import Choice, Row
    from prosa.dialects.magi.context import ContextMode
    from prosa.runtime.ports import Provider
    from prosa.runtime.summary import Summary


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """What became of one script (M24, M34).

    ``script`` is its address; ``output`` the validated result, None where there is none; ``error`` why there is none,
    or why it is not in the document. ``summary`` tells iterations, tokens, cost and times. ``written`` says whether the
    result stands in the document, None where that was not asked for.
    """

    script: str
    output: Any
    error: RunError | None
    summary: Summary
    written: bool | None = None

    @property
    def ok(self) -> bool:
        """Whether all went well."""
        return self.error is None


@dataclass(frozen=True, slots=True)
class Means:
    """How scripts are run: what the user chose, ``context`` that is sent (None: the default, and for a stale result
    the one it was made with), ``tools`` that are granted, ``provider`` in
    place of the model service, who listens, and ``jobs`` at the same time."""

    choices: Options
    around: Environment
    context: ContextMode | None = None
    tools: tuple[str, ...] = ()
    provider: Provider | None = None
    listener: Listener = ignore
    jobs: int = 1


async def run_chosen(file: ScriptFile, choice: Choice, means: Means) -> tuple[ScriptResult, ...]:
    """Runs the chosen scripts and gives their results in the order in which they started (MA13).

    Scripts of another environment, without the text that they wait for, or with a result that is kept, are passed over
    with a notice. Raises `RunError` for an id that no script has, and for a script that was named and is passed over.
    """
    from prosa.dialects.magi.context import visible
    from prosa.dialects.magi.script_hash import DEFAULT_CONTEXT

    choices, around = means.choices, means.around
    _require_known(file, choice)
    rows = rows_of(file, choice, states_of(file))
    _tell_passed_over(rows, choice, around.notice)
    replaced = means.provider is not None
    modes = modes_of(file) if choice.stale and means.context is None else {}
    mode = means.context or DEFAULT_CONTEXT
    preparing = Preparing(file, choices, around, mode, means.tools, visible(file.model), replaced, modes)
    jobs, refused = made_ready(rows, choice, preparing)
    writer = writer_of(file, choice, choices, around)
    found, course = _Found(), Course()
    found.batches = Batches(writer, found.placed) if writer else None
    try:
        await run_scripts(
            jobs,
            choices,
            around,
            done=found.done,
            listener=means.listener,
            at_once=means.jobs,
            course=course,
            refused=refused,
            provider=means.provider,
            meanwhile=found.batches.keep_writing if found.batches else None,
        )
    finally:
        if found.batches:
            found.batches.flush()
    for each in refused:
        found.results[each.name] = ScriptResult(each.name, None, each.error, course.ended[each.name])
    return tuple(found.results[row.script.address] for row in rows if row.script.address in found.results)


@dataclass(slots=True)
class _Found:
    """Results by address. Those for the document wait until they stand there; what cannot is not lost."""

    results: dict[str, ScriptResult] = field(default_factory=dict)
    batches: Batches | None = None

    def done(self, outcome: Outcome) -> None:
        """Takes what came of a script."""
        if self.batches is not None and outcome.error is None:
            self.batches.add(outcome)
        else:
            self._keep(outcome, outcome.error, None)

    def placed(self, outcome: Outcome, problem: RunError | None) -> None:
        """Takes a result that stands in the document, or does not."""
        self._keep(outcome, problem, problem is None)

    def _keep(self, outcome: Outcome, error: RunError | None, written: bool | None) -> None:
        name = outcome.job.program.name
        self.results[name] = ScriptResult(name, outcome.output, error, outcome.summary, written)


def _require_known(file: ScriptFile, choice: Choice) -> None:
    from prosa.diagnostics.nearest import nearest

    known = [script.address for script in file.scripts]
    for name in choice.ids:
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near}?" if near else f"its scripts are {', '.join(known[:10]) or 'none'}"
            raise RunError(f"{file.path} has no script {name!r}", hint=hint)


def _tell_passed_over(rows: tuple[Row, ...], choice: Choice, tell: Callable[[str], None]) -> None:
    for row in rows:
        if row.runs or row.kind in ("not-chosen", "error"):
            continue
        if choice.ids and row.kind != "result":
            raise RunError(f"`{row.script.address}` was not run: {row.why}")
        tell(f"note: {row.script.address} is not run: {row.why}")
