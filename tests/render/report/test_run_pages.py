"""The pages of a run and of a batch."""

from __future__ import annotations

import json
import re

import pytest
from msgspec.structs import replace

from prosa.records.batch import BatchCounts, BatchRecord, RowResult
from prosa.records.run import CallRecord, RunRecord
from prosa.render.report.batches import batch_page
from prosa.render.report.frame import MAX_PAGE
from prosa.render.report.runs import run_page
from tests.depth import DEEP
from tests.render.report.reading import HOSTILE, dead, skeleton, text_of

RUN = RunRecord(
    "r-81d0aa",
    "run",
    "b-1",
    "triage",
    "triage",
    "triage.md",
    "[]",
    "openai/gpt-5-mini",
    "ab" * 32,
    "2026-11-27T09:14:05.120Z",
    input=json.dumps({"request": "I was charged twice."}),
    state="failed",
    kind="limit",
    error="the limit of 4 model calls is reached",
    output=json.dumps({"team": "billing"}),
    seconds=4.21,
    calls=2,
    tools=2,
    input_tokens=812,
    output_tokens=96,
    cost=0.00071,
    attempts=2,
)
SAID = {"role": "user", "content": "I was charged twice."}
ASKED = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "lookup", "arguments": '{"id": 7}'}]}
FOUND = {"role": "tool", "content": "two charges of 12.00", "tool_call_id": "1"}


def call(path: str, kind: str, name: str, request: object, reply: object, **more: object) -> CallRecord:
    """A call that was answered."""
    told = CallRecord("r-81d0aa", path, 1, kind, "triage", name, "ab" * 32, "2026-11-27T09:14:06Z", "answered", "cd")
    return replace(told, request=json.dumps(request), reply=json.dumps(reply), seconds=0.51, **more)


CALLS = (
    call("1", "model", "gpt-5-mini", {"messages": [SAID]}, {"content": "", "tool_calls": ASKED["tool_calls"]}),
    call("1.1", "mcp", "lookup", {"id": 7}, {"content": "two charges of 12.00"}),
    call("1.2", "python", "python", {"code": "1/0"}, {"content": "ZeroDivisionError", "is_error": True}, is_error=True),
    call("2", "model", "gpt-5-mini", {"messages": [SAID, ASKED, FOUND]}, {"content": "It is for billing."}),
    replace(call("3", "model", "gpt-5-mini", {}, {}), state="failed", request=None, reply=None, error="timed out"),
)
BATCH = BatchRecord(
    "9f0c1d2e3a4b", "reviews", "2026-11-27T08:00:00Z", "plain", "plain.md", "[]", "openai/gpt-5-mini", "reviews.csv",
    "ab" * 32, "{}", 10_000, "stopped", reason="10% of the rows failed",
)  # fmt: skip
COUNTS = BatchCounts(10_000, 9_000, {"provider": 800, "refused": 100}, 9_950, 9_900, 1_200_000, 240_000, 4.1, 812.0)


def rows(count: int, text: str = "") -> list[RowResult]:
    """Rows of which every eleventh failed."""
    return [
        RowResult(at, f"row-{at}", error=text or "the service answered 529", kind="provider", calls=1, attempts=2)
        if at % 11 == 0
        else RowResult(
            at, f"row-{at}", {"stars": at % 5, "said": text or f"review {at}"}, cost=0.0004, calls=1, seconds=0.8
        )
        for at in range(1, count + 1)
    ]


def test_x37_a_run_shows_its_calls_as_a_transcript():
    """X37, X25."""
    seen = " ".join(text_of(run_page(RUN, CALLS)).split())
    dead(run_page(RUN, CALLS))
    for words in (
        "✗ failed", "the limit of 4 model calls is reached", "$0.0007", "812 → 96", "5 calls",
        "user I was charged twice.",
        '→ lookup {"id": 7}', "← answer two charges of 12.00", "✗ error ZeroDivisionError", "after 2 earlier messages",
        "← answer It is for billing.", "failed: timed out", "Its texts are not kept.",
    ):  # fmt: skip
        assert words in seen, words


def test_x37_a_batch_shows_counts_costs_failures_and_rows():
    """X37, X29."""
    page = batch_page(BATCH, COUNTS, rows(50))
    seen = " ".join(text_of(page).split())
    dead(page)
    for words in (
        "✗ stopped", "10% of the rows failed", "9,000 of 10,000 rows done, 900 failed (provider 800, refused 100)",
        "9,000 done, 900 failed, 100 left.", "$4.1000", "✗ provider",
        "4× the service answered 529 (rows 11, 22, 33, 44)",
        "row 1 row-1", "review 50",
    ):  # fmt: skip
        assert words in seen, words


@pytest.mark.parametrize("text", HOSTILE)
def test_x37_nothing_of_a_run_or_a_batch_is_an_element(text: str):
    """X37, X39."""
    made, plain = (_pages(each) for each in (text, "plain"))
    for page, other in zip(made, plain, strict=True):
        dead(page)
        assert skeleton(page) == skeleton(other)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page)


def _pages(text: str) -> tuple[str, str]:
    value = {"content": text, "tool_calls": [{"name": text, "arguments": text}]}
    asked = {"messages": [{"role": text, "content": text}]}
    calls = [
        call("1", "model", text, asked, value, answered_by=text),
        call("1.1", text, text, text, text, is_error=True, error=text),
    ]
    run = replace(RUN, id=text, program=text, file=text, model=text, error=text, input=text, output=json.dumps(text))
    batch = replace(BATCH, id=text, name=text, program=text, model=text, rows_from=text, reason=text, created=text)
    return run_page(run, calls), batch_page(batch, COUNTS, rows(20, text))


@pytest.mark.parametrize("limit", [60_000, MAX_PAGE])
def test_x37_long_runs_and_batches_keep_the_limit(limit: int):
    """X37. What has no room is counted."""
    large = "word & <b> " * 100_000
    one = call("1", "mcp", "lookup", {"id": large}, {"content": large})
    calls = [replace(one, path=f"{at}") for at in range(1, 41 if DEEP else 6)]
    page = run_page(replace(RUN, output=json.dumps(large)), calls, limit=limit)
    assert len(page.encode()) <= limit and "All of it has 1,100,000 bytes" in page
    count = 10_000 if DEEP else 6_601  # the last but one has failed
    page = batch_page(BATCH, COUNTS, rows(count), limit=limit)
    assert len(page.encode()) <= limit and "No room for" in page
    assert page.index(f"row {count - 1:,} ") < page.index("row 1 ") if limit == MAX_PAGE else True


@pytest.mark.parametrize(
    ("costs", "known", "words"),
    [
        ((0.5, 0.25), 0.75, "$0.75"),
        ((0.5, None), 0.5, "at least $0.5"),
        ((None, None), 0.0, "unknown"),
    ],
)
def test_x37_what_a_batch_cost_is_said_as_far_as_it_is_known(costs: tuple[float | None, ...], known: float, words: str):
    found = [RowResult(at, at, output=1, cost=cost, calls=1) for at, cost in enumerate(costs, 1)]
    page = batch_page(BATCH, replace(COUNTS, cost=known, unpriced=costs.count(None)), found)
    assert f"<dt>Cost</dt><dd>{words}" in page
