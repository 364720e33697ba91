"""Answers of models kept between runs of a test, one for each repeat (X28).

In: model calls with the case and the repeat that they are of. Out: the answer that was given before, or a new one,
which is kept before it is used. A killed run continues where it stopped; a changed prompt is asked again, a changed
expectation is not. Errors, refusals and answers that were cut off are never kept.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from msgspec import DecodeError, Struct, field
from msgspec.json import decode, encode

from prosa.adapters.files import cache_dir
from prosa.adapters.files.result_store import ResultStore
from prosa.evaluation.report import Step
from prosa.runtime.errors import RunError
from prosa.runtime.journal import Ask, ModelStep, ToolStep, Use
from prosa.runtime.messages import ModelReply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prosa.runtime.ports import ToolResult

_DAY = 24 * 60 * 60
_VERSION = "answers 1"
FILE_NAME = "tests.sqlite"
MAX_STEP = 8 * 1024
"""Characters of one text of a transcript."""

MAX_STEPS = 200
"""Steps of a transcript that are kept."""

_NEVER_KEPT = ("refusal", "filter", "length")


class AnswerCache(Protocol):
    """Texts by key, kept between runs."""

    def get(self, keys: Sequence[str], /) -> Mapping[str, str]:
        """Those there are."""
        ...

    def put(self, rows: Mapping[str, str], /) -> None:
        """Keep some, where that is possible."""
        ...


def open_kept(environ: Mapping[str, str]) -> AnswerCache | None:
    """Return what is kept of tests in the user's private folder; None where there is no safe place for it."""
    try:
        return ResultStore(cache_dir(environ), _VERSION, int(time.time()) // _DAY, FILE_NAME)
    except OSError:
        return None


class Answers(Struct):
    """A journal of one repeat of a case. ``kept`` is None where nothing may be kept; ``about`` says what else an answer
    rests on: who answers, the case, the repeat. It counts the calls that were made and those that were remembered;
    ``unanswered`` is why one of them has no answer, where an error says so."""

    kept: AnswerCache | None
    about: str
    calls: int = 0
    remembered: int = 0
    unanswered: RunError | None = None
    steps: list[Step] = field(default_factory=list)

    async def reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        """Return the answer of the last time, or a new one."""
        reply = await self._reply(step, ask)
        if not step.scope.depth:
            if reply.content:
                self._note(Step("say", reply.content[:MAX_STEP], size=len(reply.content)))
            for call in reply.tool_calls:
                self._note(Step("call", tool=call.name, arguments=call.arguments[:MAX_STEP]))
        return reply

    async def _reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        if self.kept is None:
            return await self._asked(ask)
        key = self._key(step)
        if (known := _read(self.kept.get([key]).get(key))) is not None:
            self.remembered += 1
            if step.on_text is not None and known.content:
                step.on_text(known.content)
            return known
        reply = await self._asked(ask)
        if reply.finish not in _NEVER_KEPT:
            self.kept.put({key: encode(reply).decode()})
        return reply

    async def _asked(self, ask: Ask) -> ModelReply:
        self.calls += 1
        try:
            return await ask()
        except RunError as error:
            self.unanswered = self.unanswered or error
            raise

    async def result(self, step: ToolStep, use: Use) -> ToolResult:
        """Call the tool: what tools give is never kept between tests."""
        result = await use()
        if not step.scope.depth:
            text, size = result.content[:MAX_STEP], len(result.content)
            self._note(Step("result", text, step.tool, is_error=result.is_error, size=size))
        return result

    def _note(self, step: Step) -> None:
        """Add a step to the transcript of the program that is tried."""
        if len(self.steps) < MAX_STEPS:
            self.steps.append(step)

    def _key(self, step: ModelStep) -> str:
        asked = encode([self.about, step.path, step.request], order="deterministic")
        return f"answer:{hashlib.sha256(asked).hexdigest()}"


def _read(text: str | None) -> ModelReply | None:
    try:
        return decode(text, type=ModelReply) if text is not None else None
    except DecodeError:
        return None
