"""Cases of a skill tried in an agent: a task for each attempt, and its result as what judges are given (X34, X36).

In: a suite, a case, an agent that runs or its recordings. Out: what ran, with the workspace it left, and the outcome.
Whether a skill was offered to the model and whether the model loaded it are kept apart.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from prosa.app.agents.recording import record_attempt
from prosa.app.agents.task import AgentChoice, AgentResult, AgentSource, AgentTask, SkillFolder, is_offered
from prosa.app.evals.answers import MAX_STEP, MAX_STEPS, AnswerCache
from prosa.app.evals.judge import Judged, Left, Ran
from prosa.app.options import Record
from prosa.data import Value
from prosa.evaluation.case import Case, FailureKind, RunFacts
from prosa.evaluation.report import AgentFacts, Outcome, OutputFile, Reason, Step
from prosa.evaluation.routing import Routing
from prosa.evaluation.workspace import LeftWorkspace
from prosa.records.agent import BROKEN_ENDS, UNMEASURED_ENDS, AgentTrace, End, FileChange

MAX_SHOWN = 64 * 1024
"""Characters of changed files that a grader sees."""

MAX_KEPT = 4 * 1024 * 1024
"""Bytes of changed files with which an attempt is still kept between calls."""

MAX_PICTURE = 512 * 1024
"""Bytes of a picture that a report shows."""

PICTURES = frozenset(("png", "jpg", "jpeg", "gif", "webp"))
"""Suffixes of files that a report shows as pictures."""

_KINDS: dict[End, FailureKind] = {
    "failed": "program",
    "crashed": "program",
    "calls": "limit",
    "timeout": "limit",
    "files": "limit",
    "processes": "limit",
    "cost": "budget",
    "service": "provider",
    "interrupted": "provider",
}


class InAgent(Struct, frozen=True):
    """One side of a suite in an agent: the skills that are laid, and ``own``, the one that is tried; empty for the side
    without it. ``files`` are laid in the workspace besides those of a case: their content's path and their place."""

    agent: AgentChoice
    skills: tuple[SkillFolder, ...]
    own: str
    side: str
    files: tuple[tuple[Path, str], ...] = ()


class AgentAttempts(Struct, frozen=True):
    """The attempts of one call in agents. ``kept`` remembers those that were measured, under ``source``'s own mark;
    ``record`` writes each into a file."""

    source: AgentSource
    kept: AnswerCache | None = None
    record: Record | None = None

    async def result(self, task: AgentTask) -> AgentResult:
        """Return what came of a task, now or the last time. Raises `RunError`."""
        kept = None if task.classified else self.kept
        key = f"agent:{self.source.about(task.agent)}:{task.key}"
        if kept is not None and (known := _remembered(kept.get([key]).get(key))) is not None:
            return known
        result = await self.source.attempt(task)
        if kept is not None and not result.remembered and (text := _kept_text(result)) is not None:
            kept.put({key: text})
        return result

    def recorded(self, task: AgentTask, result: AgentResult) -> str:
        """Record an attempt where the user asked for it, and return its file. Raises `CassetteProblem`."""
        return "" if self.record is None else str(record_attempt(self.record, task, result))


class _KeptAttempt(Struct, frozen=True):
    """An attempt as the cache has it: the contents of changed files are Base64."""

    trace: AgentTrace
    contents: dict[str, str]


def _kept_text(result: AgentResult) -> str | None:
    """Return an attempt as text; None for one that was not measured, and for one with too many files."""
    if result.trace.end in UNMEASURED_ENDS | BROKEN_ENDS:
        return None
    digests = {change.digest for change in result.trace.changes if change.digest}
    contents = {digest: content for digest in digests if (content := result.content(digest)) is not None}
    if sum(map(len, contents.values())) > MAX_KEPT or len(contents) < len(digests):
        return None
    texts = {digest: base64.b64encode(content).decode() for digest, content in contents.items()}
    return encode(_KeptAttempt(result.trace, texts)).decode()


def _remembered(text: str | None) -> AgentResult | None:
    if text is None:
        return None
    try:
        attempt = decode(text, type=_KeptAttempt)
    except DecodeError:
        return None
    contents = attempt.contents

    def content(digest: str) -> bytes | None:
        return base64.b64decode(contents[digest]) if digest in contents else None

    return AgentResult(attempt.trace, content, remembered=True)


def task_of(case: Case, side: InAgent, repeat: int, folder: Path, *, triggers: bool, classified: bool) -> AgentTask:
    """Return the task of one repeat, counted from 1; ``folder`` is that of the skill, beside which the files of the
    case stand."""
    files = (*side.files, *((folder / path, place) for path, place in case.laid))
    return AgentTask(side.agent, case.name, repeat, side.side, case.request, side.skills, files, triggers, classified)


