"""`prosa batch`: what it prints and writes, what it asks before it begins, what it refuses (X29)."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from prosa.adapters.store.writer import MOMENT, Work, Writer
from prosa.records.batch import BatchProgress
from prosa.render.batch import duration, progress_line
from tests.app.batch.labels import LABEL
from tests.cli.programs import prosa, user


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program, three rows and replies for them."""
    (tmp_path / "label.md").write_text(LABEL)
    (tmp_path / "rows.csv").write_text("key,text\na,one\nb,two\nc,three\n")
    (tmp_path / "replies.jsonl").write_text(json.dumps({"content": '{"n": 1}'}) * 0 + replies(3))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def replies(count: int) -> str:
    return "".join(json.dumps({"content": json.dumps({"n": n})}) + "\n" for n in range(count))


def batch(folder: Path, *words: str, typed: str = "") -> tuple[int, Any]:
    words = ("batch", *words, "--no-progress")
    return prosa(*words, environ=user(folder), typed=typed)


SCRIPT = ("-m", "scripted:replies.jsonl", "--concurrency", "1")


def test_results_are_lines_in_the_order_of_the_rows(folder: Path):
    status, at = batch(folder, "label.md", "--rows", "rows.csv", "--id", "key", *SCRIPT)
    assert status == 0, at.err
    found = [json.loads(each) for each in at.out.splitlines()]
    assert [(each["row"], each["id"], each["output"]) for each in found] == [
        (1, "a", {"n": 0}),
        (2, "b", {"n": 1}),
        (3, "c", {"n": 2}),
    ]
    assert "3 of 3 rows done, 3 calls" in at.err


def test_x29_events_of_rows_name_the_batch_and_the_row(folder: Path):
    """X29: an ending for each row that ran, and for the batch; standard error has JSON lines alone."""
    (folder / "rows.csv").write_text("key,text,other\na,one,1\nb,,1\nc,three,1\n")
    status, at = batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT, "--events", "jsonl")
    assert status == 1
    found = [json.loads(each) for each in at.err.splitlines()]
    assert [each["seq"] for each in found] == list(range(1, len(found) + 1))
    assert {each["batch"] for each in found[1:]} == {found[-1]["batch"]} and found[-1]["batch"].startswith("label-")
    ends = [each["row"] for each in found if each["event"] in ("run-finished", "run-failed")]
    assert ends == [1, 3] and {each["row"] for each in found if "program" in each} == {1, 3}
    assert found[0]["event"] == "noticed" and "are ignored" in found[0]["message"]
    assert [each["done"] for each in found if each["event"] == "batch-progress"] == [1]
    last = found[-1]
    assert last["event"] == "batch-ended"
    assert (last["state"], last["done"], last["failed"]) == ("done", 2, {"input": 1})


def test_x29_a_log_of_a_batch_that_cannot_begin_says_why(folder: Path):
    """X29."""
    status, _ = batch(folder, "label.md", "--rows", "no.csv", *SCRIPT, "--events", "jsonl:log.jsonl")
    assert status == 2
    (line,) = (folder / "log.jsonl").read_text().splitlines()
    assert json.loads(line)["event"] == "batch-ended" and "no such file" in json.loads(line)["reason"]


def test_a_file_of_results_is_replaced_only_if_the_batch_wrote_it(folder: Path):
    words = ("label.md", "--rows", "rows.csv", *SCRIPT, "--output", "out.jsonl")
    (folder / "out.jsonl").write_text("mine\n")
    status, at = batch(folder, *words)
    assert status == 2 and "is not what this batch wrote" in at.err
    assert (folder / "out.jsonl").read_text() == "mine\n"
    (folder / "out.jsonl").unlink()
    assert batch(folder, *words)[0] == 0
    before = (folder / "out.jsonl").read_bytes()
    assert batch(folder, *words)[0] == 0 and (folder / "out.jsonl").read_bytes() == before
    (folder / "out.jsonl").write_text("edited\n")
    assert batch(folder, *words)[0] == 2 and (folder / "out.jsonl").read_text() == "edited\n"


