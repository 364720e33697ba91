"""A run recorded, and a recorded run played again (X27): a journal that keeps what came of every call, one that answers
from a recording, where nothing outside is asked, and the secrets that are taken out of a recording.

In: a recording, or the calls of a run. Out: their answers, or `ReplayDrift` for a call that is not the recorded one.

A run that is played is offered the same tools, and no tool server, sandbox or site is opened. Keys and headers never
come here. A text of a later run agrees with a marked one where its own words in these places have these digits: the
pattern is not needed again, and none is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import zip_longest
from typing import ClassVar, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Plain, Value, format_pointer
from prosa.dialects.ymj.trace import Request, SentTool, data_of, path_key, scope_of
from prosa.records.recording import RecordedReply, RecordedResult, Recording, recorded_error, request_data
from prosa.regex import regex
from prosa.runtime.errors import CassetteProblem, ReplayDrift, RunError
from prosa.runtime.events import AttemptFailed, Event
from prosa.runtime.journal import Ask, ModelStep, ToolStep, Use
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import (
    OnText,
    SandboxResult,
    ServerConfig,
    ServerSession,
    ServerTool,
    SiteAction,
    SiteSession,
    ToolResult,
)

S = TypeVar("S", bound=Struct)
Mark: TypeAlias = Callable[[str], str]

_MARKED = regex(r"\[redacted:([0-9a-f]{8})\]")
MAX_SECRET = 4_096
"""Maximum characters of one secret; its end is not searched for beyond that."""


def marked(secret: str) -> str:
    """Return what stands in place of a secret."""
    return f"[redacted:{_digits(secret)}]"


def _digits(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:8]


_SECRET = frozenset(
    (
        *("reply", "result", "error", "attempts", "origins", "tool_calls"),
        *("content", "arguments", "refusal", "message", "hint"),
    )
)
"""Parts of a recorded call in which secrets may stand: not names, ids and addresses."""


def redacted(recording: Recording, mark: Mark) -> Recording:
    """Return the recording with every secret marked: in messages, replies, arguments, results and errors."""
    replies = {path: _call(reply, mark) for path, reply in recording.replies.items()}
    results = {path: _marked(result, mark) for path, result in recording.results.items()}
    return replace(recording, replies=replies, results=results, redacted=True)


def _call(call: RecordedReply, mark: Mark) -> RecordedReply:
    named = {"program": call.request["program"], "model": call.request["model"]}
    return replace(_marked(call, mark), request={**_values(data_of(call.request), mark), **named})


def _marked(part: S, mark: Mark) -> S:
    changed = {name: _value(getattr(part, name), mark) for name in part.__struct_fields__ if name in _SECRET}
    return replace(part, **changed)


_Part: TypeAlias = "Struct | bool | int | float | str | Sequence[_Part] | Mapping[str, _Part] | None"
"""What a part of a recording holds."""


def _values(held: Mapping[str, _Part], mark: Mark) -> dict[str, _Part]:
    return {key: _value(member, mark) for key, member in held.items()}


def _value(value: _Part, mark: Mark) -> _Part:
    if isinstance(value, str):
        return _text(value, mark)
    if isinstance(value, Struct):
        return _marked(value, mark)
    if isinstance(value, Mapping):
        return _values(value, mark)
    return type(value)(_value(item, mark) for item in value) if isinstance(value, list | tuple) else value


def _text(text: str, mark: Mark) -> str:
    """Return the text without secrets. One that is JSON is looked at as what it says, too: a secret may be escaped in
    it."""
    marked_text = mark(text)
    if marked_text[:1] not in ("{", "[", '"') or "\\" not in marked_text:
        return marked_text
    try:
        value: Value = json.loads(marked_text)
    except (ValueError, RecursionError):
        return marked_text
    inside = _value(value, mark)
    return marked_text if inside == value else json.dumps(inside, ensure_ascii=False)


def agree(recorded: Plain, now: Plain) -> bool:
    """Return whether a value of a later run is the recorded one, secrets taken out or not."""
    if not isinstance(recorded, str) or not isinstance(now, str) or "[redacted:" not in recorded:
        return bool(recorded == now)
    first, *rest = _MARKED.split(recorded)
    if not now.startswith(first):
        return False
    at = len(first)
    for index in range(0, len(rest), 2):
        digits, words = rest[index : index + 2]
        end = _end(now, at, digits, words, last=index + 2 == len(rest))
        if end is None:
            return False
        at = end + len(words)
    return at == len(now)


def _end(text: str, start: int, digits: str, words: str, *, last: bool) -> int | None:
    """Return where a secret ends that begins at ``start``: what follows it is ``words``."""
    if last:
        ends = [len(text) - len(words)] if text.endswith(words) and len(text) - len(words) >= start else []
    else:
        ends = [at for at in range(start, min(len(text), start + MAX_SECRET) + 1) if text.startswith(words, at)]
    mark = f"[redacted:{digits}]"
    return next((end for end in ends if text[start:end] == mark or _digits(text[start:end]) == digits), None)


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
        origins = tuple(tool.origin for tool in tools) if any(tool.origin for tool in tools) else ()
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


T = TypeVar("T", ModelReply, ToolResult)

Match: TypeAlias = Literal["exact", "messages", "path"]
"""What must be as recorded: the whole request, all but descriptions and parameters of tools, nothing but the path."""

_REDACTED = "secrets were removed from the recording, which may be the reason"

RECORD_AGAIN = (
    "record it again with --record; --match path replays it anyway, --new live makes the calls that are not recorded"
)

LINE_ENDS = "only line ends differ, which Git may turn into CRLF: `*.md text eol=lf` in .gitattributes prevents it"


class Player(Struct):
    """A journal that answers from a recording; ``name`` is its file, for messages.

    ``asks`` says that what is not recorded is asked for, ``uses`` that tools are called as in any run.
    ``default_model`` is the model of programs that name none, which may be another one than where the recording was
    recorded. ``notice`` hears of differences that do not matter by ``match``. ``used`` are the paths that were played,
    ``reached`` the iteration that each program has come to.
    """

    recording: Recording
    name: str
    match: Match = "exact"
    asks: bool = False
    uses: bool = False
    default_model: str | None = None
    notice: Callable[[str], None] = lambda _: None
    used: set[str] = field(default_factory=set)
    reached: dict[str, int] = field(default_factory=dict)

    async def reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        """Return the recorded reply of the call at this path. Raises `ReplayDrift`, and the error that was recorded."""
        self.reached[step.scope.path] = _iteration(step.path)
        call, now = self.recording.replies.get(step.path), request_data(step.request)
        problem = self._missing(step.path, now) if call is None else self._drift(step.path, call, now)
        if problem is not None and self.asks:
            self.used.add(step.path)  # what is there is replaced
            return await ask()
        reply = self._played(step.path, call, None if call is None else call.reply, problem)
        if step.on_text is not None and reply.content:
            step.on_text(reply.content)
        return reply

    async def result(self, step: ToolStep, use: Use) -> ToolResult:
        """Return the recorded result of the call at this path. Programs run again: what they call is recorded, too.
        Skills are read again, as programs are: what changed in them shows in the next call."""
        call = self.recording.results.get(step.path)
        live = self.uses or step.kind in ("program", "skill") or (self.asks and step.moves)
        problem = None if live else self._misused(step, call)
        if live or (problem is not None and self.asks):
            self.used.add(step.path)
            return await use()
        if step.moves:
            self.reached[step.scope.path] = _iteration(step.path.rpartition(".")[0]) + 1
        return self._played(step.path, call, None if call is None else call.result, problem)

    def _played(
        self, path: str, call: RecordedReply | RecordedResult | None, answer: T | None, problem: ReplayDrift | None
    ) -> T:
        """Return the recorded answer of a call. Raises what is recorded in its place, and a difference that matters."""
        if problem is not None:
            if self.match != "path" or call is None:
                raise problem
            self.notice(f"note: {problem.message}")
        self.used.add(path)
        if answer is not None:
            return answer
        error = None if call is None else call.error
        raise CassetteProblem(f"{self.name}: there is no answer to call {path}") if error is None else error.raised()

    def _misused(self, step: ToolStep, call: RecordedResult | None) -> ReplayDrift | None:
        """Return why a tool call is not what was recorded."""
        if call is None:
            message = f"{self.name} has no result of tool call {step.path} (`{step.tool}`)"
            return ReplayDrift(message, step.path, hint=RECORD_AGAIN)
        was: dict[str, Plain] = {"tool": call.tool, "arguments": call.arguments}
        difference = first_difference(was, {"tool": step.tool, "arguments": step.arguments})
        return difference.error(step.path, self.name, "tool call") if difference else None

    def unused(self) -> list[str]:
        """Return the recorded calls that were not used, in the order of their paths."""
        paths = {*self.recording.replies, *self.recording.results} - self.used
        return sorted(paths, key=path_key)

    def _drift(self, path: str, call: RecordedReply, now: Request) -> ReplayDrift | None:
        was, seen = self._weighed(call.request), self._weighed(now)
        if was["model"] == self.recording.default_model and seen["model"] == self.default_model:
            seen["model"] = was["model"]
        difference = first_difference(was, seen)
        return None if difference is None else difference.error(path, self.name, "call", self._more(path, now))

    def _weighed(self, request: Request) -> dict[str, Plain]:
        """Return what counts of a request."""
        weighed = {**data_of(request)}
        if self.match == "messages":
            weighed["tools"] = [{"name": tool["name"]} for tool in request["tools"]]
        return weighed

    def _more(self, path: str, now: Request) -> str:
        """Return where else the same is recorded, and what redaction may have to do with it."""
        same = next((at for at, reply in self._ordered() if at != path and _is_same(reply.request, now)), "")
        detail = f"the same is recorded as call {same}" if same else ""
        if self.recording.redacted:
            detail = "; ".join(filter(None, (detail, _REDACTED)))
        return detail

    def _missing(self, path: str, now: Request) -> ReplayDrift:
        """Return the error of a call that is not recorded, with the recorded one that is most like it."""
        message = f"{self.name} has no call {path}"
        if self.recording.ended is not None:
            message += f", as the recorded run ended before it: {self.recording.ended}"
        best = max(self._ordered(), key=lambda entry: _likeness(entry[1].request, now), default=None)
        if best is None:
            return ReplayDrift(f"{message}: it has none at all", path, hint=RECORD_AGAIN)
        at, call = best
        difference = first_difference(self._weighed(call.request), self._weighed(now))
        if difference is None:
            return ReplayDrift(f"{message}; the same is recorded as call {at}", path, nearest=at, hint=RECORD_AGAIN)
        message += f"; the nearest is {at}, which differs at {difference.words}"
        message += f" ({_REDACTED})" if self.recording.redacted else ""
        return ReplayDrift(
            message, path, difference.pointer, difference.recorded, difference.now, nearest=at, hint=RECORD_AGAIN
        )

    def _ordered(self) -> list[tuple[str, RecordedReply]]:
        return sorted(self.recording.replies.items(), key=lambda entry: path_key(entry[0]))


def _iteration(path: str) -> int:
    return int(path[len(scope_of(path)) :])


def _is_same(was: Request, now: Request) -> bool:
    return first_difference(data_of(was), data_of(now)) is None


def _likeness(was: Request, now: Request) -> tuple[bool, int]:
    """Return how like two requests are: of one program, and how many messages they begin with alike."""
    alike = 0
    for one, other in zip(was["messages"], now["messages"], strict=False):
        if one != other:
            break
        alike += 1
    return was["program"] == now["program"], alike


# Where two requests differ first.


class Difference(Struct, frozen=True):
    """The first difference between two values: where, what was recorded and what is now, both also as a line of JSON;
    None where one has nothing."""

    pointer: str
    recorded: Plain
    now: Plain
    recorded_line: str
    now_line: str

    @property
    def words(self) -> str:
        """Where, and both values, long ones around the place."""
        one, other = _excerpts(self.recorded_line, self.now_line)
        return f"{self.pointer or '/'}: recorded {one}, now {other}"

    def error(self, path: str, name: str, what: str, more: str = "") -> ReplayDrift:
        """Return the error of a call that differs."""
        message = f"{what} {path} is not as recorded in {name}: {self.words}" + (f" ({more})" if more else "")
        hint = LINE_ENDS if self._is_of_line_ends else RECORD_AGAIN
        return ReplayDrift(message, path, self.pointer, self.recorded, self.now, nearest=path, hint=hint)

    @property
    def _is_of_line_ends(self) -> bool:
        one, other = self.recorded, self.now
        return isinstance(one, str) and isinstance(other, str) and one.splitlines() == other.splitlines()


def first_difference(recorded: Plain, now: Plain) -> Difference | None:
    """Return the first difference in the order of the recorded value, or None. Secrets that were taken out agree."""
    difference = _differing(recorded, now, ())
    if difference is None:
        return None
    at, was, then = difference
    return Difference(
        format_pointer(at),
        None if isinstance(was, _Nothing) else was,
        None if isinstance(then, _Nothing) else then,
        _line(was),
        _line(then),
    )


class _Nothing:
    """Where one of two values has nothing."""


_NOTHING = _Nothing()

_Steps: TypeAlias = tuple[str | int, ...]


_Side: TypeAlias = "Plain | _Nothing"


def _differing(was: _Side, now: _Side, at: _Steps) -> tuple[_Steps, _Side, _Side] | None:
    parts: Iterator[tuple[str | int, _Side, _Side]]
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        parts = ((key, was.get(key, _NOTHING), now.get(key, _NOTHING)) for key in dict.fromkeys((*was, *now)))
    elif isinstance(was, list | tuple) and isinstance(now, list | tuple):
        parts = ((index, *pair) for index, pair in enumerate(zip_longest(was, now, fillvalue=_NOTHING)))
    elif isinstance(was, _Nothing) or isinstance(now, _Nothing):
        return at, was, now
    else:
        same = agree(was, now) and isinstance(was, bool) == isinstance(now, bool)
        return None if same else (at, was, now)
    return next(filter(None, (_differing(one, other, (*at, step)) for step, one, other in parts)), None)


_SHOWN = 160
_BEFORE = 40


def _excerpts(one: str, other: str) -> tuple[str, str]:
    """Return both lines, long ones from a little before the first character that differs."""
    if len(one) <= _SHOWN and len(other) <= _SHOWN:
        return one, other
    alike = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(0, alike - _BEFORE)
    return _cut(one, start), _cut(other, start)


def _cut(text: str, start: int) -> str:
    end = start + _SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if len(text) > end else ''}"


def _line(value: _Side) -> str:
    return "nothing" if isinstance(value, _Nothing) else json.dumps(value, ensure_ascii=False)


# Ports that stand in for the world. They offer what was offered; the player answers the calls.


class NobodyThere(Struct):
    """A provider that cannot be asked, and says why."""

    error: RunError

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Raise the error."""
        del request, on_text
        raise self.error

    async def aclose(self) -> None:
        """Nothing to release."""


