"""The scripts of a document run: each with its result as a value, in the document where it is to stand (M41, MA13,
X19).

In: scripts that are ready. Out: their results; the document is read again, and replaced in one step with no other
writer between. Results cost money, so the caller keeps one that cannot be written. The first is written at once, then
all that arrived during the last write, so that writing to a long document stays within the time of the run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, field

from prosa.adapters.files import FileChanged, RootedFiles, config_dir, replace_file
from prosa.adapters.files.trust_store import TrustStore
from prosa.app.options import Environment, Options
from prosa.app.run.jobs import Progress, driving
from prosa.app.runs import Outcome as JobOutcome
from prosa.app.runs.engine import run_list
from prosa.app.scripts.load import ScriptFile, ScriptJob, scripts_of
from prosa.app.settings import size_limit
from prosa.data import Value
from prosa.dialects.magi.choosing import Contexts, script_hash
from prosa.dialects.magi.result_text import owners_of
from prosa.dialects.magi.results import Given, ResultRefused, written, written_together
from prosa.runtime.errors import RunError
from prosa.runtime.events import Listener, ignore
from prosa.source import Edit, FileProblem, SourceText, apply_edits

if TYPE_CHECKING:
    from prosa.app.scripts.choose import ReadyScripts
    from prosa.dialects.magi import MagiModel, Script
    from prosa.dialects.magi.choosing import Choice
    from prosa.records.summary import Summary
    from prosa.runtime.ports import Provider
    from prosa.runtime.program import OutputForm


Outcome: TypeAlias = JobOutcome[ScriptJob]

ATTEMPTS = 5
"""Maximum number of times that a document changed by other programs is read again."""


class NotWritten(RunError):
    """A result that is not in the document; the message says why."""


class Writer(Struct, frozen=True):
    """Writes results into ``file``. With ``force`` also over results that were edited by hand. ``trust`` is kept up:
    what we write is data, so a document that was trusted just before stays so."""

    file: ScriptFile
    files: RootedFiles
    trust: TrustStore
    contexts: Contexts
    force: bool = False

    def write_all(self, outcomes: Sequence[Outcome]) -> list[NotWritten | None]:
        """Put results into the document, many in one step where they go together, and return why one is not there."""
        owners, at_once = owners_of(self.file.model), set[int]()
        for is_new in (True, False):
            group = [outcome for outcome in outcomes if (owners.region_of(outcome.job.script) is None) is is_new]
            if len(group) > 1 and self._together(group):
                at_once.update(map(id, group))
        return [None if id(outcome) in at_once else self._refused(outcome) for outcome in outcomes]

    def _refused(self, outcome: Outcome) -> NotWritten | None:
        try:
            self.write(outcome)
        except NotWritten as problem:
            return problem
        return None

    def _together(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether all could be written in one step. If not, each reports its reason when it is written
        separately."""
        try:
            source = self.files.read(self.file.path)
            model = scripts_of(self.file.path, source).model
            results: list[Given] = []
            for outcome in outcomes:
                script, job = self._script_in(model, outcome), outcome.job
                if script is None:
                    return False
                results.append(
                    Given(
                        script,
                        text_of(outcome.output),
                        outcome.summary.model_name,
                        job.mode,
                        job.form,
                        self._sent(outcome),
                        outcome.summary.answered_by or "",
                        outcome.summary.cut,
                    )
                )
            edits = written_together(model, results, force=self.force)
            return edits is not None and self._replaced(source, apply_edits(source.text, edits))
        except (FileProblem, OSError):
            return False

    def write(self, outcome: Outcome) -> None:
        """Write a result to the current document. Raises `NotWritten`."""
        try:
            for _ in range(ATTEMPTS):
                if self._written(outcome):
                    return
        except FileProblem as problem:
            raise NotWritten(problem.reason) from None
        except OSError as error:
            raise NotWritten(error.strerror or str(error)) from None
        except ResultRefused as refused:
            raise NotWritten(str(refused)) from None
        raise NotWritten("others keep changing it")

    def _written(self, outcome: Outcome) -> bool:
        """Return whether the document could be replaced before another program changed it."""
        source = self.files.read(self.file.path)
        now = scripts_of(self.file.path, source)
        script = self._script_in(now.model, outcome)
        if script is None:
            raise NotWritten("its block was changed or removed while it ran")
        return self._replaced(source, apply_edits(source.text, self._edits(now.model, script, outcome)))

    def _script_in(self, model: MagiModel, outcome: Outcome) -> Script | None:
        return same_script(self.file.model.scripts, outcome.job.script, model.scripts)

    def _replaced(self, source: SourceText, text: str) -> bool:
        """Return whether the document has this text now; False if another program changed it meanwhile."""
        if text == source.text:
            return True
        try:
            replace_file(self.file.path, text, expect_digest=source.digest)
        except FileChanged:
            return False
        self._keep_trust(source, text)
        return True

    def _sent(self, outcome: Outcome) -> str:
        """Return the hash of the inputs that were sent and produced the result, whatever the document contains
        by now."""
        job, model_name = outcome.job, outcome.summary.model_name
        return script_hash(self.file.model, job.script, job.mode, model_name, contexts=self.contexts)

    def _edits(self, model: MagiModel, script: Script, outcome: Outcome) -> tuple[Edit, ...]:
        job, summary = outcome.job, outcome.summary
        return written(
            model,
            script,
            text_of(outcome.output),
            model_name=summary.model_name,
            context=job.mode,
            form=job.form,
            force=self.force,
            sent=self._sent(outcome),
            answered_by=summary.answered_by or "",
            cut=summary.cut,
        )

    def _keep_trust(self, before: SourceText, after: str) -> None:
        if self.trust.trusts(self.file.path, before.digest):
            self.trust.renew(self.file.path, sha256(after.encode("utf-8")).hexdigest())


