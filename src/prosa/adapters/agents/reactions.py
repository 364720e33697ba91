"""Lines of a script that suit themselves to a request: load a skill, read or write a file, run a command (X16, X36).

In: JSON lines, those of `--model scripted:FILE` among them, and a request. Out: the reply. Which tool does it, under
which argument, comes from the tools that the request offers, so one script drives any agent. Nothing is executed here.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.agents.wires.exchange import ServiceRequest, ToolOffer, compact
from prosa.adapters.providers.scripted import ScriptedReply, ScriptProblem, replies_of
from prosa.data import Value
from prosa.regex import regex
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import ModelReply, ToolCall

Line: TypeAlias = "ScriptedReply | Deed"
Kind: TypeAlias = Literal["load", "read", "write", "shell"]
DEEDS: Final[tuple[Kind, ...]] = get_args(Kind)
_BESIDE: Final = ("content", "usage", "model")

_LOADERS: Final = ("skill", "activate_skill")
_READERS: Final = ("read", "read_file", "view")
_WRITERS: Final = ("write", "write_file", "create")
_SHELLS: Final = ("bash", "shell", "exec_command", "run_shell_command", "shell_command")
_SKILL_NAMES: Final = ("skill", "name")
_PATH_NAMES: Final = ("file_path", "filePath", "path", "absolute_path")
_TEXT_NAMES: Final = ("content", "file_text")
_COMMAND_NAMES: Final = ("command", "cmd")

_FOLDERS = (
    regex(r"(?i)working directory(?: is)?:?[ \t`]*(/[^\s`<>\"']+)"),
    regex(r"<cwd>(/[^\s<>]+)</cwd>"),
    regex(r"working in the directory: (/[^\s`<>\"']+)"),
    regex(r"Workspace Directories:\**\s*(?:-\s*)?(/[^\s`<>\"']+)"),
)
"""How agents tell a model where it works."""


class Deed(Struct, frozen=True):
    """A line that becomes calls of tools. ``target`` is the name of a skill, a path or a command; for ``write`` it
    maps paths to contents. ``answer`` is what goes with the calls: text, usage and model."""

    kind: Kind
    target: str | Mapping[str, str]
    answer: ModelReply


class ToolMissing(ProviderError):
    """A request that offers no tool for a line of the script."""

    def __init__(self, kind: str, request: ServiceRequest) -> None:
        names = ", ".join(tool.name for tool in request.tools)
        message = f"the script wants to {kind}, and the request offers no tool for it: {names or 'it offers none'}"
        super().__init__(message, kind="bad-request", retryable=False, status=400, billable=False)


def lines_of(source: str | os.PathLike[str] | Iterable[Mapping[str, Value]]) -> tuple[Line, ...]:
    """Read a script: a file of JSON lines, or their values. Raises `ScriptProblem`."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return tuple(_line(item, number, path) for number, item in _decoded(path))
    return tuple(_line(item, number, None) for number, item in enumerate(source, 1))


