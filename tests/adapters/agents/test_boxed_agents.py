"""Agents from npm in the box, with a scripted model: a few attempts of each that is installed (`make agents`).

PROSA_AGENTS=required wants at least pi; the whole table is `python -m tests.adapters.agents.truth`, and runs with the
deep tests, those of experimental agents in the nightly workflow, where they may fail.
"""

from __future__ import annotations

import asyncio
import os

import pytest

from prosa.adapters.agents.table import AGENTS, is_tried
from tests.adapters.agents.truth import CASES, NPM, attempt, installed, wrongs
from tests.depth import DEEP

HERE = [name for name in AGENTS if (NPM / name / "node_modules").exists()]
FEW = {"with skill", "cap on calls"}
TRIED = [
    (name, case)
    for name in HERE
    if AGENTS[name].supported
    for case in CASES
    if (DEEP or case.name in FEW) and (not case.only or name in case.only)
]


def test_an_agent_is_installed_where_it_is_required():
    assert "pi" in HERE or os.environ.get("PROSA_AGENTS") != "required", "run `make agents AGENTS=pi`"


@pytest.mark.parametrize(("name", "case"), TRIED, ids=lambda each: each if isinstance(each, str) else each.name)
def test_what_is_read_of_a_real_agent_is_the_truth(name, case):
    trace = asyncio.run(attempt(name, case))
    assert wrongs(name, case, trace) == [], trace.reason


@pytest.mark.parametrize("name", HERE)
def test_what_is_pinned_is_what_was_tried(name):
    assert is_tried(AGENTS[name], installed(name).version)
