"""Recordings of runs as records of kind `trace` (X27): the blocks of their bodies, as typed values and as text.

The footer marks a recording: a handler `prosa-trace`, and the version of its form as `schema`. Each block is a fence
``json call:PATH``: `setup` of a program, a model call, a tool call, in the order of their paths. A request is written
as its additions to the call that `after` names, and `digest` is that of the whole. Texts of several lines are lists of
lines; long values stand in files beside the record.

In: the text of a record. Out: blocks with their places, whole requests as plain data, and problems of the form.
Nothing else is opened: the caller passes a function that reads long values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Literal, NoReturn, TypeAlias, TypedDict, cast

import msgspec
from msgspec import Struct

from prosa.data import Plain, Value, nested_deeper
from prosa.dialects.ymj.sections import find_footer
from prosa.regex import regex
from prosa.source import Span
from prosa.source.files import sha256

SCHEMA = "1"
"""The version of the form, which is the `schema` of the footer."""

MAX_INLINE = 64 * 1024
"""Maximum bytes of a value inside the record; a longer one is an attachment."""

MAX_NESTING = 200
"""Levels of JSON in a block: far more than any schema of a tool has, and few enough for every step of a replay."""

MAX_EXPANDED = 64 * 1024 * 1024
"""Characters that the requests of any recording may have together, each written whole."""

MAX_GROWTH = 256
"""Times the characters of its parts that they may have in a larger one: each message of a run of so many calls is sent
in about half of them."""


class Attached(Struct, frozen=True):
    """A text in a file beside the record."""

    attached: str


WrittenText: TypeAlias = str | list[str] | Attached
"""A text; of several lines a list of them."""


class WrittenCall(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool call as the model wrote it; ``arguments`` is its raw text."""

    id: str
    name: str
    arguments: WrittenText


