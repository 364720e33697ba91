"""A probe of an installed agent: one attempt against a scripted model service on this machine, free, isolated (X36).

In: an agent that is here. Out: what was seen, step by step. The model is scripted: a probe shows that this version can
be started, read and ended, and nothing about a skill.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import Struct

from prosa.adapters.agents.attempt import Order, run_attempt
from prosa.adapters.agents.scripted_service import MODEL, ScriptedService
from prosa.adapters.agents.table import is_tried
from prosa.adapters.agents.tap import Upstream
from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.prices import KnownPrices
from prosa.app.agents.known import AgentHere
from prosa.app.agents.scratch import scratch_folder
from prosa.data import Value
from prosa.records.agent import AgentTrace, WireName

SKILL: Final = "tide-tables"
PLACE: Final = "probe.txt"
WRITTEN: Final = "High water: 06:12 UTC\n"
SAID: Final = "High water is at 06:12 UTC."
PROMPT: Final = "When is it high water at the pier? Write the time to probe.txt."
SECONDS: Final = 120.0
MOST_CALLS: Final = 12
STORY: Final[tuple[Mapping[str, Value], ...]] = ({"load": SKILL}, {"write": {PLACE: WRITTEN}}, {"content": SAID})
_MODELS: Final[Mapping[WireName, str]] = {"gemini": "gemini-2.5-pro", "messages": "claude-sonnet-4-5"}
"""Names that an agent of one service expects; the service is scripted whatever the name."""

_TEXT: Final = f"""---
name: {SKILL}
description: Tells when it is high water at a pier. Use it for tides, piers and harbours.
---

Give every time in UTC.
"""


class ProbeStep(Struct, frozen=True):
    """One thing that an agent has to do, in words, and whether it did."""

    what: str
    ok: bool


class Probe(Struct, frozen=True):
    """What a probe saw. ``end`` is how the attempt ended, with its reason; both are empty where nothing started."""

    steps: tuple[ProbeStep, ...]
    end: str = ""
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether every step was seen."""
        return all(step.ok for step in self.steps)

    def as_dict(self) -> dict[str, Value]:
        """Return the object of `prosa agents --probe --format json`."""
        steps: list[Value] = [{"what": step.what, "ok": step.ok} for step in self.steps]
        return {"ok": self.ok, "end": self.end or None, "reason": self.reason or None, "steps": steps}


async def probe_agent(here: AgentHere, environ: Mapping[str, str]) -> Probe:
    """Start an agent once, isolated, with a skill and a script that loads it, writes a file and ends. Without isolation
    nothing starts."""
    assert here.installed is not None
    if here.isolation.kind == "none":
        return Probe(
            (ProbeStep(f"it was not started, because it cannot be isolated here: {here.isolation.reason}", False),)
        )
    wire = here.known.wires[0]
    with scratch_folder("prosa-probe-") as folder:
        skill = _laid_skill(folder)
        model = _MODELS.get(wire, MODEL)
        order = Order(here.known.name, model, PROMPT, ((SKILL, skill),), timeout=SECONDS, max_calls=MOST_CALLS)
        async with ScriptedService(STORY, per_conversation=True, key=secrets.token_urlsafe(16)) as service:
            upstream = Upstream(Endpoint(service.base_url(wire), service.key), service.base_url(wire))
            prices = KnownPrices({model: (Decimal(0), Decimal(0))})
            trace, _ = await run_attempt(
                order, here.installed, upstream, wire=wire, prices=prices, folder=folder / "run", environ=environ
            )
            answered = [request for request in service.requests if not request.refused]
            tokens = sum(
                request.tokens for request in answered if not request.path.endswith(("count_tokens", "countTokens"))
            )
    return Probe(tuple(_steps(here, trace, tokens)), trace.end, trace.reason)


def _laid_skill(folder: Path) -> Path:
    skill = folder / "skills" / SKILL
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(_TEXT, encoding="utf-8")
    return skill


def _steps(here: AgentHere, trace: AgentTrace, tokens: int) -> Iterator[ProbeStep]:
    wire, ends = here.known.wires[0], trace.end == "done" and trace.text.strip() == SAID
    yield ProbeStep(f"it starts, and asks its model over {wire}: {trace.answered} calls", trace.answered > 0)
    yield ProbeStep("it lists the skill to the model", trace.listed == (SKILL,))
    yield ProbeStep("it loads the skill before it changes a file", trace.loaded_first == (SKILL,))
    digest = sha256(WRITTEN.encode()).hexdigest()
    written = any(change.path == PLACE and change.digest == digest for change in trace.changes)
    yield ProbeStep("it writes a file in its workspace", written)
    read = trace.usage.input_tokens if trace.usage is not None else 0
    yield ProbeStep(f"its tokens are counted: {read:,} of {tokens:,}", 0 < read == tokens)
    yield ProbeStep(f"its answer is read, and its end ({trace.end})", ends)
    if not is_tried(here.known, trace.version):
        oldest, newest = here.known.tried
        tried = oldest if oldest == newest else f"{oldest} to {newest}"
        yield ProbeStep(f"its version is {trace.version}; tried so far with {tried}", True)
