"""A fake of agents for tests of suites: it answers tasks by a function, and starts nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from msgspec import Struct, field

from prosa.app.agents.task import AgentChoice, AgentResult, AgentTask
from prosa.records.agent import AgentCall, AgentStep, AgentTrace, FileChange
from prosa.runtime.messages import Usage


def trace(text: str = "done", **more: Any) -> AgentTrace:
    call = AgentCall("m", "messages", 200, answered=True, usage=Usage(1000, 30), cost=Decimal("0.01"))
    return AgentTrace("fake", "1.0", "m", **({"end": "done", "text": text, "calls": (call,), "listed": ()} | more))


def changed(path: str, content: bytes, kind: str = "added") -> FileChange:
    digest = hashlib.sha256(content).hexdigest()
    return FileChange(path, kind, digest, len(content), is_text=True, diff=f"+{content.decode()}")  # type: ignore[arg-type]


def step(tool: str, call: str = "1", **arguments: str) -> AgentStep:
    return AgentStep("call", tool=tool, arguments=arguments, call=call)


class FakeAgents(Struct):
    """Meets `AgentSource`. ``answer`` returns a trace and the contents of changed files."""

    answer: Callable[[AgentTask], tuple[AgentTrace, tuple[bytes, ...]]]
    tasks: list[AgentTask] = field(default_factory=list)
    at_once: int = 4

    def about(self, agent: AgentChoice) -> str:
        return f"fake {agent.label}"

    async def attempt(self, task: AgentTask) -> AgentResult:
        self.tasks.append(task)
        answered, contents = self.answer(task)
        known = {hashlib.sha256(each).hexdigest(): each for each in contents}
        return AgentResult(answered, known.get)
