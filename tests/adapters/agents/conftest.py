"""Without a box the tests that need one are not collected."""

from __future__ import annotations

from tests.adapters.agents.presence import PATTERN, missing

collect_ignore_glob = [PATTERN] if missing() else []