def test_results_are_not_written_to_what_has_no_end(folder: Path):
    """A device or a pipe would be read, to compare it, for ever."""
    os.mkfifo(folder / "pipe")
    for output in ("pipe", "/dev/full"):
        status, at = batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT, "--output", output)
        assert status == 2 and f"{output} is not a regular file" in at.err


def test_a_row_with_a_wrong_input_is_not_offered_for_another_try(folder: Path):
    (folder / "rows.csv").write_text("key,text\na,one\nb,\n")
    status, at = batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT)
    assert status == 1 and "1 failed (input 1)" in at.err and "--retry-failed" not in at.err


def test_failures_have_a_file_of_their_own_which_is_empty_once_they_are_done(folder: Path):
    (folder / "replies.jsonl").write_text(replies(2))
    words = ("label.md", "--rows", "rows.csv", *SCRIPT, "--output", "out.jsonl", "--max-failures", "5")
    status, at = batch(folder, *words)
    assert status == 1 and "2 of 3 rows done, 1 failed (provider 1)" in at.err
    (again,) = (line for line in at.err.splitlines() if "run them again: prosa batch label-" in line)
    assert again.endswith(" --retry-failed --model scripted:replies.jsonl --output out.jsonl")
    (failure,) = (json.loads(each) for each in (folder / "out.failures.jsonl").read_text().splitlines())
    assert (failure["row"], failure["kind"], failure["attempts"]) == (3, "provider", 1)
    status, at = batch(folder, "label", "--retry-failed", *SCRIPT, "--output", "out.jsonl")
    assert status == 0, at.err
    assert (folder / "out.failures.jsonl").read_text() == ""
    assert len((folder / "out.jsonl").read_text().splitlines()) == 3


def test_standard_input_gives_rows_and_is_kept_for_another_try(folder: Path):
    rows = '{"text": "one"}\n{"text": "two"}\n{"text": "three"}\n{"text": "four"}\n'
    words = ("label.md", "--rows", "-", *SCRIPT, "--max-failures", "5")
    status, at = batch(folder, *words, typed=rows)
    assert status == 1 and len(at.out.splitlines()) == 3
    status, at = batch(folder, "label", "--retry-failed", *SCRIPT)
    assert status == 0 and len(at.out.splitlines()) == 4


def test_the_list_the_status_the_export_and_the_end_of_a_batch(folder: Path):
    assert "no batches yet" in batch(folder)[1].out
    batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT, "--limit", "1")
    (listed,) = batch(folder)[1].out.splitlines()
    assert listed.split()[1:] == ["stopped", "1/3"]
    status, at = batch(folder, "label", "--status", "--format", "json")
    told = json.loads(at.out)
    assert (told["state"], told["done"], told["left"], told["program"]) == ("stopped", 1, 2, "label")
    status, at = batch(folder, "label", "--export", "part.jsonl")
    assert status == 0 and json.loads((folder / "part.jsonl").read_text())["row"] == 1
    assert batch(folder, "label", "--cancel")[0] == 0
    assert json.loads(batch(folder, "label", "--status", "--format", "json")[1].out)["state"] == "cancelled"
    assert batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT)[0] == 0  # the same command goes on all the same


def test_x29_every_file_that_a_batch_wrote_and_left_unchanged_is_its_own(folder: Path):
    """An export to another file takes nothing from the first one; a changed one is refused with what to do."""
    (folder / "replies.jsonl").write_text(replies(2))
    words = ("label.md", "--rows", "rows.csv", *SCRIPT, "--output", "out.jsonl", "--max-failures", "5")
    assert batch(folder, *words)[0] == 1
    for number in range(20):
        assert batch(folder, "label", "--export", f"other-{number % 3}.jsonl")[0] == 0
    status, at = batch(folder, "label", "--retry-failed", "-o", "out.jsonl", *SCRIPT)
    assert status == 0, at.err
    assert len((folder / "out.jsonl").read_text().splitlines()) == 3
    (folder / "out.jsonl").write_text("mine\n")
    status, at = batch(folder, "label", "--retry-failed", "-o", "out.jsonl", *SCRIPT)
    assert status == 2 and "move it away, or name another file" in at.err
    assert (folder / "out.jsonl").read_text() == "mine\n"


