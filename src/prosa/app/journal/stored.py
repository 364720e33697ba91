"""The journal of one run on disk (X25): what is answered is committed before it is used, and answers once. The one
answer of a row of a batch is committed with the end of the row.

In: the calls of a run as they come. Out: their answers, from an earlier process where it got them, else made now. A
request that is another one than at that place before is asked anew. What may have changed something and was not
answered is not made again unless the user says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.store import runs
from prosa.adapters.store.runs import DamagedRecord, TakenOver, Unwritable
from prosa.adapters.store.writer import LATER, MOMENT
from prosa.records.requests import request_content
from prosa.records.run import CallRecord, RunRecord, last_attempts, resuming
from prosa.records.summary import Answered
from prosa.runtime.digest import as_json, digest_of, reply_digest, request_digest, result_digest, stamp
from prosa.runtime.errors import InDoubt, RunError, StoreProblem, ToolServerError
from prosa.runtime.messages import ModelReply
from prosa.runtime.ports import ToolResult

if TYPE_CHECKING:
    from prosa.adapters.store.writer import AnyWriter, Commit, Work
    from prosa.records.run import CallState
    from prosa.runtime.journal import Ask, ModelStep, ToolStep, Use
    from prosa.runtime.messages import ModelRequest
    from prosa.runtime.ports import Clock

T = TypeVar("T")

RERUN = "--in-doubt rerun"

Ending: TypeAlias = "Callable[[float, CallRecord | None], Work[None]]"
"""What is written at the end of a run: for the seconds that it took, with its only answer where that is still to be
written."""


class StoredJournal(Struct):
    """Implements the port `Journal`. ``run`` is not in the store before its first call, unless it is resumed
    (``begun``).

    ``known`` are the calls of earlier processes by path. ``notice`` reports once that the store accepts no more
    records; the run then continues without it, unless the store is ``required``. ``full`` keeps messages too.
    ``grouped`` commits the start of the run with its first call, which waits for that, and the answer of its only call
    with its end.
    """

    run: RunRecord
    writer: Callable[[], AnyWriter]
    clock: Clock
    notice: Callable[[str], None]
    full: bool = False
    rerun: bool = False
    required: bool = False
    begun: bool = False
    known: dict[str, CallRecord] = field(default_factory=dict)
    answered: list[Answered] = field(default_factory=list)
    lost: bool = False
    grouped: bool = False
    first: Commit[None] | None = None
    _last: CallRecord | None = None
    _calls: int = 0
    _since: float = 0.0
    _sent: dict[str, tuple[str, ModelRequest]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._since = self.clock.monotonic()

    @property
    def can_go_on(self) -> bool:
        """Return whether anything is kept that a further run would not have to ask again."""
        return self.begun and not self.lost and (bool(self.answered) or bool(self.known))

    async def reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        """Return the reply of an earlier process, else a new one, which is committed before it is given, or with the
        end of a run of one call that is ``grouped``."""
        digest = request_digest(step.request)
        known = self._known(step.path, digest)
        if known is not None:
            reply = decoded(known.reply or "", ModelReply)
            self._count(step.request.model_name, reply)
            if step.on_text is not None and reply.content:
                step.on_text(reply.content)
            return reply
        call = self._call(step.path, "model", step.scope.program, step.request.model_name, digest)
        call = replace(call, request=self._content(step))
        asked = await self._begun(call)
        since = self.clock.monotonic()
        try:
            reply = await ask()
        except RunError as error:
            self._sent.pop(step.scope.path, None)  # another request may follow at this place, and stands alone then
            self._failed(call, error, since)
            raise
        self._count(step.request.model_name, reply)
        answered = replace(
            call,
            state="answered",
            answer=reply_digest(reply),
            reply=as_json(reply),
            answered_by=reply.model_name,
            service=reply.service,
            finish=reply.finish,
            input_tokens=reply.usage.input_tokens,
            output_tokens=reply.usage.output_tokens,
            cached_tokens=reply.usage.cached_input_tokens,
            seconds=self.clock.monotonic() - since,
        )
        alone = self._calls == 1 and not self.known  # so no sandbox has to be closed before the end
        if self.grouped and alone and not step.scope.depth and not reply.tool_calls:
            self._last = answered  # the run ends now, or asks once more, and waits for no one else until then
        else:
            await self._answered(answered, asked)
        return reply

    async def result(self, step: ToolStep, use: Use) -> ToolResult:
        """Return the result of an earlier process, else a new one. Raises `InDoubt`."""
        digest = digest_of(step.arguments)
        known = self._known(step.path, digest)
        if known is not None:
            if step.kind == "program":
                return await use()  # its own calls are known, and its events and tokens belong to the run
            if step.moves:
                await use()  # where the run is afterwards is not in the answer
            return decoded(known.reply or "", ToolResult)
        earlier = self.known.get(step.path)
        begun = earlier is not None and earlier.state not in ("answered", "unmade")
        if earlier is not None and begun and not step.repeatable and not self.rerun:
            raise in_doubt(self.run, step.path, earlier.name)
        call = self._call(step.path, step.kind, step.scope.program, step.tool, digest)
        asked = await self._begun(replace(call, request=as_json(step.arguments)))
        if not step.repeatable:
            await self._committed(asked)  # otherwise a call that may have been made would leave no record
        since = self.clock.monotonic()
        try:
            result = await use()
        except RunError as error:
            self._failed(call, error, since)
            raise
        await self._answered(
            replace(
                call,
                state="answered",
                answer=result_digest(result),
                reply=as_json(result),
                is_error=result.is_error,
                seconds=self.clock.monotonic() - since,
            ),
            asked,
        )
        return result

    async def end(self, write: Ending) -> None:
        """Write the end of the run, for the seconds that this process was at it, where it ever began."""
        if self.begun and not self.lost:
            final = self._last is None
            await self._committed(self._ended(write), final=final)

    def drop(self, write: Ending) -> None:
        """Write the end of the run without waiting for it."""
        if self.begun and not self.lost:
            self._ended(write)

    def _ended(self, write: Ending) -> Commit[None]:
        last, self._last = self._last, None
        ends = write(self.clock.monotonic() - self._since, last)
        return self.writer().do(ends, within=MOMENT if self.grouped else 0.0)

    def _known(self, path: str, digest: str) -> CallRecord | None:
        """Return the answered call of an earlier process at this path, where it is the same call."""
        record = self.known.get(path)
        if record is None or record.state != "answered" or record.reply is None:
            return None
        if record.digest != digest:
            self.notice(f"note: call {path} is made anew: it is another one than when the run broke off")
            return None
        return record

    def _call(self, path: str, kind: str, program: str, name: str, digest: str) -> CallRecord:
        now = stamp(self.clock.now())
        return CallRecord(self.run.id, path, self.run.attempts, kind, program, name, digest, now)

    def _content(self, step: ModelStep) -> str | None:
        """Return what is asked, where messages are kept: those that are new since an earlier call of the same
        program."""
        if not self.full:
            return None
        scope, request = step.scope.path, step.request
        after, before = self._sent.get(scope, ("", None))
        self._sent[scope] = (step.path, request)
        return as_json(request_content(request, after, before))

    async def _begun(self, call: CallRecord) -> Commit[None] | None:
        """Write down that a call is made, and an answer that waits before it."""
        if self._last is not None:
            last, self._last = self._last, None
            await self._answered(last, None)
        asked = self._asked(call)
        if self.grouped:
            await self._committed(asked)
        return asked

    def _asked(self, call: CallRecord) -> Commit[None] | None:
        """Write down that a call is made, the run before its first one."""
        if self.lost:
            return None
        self._calls += 1
        first = not self.begun
        if first:
            try:
                writer = self.writer()
            except StoreProblem as problem:
                self._lose(problem)
                return None
            self.begun = True
            self.first = writer.do(runs.begin(self.run, lambda: writer.holder), within=LATER)
        within = MOMENT if self.grouped else 0.0 if first else LATER
        return self.writer().do(runs.ask(call), within=within)

    async def _answered(self, call: CallRecord, asked: Commit[None] | None) -> None:
        if not self.lost:
            await self._committed(self.writer().do(runs.answer(call)), asked)

    def _failed(self, call: CallRecord, error: RunError, since: float) -> None:
        if not self.lost:
            seconds = self.clock.monotonic() - since
            state: CallState = "unmade" if isinstance(error, ToolServerError) else "failed"
            self.writer().do(runs.answer(replace(call, state=state, error=error.message, seconds=seconds)))

    async def _committed(
        self, future: Commit[None] | None, before: Commit[None] | None = None, *, final: bool = False
    ) -> None:
        """Wait for a commit. What the store cannot take costs the journal, not the answer that was paid for; a run that
        another process took over ends here. What was written ``before`` it tells why the store cannot."""
        if future is None:
            return
        first, self.first = self.first, None
        try:
            await _waited(future, first)
        except (StoreProblem, Unwritable) as problem:
            self.begun = first is None or first.exception() is None  # else nothing of it is there to be ended
            earlier = before.exception() if before is not None and before.done() else None
            self._lose(earlier if isinstance(earlier, Unwritable) else problem)
        except TakenOver:
            if not final:
                raise

    def _lose(self, problem: StoreProblem | Unwritable) -> None:
        if self.required:
            raise problem
        if not self.lost:
            self.lost = True
            hint = f"; {problem.hint}" if problem.hint else ""
            self.notice(f"note: this run is not stored, and cannot be resumed: {problem.message}{hint}")

    def _count(self, asked: str, reply: ModelReply) -> None:
        self.answered.append(Answered(reply.model_name, asked, reply.usage, reply.service))


async def _waited(future: Commit[None], first: Commit[None] | None) -> None:
    """Wait for a commit. Raises why the one before it failed, where it did."""
    try:
        await future
    except RunError:
        if first is not None and (error := first.exception()) is not None:
            raise error from None
        raise
    if first is not None:
        first.result()


def in_doubt(run: RunRecord, path: str, tool: str) -> InDoubt:
    """Return why a run stops before a tool call."""
    again = resuming(run) or f"prosa run --resume {run.batch}"
    return InDoubt(
        f"tool call {path} ({tool}) was in flight when the run was interrupted, and may have been made",
        hint=f"look whether it was; to make it again: {again} {RERUN}",
    )


def by_path(calls: Iterable[CallRecord]) -> dict[str, CallRecord]:
    """Return the calls of earlier processes: of each path an answered one, else the last."""
    latest = {call.path: call for call in last_attempts(calls)}
    return latest | {call.path: call for call in calls if call.state == "answered"}


def decoded(text: str, kind: type[T]) -> T:
    """Return a value from the JSON that the journal kept of it. Raises `DamagedRecord`."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError:
        with suppress(ValueError, RecursionError, msgspec.DecodeError):
            return msgspec.convert(json.loads(text), type=kind)  # half of a surrogate pair
    raise DamagedRecord("the stored data of this run is damaged", hint="run it again from the beginning")
