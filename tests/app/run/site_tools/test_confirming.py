"""The question before a change is sent (HA19)."""

from __future__ import annotations

import asyncio
import io

import pytest

from prosa.cli.console import Console
from prosa.cli.run.interaction import MAX_SHOWN, confirming


@pytest.mark.parametrize(("answer", "agreed"), [("y\n", True), ("yes\n", True), ("n\n", False), ("", False)])
def test_ha19_a_yes_is_a_yes(answer: str, agreed: bool):
    said: list[str] = []
    console = Console(io.StringIO(answer), io.StringIO(), io.StringIO(), {})
    assert asyncio.run(confirming(console, said.append)("POST /api")) is agreed
    assert "POST /api" in said[0]


def test_ha19_what_cannot_be_shown_whole_is_not_sent():
    """HA19. Something could hide behind what is cut."""
    said: list[str] = []
    console = Console(io.StringIO("y\n"), io.StringIO(), io.StringIO(), {})
    assert asyncio.run(confirming(console, said.append)("x" * (MAX_SHOWN + 1))) is False
    assert "nothing is sent" in said[0]
