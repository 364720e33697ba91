"""A run recorded (X27): a journal that lets every call be made and keeps what came, for a `Recording`.

In: the calls of a run, and its events for attempts that failed. Out: a recording, at any time: of a run that was
interrupted it holds what was answered. Keys and headers never come here.
"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.records.recording import RecordedReply, RecordedResult, Recording, recorded_error, request_data
from prosa.runtime.errors import RunError
from prosa.runtime.events import AttemptFailed, Event
from prosa.runtime.journal import Ask, ModelStep, ToolStep, Use
from prosa.runtime.messages import ModelReply
from prosa.runtime.ports import ToolResult


class Recorder(Struct):
    """A journal that remembers, and a listener that hears of failed attempts.

    ``about`` is the recording without its calls. ``played`` is a recording whose calls may be played in this run: what
    it says of failed attempts is kept.
    """

    about: Recording
    played: Recording | None = None
    replies: dict[str, RecordedReply] = field(default_factory=dict)
    results: dict[str, RecordedResult] = field(default_factory=dict)
    asking: dict[str, str] = field(default_factory=dict)
    attempts: dict[str, list[str]] = field(default_factory=dict)

    def __call__(self, event: Event, /) -> None:
        """Keep why an attempt failed."""
        if isinstance(event, AttemptFailed) and (path := self.asking.get(event.scope.path)) is not None:
            self.attempts.setdefault(path, []).append(event.reason)

    async def reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        """Have the call made, and keep what came of it."""
        request = request_data(step.request)
        tools = step.request.tools
        origins = tuple(each.origin for each in tools) if any(each.origin for each in tools) else ()
        self.asking[step.scope.path] = step.path
        try:
            reply = await ask()
        except RunError as error:
            failed = RecordedReply(request, None, recorded_error(error), self._attempts(step.path), origins)
            self.replies[step.path] = failed
            raise
        kept = replace(reply, service=_without_credentials(reply.service), opaque="")
        self.replies[step.path] = RecordedReply(request, kept, None, self._attempts(step.path), origins)
        return reply

    async def result(self, step: ToolStep, use: Use) -> ToolResult:
        """Have the tool called, and keep what it gave."""
        try:
            result = await use()
        except RunError as error:
            if step.kind != "program":
                failed = RecordedResult(step.tool, step.kind, step.arguments, None, recorded_error(error))
                self.results[step.path] = failed
            raise
        self.results[step.path] = RecordedResult(step.tool, step.kind, step.arguments, result)
        return result

    def recording(self) -> Recording:
        """Return what was answered so far."""
        return replace(self.about, replies=dict(self.replies), results=dict(self.results))

    def _attempts(self, path: str) -> tuple[str, ...]:
        here = tuple(self.attempts.get(path, ()))
        before = self.played.replies.get(path) if self.played is not None else None
        return here or (before.attempts if before is not None else ())


def _without_credentials(url: str | None) -> str | None:
    """Return a base URL without name, password and query."""
    if url is None or ("@" not in url and "?" not in url):
        return url
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
