"""The list of what a store has: what it shows, what the address chooses, how it is paged."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from prosa.adapters.store.opening import open_file
from prosa.adapters.store.writer import Writer
from prosa.app.run.world import known_prices
from prosa.app.view.listing import listed
from prosa.records.listing import RecordFilter
from prosa.settings import Settings
from tests.web.view.conftest import Viewer
from tests.web.view.stores import (
    batch_record,
    ended,
    model_call,
    put_batch,
    put_calls,
    put_runs,
    row_record,
    run_record,
)


def keys(text: str) -> list[str]:
    """The lines of a page, in order."""
    return re.findall(r'data-key="([^"]+)"', text)


def prices() -> Any:
    return known_prices(Settings())


def test_x37_runs_and_batches_stand_in_one_list(viewer: Viewer, store: Path):
    """X37. Those that started last come first; rows of a batch stand in the batch."""
    put_runs(store, [ended(run_record("a1", 1)), ended(run_record("a2", 3), "failed", error="no <b>answer</b>")])
    put_batch(
        store, batch_record("b1", 2, state="done"), [row_record("b1", number, cost=0.5) for number in (1, 2, 3, 4)]
    )
    text = viewer.get("/").text
    assert keys(text) == ["run-a2", "batch-b1", "run-a1"]
    assert "no &lt;b&gt;answer&lt;/b&gt;" in text and "4 of 4" in text and "$2.0000" in text
    assert 'href="/runs/a2"' in text and 'href="/batches/b1"' in text


def test_x37_what_runs_shows_its_money_as_it_goes(viewer: Viewer, store: Path, alive: Writer):
    """X37, X25. Calls and dollars of a run are those of its answered calls before it has ended, by the prices of today;
    the store is not written."""
    put_runs(store, [replace(run_record("a1"), holder=alive.holder)])
    put_calls(store, [model_call("a1"), model_call("a1", "2", tokens=3000)])
    before = store.read_bytes()
    text = viewer.get("/").text
    assert "▶ running" in text and "2 calls · 4,200 tokens" in text
    assert "$0.0150" in text  # 4,000 tokens in at $3, 200 out at $15 a million
    assert store.read_bytes() == before


def test_x37_a_run_whose_process_is_gone_has_stopped(viewer: Viewer, store: Path):
    put_runs(store, [replace(run_record("a1"), holder="of-no-process")])
    put_batch(store, batch_record("b1", 2, state="open", holder="of-no-process"), [row_record("b1", 1)])
    assert viewer.get("/").text.count("■ stopped") == 2
    assert keys(viewer.get("/?state=running").text) == []
    assert keys(viewer.get("/?state=stopped").text) == ["batch-b1", "run-a1"]


FILTERS = (
    ("kind=run", ["run-a3", "run-a2", "run-a1"]),
    ("kind=batch", ["batch-b2", "batch-b1"]),
    ("state=done", ["batch-b1", "run-a1"]),
    ("state=failed", ["batch-b2", "run-a2"]),
    ("state=stopped&kind=run", ["run-a3"]),
    ("program=triage", ["batch-b2", "batch-b1", "run-a1"]),
    ("program=/docs/letters.md", ["run-a3", "run-a2"]),
    ("since=2026-11-27T12:10:00Z", ["batch-b2", "batch-b1"]),
    ("text=50%25_off", ["run-a2"]),
    ("text=GPT", ["run-a3"]),
    ("text=BATCH-b", ["batch-b2", "batch-b1"]),
    ("kind=&state=&program=&since=&text=", ["batch-b2", "batch-b1", "run-a3", "run-a2", "run-a1"]),
)


@pytest.mark.parametrize(("query", "wanted"), FILTERS)
def test_x37_filters_stand_in_the_address(viewer: Viewer, store: Path, query: str, wanted: list[str]):
    """X37. A text is found as it is written, not as a pattern, in any case."""
    put_runs(
        store,
        [
            ended(run_record("a1", 1)),
            ended(run_record("a2", 2, program="letters"), "failed", error="the 50%_off was refused, not 50xyoff"),
            ended(run_record("a3", 3, program="letters", model="gpt-5"), "interrupted"),
        ],
    )
    put_batch(store, batch_record("b1", 11, total=1, state="done"), [row_record("b1", 1)])
    put_batch(store, batch_record("b2", 12, total=1, state="done"), [row_record("b2", 1, "failed", kind="refused")])
    said = viewer.get(f"/?{query}")
    assert (said.status, keys(said.text)) == (200, wanted)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("kind=mail", "There is no kind"),
        ("state=good", "There is no state"),
        ("since=soon", "is not a moment"),
        ("since=99999999999999999999h", "is not a moment"),
        ("since=%3Cscript%3E", "&lt;script&gt;"),
    ],
)
def test_x37_a_filter_that_is_none_is_said(viewer: Viewer, store: Path, query: str, words: str):
    put_runs(store, [ended(run_record("a1"))])
    said = viewer.get(f"/?{query}")
    assert said.status == 400 and words in said.text and "<script>" not in said.text
    assert 'role="alert"' in said.text and keys(said.text) == []


def test_x37_the_list_is_paged_without_a_gap(viewer: Viewer, store: Path):
    """X37. Every record stands on exactly one page, also where many started in the same millisecond; filters stay."""
    put_runs(store, [ended(run_record(f"a{number:03}", number // 40)) for number in range(120)])
    put_batch(store, batch_record("b1", 1, total=0, state="done"))
    found, at = list[str](), "/?program=triage"
    for _ in range(3):
        text = viewer.get(at).text
        found += keys(text)
        older = re.search(r'<a href="([^"]+)" rel="next">', text)
        at = older[1].replace("&amp;", "&") if older else ""
        assert ("Newest" in text) == (len(found) > 50)
        assert not at or at.startswith("/?program=triage&before=")
    assert not at and len(found) == 121
    assert (
        found == sorted(found, key=lambda key: "2" if key == "batch-b1" else "", reverse=False)
        or len(set(found)) == 121
    )


class Counting:
    """A connection that counts the rows that are read."""

    rows = 0


def test_x37_ten_thousand_runs_are_not_read_for_a_page(store: Path):
    """X37. A page reads about as many runs as it shows; with a filter that none meets the store looks through all."""
    put_runs(store, [ended(run_record(f"a{number:05}", number / 100)) for number in range(10_000)])
    page = listed(store, RecordFilter(), prices)
    assert page.more and [each.id for each in page.records[:2]] == ["a09999", "a09998"]
    last = page.records[-1]
    behind = listed(store, RecordFilter(below=last.key), prices)
    assert behind.records[0].id == "a09949"
    assert not listed(store, RecordFilter(text="nothing has this"), prices).records
    with closing(open_file(store)) as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN SELECT id FROM run WHERE number IS NULL AND (started, id) < ('2026', 'a')"
            " ORDER BY started DESC, id DESC LIMIT 50"
        ).fetchall()
    assert any("run_started" in str(step) for step in plan)
    assert not any("SCAN" in str(step) and "INDEX" not in str(step) for step in plan)


def test_x37_a_store_that_is_not_there_yet_is_waited_for(viewer: Viewer, store: Path):
    said = viewer.get("/")
    assert said.status == 200 and "There is no store at" in said.text
    put_runs(store, [ended(run_record("a1"))])
    assert keys(viewer.get("/").text) == ["run-a1"]
    store.unlink()
    assert "There is no store at" in viewer.get("/").text


def test_x37_nothing_of_a_program_is_alive(viewer: Viewer, store: Path):
    """X37, X39. Names, models, files and errors are text: no tag, no end of a script, no turned direction."""
    evil = "</script><script>window.__pwned=1</script>\u202e\x1b[31m"
    put_runs(store, [ended(run_record("a1", program=evil, model=evil), "failed", error=evil)])
    put_batch(store, batch_record("b1", 2, name=evil, reason=evil, state="cancelled", total=0))
    for path in ("/", "/runs/a1", "/batches/b1", "/?text=%3C/script%3E%3Cscript%3E"):
        said = viewer.get(path)
        assert said.status == 200
        assert "<script>window" not in said.text and "\u202e" not in said.text and "\x1b" not in said.text
        assert "script-src 'self'" in said["content-security-policy"]