class RecordedSandbox:
    """A sandbox that is there and runs nothing."""

    async def run(
        self, code: str, *, timeout: float, memory: int, folder: str | None = None, outputs: str | None = None
    ) -> SandboxResult:
        """Refuse."""
        del folder, outputs
        raise CassetteProblem(
            f"nothing runs in a replay, not for {timeout:g} s, {memory} bytes and {len(code)} characters"
        )

    async def aclose(self) -> None:
        """Nothing to release."""


def recorded_sandbox(recording: Recording) -> RecordedSandbox | None:
    """Return the sandbox, where the machine of the recording had one."""
    return None if recording.without_python else RecordedSandbox()


class RecordedServers(Struct, frozen=True):
    """MCP servers of which nothing but the tools is known."""

    recording: Recording

    @asynccontextmanager
    async def connect(self, servers: Sequence[ServerConfig], *, cwd: str) -> AsyncIterator[ServerSession]:
        """Return the tools that these servers had."""
        del cwd
        yield RecordedSession(tuple(tool for server in servers for tool in self._tools(server.name)))

    def _tools(self, server: str) -> list[ServerTool]:
        """Return the tools of a server in its own order: those of the first program that was offered any."""
        for _, call in sorted(self.recording.replies.items(), key=lambda entry: path_key(entry[0])):
            tools = [
                ServerTool(server, origin[2], tool["description"], tool["parameters"])
                for tool, origin in zip(call.request["tools"], call.origins, strict=False)
                if origin[:2] == ("mcp", server) and len(origin) == 3
            ]
            if tools:
                return tools
        return []


