"""X25, X29, L47. A store of an earlier version opens, and what broke off in it goes on: a run, a batch and a message,
each with one answer that was paid for. ``store.sql`` has its rows, written before one engine ran them all."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from prosa.adapters.store.opening import open_store
from prosa.adapters.store.runs import run_of
from prosa.app.batch.inputs import RowMapping, Rows, open_rows
from prosa.app.batch.prepare import BatchOptions, prepare
from prosa.app.batch.shared import begin_batch
from prosa.app.mail.work import WorkerOptions, work_mail
from prosa.app.options import JournalOptions, Options
from prosa.app.run.load import ready_program
from prosa.records.batch import RowResult
from prosa.runtime.mail import Worked
from prosa.runtime.messages import ModelReply, ModelRequest, Usage
from prosa.runtime.program import Program
from tests.app.batch.labels import accept_agreement
from tests.app.journal.runs import environment, ran, store_of

LABEL = """---
name: label
description: Counts the letters of a text.
input:
  type: object
  properties: {text: {type: string}, stars: {type: integer}}
  required: [text]
output:
  type: object
  properties: {n: {type: integer}}
  required: [n]
---
{{ .text }}
"""
"""The program as it was: its digest is in the rows."""


class Second:
    """A model that answers, and counts what it is asked for the second time in a run, and for the first."""

    def __init__(self) -> None:
        self.first = self.again = 0

    async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
        said = any(each.role == "assistant" for each in request.messages)
        self.again += said
        self.first += not said
        return ModelReply(json.dumps({"n": 7}), (), Usage(100, 10), model_name="fake-1")

    async def aclose(self) -> None:
        pass


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Somebody whose store has the rows of an earlier version."""
    accept_agreement({"HOME": str(tmp_path)}, 0)
    store_of(tmp_path).parent.mkdir(parents=True)
    with closing(sqlite3.connect(store_of(tmp_path))) as connection:
        connection.executescript((Path(__file__).parent / "store.sql").read_text(encoding="utf-8"))
    return tmp_path


def program(home: Path, name: str = "label", head: str = "") -> Program:
    path = home / f"{name}.md"
    path.write_text(LABEL.replace("name: label", f"name: {name}{head}"), encoding="utf-8")
    return ready_program(path, Options(), environment(home))


def test_x25_a_run_of_an_earlier_version_is_resumed(home: Path):
    model = Second()
    found = ran(program(home), home, model, given={"text": "refused"}, resume="ad3b38a7aa0f")
    assert (found.output, model.first, model.again) == ({"n": 7}, 0, 1)
    with closing(open_store(store_of(home))) as connection:
        (run,) = run_of(connection, "ad3b38a7aa0f")
        assert (run.state, run.attempts, run.calls) == ("done", 2, 2)


def test_x29_a_batch_of_an_earlier_version_goes_on(home: Path):
    """X29: the row that was done is not asked again, the one that broke off once, the one that never began once."""
    (home / "rows.csv").write_text("text\none\nrefused\nthree\n")
    rows, options = Rows(open_rows(str(home / "rows.csv")), "rows.csv"), Options(journal=JournalOptions("batch"))
    prepared = prepare(program(home), rows, RowMapping(), BatchOptions(), options, environment(home))
    model, ended = Second(), list[RowResult]()
    end = asyncio.run(begin_batch(prepared, provider=model, on_row=ended.append))
    assert end.ok and end.batch.id == "cb99e903f19e" and end.counts.calls == 4
    assert (model.first, model.again) == (1, 1)
    assert {each.row: each.output for each in ended} == {2: {"n": 7}, 3: {"n": 7}}


def test_l47_a_message_of_an_earlier_version_is_handled(home: Path):
    """L47: its run goes on from the answer that it had."""
    model, worked = Second(), list[Worked]()
    reader, options = program(home, "reader", "\nmailbox: true"), Options(journal=JournalOptions("mail"))
    chosen = WorkerOptions(until_empty=True)
    asyncio.run(work_mail(reader, chosen, options, environment(home), provider=model, on_message=worked.append))
    assert [(each.end, each.output) for each in worked] == [("handled", {"n": 7})]
    assert (model.first, model.again) == (0, 1)