def _decoded(path: str) -> Iterator[tuple[int, Value]]:
    try:
        text = Path(path).read_text("utf-8-sig")
    except OSError as problem:
        raise ScriptProblem(path, None, f"the script cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError:
        raise ScriptProblem(path, None, "the script is not UTF-8 text") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as problem:
                raise ScriptProblem(path, number, f"expected one JSON object per line: {problem}") from None


def _line(item: Value | Mapping[str, Value], number: int, path: str | None) -> Line:
    try:
        return _read_line(item, number)
    except ScriptProblem as problem:
        raise ScriptProblem(path, number, problem.message.partition(": ")[2]) from None


def _read_line(value: Value | Mapping[str, Value], number: int) -> Line:
    item = cast("Mapping[str, Value]", value)  # `replies_of` refuses another kind
    kinds = [kind for kind in DEEDS if isinstance(value, Mapping) and kind in item]
    if not kinds:
        read = replies_of([item])[0]
        if read.program is not None:
            raise ScriptProblem(None, number, "`program` names a program of Prosa, which a service does not see")
        return _renumbered(read, number)
    kind = kinds[0]
    unknown = sorted(set(item) - {kind, *_BESIDE})
    if unknown:
        raise ScriptProblem(None, number, f"unknown key `{unknown[0]}` beside `{kind}`")
    answer = replies_of([{"content": "", **{name: item[name] for name in _BESIDE if name in item}}])[0].reply
    assert answer is not None
    return Deed(kind, _target(item[kind], kind, number), answer)


def _target(value: Value, kind: str, number: int) -> str | Mapping[str, str]:
    if kind == "write":
        if isinstance(value, Mapping) and value and all(isinstance(text, str) for text in value.values()):
            return cast("Mapping[str, str]", value)
        raise ScriptProblem(None, number, '`write` maps paths to contents: {"write": {"out.txt": "text"}}')
    if isinstance(value, str) and value:
        return value
    raise ScriptProblem(None, number, f"`{kind}` is a text")


def _renumbered(read: ScriptedReply, number: int) -> ScriptedReply:
    """Give the calls of a line without ids the number of the line."""
    if read.reply is None:
        return read
    calls = [replace(call, id=call.id.replace("call_1_", f"call_{number}_", 1)) for call in read.reply.tool_calls]
    return replace(read, reply=replace(read.reply, tool_calls=tuple(calls)))


def reply_to(line: Line, request: ServiceRequest, number: int) -> ModelReply:
    """Return the reply of a line. Raises its error, or `ToolMissing`. ``number`` makes the ids of its calls."""
    if isinstance(line, ScriptedReply):
        if line.error is not None:
            raise line.error
        assert line.reply is not None
        return line.reply
    made = tuple(_calls(line, request))
    calls = [ToolCall(f"call_{number}_{at}", name, compact(arguments)) for at, (name, arguments) in enumerate(made, 1)]
    return replace(line.answer, tool_calls=tuple(calls), finish="tool_calls")


def text_of_line(line: Line) -> str:
    """Return the text that a line says beside its calls."""
    reply = line.reply if isinstance(line, ScriptedReply) else line.answer
    return reply.content if reply is not None else ""


def is_possible(line: Line, request: ServiceRequest) -> bool:
    """Return whether a line is for this request: a skill that it does not list cannot be loaded."""
    if not isinstance(line, Deed) or line.kind != "load":
        return True
    head = head_of(request)
    name = re.escape(str(line.target))
    if _tool(request.tools, _LOADERS, _SKILL_NAMES) is not None:
        return re.search(rf"(?:^|[^\w-]){name}(?:[^\w-]|$)", head) is not None
    return _skill_path(head, str(line.target)) is not None


def head_of(request: ServiceRequest) -> str:
    """Return what a request says before the model answered: system, tools, and the first message of the user."""
    tools = "\n".join(f"{tool.name}\n{tool.description}\n{compact(tool.schema)}" for tool in request.tools)
    first = next((turn.text for turn in request.turns if turn.role == "user"), "")
    return f"{request.system}\n{tools}\n{first}"


def _calls(line: Deed, request: ServiceRequest) -> Iterator[tuple[str, dict[str, Value]]]:
    if isinstance(line.target, Mapping):
        for path, content in line.target.items():
            yield _write(path, content, request)
    elif line.kind == "load":
        yield _load(line.target, request)
    elif line.kind == "read":
        yield _file(line.target, request)
    else:
        yield _command(line.target, request, "run a command")


def _load(name: str, request: ServiceRequest) -> tuple[str, dict[str, Value]]:
    match = _tool(request.tools, _LOADERS, _SKILL_NAMES)
    if match is not None:
        tool, argument = match
        return tool.name, _filled(tool, {argument: name})
    path = _skill_path(head_of(request), name)
    if path is None:
        raise ToolMissing(f"load the skill {name}, whose file is not named", request)
    return _file(path, request)


def _skill_path(head: str, name: str) -> str | None:
    """Return the path of a skill's file that a request names, absolute where it says what its root is."""
    paths = re.findall(rf"[\w./~@+-]*/{re.escape(name)}/SKILL\.md", head)
    absolute = next((path for path in paths if path.startswith(("/", "~"))), None)
    if absolute is not None or not paths:
        return absolute
    root, _, rest = paths[0].partition("/")
    table = re.search(rf"`?{re.escape(root)}`? = `?(/[^\s`]+)", head)
    return f"{table[1]}/{rest}" if table else paths[0]


def _file(path: str, request: ServiceRequest) -> tuple[str, dict[str, Value]]:
    match = _tool(request.tools, _READERS, _PATH_NAMES)
    if match is not None:
        tool, argument = match
        return tool.name, _filled(tool, {argument: _absolute(path, request)})
    return _command(f"cat {shlex.quote(path)}", request, "read a file")


def _write(path: str, content: str, request: ServiceRequest) -> tuple[str, dict[str, Value]]:
    match = _tool(request.tools, _WRITERS, _PATH_NAMES)
    text = next((name for name in _TEXT_NAMES if match is not None and name in match[0].parameters), None)
    if match is not None and text is not None:
        tool, argument = match
        return tool.name, _filled(tool, {argument: _absolute(path, request), text: content})
    folder = os.path.dirname(path)  # noqa: PTH120 - a path of the agent's machine, and maybe empty
    made = f"mkdir -p {shlex.quote(folder)} && " if folder else ""
    return _command(f"{made}printf %s {shlex.quote(content)} > {shlex.quote(path)}", request, "write a file")


def _command(command: str, request: ServiceRequest, purpose: str) -> tuple[str, dict[str, Value]]:
    match = _tool(request.tools, _SHELLS, _COMMAND_NAMES)
    if match is None:
        raise ToolMissing(purpose, request)
    tool, argument = match
    kind = _property(tool, argument).get("type")
    value: Value = ["bash", "-lc", command] if kind == "array" else command
    return tool.name, _filled(tool, {argument: value})


def _tool(tools: Sequence[ToolOffer], names: Sequence[str], arguments: Sequence[str]) -> tuple[ToolOffer, str] | None:
    """Return the first tool with one of the names and one of the arguments."""
    for name in names:
        for tool in tools:
            argument = next((candidate for candidate in arguments if candidate in tool.parameters), None)
            if tool.name.lower() == name and argument is not None:
                return tool, argument
    return None


def _property(tool: ToolOffer, name: str) -> Mapping[str, Value]:
    properties = tool.schema.get("properties")
    schema = properties.get(name) if isinstance(properties, Mapping) else None
    return schema if isinstance(schema, Mapping) else {}


_FILLINGS: Final[Mapping[str, Value]] = {"boolean": False, "integer": 0, "number": 0, "array": [], "object": {}}


def _filled(tool: ToolOffer, arguments: dict[str, Value]) -> dict[str, Value]:
    """Return arguments with a value for each further one that the tool requires."""
    required = tool.schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in arguments:
            schema = _property(tool, name)
            allowed = schema.get("enum")
            first = allowed[0] if isinstance(allowed, list) and allowed else None
            usual = first or _FILLINGS.get(str(schema.get("type")).lower())
            arguments[name] = "as the script says" if usual is None else usual
    return arguments


def _absolute(path: str, request: ServiceRequest) -> str:
    """Return a path below the folder in which the agent works, where the request says which it is."""
    if path.startswith(("/", "~")):
        return path
    heads = (request.system, *(turn.text for turn in request.turns[:1]), head_of(request))
    for text in heads:
        for pattern in _FOLDERS:
            if match := pattern.search(text):
                return f"{match[1].rstrip('/.,')}/{path}"
    return path
