"""Digests of what a journal compares: a model call, an answer, the arguments of a tool, a program with its imports.

In: values of the runtime. Out: SHA-256 in hex, equal for equal values in every process. Keys count in the order in
which they are sent, for a model reads them in this order. The name of the model is in no digest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from prosa.data import Value
from prosa.runtime.messages import Message, ModelReply, ModelRequest
from prosa.runtime.ports import ServerConfig, ToolResult
from prosa.runtime.program import Program, reachable
from prosa.source.files import sha256

_ENCODER = msgspec.json.Encoder(enc_hook=str)
_SAID = tuple(name for name in Message.__struct_fields__ if name != "opaque")


Encodable: TypeAlias = "Struct | bool | int | float | str | Sequence[Encodable] | Mapping[str, Encodable] | None"
"""What can be written as JSON: plain data, and values of Structs."""


def as_json(value: Encodable) -> str:
    """Return a value as compact JSON. Half of a surrogate pair, which a model can write, becomes its escape."""
    try:
        return _ENCODER.encode(value).decode()
    except UnicodeEncodeError:
        plain: Value = msgspec.to_builtins(value, enc_hook=str)
        return json.dumps(plain, separators=(",", ":"))


def digest_of(value: Encodable) -> str:
    """Return the digest of a value by its JSON."""
    return sha256(as_json(value).encode()).hexdigest()


def request_digest(request: ModelRequest) -> str:
    """Return the digest of a request to a model: messages, tools, the form of the output and parameters."""
    messages = [{name: getattr(message, name) for name in _SAID} for message in request.messages]
    return digest_of((messages, request.tools, request.output, request.parameters))


def reply_digest(reply: ModelReply) -> str:
    """Return the digest of a reply: its text, the tool calls without the ids of the service, the finish reason."""
    calls = [(call.name, call.arguments) for call in reply.tool_calls]
    return digest_of((reply.content, calls, reply.finish, reply.refusal))


def result_digest(result: ToolResult) -> str:
    """Return what a tool gave."""
    return digest_of((result.content, result.is_error))


def closure_digests(program: Program) -> tuple[tuple[str, str], ...]:
    """Return the digest of each program that can be reached, under its name: the root first, each once. Limits are
    excluded: a run may continue with others."""
    return tuple((reached.file or reached.name, digest_of(_content(reached))) for reached in reachable(program))


def _content(program: Program) -> tuple[Encodable, ...]:
    """Return what decides the requests of one program, its imports by name alone."""
    return (
        program.name,
        program.description,
        program.template.text,
        program.input_schema,
        program.output_schema,
        [imported.name for imported in program.imports],
        [_server(server) for server in program.servers],
        program.sites,
        program.python,
        program.preferred,
        program.form,
        program.conversation,
        program.parameters,
        program.instructions,
        program.rejections,
        *([[replace(skill, folder="", unavailable=()) for skill in program.skills]] if program.skills else ()),
        *([{"mailbox": program.mailbox, "tickets": program.tickets}] if program.mailbox or program.tickets else ()),
    )


def _server(server: ServerConfig) -> dict[str, Value]:
    """Return a server as declared; `tools` count where they are named, so that no other program gets another digest."""
    declared = {name: value for name, value in asdict(server).items() if name != "origin"}
    return {name: value for name, value in declared.items() if name != "tools" or value is not None}


def stamp(moment: datetime) -> str:
    """Return a moment in the form of records: UTC to the millisecond, so that texts sort as times do. One that is
    outside the calendar in UTC becomes its first or last."""
    try:
        instant = moment.astimezone(UTC)
    except OverflowError:
        instant = (datetime.min if moment.year == 1 else datetime.max).replace(tzinfo=UTC)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