def text_of(output: Value) -> str:
    """Return a result as text: JSON indented, everything else unchanged."""
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, indent=2)


def same_script(before: Sequence[Script], script: Script, after: Sequence[Script]) -> Script | None:
    """Return the script in a later reading: the same text, and the same place among those with that text; None where
    there are more or fewer of them now."""
    twins = [other for other in before if other.pieces.text == script.pieces.text]
    scripts = [other for other in after if other.pieces.text == script.pieces.text]
    at = next((index for index, twin in enumerate(twins) if twin.line == script.line), None)
    return scripts[at] if at is not None and len(scripts) == len(twins) else None


def writer_of(file: ScriptFile, choice: Choice, options: Options, environment: Environment) -> Writer | None:
    """Return the writer of results to the document, if requested."""
    if not choice.writes:
        return None
    files = RootedFiles(max_size=size_limit(options.max_size, environment.settings))
    return Writer(file, files, TrustStore(config_dir(environment.environ)), Contexts(file.model), choice.force)


class Batches(Struct):
    """``told`` is called with each outcome when its result is in the document, or with the reason why it is not."""

    writer: Writer
    listener: Callable[[Outcome, NotWritten | None], None]
    _waiting: list[Outcome] = field(default_factory=list)
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, outcome: Outcome) -> None:
        """Take a result to write."""
        self._waiting.append(outcome)
        self._came.set()

    async def keep_writing(self) -> None:
        """Write what comes, until it is cancelled."""
        while True:
            await self._came.wait()
            self._came.clear()
            began = monotonic()
            self.flush()
            await asyncio.sleep(monotonic() - began)

    def flush(self) -> None:
        """Write what waits."""
        outcomes, self._waiting = self._waiting, []
        for outcome, problem in zip(outcomes, self.writer.write_all(outcomes), strict=True):
            self.listener(outcome, problem)


class ScriptResult(Struct, frozen=True):
    """What became of one script (M24, M34).

    ``script`` is its address; ``output`` the validated result, None where there is none; ``error`` why there is none,
    or why it is not in the document. ``summary`` tells iterations, tokens, cost and times. ``written`` says whether the
    result stands in the document, None where that was not asked for. ``form`` is what the script gives, None for one
    that could not be made ready.
    """

    script: str
    output: Any
    error: RunError | None
    summary: Summary
    written: bool | None = None
    form: OutputForm | None = None

    @property
    def ok(self) -> bool:
        """Return whether all went well."""
        return self.error is None


async def run_scripts(
    ready: ReadyScripts,
    options: Options,
    environment: Environment,
    *,
    on_result: Callable[[ScriptResult], None] = lambda _: None,
    listener: Listener = ignore,
    at_once: int = 1,
    progress: Progress | None = None,
    provider: Provider | None = None,
) -> tuple[ScriptResult, ...]:
    """Run scripts, at most ``at_once`` at a time, and return their results in the order in which they started.

    ``on_result`` receives each result as soon as it is available and written to the document. A script that fails is a
    result; ``provider`` answers in place of those that are named, and is closed at the end. Raised is only what ends
    everything: an interrupt, or what ``on_result`` raises.
    """
    progress = progress or Progress()
    progress.order = ready.order
    writer = writer_of(ready.selection.file, ready.selection.choice, options, environment)
    results = _Results(on_result)
    batches = results.batches = Batches(writer, results.placed) if writer else None
    try:
        async with driving(options, environment, listener=listener, progress=progress, provider=provider) as driver:
            for refused in ready.refused:
                driver.refuse(refused)
                results.take(ScriptResult(refused.name, None, refused.error, progress.ended[refused.name]))
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

    on_result: Callable[[ScriptResult], None]
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
        self.on_result(result)

    def in_order(self, names: Iterable[str]) -> tuple[ScriptResult, ...]:
        """Return all that are there."""
        return tuple(self.known[name] for name in names if name in self.known)
