"""The lines that seven agents print in their headless modes, one form each: which kinds there are, and what each says.

In: one event of an agent, and the log of what came before. Out: the log, with steps, text, end and figures. What is not
of the expected form raises `Odd`, which `streams` catches.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias, cast

from msgspec import Struct, field

from prosa.data import Value
from prosa.records.agent import AgentStep, Reported
from prosa.runtime.messages import MOST_TOKENS, Usage

STEP_CHARACTERS: Final = 16_384
"""Characters kept of one text in a step: about what an agent itself shows its model of one command's output."""
_QUOTED: Final = 300
"""Characters of an agent's own words in a sentence."""

Event: TypeAlias = Mapping[str, Value]


def step(
    kind: Literal["say", "call", "result"],
    text: str = "",
    *,
    tool: str = "",
    arguments: Value = None,
    call: str = "",
    is_error: bool = False,
    conversation: int = 0,
) -> AgentStep:
    """Return a step whose text and arguments are cut at `STEP_CHARACTERS`, with the size and digest of the whole."""
    whole = json.dumps(arguments, ensure_ascii=False, sort_keys=True) if kind == "call" else text
    digest = hashlib.sha256(whole.encode(errors="replace")).hexdigest() if len(whole) > STEP_CHARACTERS else ""
    return AgentStep(
        kind=kind,
        text=text[:STEP_CHARACTERS],
        tool=tool,
        arguments=_cut(arguments),
        call=call,
        is_error=is_error,
        size=len(whole),
        digest=digest,
        conversation=conversation,
    )


