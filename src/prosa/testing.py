"""For people who test their own programs: a provider and a service with fixed replies, recordings that are played
again, and a clock that never waits."""

from __future__ import annotations

from prosa.api.testing import FakeClock, Recorder, ScriptedProvider, ScriptedService, ScriptProblem, ServiceRequest

__all__ = ["FakeClock", "Recorder", "ScriptProblem", "ScriptedProvider", "ScriptedService", "ServiceRequest"]
