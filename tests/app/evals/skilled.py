"""Folders of skills with cases and requests, and a model that answers by what stands in a request."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import prosa
from prosa.evaluation.report import Report
from prosa.runtime.messages import ModelReply, ModelRequest, ToolCall
from tests.cli.programs import user

MARK = "Begin with AHOY."


def skill(
    name: str = "tide-times", body: str = MARK, described: str = "Tells when the tide is high at a port."
) -> Path:
    folder = Path("skills") / name
    (folder / "evals").mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {described}\n---\n\n{body}\n")
    return folder


def evals(folder: Path, *cases: dict[str, Any], **more: Any) -> Path:
    path = folder / "evals" / "evals.json"
    path.write_text(json.dumps({"skill_name": folder.name, "evals": list(cases), **more}))
    return path


def triggers(folder: Path, *requests: dict[str, Any]) -> Path:
    path = folder / "evals" / "trigger-eval.json"
    path.write_text(json.dumps(list(requests)))
    return path


def case(number: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": number, "prompt": f"When is high water at port {number}?"} | (more or {"assertions": [GREETS]})


GREETS = {"name": "greets", "contains": "AHOY"}


class Model:
    """Answers by what stands in the request; ``load`` says which skill it loads for a request, where it may."""

    def __init__(self, answer: Callable[[str], str], load: Callable[[str], list[str]] | None = None) -> None:
        self.answer, self.load, self.requests = answer, load, list[ModelRequest]()

    async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
        self.requests.append(request)
        if self.load is not None and any(tool.name == "skill" for tool in request.tools):
            names = self.load(request.messages[-1].content)
            calls = tuple(ToolCall(str(at), "skill", json.dumps({"name": each})) for at, each in enumerate(names))
            return ModelReply("" if calls else "no skill", calls, finish="tool_calls" if calls else "stop")
        return ModelReply(self.answer("\n".join(each.content for each in request.messages)))

    async def aclose(self) -> None:
        pass


def obeys(text: str) -> str:
    return "AHOY, at six" if MARK in text else "At six"


def ran(here: Path, model: Model, path: Path | str = "skills", **options: Any) -> Report:
    return prosa.run_tests(path, provider=model, environ=user(here), **options)


def rates(report: Report) -> list[float]:
    return [each.gate.rate.value for each in report.suites]


REQUESTS = (
    {"query": "When is high water?", "should_trigger": True},
    {"query": "What does the ferry cost?", "should_trigger": False, "expected_skill": "ferry-fares"},
    {"query": "How do I tie a bowline?", "should_trigger": False},
    {"query": "Write a poem.", "should_trigger": False},
)


def routed(request: str) -> list[str]:
    return ["tide-times"] if "high" in request else ["ferry-fares"] if "ferry" in request else []


def neighbours() -> Path:
    folder = skill()
    skill("ferry-fares", "Add up.", "Tells what a crossing with the ferry costs.")
    triggers(
        skill("knots", "Tie.", "Shows how a knot is tied."),
        {"query": "How do I tie a bowline?", "should_trigger": True},
    )
    triggers(folder, *REQUESTS)
    return folder
