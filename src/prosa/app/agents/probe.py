"""One attempt of an installed agent against a scripted model service on this machine: free, and without a key (X36).

In: an agent that is here. Out: what was seen of it, step by step. No model is asked, so this shows that the agent can
be started, read and ended, and nothing about a skill.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from prosa.adapters.agents.attempt import Order, run_attempt
from prosa.adapters.agents.scripted_service import KEY, MODEL, ScriptedService
from prosa.adapters.agents.tap import Upstream
from prosa.adapters.providers.failures import Endpoint
from prosa.adapters.providers.prices import KnownPrices
from prosa.app.agents.known import AgentHere
from prosa.data import Value
from prosa.records.agent import AgentTrace

SKILL, FILE, TEXT = "probe-tides", "probe.txt", "06:12 UTC"
SCRIPT = ({"load": SKILL}, {"write": {FILE: TEXT}}, {"content": f"I wrote {FILE}."})
SECONDS = 120.0
"""Seconds of a probe; the slowest agent takes about ten."""

_TEXT = f"""---
name: {SKILL}
description: Tells when the tide is high at a port.
---

Give every time in UTC.
"""


class ProbeStep(Struct, frozen=True):
    """One thing that a probe looks at, and whether it was as it should be."""

    what: str
    ok: bool


class Probe(Struct, frozen=True):
    """What a probe found. ``end`` is how the attempt ended, with its reason."""

    steps: tuple[ProbeStep, ...]
    end: str = ""
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether every step was as it should be."""
        return all(each.ok for each in self.steps)

    def as_dict(self) -> dict[str, Value]:
        """Return plain data."""
        steps = [{"what": each.what, "ok": each.ok} for each in self.steps]
        return {"ok": self.ok, "end": self.end or None, "reason": self.reason or None, "steps": steps}


async def probe_agent(here: AgentHere, environ: Mapping[str, str]) -> Probe:
    """Start an agent once, isolated, with a skill and a scripted model that loads it, writes a file and ends."""
    assert here.installed is not None
    if here.isolation.kind == "none":
        return Probe((ProbeStep(f"it can be isolated: {here.isolation.reason}", False),))
    wire = here.known.wires[0]
    prices = KnownPrices({MODEL: (Decimal(0), Decimal(0))})
    with TemporaryDirectory(prefix="prosa-probe-", ignore_cleanup_errors=True) as folder:
        skill = _laid_skill(Path(folder))
        order = Order(here.known.name, MODEL, "When is high water?", skills=((SKILL, skill),), timeout=SECONDS)
        async with ScriptedService(SCRIPT, per_conversation=True) as service:
            upstream = Upstream(Endpoint(service.base_url(wire), KEY), service.base_url(wire))
            trace, contents = await run_attempt(
                order, here.installed, upstream, wire=wire, prices=prices, folder=Path(folder, "run"), environ=environ
            )
        return Probe(tuple(_steps(trace, contents)), trace.end, trace.reason)


def _laid_skill(folder: Path) -> Path:
    skill = folder / "skills" / SKILL
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(_TEXT, encoding="utf-8")
    return skill


def _steps(trace: AgentTrace, contents: Path) -> list[ProbeStep]:
    written = next((each for each in trace.changes if each.path == FILE), None)
    text = (contents / written.digest).read_text(encoding="utf-8") if written is not None and written.digest else ""
    counted = trace.usage is not None and trace.usage.total_tokens > 0
    return [
        ProbeStep(f"it starts, and its stream is read to its end ({trace.end})", trace.end == "done"),
        ProbeStep("it offers the skill to the model", trace.listed == (SKILL,)),
        ProbeStep("it loads the skill", trace.loaded == (SKILL,)),
        ProbeStep("it writes a file in its workspace", text.strip() == TEXT),
        ProbeStep(f"its model calls are seen ({len(trace.calls)}), and their tokens counted", counted),
    ]
