"""What a tap has seen of one attempt (X36): its steps, its conversations, the skills that were listed and loaded.

In: requests and replies as they pass, each whole. Out: values. A skill is *listed* where its name was offered to the
model, and *loaded* where the model called for it and the result was no error.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct, field

from prosa.adapters.agents.requests import AgentRequest, ToolResult
from prosa.data import Value
from prosa.records.agent import AgentStep
from prosa.runtime.messages import ModelReply, ToolCall

MOST_TEXT: Final = 4_000
"""Characters of a text in a step, and of each text among the arguments of a call."""

MOST_STEPS: Final = 5_000
"""Steps of one attempt."""

MOST_DEPTH: Final = 20
"""Values inside one another in the arguments of a call that are kept."""


class Watched(Struct, frozen=True):
    """A skill to watch for. ``listing`` is found in what a request offers if it lists the skill; ``loads`` says of the
    name of a tool and the arguments of a call whether it loads the skill."""

    name: str
    listing: re.Pattern[str]
    loads: Callable[[str, Value], bool]


class _Load(Struct):
    """A tool call that loads a skill; ``is_first`` says that no file had changed by then."""

    name: str
    call: str
    is_first: bool
    failed: bool = False


class _Conversation(Struct):
    """One conversation of the attempt, by number, and how many results of tools it had."""

    number: int
    results: int = 0


class Sightings(Struct):
    """What was seen so far. ``writes`` are the tools that change files, and ``stamp`` gives a value that changes with
    the files of the workspace, for a shell may write too; ``hidden`` removes the key of the service from a text."""

    watched: Sequence[Watched]
    writes: frozenset[str] = frozenset()
    stamp: Callable[[], Value] | None = None
    hidden: Callable[[str], str] = str
    steps: list[AgentStep] = field(default_factory=list)
    has_changed: bool = False
    _listed: list[str] = field(default_factory=list)
    _loads: list[_Load] = field(default_factory=list)
    _conversations: dict[str, _Conversation] = field(default_factory=dict)
    _of_call: dict[str, tuple[str, int]] = field(default_factory=dict)
    _first_stamp: Value = None

    @property
    def listed(self) -> tuple[str, ...]:
        """The watched skills that were offered, in the order in which they were seen."""
        return tuple(self._listed)

    @property
    def loaded(self) -> tuple[str, ...]:
        """The watched skills that were loaded, in order."""
        return tuple(dict.fromkeys(load.name for load in self._loads if not load.failed))

    @property
    def loaded_first(self) -> tuple[str, ...]:
        """Those that were loaded before the first file changed."""
        return tuple(dict.fromkeys(load.name for load in self._loads if load.is_first and not load.failed))

    @property
    def is_decided(self) -> bool:
        """Whether it is known if a skill is loaded before anything is done."""
        return bool(self.loaded) or self.has_changed

    def request(self, request: AgentRequest) -> int:
        """Take a request, and return the number of its conversation: 0 for the agent, subagents from 1."""
        self._look_at_files()
        for watched in self.watched:
            if watched.name not in self._listed and watched.listing.search(request.offered):
                self._listed.append(watched.name)
        conversation = self._conversation(request)
        new, conversation.results = request.results[conversation.results :], len(request.results)
        for result in new:
            self._result(result, conversation.number)
        return conversation.number

    def reply(self, reply: ModelReply, conversation: int) -> None:
        """Take a reply of the model."""
        if reply.content:
            self._step(_step("say", reply.content, conversation=conversation))
        for call in reply.tool_calls:
            self._of_call[call.id] = self._of_call[call.name] = (call.name, conversation)
            arguments = _arguments(call)
            step = _step("call", call.arguments, conversation=conversation, tool=call.name, call=call.id)
            self._step(step, arguments)
            for watched in self.watched:
                if watched.loads(call.name, arguments):
                    self._loads.append(_Load(watched.name, call.id, is_first=not self.has_changed))
            self.has_changed = self.has_changed or call.name in self.writes

    def _look_at_files(self) -> None:
        if self.stamp is None or self.has_changed:
            return
        stamp = self.stamp()
        if self._first_stamp is None:
            self._first_stamp = stamp
        self.has_changed = stamp != self._first_stamp

    def _conversation(self, request: AgentRequest) -> _Conversation:
        """Return the conversation of a request: by how it begins, else by the calls whose results it has."""
        key = hashlib.sha256(f"{request.system}\0{request.first}".encode()).hexdigest()
        current = self._conversations.get(key)
        if current is None:
            known = next(
                (self._of_call[result.call][1] for result in request.results if result.call in self._of_call), None
            )
            same = next(
                (conversation for conversation in self._conversations.values() if conversation.number == known), None
            )
            numbers = {conversation.number for conversation in self._conversations.values()}
            current = self._conversations[key] = same or _Conversation(len(numbers))
        return current

    def _result(self, result: ToolResult, conversation: int) -> None:
        tool = self._of_call.get(result.call, ("", 0))[0]
        step = _step("result", result.text, conversation=conversation, tool=tool, call=result.call)
        self._step(step, is_error=result.is_error)
        if result.is_error:
            for load in reversed(self._loads):
                if load.call == result.call or (tool and result.call == tool):
                    load.failed = True
                    break

    def _step(self, step: AgentStep, arguments: Value = None, *, is_error: bool = False) -> None:
        if len(self.steps) < MOST_STEPS:
            text = "" if step.kind == "call" else self.hidden(step.text)
            self.steps.append(
                AgentStep(
                    step.kind,
                    text,
                    step.tool,
                    _cut(arguments),
                    step.call,
                    is_error,
                    step.size,
                    step.digest,
                    step.conversation,
                )
            )


def _step(kind: str, text: str, *, conversation: int, tool: str = "", call: str = "") -> AgentStep:
    """Return a step with its text cut."""
    raw = text.encode("utf-8", "replace")
    digest = hashlib.sha256(raw).hexdigest() if len(text) > MOST_TEXT else ""
    shown = raw.decode()[:MOST_TEXT]
    return AgentStep(kind, shown, tool, None, call, False, len(text), digest, conversation)  # type: ignore[arg-type]


def _arguments(call: ToolCall) -> Value:
    """Return the arguments of a call; as they were written where they cannot be read as JSON."""
    try:
        arguments: Value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = call.arguments
    return arguments


def _cut(value: Value, depth: int = 0) -> Value:
    """Return arguments whose texts are cut."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()[:MOST_TEXT]
    if depth >= MOST_DEPTH and isinstance(value, dict | list):
        return "…"
    if isinstance(value, dict):
        return {str(name)[:MOST_TEXT]: _cut(member, depth + 1) for name, member in value.items()}
    return [_cut(item, depth + 1) for item in value] if isinstance(value, list) else value