def test_a_plan_asks_nobody_and_writes_nothing(folder: Path):
    status, at = batch(folder, "label.md", "--rows", "rows.csv", "--plan", "--format", "json")
    plan = json.loads(at.out)
    assert status == 0 and plan["rows"] == {"total": 3, "refused": 0, "done": 0, "left": 3}
    assert plan["dollars"]["low"] < plan["dollars"]["likely"] < plan["dollars"]["high"]
    assert not (folder / "home/.local/share/prosa/store.sqlite").exists()


def test_much_needs_a_yes(folder: Path):
    (folder / "many.jsonl").write_text('{"text": "a"}\n' * 1_001)
    (folder / "replies.jsonl").write_text(replies(1_001))
    status, at = batch(folder, "label.md", "--rows", "many.jsonl", *SCRIPT)
    assert status == 2 and "1,001 to run" in at.err and "--yes starts" in at.err
    status, at = batch(folder, "label.md", "--rows", "many.jsonl", *SCRIPT, "--yes")
    assert status == 0 and len(at.out.splitlines()) == 1_001


def test_the_history_lists_no_rows_and_a_query_has_them(folder: Path):
    batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT)
    environ = user(folder)
    assert json.loads(prosa("runs", "--format", "json", environ=environ)[1].out)["runs"] == []
    text = "SELECT number, runs.state, door FROM runs JOIN batches ON batches.id = runs.call ORDER BY number"
    found = json.loads(prosa("query", "--runs", text, "--format", "json", environ=environ)[1].out)
    assert [list(each.values()) for each in found["rows"]] == [[n, "done", "batch"] for n in (1, 2, 3)] or found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("label.md",), "--rows FILE names"),
        (("--status",), "which program, or which batch?"),
        (("nothing", "--status"), "there is no batch 'nothing'"),
        (("label.md", "--rows", "gone.csv"), "no such file"),
        (("gone.md", "--rows", "rows.csv"), "gone.md"),
        (("label.md", "--rows", "rows.csv", "--map", "text"), "expected FIELD=COLUMN"),
        (("label.md", "--rows", "rows.csv", "--map", "text=words"), "no column 'words'"),
        (("label.md", "--rows", "rows.csv", "--query", "SELECT 1"), "is about SQLite"),
        (("label.md", "--rows", "rows.csv", "--status"), "take only its name"),
        (("label.md", "--rows", "rows.csv", "--max-failures", "101%"), "share such as 10%"),
        (("label.md", "--rows", "rows.csv", "--store", "mysql://x/y"), "a store is a file or on"),
    ],
)
def test_wrong_use_is_said(folder: Path, words: tuple[str, ...], said: str):
    status, at = batch(folder, *words, *SCRIPT)
    assert status == 2 and said in at.err and "Traceback" not in at.err


def test_a_batch_whose_program_changed_does_not_go_on_by_its_name(folder: Path):
    batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT)
    (folder / "label.md").write_text(LABEL + "More.\n")
    status, at = batch(folder, "label", "--retry-failed", *SCRIPT)
    assert status == 2 and "its program changed" in at.err


def test_a_full_store_ends_a_batch_in_words(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """X25: what is answered and cannot be kept is not used."""
    batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT, "--limit", "1")
    store = folder / "home/.local/share/prosa/store.sqlite"
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON call BEGIN SELECT RAISE(FAIL, 'no room'); END")
        connection.commit()
    status, at = batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT)
    assert status == 1 and "no room" in at.err and "Traceback" not in at.err


