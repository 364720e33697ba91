"""What is kept of runs, as values: a run, its calls, and what can be derived from both without a request.

In: rows of a store. Out: the calls in the order of their paths, the first difference between two runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.runtime.errors import NotResumed

RunState: TypeAlias = Literal["open", "done", "failed", "interrupted"]
CallState: TypeAlias = Literal["asked", "answered", "failed", "unmade"]
"""A tool call is unmade where the server of the tool did not start: nothing was asked of it."""

History: TypeAlias = Literal["off", "summary", "full"]
"""What remains of a run when it has ended: nothing, everything but messages, everything."""


class StoreServer(Struct, frozen=True):
    """A store on a PostgreSQL server. Its address never holds a password."""

    url: str

    def __str__(self) -> str:
        return self.url


StorePlace: TypeAlias = Path | StoreServer
"""Where a store is: a file of SQLite, or a server."""


class RunRecord(Struct, frozen=True):
    """One run of a program as the store has it. Times are UTC texts that sort; ``seconds`` is measured, not computed.

    ``door`` says what began it, ``batch`` is the id that the runs of one call share, in which this one is ``job``.
    ``closure`` is the JSON list of the programs with their digests, ``again`` what the door needs to begin the same
    call once more. ``input``, ``output`` and ``again`` are JSON, None where they are not kept. ``holder`` names the
    process that runs it; ``attempts`` counts those that did. ``whole`` says that messages and answers are still there.
    ``cost`` is US dollars, None where no price is known, and ``priced`` the day of that price. ``number`` is that of
    the row of a batch, counted from 1, whose id as JSON is then ``job``; ``crashes`` counts the processes that ended
    for an unknown reason during the run.
    """

    id: str
    door: str
    batch: str
    job: str
    program: str
    file: str
    closure: str
    model: str
    input_sha: str
    started: str
    input: str | None = None
    again: str | None = None
    state: RunState = "open"
    kind: str | None = None
    error: str | None = None
    output: str | None = None
    attempts: int = 1
    holder: str = ""
    host: str = ""
    ended: str | None = None
    seconds: float | None = None
    calls: int = 0
    tools: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    priced: str | None = None
    whole: bool = True
    number: int | None = None
    crashes: int = 0


class CallRecord(Struct, frozen=True):
    """One model call or tool call. ``kind`` is `model` or that of the tool; ``name`` the model that was asked, or the
    tool. ``digest`` is of the request or of the arguments, ``answer`` of what came; ``request`` and ``reply`` are the
    same as JSON, None where they are not kept. ``attempt`` is the process that asked, as in `RunRecord.attempts`."""

    run: str
    path: str
    attempt: int
    kind: str
    program: str
    name: str
    digest: str
    started: str
    state: CallState = "asked"
    answer: str | None = None
    request: str | None = None
    reply: str | None = None
    is_error: bool = False
    error: str | None = None
    answered_by: str | None = None
    service: str | None = None
    finish: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    seconds: float | None = None


class RunFilter(Struct, frozen=True):
    """Which runs are meant. ``program`` is the name of a program, or with a `/` its file; ``since`` and ``before`` are
    times as in a record; None leaves all in. ``below`` are the start and the id of the run after which a page of the
    list begins, ``text`` is a part of an id, a program, a file, a model or an error."""

    program: str | None = None
    since: str | None = None
    before: str | None = None
    failed: bool = False
    limit: int | None = None
    states: tuple[RunState, ...] = ()
    text: str = ""
    below: tuple[str, str] | None = None


def path_key(path: str) -> list[tuple[int, ...]]:
    """Return a path as numbers, by which calls sort as they follow each other: a model call before the tool calls of
    its reply, a tool call before what it started."""
    return [tuple(map(int, part.split("."))) for part in path.split("/")]


def last_attempts(calls: Iterable[CallRecord]) -> list[CallRecord]:
    """Return the calls in the order of their paths, each as it was asked last."""
    latest: dict[str, CallRecord] = {}
    for call in calls:
        known = latest.get(call.path)
        if known is None or call.attempt >= known.attempt:
            latest[call.path] = call
    return sorted(latest.values(), key=lambda call: path_key(call.path))


_RESUMED_BY = {"run": "run", "script": "run", "chat": "chat"}


def resuming(run: RunRecord) -> str | None:
    """Return the command that resumes a run; None where none does, as for a call from Python."""
    if run.number is not None:
        return f"prosa batch {run.batch} --retry-failed"
    command = _RESUMED_BY.get(run.door)
    return None if command is None else f"prosa {command} --resume {run.batch}"


Difference: TypeAlias = Literal["message", "tool", "arguments", "answer", "missing"]


class FirstDifference(Struct, frozen=True):
    """Where two runs begin to differ, and in what: what the model was asked, which tool was called, with which
    arguments, what came back. ``missing`` is a call that only one of them made, the other being None."""

    path: str
    what: Difference
    left: CallRecord | None
    right: CallRecord | None


def first_difference(left: Sequence[CallRecord], right: Sequence[CallRecord]) -> FirstDifference | None:
    """Return the first difference between the calls of two runs in the order of their paths; None where there is
    none."""
    ours = {call.path: call for call in last_attempts(left)}
    theirs = {call.path: call for call in last_attempts(right)}
    for path in sorted({*ours, *theirs}, key=path_key):
        one, other = ours.get(path), theirs.get(path)
        if one is None or other is None:
            return FirstDifference(path, "missing", one, other)
        for what in _differences(one, other):
            return FirstDifference(path, what, one, other)
    return None


def _differences(one: CallRecord, other: CallRecord) -> Iterator[Difference]:
    model = one.kind == "model"
    if one.kind != other.kind or (not model and one.name != other.name):
        yield "tool"
    if one.digest != other.digest:
        yield "message" if model else "arguments"
    if one.answer != other.answer:
        yield "answer"


def only(records: Sequence[RunRecord], name: str) -> RunRecord:
    """Return the run of that name. Raises `NotResumed` where there is none, or several ids begin so."""
    if not records:
        raise NotResumed(f"there is no run {name[:40]!r} in the store", hint="prosa runs lists them")
    if len(records) > 1 and len({record.batch for record in records}) > 1:
        raise NotResumed(f"several runs start with {name}: {', '.join(record.id for record in records)}")
    return records[0]