class WrittenMessage(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A message."""

    role: Literal["system", "user", "assistant", "tool"]
    content: WrittenText
    tool_calls: list[WrittenCall] = []
    tool_call_id: str | None = None
    name: str | None = None


class WrittenTool(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool as the model was offered it. ``origin`` is its source outside of the run: `mcp`, the server and the tool;
    `action`, the id and the page; `visit` and where the run was."""

    name: str
    description: WrittenText
    parameters: dict[str, Value] | None = None
    parameters_in: Attached | None = None
    origin: list[str] = []


class WrittenFormat(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The schema of the answer as it was sent."""

    name: str
    strict: bool
    schema: dict[str, Value] | None = None
    schema_in: Attached | None = None


class WrittenTokens(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Tokens of a reply; cached ones are part of the input."""

    input: int = 0
    output: int = 0
    cached: int = 0


class WrittenReply(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A reply. ``drops_repeats`` is there where equal refused answers go back to the model once only."""

    content: WrittenText
    tool_calls: list[WrittenCall] = []
    usage: WrittenTokens = WrittenTokens()
    finish: Literal["stop", "tool_calls", "length", "refusal", "filter"] = "stop"
    model: str | None = None
    refusal: WrittenText | None = None
    service: str | None = None
    drops_repeats: bool = False


class WrittenError(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What ended a call: the class of the error, its words, and of a model service the kind and the status."""

    type: str
    message: WrittenText
    hint: WrittenText = ""
    kind: str | None = None
    status: int | None = None


class SetupBlock(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The constant data of all calls of one program: the name, the model, tools, output and parameters.

    ``chosen_model`` is the model that the user chose for the whole run, ``default_model`` the one for programs without
    their own, ``without`` what the machine lacked: `python`. They are stored with the first program.
    """

    program: str
    model: str
    tools: list[WrittenTool] = []
    output: WrittenFormat | None = None
    parameters: dict[str, Value] = {}
    chosen_model: str | None = None
    default_model: str | None = None
    without: list[Literal["python"]] = []


class ModelBlock(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A model call. Its messages are those of ``after``, ``changed`` ones by their index, then ``messages``.

    ``model``, ``tools``, ``output`` and ``parameters`` are stored here if they differ from the setup; a tool offered
    before is stored as its name.
    """

    digest: str
    after: str | None
    messages: list[WrittenMessage]
    changed: dict[str, WrittenMessage] = {}
    model: str | None = None
    tools: list[str | WrittenTool] | None = None
    output: WrittenFormat | Literal["none"] | None = None
    parameters: dict[str, Value] | None = None
    attempts: list[WrittenText] = []
    reply: WrittenReply | None = None
    error: WrittenError | None = None


class WrittenResult(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The result of a tool."""

    content: WrittenText
    is_error: bool = False


class ToolBlock(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool call."""

    tool: str
    kind: Literal["python", "mcp", "program", "action", "skill", "mail", "unknown"]
    arguments: dict[str, Value] = {}
    arguments_in: Attached | None = None
    result: WrittenResult | None = None
    error: WrittenError | None = None


Content: TypeAlias = SetupBlock | ModelBlock | ToolBlock


class TraceBlock(Struct, frozen=True):
    """One block with its place: ``span`` is its opening line."""

    path: str
    content: Content
    span: Span


class TraceFault(Struct, frozen=True):
    """A problem of the form and its place."""

    message: str
    span: Span


class Trace(Struct, frozen=True):
    """The body of a recording: its blocks in order, and the problems of its form."""

    blocks: tuple[TraceBlock, ...]
    faults: tuple[TraceFault, ...]


class Unreadable(ValueError):
    """A long value that is missing or was changed; the message says so."""


Read: TypeAlias = Callable[[str], str]
"""Returns the text of an attachment by its name. Raises `Unreadable`."""

# Paths: the calls of a program that a tool call started stand below that call.

_PATH = regex(r"(?:[1-9]\d{0,5}\.\d{1,5}/)*(?:setup|[1-9]\d{0,5}(?:\.\d{1,5})?)", re.ASCII)
SETUP = "setup"


def path_key(path: str) -> list[tuple[int, ...]]:
    """Return the sort key of a path: the setup of a program, its calls, below each the calls it started."""
    parts = path.split("/")
    return [(0,) if part == SETUP else tuple(map(int, part.split("."))) for part in parts]


def scope_of(path: str) -> str:
    """Return the path of the program that makes the call at a path."""
    return path[: path.rfind("/") + 1]


def is_tool_call(path: str) -> bool:
    """Return whether a path is that of a tool call."""
    return "." in path[path.rfind("/") + 1 :]


# Reading.

_OPENING = regex(r"^```json call:(?P<path>[^\s`]*)[ \t]*\r?\n", re.MULTILINE)
_CLOSING = regex(r"^```[ \t]*\r?$", re.MULTILINE)


def footer_of(text: str) -> dict[str, Value] | None:
    """Return the footer of a record as data, quickly; None where there is none that can be read."""
    place = find_footer(text, Span(0, len(text)))
    if place is None or not place.closed or place.tail.of(text).strip():
        return None
    try:
        footer = json.loads(place.content.of(text))
    except (ValueError, RecursionError):
        return None
    return footer if isinstance(footer, dict) else None


def read_trace(text: str, body: Span) -> Trace:
    """Return the blocks of a body. A block that cannot be read is a fault, and is left out."""
    blocks: list[TraceBlock] = []
    faults: list[TraceFault] = []
    for opening, closing in _fences(text, body):
        path, span = opening["path"], Span(opening.start(), opening.end("path"))
        try:
            if closing is None:
                raise ValueError("its fence is not closed")
            blocks.append(TraceBlock(path, _content(path, text[opening.end() : closing.start()]), span))
        except ValueError as error:
            faults.append(TraceFault(f"call {path[:60] or '(none)'}: {error}", span))
    return Trace(tuple(blocks), (*faults, *_disorder(blocks)))


def _fences(text: str, body: Span) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    """Yield the opening line of each block with its closing line. After an unclosed one no other is closed: the search
    ends there, so that each line is read once."""
    at = body.start
    while (opening := _OPENING.search(text, at, body.end)) is not None:
        closing = _CLOSING.search(text, opening.end(), body.end)
        yield opening, closing
        if closing is None:
            return
        at = closing.end()


def _content(path: str, text: str) -> Content:
    if not _PATH.fullmatch(path):
        raise ValueError("is not a path of a call; they are `setup`, `1`, `1.0`, `1.0/1` and so on")
    if nested_deeper(text, MAX_NESTING):
        raise ValueError(f"is nested too deeply, more than {MAX_NESTING} levels")
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"is not valid JSON: line {error.lineno} of the block, column {error.colno}: {error.msg}"
        ) from None
    kind: type[Content] = SetupBlock if path.endswith(SETUP) else ToolBlock if is_tool_call(path) else ModelBlock
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _disorder(blocks: list[TraceBlock]) -> Iterator[TraceFault]:
    """Yield the problems between blocks: their order, calls without a setup, tool calls that no reply requested."""
    known: dict[str, TraceBlock] = {}
    last: TraceBlock | None = None
    for block in blocks:
        if block.path in known:
            yield TraceFault(f"call {block.path} is repeated here", block.span)
            continue
        if last is not None and path_key(block.path) < path_key(last.path):
            yield TraceFault(
                f"call {block.path} stands behind {last.path}: blocks are in the order of their paths", block.span
            )
        known[block.path] = last = block
    for block in known.values():
        if message := _lonely(block, known):
            yield TraceFault(f"call {block.path}: {message}", block.span)


def _lonely(block: TraceBlock, known: Mapping[str, TraceBlock]) -> str:
    """Return what a block refers to and is not there."""
    content, scope = block.content, scope_of(block.path)
    if isinstance(content, SetupBlock):
        return ""
    if f"{scope}{SETUP}" not in known:
        return f"there is no block {scope}{SETUP}"
    if isinstance(content, ModelBlock):
        if content.after is None:
            return "`changed` is about the messages of `after`, and there is none" if content.changed else ""
        before = known.get(content.after)
        earlier = before is not None and isinstance(before.content, ModelBlock) and scope_of(content.after) == scope
        is_there = earlier and path_key(content.after) < path_key(block.path)
        return "" if is_there else f"`after` names {content.after}, which is not an earlier call of this program"
    asker, _, index = block.path.rpartition(".")
    asked = known.get(asker)
    calls = (
        asked.content.reply.tool_calls
        if asked and isinstance(asked.content, ModelBlock) and asked.content.reply
        else []
    )
    if int(index) >= len(calls):
        return f"the reply of {asker} has no such tool call"
    wanted = calls[int(index)].name
    return "" if wanted == content.tool else f"it is of `{content.tool}`, and the reply asks for `{wanted}`"


# Whole requests as plain data, as they were sent. Differences between two are named by pointers into this.

SentObject: TypeAlias = dict[str, Value]


class SentTool(TypedDict):
    """A tool as a request offers it."""

    name: str
    description: str
    parameters: SentObject


class SentFormat(TypedDict):
    """The schema of the answer as a request has it."""

    name: str
    strict: bool
    schema: SentObject


class Request(TypedDict):
    """The keys of a request."""

    program: str
    model: str
    messages: Sequence[SentObject]
    tools: Sequence[SentTool]
    output: SentFormat | None
    parameters: SentObject


def data_of(request: Request) -> Mapping[str, Plain]:
    """Return the same request as the plain data that it is."""
    return cast("Mapping[str, Plain]", request)


def digest_of(request: Request) -> str:
    """Return the digest of a request: SHA-256 of its JSON with sorted keys."""
    text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return f"sha256:{sha256(text.encode()).hexdigest()}"


TEXTS = frozenset(("content", "description", "arguments", "refusal", "message", "hint"))
"""Fields of blocks that are texts, where they are no values."""


def text_of(text: WrittenText, read: Read) -> str:
    """Return a text, read from its file if it is attached."""
    if isinstance(text, Attached):
        return read(text.attached)
    return text if isinstance(text, str) else "\n".join(text)


def plain(part: Struct, read: Read) -> dict[str, Value]:
    """Return a part of a block as it was sent: texts and values whole, nothing for what it does not have. Raises
    `Unreadable`."""
    data: dict[str, Value] = {}
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if name.endswith("_in"):
            data[name[:-3]] = object_of(getattr(part, name[:-3]), value, read)
        elif isinstance(value, Attached) or (name in TEXTS and isinstance(value, str | list)):
            data[name] = text_of(value, read)
        elif name == "tool_calls":
            data |= {name: [plain(item, read) for item in value]} if value else {}
        elif value is not None and name != "origin":  # where a tool comes from is never sent
            data[name] = value
    return data


def object_of(value: SentObject | None, long: Attached | None, read: Read) -> SentObject:
    """Return the value of a field, which may stand beside the record. Raises `Unreadable`."""
    if long is None:
        return value or {}
    try:
        content = json.loads(read(long.attached))
    except (json.JSONDecodeError, RecursionError):
        raise Unreadable(f"{long.attached} is not valid JSON") from None
    if not isinstance(content, dict):
        raise Unreadable(f"{long.attached} is not a JSON object")
    return content


class _Parts:
    """The parts of requests, each made and measured once, and how large all requests are together."""

    def __init__(self, read: Read) -> None:
        self._read = cache(read)
        self._known: dict[int, tuple[SentObject, int]] = {}
        self._own = self._all = 0

    def of(self, written: Struct | SentObject) -> tuple[SentObject, int]:
        """Return the value of a part as it is sent, and its characters. Raises `Unreadable`."""
        measured = self._known.get(id(written))
        if measured is None:
            value = plain(written, self._read) if isinstance(written, Struct) else written
            measured = self._known[id(written)] = value, len(json.dumps(value))
            self._own += measured[1]
        return measured

    def count(self, path: str, characters: int) -> None:
        """Add a request before it is built. Raises ValueError where all become too large."""
        self._all += characters
        if self._all > max(MAX_EXPANDED, MAX_GROWTH * self._own):
            raise ValueError(f"call {path}: the requests up to here have more than {self._all:,} characters together")


def requests_of(
    blocks: Mapping[str, Content], read: Read
) -> Iterator[tuple[str, Request, tuple[tuple[str, ...], ...]]]:
    """Yield the whole request of each model call, with the origins of its tools. Raises `Unreadable`, and ValueError
    for what refers to nothing and for what becomes too large."""
    messages: dict[str, tuple[list[SentObject], int]] = {}
    tools: dict[str, dict[str, WrittenTool]] = {}
    parts = _Parts(read)
    for path in sorted(blocks, key=path_key):
        content, scope = blocks[path], scope_of(path)
        if not isinstance(content, ModelBlock):
            continue
        setup = blocks.get(f"{scope}{SETUP}")
        if not isinstance(setup, SetupBlock):
            raise ValueError(f"there is no block {scope}{SETUP}")
        known = tools.setdefault(scope, {tool.name: tool for tool in setup.tools})
        messages[path] = _messages(path, content, messages, parts)
        offered = list(_offered(path, content, setup, known))
        sent = [parts.of(tool) for tool in offered]
        output = setup.output if content.output is None else None if content.output == "none" else content.output
        wanted = None if output is None else parts.of(output)
        parameters = parts.of(setup.parameters if content.parameters is None else content.parameters)
        parts.count(path, (wanted[1] if wanted else 0) + parameters[1] + sum(part[1] for part in sent))
        request: Request = {
            "program": setup.program,
            "model": setup.model if content.model is None else content.model,
            "messages": messages[path][0],
            "tools": [cast("SentTool", part[0]) for part in sent],  # made of a `WrittenTool`
            "output": cast("SentFormat", wanted[0]) if wanted else None,  # made of a `WrittenFormat`
            "parameters": parameters[0],
        }
        yield path, request, tuple(tuple(tool.origin) for tool in offered)


def _messages(
    path: str, block: ModelBlock, known: Mapping[str, tuple[list[SentObject], int]], parts: _Parts
) -> tuple[list[SentObject], int]:
    """Return the messages of a request, and their characters."""
    before: list[SentObject] = []
    size = 0
    if block.after is not None:
        if block.after not in known:
            raise ValueError(f"call {path}: `after` names {block.after}, which is not an earlier call")
        before, size = known[block.after]
    added = [parts.of(message) for message in block.messages]
    size += sum(part[1] for part in added)
    parts.count(path, size)
    before = list(before)
    for index, message in block.changed.items():
        if not index.isdecimal() or int(index) >= len(before):
            raise ValueError(f"call {path}: `changed` names message {index[:20]}, which {block.after} does not have")
        before[int(index)], more = parts.of(message)
        size += more
    return [*before, *(part[0] for part in added)], size


def _offered(path: str, block: ModelBlock, setup: SetupBlock, known: dict[str, WrittenTool]) -> Iterator[WrittenTool]:
    for tool in setup.tools if block.tools is None else block.tools:
        if isinstance(tool, WrittenTool):
            known[tool.name] = tool
            yield tool
        elif tool in known:
            yield known[tool]
        else:
            raise ValueError(f"call {path}: the tool `{tool[:64]}` was not offered before")


def _unread(name: str) -> str:
    raise Unreadable(name)


def digest_faults(trace: Trace, read: Read = _unread) -> Iterator[TraceFault]:
    """Return the model calls whose digest differs from that of their request; none after the first long value, if
    these are not read. `read_trace` reports the other problems."""
    blocks = {block.path: block.content for block in trace.blocks}
    spans = {block.path: block.span for block in trace.blocks}
    try:
        for path, request, _ in requests_of(blocks, read):
            content = blocks[path]
            if isinstance(content, ModelBlock) and content.digest != digest_of(request):
                yield TraceFault(f"call {path}: `digest` does not match this request", spans[path])
    except Unreadable:
        return
    except ValueError as error:
        first = next(iter(spans.values()))
        yield TraceFault(
            str(error), next((span for path, span in spans.items() if str(error).startswith(f"call {path}:")), first)
        )


# Writing.

_AWAY = regex("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\ud800-\udfff]")
_WIDTH = 112


def block_text(path: str, content: Content, heading: str) -> str:
    """Return a block as text of a body, below a heading for people."""
    return f"{heading}\n\n```json call:{path}\n{laid_out(msgspec.to_builtins(content))}\n```\n"


def laid_out(value: Value, indent: str = "") -> str:
    """Return JSON for people: what fits on a line stands on one. What no editor shows is escaped."""
    short = _escaped(json.dumps(value, ensure_ascii=False))
    if len(indent) + len(short) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return short
    deeper = f"{indent}  "
    if isinstance(value, list):
        items = [f"{deeper}{laid_out(item, deeper)}" for item in value]
    else:
        items = [
            f"{deeper}{_escaped(json.dumps(key, ensure_ascii=False))}: {laid_out(member, deeper)}"
            for key, member in value.items()
        ]
    first, last = ("[", "]") if isinstance(value, list) else ("{", "}")
    return f"{first}\n" + ",\n".join(items) + f"\n{indent}{last}"


def _escaped(text: str) -> str:
    return _AWAY.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
