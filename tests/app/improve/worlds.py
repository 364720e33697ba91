"""Skills with many cases, and a scripted provider that answers for the model that is tried and for the one that
proposes: a fake, which says so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from prosa.app.evals.variants import TestOptions
from prosa.app.improve.improve import Improvements, improve
from prosa.app.improve.subject import ImproveOptions
from prosa.app.options import Environment, JournalOptions, Options
from prosa.runtime.messages import ModelReply, ModelRequest, Usage
from prosa.settings import Settings
from tests.app.evals.skilled import evals, skill
from tests.app.evals.suites import blocks
from tests.cli.programs import user

PROPOSES = "You improve"
"""How the request to the proposing model begins."""


class World:
    """``answers`` says what is answered to a request under a skill: the whole text of both. ``proposals`` are written
    one after the other, the last one again and again; one that is a function is given the request."""

    def __init__(
        self,
        answers: Callable[[str], str],
        proposals: Sequence[str | Callable[[str], str]],
        usage: Usage = Usage(),  # noqa: B008 - a frozen value
    ) -> None:
        self.answers, self.proposals, self.usage = answers, proposals, usage
        self.asked, self.proposed = list[str](), list[str]()

    async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
        text = "\n".join(each.content for each in request.messages)
        if PROPOSES in text:
            self.proposed.append(text)
            told = self.proposals[min(len(self.proposed), len(self.proposals)) - 1]
            told = told if isinstance(told, str) else told(text)
            return ModelReply(json.dumps({"reason": "it lacked a word", "text": told}), usage=self.usage)
        self.asked.append(text)
        return ModelReply(self.answers(text), usage=self.usage)

    async def aclose(self) -> None:
        pass


class Memory(dict[str, str]):
    """What is kept between runs, as the cache of answers keeps it."""

    def get(self, keys: Sequence[str]) -> Mapping[str, str]:  # type: ignore[override]
        return {each: self[each] for each in keys if each in self}

    def put(self, rows: Mapping[str, str]) -> None:
        self.update(rows)


def tides(number: int = 12, body: str = "Say when the tide is high.") -> Path:
    """A skill whose cases ask for one port each and expect a greeting."""
    folder = skill(body=body)
    evals(
        folder,
        *(
            {
                "id": at,
                "prompt": f"When is high water at port {at}?",
                "assertions": [{"name": "greets", "contains": "AHOY"}],
            }
            for at in range(number)
        ),
    )
    return folder


def greets(text: str) -> str:
    return "AHOY, at six" if "Begin with AHOY" in text else "At six"


def environment(folder: Path, notices: list[str] | None = None) -> Environment:
    return Environment(user(folder), Settings(), notice=(notices if notices is not None else []).append)


def improved(
    subject: Path,
    world: World,
    *,
    kept: Any = None,
    notices: list[str] | None = None,
    options: Options | None = None,
    home: Path | None = None,
    agents: Any = None,
    **chosen: Any,
) -> Improvements:
    """Search in a world."""
    test = TestOptions(journal=JournalOptions("improve"), **chosen.pop("test", {}))
    work = improve(
        subject,
        ImproveOptions(test=test, **chosen),
        options or Options(),
        environment(home or Path.cwd(), notices),
        provider=world,
        kept=kept,
        agents=agents,
    )
    return asyncio.run(work)


def program(number: int = 12) -> Path:
    """A program with a test document beside it: every case expects the team `care`."""
    Path("route.md").write_text(ROUTE)
    cases = "".join(
        f"\n## Card {at}\n\n{blocks(f'Where is card {at} of mine?', expect='team: care')}\n" for at in range(number)
    )
    Path("route.test.md").write_text(f"---\ntests: ./route.md\n---\n{cases}")
    return Path("route.md")


ROUTE = """\
---
name: route
description: Routes a request to a team.
input: {type: object, properties: {request: {type: string}}, required: [request]}
output:
  type: object
  properties: {team: {type: string}}
  required: [team]
---
Which team? {{ .request }}
"""


# ---- worlds by number ----


def _share(*parts: object) -> float:
    """A number from 0 to 1 that only depends on the parts."""
    return int(sha256(repr(parts).encode()).hexdigest()[:12], 16) / 16**12


def null_world(number: int) -> tuple[Path, World]:
    """A skill of 24 cases, each with a rate of its own, that no text changes: which answers pass differs by text, and
    is chance. Every proposal is another text."""
    folder = tides(24)

    def answers(text: str) -> str:
        case = text.rpartition("at port ")[2].partition("?")[0]
        return "AHOY" if _share("passes", number, text) < 0.2 + 0.6 * _share("rate", number, case) else "At six"

    def proposes(text: str) -> str:
        return f"Say it in way {sha256(f'{number} {text}'.encode()).hexdigest()[:8]}."

    return folder, World(answers, [proposes])


RULES = tuple(f"Mention the {each}." for each in ("moon", "harbour", "chart", "wind", "quay", "buoy", "pilot", "lamp"))


def known_world(number: int) -> tuple[Path, World]:
    """A skill of 24 cases of three kinds, each of which needs one rule in the text; five other rules do nothing. Seven
    of ten proposals add a rule that a failed case speaks of, the others any rule."""
    needed = sorted(RULES, key=lambda each: _share("needed", number, each))[:3]
    folder = skill(body="Say when the tide is high.")
    words = [each.removeprefix("Mention the ").removesuffix(".") for each in needed]
    cases = [
        {
            "id": at,
            "prompt": f"When is high water at port {at}?",
            "assertions": [{"name": f"mentions {words[at % 3]}", "contains": words[at % 3].upper()}],
        }
        for at in range(24)
    ]
    evals(folder, *cases)

    def answers(text: str) -> str:
        return " ".join(word.upper() for word, rule in zip(words, needed, strict=True) if rule in text)

    def proposes(text: str) -> str:
        old = text.partition("<<<TEXT\n")[2].partition("\nTEXT>>>")[0]
        failed = [rule for word, rule in zip(words, needed, strict=True) if f"mentions {word}: " in text]
        drawn = _share("rule", number, text)
        rules = failed if failed and drawn < 0.7 else RULES
        rule = rules[int(_share("which", number, text) * len(rules))]
        return old if rule in old else f"{old} {rule}"

    return folder, World(answers, [proposes])


def best_rate(found: Improvements) -> float | None:
    """The rate of the proposal on the search cases."""
    proposal = found.parts[0].record.proposal
    return None if proposal is None else proposal.train