def _cut(value: Value) -> Value:
    """Return arguments with every long text cut: their form stays."""
    if isinstance(value, str):
        return value[:STEP_CHARACTERS]
    if isinstance(value, Mapping):
        return {name: _cut(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return value


class Odd(Exception):
    """A line of a known kind whose parts are not what this kind has."""


class Log(Struct):
    """What was read so far. ``said`` is the text since the last tool call, ``streams`` the conversations by name."""

    steps: list[AgentStep] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    text: str | None = None
    ended: bool = False
    problem: str = ""
    denied: list[str] = field(default_factory=list)
    skills: tuple[str, ...] | None = None
    usage: Usage | None = None
    cost: float | None = None
    turns: int | None = None
    model: str = ""
    version: str = ""
    names: dict[str, str] = field(default_factory=dict)
    conversations: dict[str, int] = field(default_factory=dict)

    def say(self, text: str, conversation: int = 0) -> None:
        """Add a text of the assistant."""
        if text:
            self.steps.append(step("say", text, conversation=conversation))
            if conversation == 0:
                self.said.append(text)

    def add(self, piece: str) -> None:
        """Add a further piece of the text that is being said."""
        last = self.steps[-1] if self.steps and self.steps[-1].kind == "say" and self.said else None
        if last is None:
            self.say(piece)
            return
        whole = self.said.pop() + piece
        self.steps.pop()
        self.say(whole)

    def call(self, tool: str, arguments: Value, call: str, conversation: int = 0) -> None:
        """Add a tool call, once."""
        if call and call in self.names:
            return
        self.names[call] = tool
        self.steps.append(step("call", tool=tool, arguments=arguments, call=call, conversation=conversation))
        if conversation == 0:
            self.said.clear()

    def result(self, call: str, text: str, *, is_error: bool, conversation: int = 0) -> None:
        """Add the result of a tool call."""
        tool = self.names.get(call, "")
        self.steps.append(step("result", text, tool=tool, call=call, is_error=is_error, conversation=conversation))
        if conversation == 0:
            self.said.clear()

    def count(self, usage: Usage) -> None:
        """Add tokens to those that the agent reported before."""
        self.usage = usage if self.usage is None else self.usage + usage

    def conversation(self, name: str) -> int:
        """Return the number of a subagent's conversation; 0 is the agent's own."""
        return self.conversations.setdefault(name, len(self.conversations) + 1) if name else 0

    @property
    def reported(self) -> Reported | None:
        """Return the agent's own figures, None where it gave none."""
        figures = Reported(usage=self.usage, cost=self.cost, turns=self.turns, model=self.model)
        return figures if figures != Reported() else None


Read: TypeAlias = Callable[[Log, str, Event], bool]
"""Takes one event of a kind; returns whether the kind is one of this form."""


def quoted(text: str) -> str:
    """Return an agent's words for a sentence: one line, cut, without control characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 8 * _QUOTED]).split())
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]} …"


def parsed(line: str) -> Event | None:
    """Return a line as an event; None for one that is no JSON object."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None


# ---- parts of an event ----

_FINE: Final[tuple[Value, ...]] = (None, 0)
"""Exit statuses of a command that did not fail; None stands for a tool that is no command."""


def _part(value: Event, name: str) -> Event:
    inner = value.get(name)
    if not isinstance(inner, Mapping):
        raise Odd
    return inner


def _text(value: Event, name: str) -> str:
    inner = value.get(name)
    if inner is None:
        return ""
    if not isinstance(inner, str):
        raise Odd
    return inner


def _parts(value: Event, name: str) -> list[Event]:
    inner = value.get(name)
    if inner is None:
        return []
    if not isinstance(inner, list) or not all(isinstance(item, Mapping) for item in inner):
        raise Odd
    return cast("list[Event]", inner)


def _number(value: Event, name: str) -> int:
    inner = value.get(name)
    if inner is None:
        return 0
    if isinstance(inner, bool) or not isinstance(inner, int) or not 0 <= inner <= MOST_TOKENS:
        raise Odd
    return inner


def _money(value: Event, name: str) -> float | None:
    inner = value.get(name)
    return float(inner) if isinstance(inner, int | float) and not isinstance(inner, bool) and inner >= 0 else None


def _words(content: Value) -> str:
    """Return the text of a tool's result: a text, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_text(part, "text") for part in content if isinstance(part, Mapping))
    return "" if content is None else json.dumps(content, ensure_ascii=False)


# ---- Claude Code; Qwen Code prints the same form ----


def _claude(log: Log, kind: str, event: Event) -> bool:
    if kind == "system" and event.get("subtype") == "init":
        log.model, log.version = _text(event, "model"), _text(event, "claude_code_version")
        skills = event.get("skills")
        log.skills = tuple(str(skill) for skill in skills) if isinstance(skills, list) else None
    elif kind in {"assistant", "user"}:
        _claude_message(log, kind, event)
    elif kind == "result":
        _claude_result(log, event)
        log.usage = _claude_usage(_part(event, "usage")) if event.get("usage") is not None else None
    return kind in {"system", "assistant", "user", "result"}


def _claude_message(log: Log, kind: str, event: Event) -> None:
    conversation = log.conversation(_text(event, "parent_tool_use_id"))
    message = _part(event, "message")
    if message.get("model") == "<synthetic>":
        # Its own sentence on an error, which the last line repeats.
        return
    content = message.get("content")
    for part in [] if isinstance(content, str) else _parts(message, "content"):
        match part.get("type"):
            case "text" if kind == "assistant":
                log.say(_text(part, "text"), conversation)
            case "tool_use":
                log.call(_text(part, "name"), part.get("input"), _text(part, "id"), conversation)
            case "tool_result":
                text, wrong = _words(part.get("content")), part.get("is_error") is True
                log.result(_text(part, "tool_use_id"), text, is_error=wrong, conversation=conversation)


def _claude_result(log: Log, event: Event) -> None:
    log.ended = True
    log.turns, log.cost = _number(event, "num_turns"), _money(event, "total_cost_usd")
    log.denied += [_text(part, "tool_name") for part in _parts(event, "permission_denials")]
    subtype, text = _text(event, "subtype"), _text(event, "result")
    if event.get("is_error") is True or subtype != "success":
        errors = event.get("errors")
        listed = "; ".join(error for error in errors if isinstance(error, str)) if isinstance(errors, list) else ""
        log.problem = quoted(text or listed or subtype)
    elif text:
        log.text = text


def _claude_usage(usage: Event) -> Usage:
    """Return the tokens. The service counts those of its cache apart."""
    cached, written = _number(usage, "cache_read_input_tokens"), _number(usage, "cache_creation_input_tokens")
    input_tokens = _number(usage, "input_tokens") + cached + written
    return Usage(input_tokens, _number(usage, "output_tokens"), cached, written)


def _qwen(log: Log, kind: str, event: Event) -> bool:
    known = _claude(log, kind, event)
    if kind == "system":
        log.version, log.skills = _text(event, "qwen_code_version") or log.version, None
    if kind == "result" and event.get("usage") is not None:
        usage = _part(event, "usage")
        log.usage = Usage(
            _number(usage, "input_tokens"),
            _number(usage, "output_tokens"),
            min(_number(usage, "cache_read_input_tokens"), _number(usage, "input_tokens")),
        )
    return known


# ---- Codex ----


def _codex(log: Log, kind: str, event: Event) -> bool:
    if kind in {"item.started", "item.completed"}:
        _codex_item(log, _part(event, "item"), is_done=kind == "item.completed")
    elif kind == "turn.completed":
        log.ended, usage = True, _part(event, "usage")
        cached, written = _number(usage, "cached_input_tokens"), _number(usage, "cache_write_input_tokens")
        log.count(Usage(_number(usage, "input_tokens"), _number(usage, "output_tokens"), cached, written))
        log.turns = (log.turns or 0) + 1
    elif kind == "turn.failed":
        log.ended, log.problem = True, _codex_problem(_text(_part(event, "error"), "message"))
    elif kind == "error":
        # Also what it says before it tries again; `turn.failed` follows where it gives up.
        log.problem = ""
    return kind.split(".")[0] in {"thread", "turn", "item", "error"}


def _codex_problem(message: str) -> str:
    """Return the words of an error, which may be the body of a refusal as the service sent it."""
    body = parsed(message)
    inner = body.get("error") if body is not None else None
    inner_message = inner.get("message") if isinstance(inner, Mapping) else None
    return quoted(inner_message if isinstance(inner_message, str) and inner_message else message or "the turn failed")


def _codex_item(log: Log, item: Event, *, is_done: bool) -> None:
    kind, call = _text(item, "type"), _text(item, "id")
    if kind == "agent_message":
        if is_done:
            log.say(_text(item, "text"))
        return
    tool, arguments = _codex_call(kind, item)
    if not tool:
        return
    log.call(tool, arguments, call)
    if is_done:
        status, text = item.get("exit_code"), _codex_result(kind, item)
        wrong = _text(item, "status") in {"failed", "declined"} or status not in _FINE
        log.result(call, text, is_error=wrong)
        if _text(item, "status") == "declined":
            log.denied.append(tool)


def _codex_call(kind: str, item: Event) -> tuple[str, Value]:
    """Return the tool and its arguments; "" for what is none, as reasoning and the list of plans."""
    match kind:
        case "command_execution":
            return "shell", {"command": _text(item, "command")}
        case "file_change":
            return "apply_patch", {"changes": item.get("changes")}
        case "mcp_tool_call":
            return f"{_text(item, 'server')}.{_text(item, 'tool')}", item.get("arguments")
        case "web_search":
            return "web_search", {"query": item.get("query")}
    return "", None


def _codex_result(kind: str, item: Event) -> str:
    if kind == "command_execution":
        return _text(item, "aggregated_output")
    error = item.get("error")
    return _words(error if error is not None else item.get("result"))


# ---- Copilot ----


def _copilot(log: Log, kind: str, event: Event) -> bool:
    if kind == "result":
        log.ended = True
        if (status := event.get("exitCode")) not in _FINE:
            log.problem = log.problem or f"it ended with status {status}"
        return True
    topic = kind.split(".")[0]
    if topic not in {"session", "assistant", "tool", "user", "model", "permission", "system", "subagent", "skill"}:
        return False
    data = event.get("data")
    if isinstance(data, Mapping):
        _copilot_data(log, kind, data)
    return True


def _copilot_data(log: Log, kind: str, data: Event) -> None:
    conversation = log.conversation(_text(data, "parentToolCallId"))
    if kind == "session.skills_loaded":
        log.skills = tuple(_text(part, "name") for part in _parts(data, "skills") if part.get("enabled") is not False)
    elif kind == "assistant.message":
        log.model = _text(data, "model") or log.model
        log.say(_text(data, "content"), conversation)
        for part in _parts(data, "toolRequests"):
            log.call(_text(part, "name"), part.get("arguments"), _text(part, "toolCallId"), conversation)
    elif kind == "tool.execution_complete":
        _copilot_result(log, data, conversation)
    elif kind == "session.error":
        log.problem = quoted(_text(data, "message") or "it reported an error")


def _copilot_result(log: Log, data: Event, conversation: int) -> None:
    call, wrong = _text(data, "toolCallId"), data.get("success") is not True
    shell, outcome, error = data.get("shellExecution"), data.get("result"), data.get("error")
    if isinstance(shell, Mapping) and shell.get("exitCode") not in _FINE:
        wrong = True
    text = _text(outcome, "content") if isinstance(outcome, Mapping) else ""
    if isinstance(error, Mapping):
        text = text or _text(error, "message")
        if _text(error, "code") in {"denied", "rejected"}:
            log.denied.append(log.names.get(call, ""))
    log.result(call, text, is_error=wrong, conversation=conversation)


# ---- pi ----


def _pi(log: Log, kind: str, event: Event) -> bool:
    if kind == "message_end":
        _pi_message(log, _part(event, "message"))
    elif kind == "agent_end":
        log.ended = True
    return kind in _PI_KINDS


_PI_KINDS: Final = frozenset(
    {"session", "agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_end"}
)


def _pi_message(log: Log, message: Event) -> None:
    role = _text(message, "role")
    if role == "toolResult":
        call, wrong = _text(message, "toolCallId"), message.get("isError") is True
        log.result(call, _words(message.get("content")), is_error=wrong)
    if role != "assistant":
        return
    log.model = _text(message, "model")
    reason = _text(message, "stopReason")
    if reason in {"error", "aborted"}:
        # What was said of a broken reply is said again by the next try.
        log.problem = quoted(_text(message, "errorMessage") or reason)
        return
    for part in _parts(message, "content"):
        if part.get("type") == "text":
            log.say(_text(part, "text"))
        elif part.get("type") == "toolCall":
            log.call(_text(part, "name"), part.get("arguments"), _text(part, "id"))
    _pi_figures(log, _part(message, "usage"))
    log.problem, log.turns = "", (log.turns or 0) + 1


def _pi_figures(log: Log, usage: Event) -> None:
    cached, written = _number(usage, "cacheRead"), _number(usage, "cacheWrite")
    log.count(Usage(_number(usage, "input") + cached + written, _number(usage, "output"), cached, written))
    cost = usage.get("cost")
    total = _money(cost, "total") if isinstance(cost, Mapping) else None
    log.cost = log.cost if total is None else (log.cost or 0.0) + total


# ---- Gemini CLI ----


def _gemini(log: Log, kind: str, event: Event) -> bool:
    match kind:
        case "init":
            log.model = _text(event, "model")
        case "message" if event.get("role") == "assistant":
            (log.add if event.get("delta") is True else log.say)(_text(event, "content"))
        case "tool_use":
            log.call(_text(event, "tool_name"), event.get("parameters"), _text(event, "tool_id"))
        case "tool_result":
            _gemini_result(log, event)
        case "error" if event.get("severity") == "error":
            log.problem = quoted(_text(event, "message"))
        case "result":
            _gemini_end(log, event)
    return kind in {"init", "message", "tool_use", "tool_result", "error", "result"}


def _gemini_result(log: Log, event: Event) -> None:
    error = event.get("error")
    error_text = _text(error, "message") if isinstance(error, Mapping) else ""
    log.result(_text(event, "tool_id"), _text(event, "output") or error_text, is_error=event.get("status") != "success")


def _gemini_end(log: Log, event: Event) -> None:
    log.ended, error, stats = True, event.get("error"), event.get("stats")
    if event.get("status") != "success":
        error_text = _text(error, "message") if isinstance(error, Mapping) else ""
        log.problem = quoted(error_text or log.problem or "it reported an error")
    if isinstance(stats, Mapping):
        input_tokens, made = _number(stats, "input_tokens"), _number(stats, "output_tokens")
        log.usage = Usage(input_tokens, made, min(_number(stats, "cached"), input_tokens))


# ---- OpenCode ----


def _opencode(log: Log, kind: str, event: Event) -> bool:
    match kind:
        case "text":
            log.say(_text(_part(event, "part"), "text"))
        case "tool_use":
            _opencode_tool(log, _part(event, "part"))
        case "step_finish":
            _opencode_step(log, _part(event, "part"))
        case "error":
            error = _part(event, "error")
            data = error.get("data")
            error_text = _text(data, "message") if isinstance(data, Mapping) else ""
            log.problem, log.ended = quoted(error_text or _text(error, "name") or "it reported an error"), True
    return kind in {"step_start", "step_finish", "text", "tool_use", "reasoning", "error"}


def _opencode_tool(log: Log, part: Event) -> None:
    state, call = _part(part, "state"), _text(part, "callID")
    log.call(_text(part, "tool"), state.get("input"), call)
    metadata = state.get("metadata")
    status = metadata.get("exit") if isinstance(metadata, Mapping) else None
    wrong = _text(state, "status") == "error" or status not in _FINE
    log.result(call, _text(state, "output") or _text(state, "error"), is_error=wrong)


def _opencode_step(log: Log, part: Event) -> None:
    tokens, cost = _part(part, "tokens"), _money(part, "cost")
    cache = tokens.get("cache")
    read, written = (_number(cache, "read"), _number(cache, "write")) if isinstance(cache, Mapping) else (0, 0)
    made = _number(tokens, "output") + _number(tokens, "reasoning")
    log.count(Usage(_number(tokens, "input") + read + written, made, read, written))
    log.cost = log.cost if cost is None else (log.cost or 0.0) + cost
    log.turns = (log.turns or 0) + 1
    log.ended = _text(part, "reason") not in {"tool-calls", "tool_use"}


FORMS: Final[Mapping[str, Read]] = {
    "claude": _claude,
    "codex": _codex,
    "copilot": _copilot,
    "pi": _pi,
    "gemini": _gemini,
    "qwen": _qwen,
    "opencode": _opencode,
}
"""The forms by the agent that prints them."""
