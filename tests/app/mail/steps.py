"""Programs with mailboxes, and a model that does what a test says, step by step. Everything here is a fake."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prosa.runtime.messages import ModelReply, ModelRequest, ToolCall, Usage
from prosa.runtime.program import Program
from tests.runtime.worlds import load, text_of

BOX = "mailbox: true\n"


def program(folder: Path, name: str = "writer", more: str = BOX) -> Program:
    """A program with a mailbox in a file of its own."""
    return load(folder, text_of(name, more=more), name=f"{name}.md")


def call(tool: str, **arguments: Any) -> ToolCall:
    """A tool call, which a step may have in place of an answer."""
    return ToolCall(f"c-{tool}", tool, json.dumps(arguments))


class Steps:
    """A model that answers each program by its next step: an output, calls of tools, or what a function of the tool
    results so far gives."""

    def __init__(self, **steps: list[Any]) -> None:
        self.steps = steps
        self.asked: list[ModelRequest] = []

    async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
        self.asked.append(request)
        step = self.steps[request.program].pop(0)
        if callable(step):
            step = step(self.results(request))
        if isinstance(step, Exception):
            raise step
        if isinstance(step, ToolCall):
            step = [step]
        if isinstance(step, list):
            calls = tuple(ToolCall(f"{each.id}{n}", each.name, each.arguments) for n, each in enumerate(step))
            return ModelReply("", calls, Usage(10, 5), finish="tool_calls")
        return ModelReply(json.dumps(step), (), Usage(10, 5), model_name="fake-1")

    @staticmethod
    def results(request: ModelRequest) -> list[Any]:
        """The results of tools so far, as plain data where they are that."""
        return [_plain(each.content) for each in request.messages if each.role == "tool"]

    @property
    def last(self) -> list[Any]:
        """The results in the last request."""
        return self.results(self.asked[-1])

    async def aclose(self) -> None:
        pass


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def answer(number: int = 1) -> dict[str, int]:
    """An output that programs of `text_of` may have."""
    return {"n": number}


Step = Callable[[list[Any]], Any]