def test_progress_is_one_line():
    at = BatchProgress(wanted=10_000, done=4_172, failed=38, here=310, since=0.0, now=10.0)
    assert progress_line(at, "gpt-4o-mini") == "4,210/10,000 · 38 failed · 31.0/s · 3 min left · gpt-4o-mini"
    assert [duration(each) for each in (5, 600, 7_300)] == ["5 s", "10 min", "2.0 h"]


def test_x9_fewer_rows_run_at_once_where_few_files_may_be_open(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """X9, X29: a limit on open files makes a batch smaller at a time, and that is said; no row fails of it."""
    monkeypatch.setattr("prosa.app.batch.run.limit_of_files", lambda: 45)
    monkeypatch.setattr("prosa.app.batch.run.most_connections", lambda: 2)
    words = ("label.md", "--rows", "rows.csv", "-m", "scripted:replies.jsonl", "--concurrency", "1000")
    status, at = batch(folder, *words)
    assert status == 0, at.err
    assert at.err.count("note: 2 rows at once, and not 1,000: this process may have 45 files open") == 1


def test_x29_rows_of_a_pipe_are_refused_at_once(folder: Path):
    """X29: a pipe that nobody writes to is not waited for; the way on is named."""
    os.mkfifo(folder / "pipe.jsonl")
    status, at = batch(folder, "label.md", "--rows", "pipe.jsonl", *SCRIPT)
    assert status == 2 and "pipe.jsonl is not a regular file, and rows are read twice" in at.err
    assert "--rows - < pipe.jsonl" in at.err


def test_x29_a_disk_that_is_full_is_named_and_the_next_call_writes(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """X29: the message names the file; the rows are done, and asked no more."""
    words = ("label.md", "--rows", "rows.csv", *SCRIPT, "--output", "out.jsonl")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("prosa.adapters.files.write._write_all", full)
        status, at = batch(folder, *words)
    assert status == 1 and "error: out.jsonl: No space left on device" in at.err
    (folder / "replies.jsonl").write_text("")
    status, at = batch(folder, *words)
    assert status == 0 and len((folder / "out.jsonl").read_text().splitlines()) == 3


def test_x29_columns_that_are_left_out_are_named_once(folder: Path):
    status, at = batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT)
    assert status == 0 and at.err.count("are ignored: key") == 1


def test_a_batch_that_is_done_is_not_cancelled(folder: Path):
    assert batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT)[0] == 0
    before = batch(folder, "label", "--status", "--format", "json")[1].out
    status, at = batch(folder, "label", "--cancel")
    name = json.loads(before)["name"]
    assert (status, at.err) == (0, f"{name}: is done; nothing is left to cancel\n")
    assert batch(folder, "label", "--status", "--format", "json")[1].out == before
    assert json.loads(before)["state"] == "done"


def test_the_cost_of_rows_without_a_price_is_unknown(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("prosa.adapters.providers.prices.KnownPrices.knows_at_once", lambda *_: False)
    status, at = batch(folder, "label.md", "--rows", "rows.csv", *SCRIPT)
    assert status == 0 and {json.loads(each)["cost"] for each in at.out.splitlines()} == {None}
    assert json.loads(batch(folder, "label", "--status", "--format", "json")[1].out)["cost"] is None
    assert [each["cost"] for each in json.loads(batch(folder, "--format", "json")[1].out)] == [None]


@pytest.mark.parametrize(("at_once", "waits"), [("1", False), ("2", True)])
def test_the_writes_of_a_row_that_runs_alone_wait_for_no_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch, at_once: str, waits: bool
):
    do, within = Writer.do, set[float]()

    def noted(self: Writer, work: Work[Any], **named: Any) -> Any:
        within.add(named.get("within", 0.0))
        return do(self, work, **named)

    monkeypatch.setattr(Writer, "do", noted)
    words = ("label.md", "--rows", "rows.csv", "-m", "scripted:replies.jsonl", "--concurrency", at_once)
    assert batch(folder, *words)[0] == 0
    assert (MOMENT in within) == waits
