"""A program, test documents for it, and a service that answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.desk import Desk
from tests.cli.programs import prosa, user
from tests.compiled import lend_compiled
from tests.model_server.behaviour import Behaviour
from tests.model_server.connection import Request
from tests.model_server.server import ModelServer

TRIAGE = """\
---
name: triage
description: Routes a request to a team.
input:
  type: object
  properties: {request: {type: string}}
  required: [request]
output:
  type: object
  properties:
    team: {type: string, enum: [billing, care, sales]}
    reason: {type: string}
  required: [team, reason]
  additionalProperties: false
---
Which team answers this? {{ .request }}
"""


def suite(*cases: tuple[str, str], front: str = "") -> str:
    """A test document: each case a name and its blocks."""
    head = f"---\ntests: ./triage.md\n{front}---\n"
    return head + "".join(f"\n## {name}\n\n{blocks}\n" for name, blocks in cases)


def blocks(request: str, **said: str) -> str:
    """The blocks of a case; what is said of it by role."""
    parts = [f"```yaml input\nrequest: {json.dumps(request)}\n```"]
    languages = {"grade": "text", "check": "python"}
    for role, text in said.items():
        name = "expect" if role == "check" else role
        parts.append(f"```{languages.get(role, 'yaml')} {name}\n{text.rstrip()}\n```")
    return "\n\n".join(parts)


BILLING = blocks("I was charged twice.", expect="team: billing\nreason: {contains: twice}")
CARE = blocks("Where is my card?", expect="team: care")


def write(text: str, name: str = "triage.test.md") -> Path:
    path = Path(name)
    path.write_text(text)
    return path


class Service:
    """Answers requests to a model, and counts them. ``answer`` is given the last message and the number of the call."""

    def __init__(self, server: ModelServer, answer: Callable[[str, int], Any]) -> None:
        self.server, self.answer, self.calls, self.texts = server, answer, 0, list[str]()
        self.lock = threading.Lock()
        server.answer = self

    def __call__(self, request: Request) -> Behaviour:
        with self.lock:
            self.calls += 1
            number = self.calls
        body: Any = request.body
        text = body["messages"][-1]["content"]
        self.texts.append(text)
        content = self.answer(text, number)
        if isinstance(content, Behaviour):
            return content
        return Behaviour(content=content, usage={"input_tokens": 100, "output_tokens": 10})


def routed(text: str, _number: int = 0) -> dict[str, str]:
    """The right team for what the documents here ask."""
    return {
        "team": "billing" if "charged" in text else "care",
        "reason": "charged twice" if "charged" in text else "card",
    }


def test(folder: Path, *arguments: str, server: ModelServer | None = None, **environ: str) -> tuple[int, Desk]:
    """Calls `prosa test`."""
    names = {"OPENAI_BASE_URL": server.base_url} if server is not None else {}
    # A cache that no other test has answers in, with the compiled interpreter of all.
    names["PROSA_CACHE_DIR"] = str(lend_compiled(folder / "cache", if_there=True))
    return prosa("test", *arguments, "--retries", "0", environ=user(folder, **names, **environ))


test.__test__ = False  # type: ignore[attr-defined]


def report(at: Desk) -> dict[str, Any]:
    """What `--format json` printed."""
    found: dict[str, Any] = json.loads(at.out)
    return found
