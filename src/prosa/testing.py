"""For people who test their own programs: a provider with fixed replies, and a clock that never waits."""

from __future__ import annotations

from prosa.api.testing import FakeClock, ScriptedProvider, ScriptProblem

__all__ = ["FakeClock", "ScriptProblem", "ScriptedProvider"]