class RecordedSession(Struct, frozen=True):
    """Servers that do not run."""

    tools: Sequence[ServerTool]
    is_lost: ClassVar[bool] = False

    async def call(self, server: str, tool: str, arguments: Mapping[str, Value]) -> ToolResult:
        """Refuse."""
        raise CassetteProblem(
            f"nothing is called in a replay, and {tool} of {server} was: {json.dumps(arguments)[:80]}"
        )


class RecordedSites(Struct, frozen=True):
    """Sites of which nothing but the offered actions is known."""

    player: Player

    @asynccontextmanager
    async def open(self, urls: Sequence[str], *, result_limit: int, path: str = "") -> AsyncIterator[SiteSession]:
        """Return the pages that the program at ``path`` was on."""
        del urls, result_limit
        yield RecordedPages(self.player, path)


class RecordedPages(Struct, frozen=True):
    """The pages of one program, as far as it has come."""

    player: Player
    path: str

    @property
    def where(self) -> str:
        """What was said of the page."""
        return next((origin[1] for _, origin in self._offered() if origin[:1] == ("visit",) and len(origin) == 2), "")

    @property
    def actions(self) -> Sequence[SiteAction]:
        """The actions that were offered."""
        return [
            RecordedAction(origin[1], origin[2], tool["description"], tool["parameters"])
            for tool, origin in self._offered()
            if origin[:1] == ("action",) and len(origin) == 3
        ]

    async def visit(self, to: str) -> ToolResult:
        """Refuse."""
        raise CassetteProblem(f"no page is visited in a replay, and {to[:80]} was")

    def _offered(self) -> list[tuple[SentTool, tuple[str, ...]]]:
        """Return the tools of the last call up to here that was offered any."""
        for iteration in range(self.player.reached.get(self.path, 1), 0, -1):
            call = self.player.recording.replies.get(f"{self.path}{iteration}")
            if call is not None and call.request["tools"]:
                return list(zip(call.request["tools"], call.origins, strict=False))
        return []


class RecordedAction(Struct, frozen=True):
    """An action that is not sent."""

    id: str
    page: str
    description: str
    parameters: Mapping[str, Value]
    repeatable: bool = True

    async def call(self, arguments: Mapping[str, Value]) -> ToolResult:
        """Refuse."""
        raise CassetteProblem(f"nothing is sent in a replay, and {self.id} was: {json.dumps(arguments)[:80]}")