@contextmanager
def left_behind(task: AgentTask, result: AgentResult, folder: Path) -> Iterator[Left]:
    """Give what an attempt left, with its files in a folder of their own for scripts, which ends with it."""
    original = {place: path for path, place in task.files}
    changed = {change.path: change for change in result.trace.changes}
    paths = (original.keys() | changed.keys()) - {path for path, change in changed.items() if change.kind == "deleted"}

    def read(path: str) -> bytes | None:
        if path in changed:
            return result.content(changed[path].digest)
        return original[path].read_bytes() if path in original else None

    def beside(path: str) -> bytes | None:
        real = (folder / path).resolve()
        return real.read_bytes() if real.is_relative_to(folder.resolve()) and real.is_file() else None

    workspace = LeftWorkspace(frozenset(paths), tuple(sorted(changed)), read, beside, result.trace.loaded)
    with TemporaryDirectory(prefix="prosa-outputs-") as outputs:
        for path in () if result.trace.end == "interrupted" else paths:  # the disk was full
            target = Path(outputs, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(read(path) or b"")
        yield Left(workspace, folder, Path(outputs))


def ran_in_agent(task: AgentTask, result: AgentResult, left: Left) -> Ran:
    """Return what an attempt gave. Of requests for skills that is which of them were loaded before the first change."""
    trace = result.trace
    output: Value = {"loaded": list(trace.loaded_first)} if task.triggers else trace.text
    calls = tuple(
        {"tool": tool.tool, "arguments": tool.arguments, "is_error": _failed(trace, tool.call)} for tool in trace.tools
    )
    return Ran(output, facts_of(trace), calls, left, _shown(trace))


def _failed(trace: AgentTrace, call: str) -> bool:
    return any(step.kind == "result" and step.call == call and step.is_error for step in trace.steps)


def facts_of(trace: AgentTrace) -> RunFacts:
    """Return what an attempt took, and why it gave nothing."""
    usage, cost = trace.usage, trace.cost
    reported = trace.reported
    calls = trace.answered or (reported.turns or 0 if reported is not None and not trace.calls else 0)
    return RunFacts(
        calls=calls,
        cost=None if cost is None else float(cost),
        seconds=trace.seconds,
        tools=tuple(tool.tool for tool in trace.tools),
        failure=_KINDS.get(trace.end),
        error=trace.reason,
        tokens=None if usage is None else usage.total_tokens,
    )


def _shown(trace: AgentTrace) -> Value:
    """Return what a grader sees: the answer, and the changed files within a limit."""
    room = MAX_SHOWN
    files: list[Value] = []
    for change in trace.changes:
        about: dict[str, Value] = {"path": change.path, "change": change.kind, "bytes": change.size}
        if change.is_text and len(change.diff) <= room:
            room -= len(change.diff)
            about["diff"] = change.diff
        files.append(about)
    return {"answer": trace.text, "files": files} if files else None


def judged_in_agent(trace: AgentTrace, side: InAgent, judged: Judged) -> tuple[Outcome, Reason | None]:
    """Return the outcome of an attempt: what was broken or never offered is no failure of a skill (X36)."""
    if trace.end in BROKEN_ENDS:
        return "broken", Reason("broken", trace.reason or f"the agent ended as {trace.end}")
    if side.own and trace.end not in UNMEASURED_ENDS and is_offered(trace, side.own) is False:
        return "not offered", Reason("not offered", not_offered(trace, side))
    return judged.outcome, judged.reason if judged.outcome == "not measured" else None


def not_offered(trace: AgentTrace, side: InAgent) -> str:
    """Return in a sentence that an agent did not offer a skill to its model."""
    others = [name for name in trace.listed or () if name != side.own]
    more = f"; it offered {', '.join(others)}" if others else ""
    return f"{side.agent.name} did not offer {side.own} to the model{more}"


def missed_in_agent(routing: Routing, case: str, trace: AgentTrace) -> Judged | None:
    """Return what an attempt lacks whose loaded skills count; None where nothing is."""
    missed = routing.missed(case, trace.loaded_first)
    return None if missed is None else Judged((missed,))


def agent_facts(trace: AgentTrace, *, skills: Sequence[SkillFolder]) -> AgentFacts:
    """Return what a report says of an attempt besides its outcome."""
    watched = {skill.name for skill in skills}
    reported = trace.reported
    return AgentFacts(
        agent=trace.agent,
        version=trace.version,
        end=trace.end,
        listed=None if trace.listed is None else tuple(name for name in trace.listed if name in watched),
        loaded=trace.loaded,
        changed=tuple(change.path for change in trace.changes),
        denied=trace.denied,
        subagents=len({call.conversation for call in trace.calls} - {0}),
        reported_tokens=None if reported is None or reported.usage is None else reported.usage.total_tokens,
        reported_cost=None if reported is None else reported.cost,
        unseen=trace.unseen,
    )


def agent_steps(trace: AgentTrace) -> tuple[Step, ...]:
    """Return the transcript of an attempt, without that of its subagents."""
    return tuple(
        Step(step.kind, step.text[:MAX_STEP], step.tool, step.arguments, step.is_error, step.size)
        for step in trace.steps
        if not step.conversation
    )[:MAX_STEPS]


def output_files(result: AgentResult) -> tuple[OutputFile, ...]:
    """Return the files that an attempt changed, pictures with their content."""
    files = []
    for change in result.trace.changes:
        content = result.content(change.digest) if _is_picture(change) else None
        files.append(
            OutputFile(
                change.path, change.kind, change.digest, change.size, change.is_text, change.diff, content or b""
            )
        )
    return tuple(files)


def _is_picture(change: FileChange) -> bool:
    suffix = change.path.lower().rpartition(".")[2]
    return change.kind != "deleted" and change.size <= MAX_PICTURE and suffix in PICTURES
