"""The scripts of a document run: each with its result as a value, in the document where it is to stand (M41, MA13).

In: scripts that are ready, who listens. Out: a `ScriptResult` for each as soon as it is there, and all in their order.
Nothing is printed; a result that was paid for is never lost, whether it could be written or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct, field

from prosa.app.run.jobs import Progress, driving
from prosa.app.runs.engine import run_list
from prosa.app.scripts.write import Batches, Outcome, writer_of
from prosa.data import Value
from prosa.runtime.errors import RunError
from prosa.runtime.events import Listener, ignore

if TYPE_CHECKING:
    from prosa.app.options import Environment, Options
    from prosa.app.scripts.choose import ReadyScripts
    from prosa.app.scripts.load import ScriptJob
    from prosa.records.summary import Summary
    from prosa.runtime.ports import Provider
    from prosa.runtime.program import OutputForm


class ScriptResult(Struct, frozen=True):
    """What became of one script (M24, M34).

    ``script`` is its address; ``output`` the validated result, None where there is none; ``error`` why there is none,
    or why it is not in the document. ``summary`` tells iterations, tokens, cost and times. ``written`` says whether the
    result stands in the document, None where that was not asked for. ``form`` is what the script gives, None for one
    that could not be made ready.
    """

    script: str
    output: Value
    error: RunError | None
    summary: Summary
    written: bool | None = None
    form: OutputForm | None = None

    @property
    def ok(self) -> bool:
        """Return whether all went well."""
        return self.error is None


def _nobody(result: ScriptResult) -> None:
    del result


async def run_scripts(
    ready: ReadyScripts,
    options: Options,
    environment: Environment,
    *,
    heard: Callable[[ScriptResult], None] = _nobody,
    listener: Listener = ignore,
    at_once: int = 1,
    progress: Progress | None = None,
    provider: Provider | None = None,
) -> tuple[ScriptResult, ...]:
    """Run scripts, at most ``at_once`` at a time, and return their results in the order in which they started.

    ``heard`` receives each result as soon as it is available and written to the document. A script that fails is a
    result; ``provider`` answers in place of those that are named, and is closed at the end. Raised is only what ends
    everything: an interrupt, or what ``heard`` raises.
    """
    progress = progress or Progress()
    progress.order = ready.order
    writer = writer_of(ready.selection.file, ready.selection.choice, options, environment)
    results = _Results(heard)
    batches = results.batches = Batches(writer, results.placed) if writer else None
    try:
        async with driving(options, environment, listener=listener, progress=progress, provider=provider) as driver:
            for each in ready.refused:
                driver.refuse(each)
                results.take(ScriptResult(each.name, None, each.error, progress.ended[each.name]))
            meanwhile = batches.keep_writing if batches else None
            await driver.require_prices(ready.jobs)

            async def work(job: ScriptJob) -> None:
                results.done(await driver.outcome(job))

            await run_list(ready.jobs, work, at_once=at_once, beside=meanwhile)
    finally:
        if batches:
            batches.flush()
    return results.in_order(ready.order)


class _Results(Struct):
    """Results by address. Those for the document wait until they stand there."""

    heard: Callable[[ScriptResult], None]
    batches: Batches | None = None
    known: dict[str, ScriptResult] = field(default_factory=dict)

    def done(self, outcome: Outcome) -> None:
        """Take what came of a script."""
        if self.batches is not None and outcome.error is None:
            self.batches.add(outcome)
        else:
            self._keep(outcome, outcome.error, None)

    def placed(self, outcome: Outcome, problem: RunError | None) -> None:
        """Take a result that stands in the document, or does not."""
        self._keep(outcome, problem, problem is None)

    def _keep(self, outcome: Outcome, error: RunError | None, written: bool | None) -> None:
        job = outcome.job
        self.take(ScriptResult(job.name, outcome.output, error, outcome.summary, written, job.form))

    def take(self, result: ScriptResult) -> None:
        """Take a result as it is, and tell of it."""
        self.known[result.script] = result
        self.heard(result)

    def in_order(self, names: Iterable[str]) -> tuple[ScriptResult, ...]:
        """Return all that are there."""
        return tuple(self.known[name] for name in names if name in self.known)
