"""A run at a site ends when it is told to: it waits for no answer, and nothing further is sent (X9)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from prosa.app.client import access
from prosa.app.options import Environment, Options, SiteRights
from prosa.app.run.jobs import run_program
from prosa.runtime.errors import LimitExceeded
from prosa.runtime.events import RunFailed
from prosa.settings import Settings
from prosa.testing import ScriptedProvider
from tests.app.run.site_tools.runs import calls, loaded, run
from tests.app.run.site_tools.site import Site

PAGE = """\
---
id: p
type: page
title: P
actions:
  - {id: slow, method: GET, url: /slow}
  - {id: slow.change, method: POST, url: /slow, content_type: application/json}
---
"""


@pytest.fixture
def slow(site: Site) -> Site:
    """A site whose actions answer when the test is over."""
    site.put("/p", PAGE)
    return site


def test_x9_a_call_that_takes_too_long_is_a_result(slow: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = loaded(tmp_path, f"{slow.url}/p")
    monkeypatch.setattr(access, "CALL_SECONDS", 0.5)
    ran = run(program, calls(("mdh__slow", {})), calls(("mdh__slow_change", {"body": {}})), allow_actions=True)
    assert ran.error is None and not slow.held.is_set()
    assert ran.results[0] == "error: 127.0.0.1 did not answer within 0.5 s"
    assert "it is not known whether the site did it" in ran.results[1]


def test_x9_the_wall_clock_of_the_run_ends_a_call(slow: Site, tmp_path: Path):
    ran = run(loaded(tmp_path, f"{slow.url}/p", more="limits: {timeout: 1s}\n"), calls(("mdh__slow", {})))
    assert isinstance(ran.error, LimitExceeded) and not slow.held.is_set()


def test_an_interrupted_run_waits_for_no_site(slow: Site, tmp_path: Path):
    program, events = loaded(tmp_path, f"{slow.url}/p"), []
    around = Environment({}, Settings())
    choices = Options(site_rights=SiteRights(named=program.sites))

    async def interrupted() -> None:
        provider = ScriptedProvider([calls(("mdh__slow", {}))])
        work = run_program(program, {}, choices, around, listener=events.append, provider=provider)
        task = asyncio.ensure_future(work)
        assert await asyncio.to_thread(slow.reached.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    assert isinstance(events[-1], RunFailed) and events[-1].error == "interrupted"
    assert not slow.held.is_set()
