"""Recordings: the recorded calls of one run (X27), as values and as the YMJ record that holds them.

In: the calls of a run by their paths (`prosa.runtime.journal`), and what is to be said of it. Out: the text of a
record, with the files that stand beside it; or the text of a record, to a `Recording`. Reading what was written gives
the same value. Times and ids stand in the header alone. Nothing is opened here.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar, cast

from msgspec import Struct, structs

from prosa.data import Plain, Value
from prosa.dialects.ymj import trace
from prosa.dialects.ymj.fields import LATEST, RECORDING, is_recording
from prosa.dialects.ymj.sections import find_footer, normalised, sha256_of
from prosa.dialects.ymj.trace import (
    Request,
    SentFormat,
    SentObject,
    SentTool,
    digest_of,
    path_key,
    scope_of,
    text_of,
)
from prosa.dialects.ymj.write import write
from prosa.regex import regex
from prosa.runtime import errors
from prosa.runtime.errors import CassetteProblem, ProviderError, RunError
from prosa.runtime.events import ToolKind
from prosa.runtime.messages import Message, ModelReply, ModelRequest, ToolCall, Usage
from prosa.runtime.ports import ToolResult
from prosa.runtime.program import Program
from prosa.source import SourceText, Span


class RecordedError(Struct, frozen=True):
    """What ended a call, as it was told."""

    type: str
    message: str
    hint: str = ""
    kind: str | None = None
    status: int | None = None

    def raised(self) -> RunError:
        """Return the error again. One whose class is not known is a `RunError`."""
        if self.type == ProviderError.__name__:
            kind = self.kind or "server"
            return ProviderError(self.message, kind=kind, retryable=False, status=self.status, hint=self.hint)
        return _ERRORS.get(self.type, RunError)(self.message, hint=self.hint)


_ERRORS: Mapping[str, type[RunError]] = {
    error.__name__: error
    for error in (
        errors.SandboxError,
        errors.SiteError,
        errors.ToolServerError,
        errors.LimitExceeded,
        errors.BudgetSpent,
    )
}


def recorded_error(error: RunError) -> RecordedError:
    """Return an error as it is recorded."""
    kind, status = (error.kind, error.status) if isinstance(error, ProviderError) else (None, None)
    return RecordedError(type(error).__name__, error.message, error.hint, kind, status)


class RecordedReply(Struct, frozen=True):
    """A model call: what was sent, as plain data, and the reply, or the error that ended it. ``origins`` are those
    of its tools, empty where none has one; ``attempts`` are why earlier attempts failed."""

    request: Request
    reply: ModelReply | None = None
    error: RecordedError | None = None
    attempts: tuple[str, ...] = ()
    origins: tuple[tuple[str, ...], ...] = ()


class RecordedResult(Struct, frozen=True):
    """A tool call: what was given, and the result, or the error that ended the run."""

    tool: str
    kind: ToolKind
    arguments: Mapping[str, Value]
    result: ToolResult | None = None
    error: RecordedError | None = None


class Recording(Struct, frozen=True):
    """The calls of one run of ``program`` with the input whose digest is ``given``, by their paths.

    ``chosen_model`` is the model that the user chose for the whole run, ``default_model`` the one of programs that name
    none. ``without_python`` says that the machine had no sandbox, ``redacted`` that secrets were taken out. ``ended``
    is why a run that was read has no output.
    """

    program: str
    given: str
    replies: Mapping[str, RecordedReply] = {}
    results: Mapping[str, RecordedResult] = {}
    chosen_model: str | None = None
    default_model: str | None = None
    without_python: bool = False
    redacted: bool = False
    ended: str | None = None

    @property
    def name(self) -> str:
        """What its file is called, without a suffix."""
        return recording_name(self.program, self.given)

    @property
    def usage(self) -> Usage:
        """The tokens of all replies."""
        return sum((reply.reply.usage for reply in self.replies.values() if reply.reply is not None), Usage())


_UNSAFE = regex(r"[^\w.@-]+")


def recording_name(program: str, digest: str, take: int = 1) -> str:
    """Return the name of the file for a program and the digest of its input, without a suffix. ``take`` distinguishes
    several recordings of the same input."""
    stem = _UNSAFE.sub("-", program).strip("-.")[:80] or "program"
    return f"{stem}-{digest[:8]}" + (f"-{take}" if take > 1 else "")


def given_digest(program: Program, input_value: Value) -> str:
    """Return the digest of what a run is given: its input, and the conversation of a chat."""
    messages = [_message(message) for message in program.conversation]
    try:
        whole = json.dumps({"input": input_value, "messages": messages}, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        whole = repr(input_value)  # no JSON: the run will say so
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def request_data(request: ModelRequest) -> Request:
    """Return a request as plain data: what recordings are compared by."""
    output = request.output
    return {
        "program": request.program,
        "model": request.model_name,
        "messages": [_message(message) for message in request.messages],
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": _object(tool.parameters)}
            for tool in request.tools
        ],
        "output": None
        if output is None
        else {"name": output.name, "strict": output.strict, "schema": _object(output.schema)},
        "parameters": _object(request.parameters),
    }


def _message(message: Message) -> SentObject:
    fields = structs.asdict(message) | {"tool_calls": [structs.asdict(call) for call in message.tool_calls] or None}
    return {name: value for name, value in fields.items() if value is not None and name != "opaque"}


def _object(value: Mapping[str, Plain]) -> dict[str, Value]:
    """Return the mapping with what JSON has: an infinite number or NaN becomes its name."""
    return {str(key): _plain(member) for key, member in value.items()}


def _plain(value: Plain) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return _object(value) if isinstance(value, Mapping) else [_plain(item) for item in value]


# Writing.


class Stamp(Struct, frozen=True):
    """The data of a run besides its calls. ``created`` and ``run_id`` alone differ between two recordings of the same
    answers. ``cost`` is in dollars, None where it is not known; ``error`` is why there is no output."""

    created: str
    run_id: str
    source: str
    tool: str
    revision: str
    stem: str
    error: str | None = None
    cost: float | None = None
    classification: str = "internal"


class RecordingFiles(Struct, frozen=True):
    """A recording as text, and the files that stand beside it by their names."""

    text: str
    files: Mapping[str, bytes]


def recording_text(recording: Recording, stamp: Stamp) -> RecordingFiles:
    """Return the record of a recording."""
    files = _Files(stamp.stem)
    replies, tools = len(recording.replies), len(recording.results)
    counts = f"{_counted(replies, 'call')}, {_counted(tools, 'tool')}"
    end = "done" if stamp.error is None else "failed"
    price = "" if stamp.cost is None else f", ${stamp.cost:.4f}"
    name = _shown(recording.program)
    body = "".join(_body(recording, name, f"{counts}, {end}", files))
    header: dict[str, Value] = {
        "doc_summary": f"{name}: {counts}{price}, {end}",
        "kind": "trace",
        "version": "1.0.0",
        "subject": f"Recording {stamp.stem}",
        "maintained_by": name,
        "ymj_spec": LATEST,
        "created": stamp.created,
        "classification": stamp.classification,
        **({"attachments": files.catalog} if files.known else {}),
        "provenance": {"source": stamp.source, "tool": stamp.tool, "run_id": stamp.run_id},
    }
    text = write(header, body, _footer(recording, stamp))
    return RecordingFiles(text, {attached.attached: data for attached, data in files.known.values()})


def _footer(recording: Recording, stamp: Stamp) -> dict[str, Value]:
    first = min(recording.replies, key=path_key, default=None)
    index: dict[str, Value] = {
        "tags": ["trace"],
        "program": recording.program,
        "input": recording.given,
        "model": None if first is None else recording.replies[first].request["model"],
        "success": stamp.error is None,
        "calls": len(recording.replies),
        "tools": len(recording.results),
        "tokens": recording.usage.total_tokens,
        "cost": stamp.cost,
        "error": None if stamp.error is None else _encodable(stamp.error),
        "redacted": recording.redacted or None,
    }
    index = {name: value for name, value in index.items() if value is not None or name == "cost"}
    ops: dict[str, Value] = {
        "handlers": [{"name": RECORDING}],
        "visibility": "private",
        "trace": {"lineage_id": recording.name, "revision": stamp.revision},
        "graph": {
            "edges": [{"type": "ran", "to": stamp.source.rpartition(".")[0] or stamp.source or recording.program}]
        },
    }
    return {"schema": trace.SCHEMA, "index": index, "ops": ops}


def _body(recording: Recording, name: str, summary: str, files: _Files) -> Iterator[str]:
    yield f"# Recording of {name}\n\n{summary}\n\n"
    blocks = dict(_blocks(recording, files))
    for path in sorted(blocks, key=path_key):
        content = blocks[path]
        yield trace.block_text(path, content, f"{'#' * _level(path)} {_heading(path, content)}") + "\n"


def _level(path: str) -> int:
    return min(2 + 2 * path.count("/") + trace.is_tool_call(path), 6)


def _heading(path: str, content: trace.Content) -> str:
    """Return what people read above a block."""
    if isinstance(content, trace.SetupBlock):
        return _shown(content.program)
    if isinstance(content, trace.ToolBlock):
        return f"{path} · {_shown(content.tool)}"
    if content.reply is None:
        return f"{path} · failed"
    usage = content.reply.usage
    return f"{path} · {_shown(content.reply.model or 'reply')} · {usage.input} → {usage.output} tokens"


def _blocks(recording: Recording, files: _Files) -> Iterator[tuple[str, trace.Content]]:
    """Yield all blocks: before the first call of each program its setup."""
    setups: dict[str, _Scope] = {}
    for path in sorted(recording.replies, key=path_key):
        call = recording.replies[path]
        scope = setups.get(scope_of(path))
        if scope is None:
            scope = setups[scope_of(path)] = _Scope(call, files)
            yield f"{scope_of(path)}{trace.SETUP}", scope.setup(None if scope_of(path) else recording)
        yield path, scope.block(path, call)
    for path, result in recording.results.items():
        if scope_of(path) in setups:
            yield path, _tool_block(result, files)


class _Scope:
    """The calls of one program while they are written: what is known already is not written again."""

    def __init__(self, first: RecordedReply, files: _Files) -> None:
        self.first = first.request
        self.files = files
        self.known = {tool["name"]: (tool, origin) for tool, origin in _tools(first)}
        self.last: tuple[str, Sequence[SentObject]] | None = None

    def setup(self, run: Recording | None) -> trace.SetupBlock:
        """Return the setup of the first call, with the data of the ``run`` for the first program."""
        return trace.SetupBlock(
            program=self.first["program"],
            model=self.first["model"],
            tools=[self._offered(tool, origin) for tool, origin in self.known.values()],
            output=self._format(self.first["output"]),
            parameters=self.first["parameters"],
            chosen_model=run.chosen_model if run else None,
            default_model=run.default_model if run else None,
            without=["python"] if run and run.without_python else [],
        )

    def block(self, path: str, call: RecordedReply) -> trace.ModelBlock:
        """Return a call by what it adds."""
        request, first, part = call.request, self.first, self.files.part
        after, changed, added = self._since(request["messages"])
        self.last = path, request["messages"]
        tools = None if request["tools"] == first["tools"] and self._as_before(call) else list(self._named(call))
        output: trace.WrittenFormat | str | None = None
        if request["output"] != first["output"]:
            output = self._format(request["output"]) or "none"
        return trace.ModelBlock(
            digest=digest_of(request),
            after=after,
            messages=[part(trace.WrittenMessage, message) for message in added],
            changed={str(index): part(trace.WrittenMessage, message) for index, message in changed.items()},
            model=None if request["model"] == first["model"] else request["model"],
            tools=tools,
            output=output,  # type: ignore[arg-type]
            parameters=None if request["parameters"] == first["parameters"] else request["parameters"],
            attempts=[self.files.text(attempt) for attempt in call.attempts],
            reply=None if call.reply is None else _answer(call.reply, self.files),
            error=self.files.error(call.error),
        )

    def _since(self, messages: Sequence[SentObject]) -> tuple[str | None, dict[int, SentObject], Sequence[SentObject]]:
        """Return the call before whose messages these begin with, but for some that changed, and those that follow."""
        if self.last is None:
            return None, {}, messages
        path, before = self.last
        changed = {at: now for at, (was, now) in enumerate(zip(before, messages, strict=False)) if was != now}
        if len(messages) < len(before) or len(changed) > 1 + len(before) // 2:
            return None, {}, messages
        return path, changed, messages[len(before) :]

    def _as_before(self, call: RecordedReply) -> bool:
        """Return whether the tools of the setup still mean what they meant there."""
        return all(self.known.get(tool["name"]) == (tool, origin) for tool, origin in _tools(call))

    def _named(self, call: RecordedReply) -> Iterator[str | trace.WrittenTool]:
        for tool, origin in _tools(call):
            if self.known.get(tool["name"]) == (tool, origin):
                yield tool["name"]
            else:
                self.known[tool["name"]] = tool, origin
                yield self._offered(tool, origin)

    def _offered(self, tool: SentTool, origin: tuple[str, ...]) -> trace.WrittenTool:
        return self.files.part(trace.WrittenTool, tool, origin=list(origin))

    def _format(self, output: SentFormat | None) -> trace.WrittenFormat | None:
        return None if output is None else self.files.part(trace.WrittenFormat, output)


def _tools(call: RecordedReply) -> Iterator[tuple[SentTool, tuple[str, ...]]]:
    """Return the tools of a call with their origins."""
    tools = call.request["tools"]
    return zip(tools, call.origins or ((),) * len(tools), strict=True)


def _answer(reply: ModelReply, files: _Files) -> trace.WrittenReply:
    usage, names = reply.usage, ("content", "finish", "refusal", "service", "drops_repeats")
    fields = {name: getattr(reply, name) for name in names}
    fields["tool_calls"] = [structs.asdict(call) for call in reply.tool_calls]
    tokens = trace.WrittenTokens(usage.input_tokens, usage.output_tokens, usage.cached_input_tokens)
    return files.part(trace.WrittenReply, fields, usage=tokens, model=reply.model_name)


def _tool_block(call: RecordedResult, files: _Files) -> trace.ToolBlock:
    result = None if call.result is None else files.part(trace.WrittenResult, structs.asdict(call.result))
    fields = {"arguments": dict(call.arguments)}
    error = files.error(call.error)
    return files.part(trace.ToolBlock, fields, tool=call.tool, kind=call.kind, result=result, error=error)


_VALUES = frozenset(("parameters", "schema", "arguments"))
_Part = TypeVar("_Part", bound=Struct)


class _Files:
    """The long values of a recording, each once."""

    def __init__(self, stem: str) -> None:
        self.stem = stem
        self.known: dict[tuple[str, str], tuple[trace.Attached, bytes]] = {}

    def text(self, text: str) -> trace.WrittenText:
        """Return a text as it stands in the record."""
        if len(text) * 4 > trace.MAX_INLINE and len(data := _bytes(text)) > trace.MAX_INLINE:
            return self._attached(data, "txt")
        return text.split("\n") if "\n" in text else text

    def part(
        self, kind: type[_Part], data: Mapping[str, Plain] | SentTool | SentFormat, /, **ready: Struct | Plain
    ) -> _Part:
        """Return a part of a block: its texts, and the values that fit in, as they stand there, and what is ready."""
        written: dict[str, Plain | Struct | Sequence[Struct]] = {**ready}
        for name, value in cast("Mapping[str, Plain]", data).items():
            if name == "tool_calls":
                calls = cast("Sequence[Mapping[str, Plain]]", value)
                written[name] = [self.part(trace.WrittenCall, call) for call in calls]
            elif name in trace.TEXTS and isinstance(value, str):
                written[name] = self.text(value)
            elif name in _VALUES and len(text := json.dumps(value)) > trace.MAX_INLINE:
                written[f"{name}_in"] = self._attached(text.encode(), "json")
            else:
                written[name] = value
        return kind(**written)

    def error(self, error: RecordedError | None) -> trace.WrittenError | None:
        """Return what ended a call as it stands in the record."""
        return None if error is None else self.part(trace.WrittenError, structs.asdict(error))

    def _attached(self, data: bytes, suffix: str) -> trace.Attached:
        digest = hashlib.sha256(data).hexdigest()
        name = trace.Attached(f"{self.stem}.{digest[:12]}.{suffix}")
        return self.known.setdefault((digest, suffix), (name, data))[0]

    @property
    def catalog(self) -> list[Value]:
        """What the header says of them."""
        return [{"uri": name.attached, "sha256": digest} for (digest, _), (name, _data) in sorted(self.known.items())]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


_FOREIGN = regex(r"[^\w .:/@+()-]|\s+")


def _shown(name: str) -> str:
    """Return a name in a heading or a summary, where it cannot be taken for markup."""
    return _FOREIGN.sub(" ", name).strip()[:60] or "unnamed"


# Reading.


def read_recording(source: SourceText, read: trace.Read) -> Recording:
    """Return the recording that a record holds; ``read`` gives its attachments. Raises `CassetteProblem`."""
    text, path = source.text, source.path
    footer = trace.footer_of(text)
    if footer is None:
        hint = "it may have been cut off; record it again, or restore it"
        raise CassetteProblem(f"{path} is not a recording: it does not end in a footer that can be read", hint=hint)
    if not is_recording(footer):
        raise CassetteProblem(f"{path} is not a recording of Prosa", hint=f"`prosa show {path}` shows what it is")
    _require_version(path, footer)
    body = _body_of(text)
    if body is None:
        raise CassetteProblem(f"{path} is not a recording: it has no header", hint="record it again, or restore it")
    if not _is_untouched(footer, body.of(text)):
        message = f"{path} was edited after it was recorded: its hash does not match its body"
        raise CassetteProblem(message, hint="restore it or record it again; if the edit was meant: prosa fmt --rehash")
    parsed = trace.read_trace(text, body)
    if parsed.faults:
        raise _fault(source, parsed.faults[0])
    try:
        return _recording(footer, {block.path: block.content for block in parsed.blocks}, read)
    except trace.Unreadable as error:
        raise CassetteProblem(f"{path}: {error}", hint="restore the file, or record the run again") from None
    except (ValueError, KeyError) as error:
        raise CassetteProblem(
            f"{path} is not a recording that can be played: {error}", hint=f"prosa check {path}"
        ) from None


def _require_version(path: str, footer: Mapping[str, Value]) -> None:
    schema = footer.get("schema")
    if str(schema) != trace.SCHEMA:
        newer = str(schema).isdecimal() and int(str(schema)[:9]) > int(trace.SCHEMA)
        hint = "a newer Prosa wrote it: use that one, or record it again" if newer else "record it again"
        raise CassetteProblem(
            f"{path} has the schema {json.dumps(schema)[:40]}, and this Prosa plays the schema {trace.SCHEMA}",
            hint=hint,
        )


_HEADER = regex(r"\ufeff?---[ \t]*\r?\n.*?^---[ \t]*\r?$\n?", re.MULTILINE | re.DOTALL)


def _body_of(text: str) -> Span | None:
    header = _HEADER.match(text)
    place = find_footer(text, Span(0, len(text)))
    if header is None or place is None or place.open.start < header.end():
        return None
    return Span(header.end(), place.open.start)


def _is_untouched(footer: Mapping[str, Value], body: str) -> bool:
    return bool(footer.get("payload_hash") == sha256_of(normalised(body)))


def recording_index(text: str) -> dict[str, Value] | None:
    """Return what the footer of a recording says in short; None for what is no recording."""
    footer = trace.footer_of(text)
    index = footer.get("index") if footer is not None and is_recording(footer) else None
    return index if isinstance(index, dict) else None


def is_untouched(text: str) -> bool:
    """Return whether the body of a record is as it was recorded."""
    footer, body = trace.footer_of(text), _body_of(text)
    return footer is not None and body is not None and _is_untouched(footer, body.of(text))


def _fault(source: SourceText, fault: trace.TraceFault) -> CassetteProblem:
    line = source.position(fault.span.start).line
    return CassetteProblem(f"{source.path}:{line}: {fault.message}", hint=f"prosa check {source.path}")


def _recording(footer: Mapping[str, Value], blocks: Mapping[str, trace.Content], read: trace.Read) -> Recording:
    index = footer["index"]
    if not isinstance(index, dict):
        raise ValueError("`index` of the footer is no object")
    replies: dict[str, RecordedReply] = {}
    for path, request, origins in trace.requests_of(blocks, read):
        block = blocks[path]
        assert isinstance(block, trace.ModelBlock)
        replies[path] = RecordedReply(
            request,
            None if block.reply is None else _reply(block.reply, read),
            _error(block.error, read),
            tuple(text_of(attempt, read) for attempt in block.attempts),
            origins if any(origins) else (),
        )
    results = {path: _result(answer, read) for path, answer in blocks.items() if isinstance(answer, trace.ToolBlock)}
    setup = blocks.get(trace.SETUP)
    if not isinstance(setup, trace.SetupBlock):
        raise ValueError(f"there is no block {trace.SETUP}")
    models, without = (setup.chosen_model, setup.default_model), "python" in setup.without
    redacted, ended = index.get("redacted") is True, index.get("error")
    about = (*models, without, redacted, ended if isinstance(ended, str) else None)
    return Recording(_named(index, "program"), _named(index, "input"), replies, results, *about)


def _named(index: Mapping[str, Value], name: str) -> str:
    entry = index[name]
    if not isinstance(entry, str):
        raise ValueError(f"`index.{name}` of the footer is no text")
    return entry


def _reply(answer: trace.WrittenReply, read: trace.Read) -> ModelReply:
    calls = (ToolCall(call.id, call.name, text_of(call.arguments, read)) for call in answer.tool_calls)
    return ModelReply(
        text_of(answer.content, read),
        tuple(calls),
        Usage(answer.usage.input, answer.usage.output, answer.usage.cached),
        answer.model,
        answer.finish,
        None if answer.refusal is None else text_of(answer.refusal, read),
        answer.service,
        drops_repeats=answer.drops_repeats,
    )


def _result(block: trace.ToolBlock, read: trace.Read) -> RecordedResult:
    answer = block.result
    result = None if answer is None else ToolResult(text_of(answer.content, read), answer.is_error)
    arguments = trace.object_of(block.arguments, block.arguments_in, read)
    return RecordedResult(block.tool, block.kind, arguments, result, _error(block.error, read))


def _error(error: trace.WrittenError | None, read: trace.Read) -> RecordedError | None:
    if error is None:
        return None
    return RecordedError(error.type, text_of(error.message, read), text_of(error.hint, read), error.kind, error.status)
