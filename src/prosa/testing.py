"""For people who test their own programs: a provider with fixed replies, recordings that are played again, and a clock
that never waits."""

from __future__ import annotations

from prosa.api.testing import FakeClock, Recorder, ScriptedProvider, ScriptProblem

__all__ = ["FakeClock", "Recorder", "ScriptProblem", "ScriptedProvider"]
