"""X25, X10. `prosa runs` and `prosa query --runs`: what was run, compared, counted, forgotten."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from prosa.adapters.store import runs
from prosa.adapters.store.opening import open_reader, open_store
from prosa.app.journal.history import forget, listed, moment
from prosa.records.run import CallRecord, RunFilter, RunRecord, first_difference, last_attempts, path_key
from prosa.render.runs import run_tree
from prosa.runtime.digest import stamp
from tests.app.journal.runs import rows
from tests.cli.programs import ANSWER, configured, program, prosa, script, user
from tests.model_server.fixture import model_server

__all__ = ["model_server"]

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TWO = ({"tool_calls": [{"name": "python", "arguments": {"code": "print(1)"}}]}, ANSWER)


@pytest.fixture
def home(tmp_path):
    return user(tmp_path, PROSA_CONFIG_DIR=configured(tmp_path, 'history = "full"\n'))


def ran(folder, home, *replies, text="text=a"):
    prosa("run", program(folder), text, "--model", script(folder, *replies), environ=home)
    (latest,) = objects(home, "--limit", "1")
    return latest["id"]


def objects(home, *argv):
    status, at = prosa("runs", *argv, "--format", "jsonl", environ=home)
    assert status == 0, at.err
    return [json.loads(line) for line in at.out.splitlines()]


def test_x25_runs_are_listed_shown_and_chosen(tmp_path, home):
    assert prosa("runs", environ=home)[1].err == "no runs\n"
    one = ran(tmp_path, home)
    bad = ran(tmp_path, home, {"content": {"words": 1.5}})
    assert [each["id"] for each in objects(home)] == [bad, one]
    assert [each["id"] for each in objects(home, "--failed")] == [bad]
    assert [each["id"] for each in objects(home, "--program", "count")] == [bad, one]
    assert [each["id"] for each in objects(home, "--program", str(tmp_path / "count.md"))] == [bad, one]
    assert objects(home, "--program", "other") == []
    assert objects(home, "--since", "2099-01-01") == []
    assert len(objects(home, "--since", "1h")) == 2
    _, at = prosa("runs", "--limit", "1", environ=home)
    assert bad in at.out and one not in at.out
    assert "there are more than 1 runs; --limit N lists more of them" in at.err
    (shown,) = objects(home, one[:7])
    assert (shown["output"], shown["calls"][0]["path"]) == ({"words": 2}, "1")
    assert (shown["input_tokens"], shown["output_tokens"]) == (150, 75)
    assert "again" not in shown and "holder" not in shown


def test_x25_a_run_is_a_tree_of_its_calls(tmp_path, home):
    run = ran(tmp_path, home, *TWO)
    _, at = prosa("runs", run, environ=home)
    lines = at.out.splitlines()
    assert lines[0] == f"run {run}: count with gpt-4o, done"
    paths = [line for line in lines if line.strip().startswith(("1", "2"))]
    assert [line.split()[0] for line in paths] == ["1", "1.0", "2"]
    assert paths[1].startswith("    1.0  python (python)")


def test_x25_two_runs_are_compared_to_their_first_difference(tmp_path, home):
    first, same = ran(tmp_path, home, *TWO), ran(tmp_path, home, *TWO)
    _, at = prosa("runs", first, same, environ=home)
    assert "no difference: the same calls, with the same answers" in at.out
    other_input = ran(tmp_path, home, *TWO, text="text=b")
    _, at = prosa("runs", first, other_input, environ=home)
    assert "first difference at call 1: what the model was asked" in at.out
    assert "Count a" in at.out and "Count b" in at.out
    other_code = ({"tool_calls": [{"name": "python", "arguments": {"code": "print(2)"}}]}, ANSWER)
    other = ran(tmp_path, home, *other_code)
    _, at = prosa("runs", first, other, "--format", "json", environ=home)
    found = json.loads(at.out)["difference"]
    assert (found["path"], found["what"]) == ("1", "answer")
    shorter = ran(tmp_path, home)
    assert (
        json.loads(prosa("runs", first, shorter, "--format", "json", environ=home)[1].out)["difference"]["path"] == "1"
    )


def call(path, kind="model", name="m", digest="d", answer="a", **values):
    return CallRecord("r", path, 1, kind, "p", name, digest, "", "answered", answer, **values)


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ([call("1")], [call("1")], None),
        ([call("1"), call("1.0", "python", "python")], [call("1"), call("1.0", "mcp", "x")], ("1.0", "tool")),
        ([call("1.0", "python")], [call("1.0", "python", digest="e")], ("1.0", "arguments")),
        ([call("10", answer="x"), call("2")], [call("10"), call("2", digest="e")], ("2", "message")),
        ([call("1"), call("2")], [call("1")], ("2", "missing")),
        ([call("1.1/1", answer="x"), call("2")], [call("1.1/1"), call("2", answer="x")], ("1.1/1", "answer")),
    ],
)
def test_x25_the_first_difference_is_that_of_the_first_path(left, right, found):
    difference = first_difference(left, right)
    assert (difference and (difference.path, difference.what)) == found


def test_x25_paths_sort_as_calls_follow_each_other():
    paths = ["1", "1.0", "1.0/1", "1.0/1.0", "1.0/2", "1.1", "1.2/1", "1.10", "2", "10"]
    assert sorted(set(paths), key=path_key) == paths


def test_x25_history_is_forgotten_by_age(tmp_path, home):
    one = ran(tmp_path, home)
    assert prosa("runs", "--forget", "30d", environ=home)[1].out == "0 runs forgotten\n"
    assert prosa("runs", "--forget", "2099-01-01", "--dry-run", environ=home)[1].out == "1 run would be forgotten\n"
    assert [each["id"] for each in objects(home)] == [one]
    assert prosa("runs", "--forget", "2099-01-01T10:00:00Z", environ=home)[1].out == "1 run forgotten\n"
    assert objects(home) == []
    with closing(sqlite3.connect(Path(home["HOME"]) / ".local/share/prosa/store.sqlite")) as connection:
        assert connection.execute("SELECT COUNT(*) FROM call").fetchone() == (0,)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["a", "b", "c"], "one run is shown, or two are compared"),
        (["a", "--failed"], "--failed chooses among all runs"),
        (["--forget", "soon"], "--forget soon: that is not a moment"),
        (["--since", "yesterday"], "--since yesterday: that is not a moment"),
        (["--forget", "1d", "--failed"], "without ids and filters"),
        (["--dry-run"], "--dry-run needs --forget"),
        (["--limit", "0"], "'0' is not a number from 1"),
        (["--store", "mysql://host/db"], "a store is a file or on PostgreSQL"),
        (["--store", "."], "is a folder; name a file in it"),
    ],
)
def test_x25_wrong_use_is_said(home, argv, said):
    status, at = prosa("runs", *argv, environ=home)
    assert (status, at.out) == (2, "") and said in at.err


def test_x25_a_store_that_cannot_be_read_is_a_sentence(tmp_path, home):
    (tmp_path / "x").write_bytes(b"no database at all, whatever its length may be" * 99)
    for argv in (["runs"], ["runs", "abc"], ["runs", "--forget", "1d"], ["query", "--runs", "SELECT 1"]):
        status, at = prosa(*argv, "--store", tmp_path / "x", environ=home)
        assert status == 1 and at.err.startswith(f"error: the store {tmp_path / 'x'} is not an SQLite file"), argv
    status, at = prosa("runs", "abc", environ=home)
    assert (status, at.err.splitlines()[0]) == (1, "error: there is no run 'abc' in the store")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7d", NOW - timedelta(days=7)),
        ("12h", NOW - timedelta(hours=12)),
        ("30m", NOW - timedelta(minutes=30)),
        ("2026-02-01T10:00:00Z", datetime(2026, 2, 1, 10, tzinfo=UTC)),
        ("2026-02-01T10:00:00+02:00", datetime(2026, 2, 1, 8, tzinfo=UTC)),
    ],
)
def test_x25_a_moment_is_an_age_or_a_date(text, expected):
    assert moment(text, NOW) == stamp(expected)


@pytest.mark.parametrize("text", ["", "soon", "d", "7 weeks", "99999999999d", "2026-13-01", "12"])
def test_x25_anything_else_is_no_moment(text):
    if text == "99999999999d":
        assert moment(text, NOW) < stamp(NOW)
        return
    with pytest.raises(ValueError):
        moment(text, NOW)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9999-12-31T12:00Z", "9999-12-31T12:00:00.000Z"),
        ("9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59.999Z"),
        ("0001-01-01T00:00+14:00", "0001-01-01T00:00:00.000Z"),
        ("9999999999h", stamp(NOW - timedelta(days=100_000))),
        ("99999999999d", stamp(NOW - timedelta(days=100_000))),
    ],
)
def test_x25_a_moment_may_be_any_of_the_calendar(text, expected):
    """Some are outside of it in UTC, such as the last day in a zone behind it; no age is too large."""
    assert moment(text, NOW) == expected


@pytest.mark.parametrize("zone", ["<-12>12", "<+14>-14"])
def test_x25_any_day_is_one_wherever_the_machine_is(tmp_path, zone, monkeypatch):
    with monkeypatch.context() as there:
        there.setenv("TZ", zone)
        time.tzset()
        for day in ("9999-12-31", "9999-12-31T23:00", "0001-01-01"):
            assert prosa("runs", "--since", day, environ=user(tmp_path))[0] == 0
            assert prosa("mail", "to", "--since", day, environ=user(tmp_path))[0] == 0
    time.tzset()


def many(path, number):
    """A store of that many runs with two calls each, every hundredth failed."""
    with closing(open_store(path)) as connection:
        connection.execute("BEGIN")
        for n in range(number):
            at = stamp(NOW + timedelta(seconds=n))
            state = "failed" if n % 100 == 0 else "done"
            run = RunRecord(
                f"{n:012x}", "run", f"{n:012x}", "p", f"program{n % 50}", f"/p{n % 50}.md", "[]", "m", "0", at
            )
            connection.execute(runs._INSERT_RUN.single(""), _row(run, state=state, output='{"n": 1}', whole=0))
        connection.execute("COMMIT")


def _row(run, **changes):
    return [changes.get(name, getattr(run, name)) for name in run.__struct_fields__]


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    path = tmp_path_factory.mktemp("crowded") / "store.sqlite"
    many(path, 20_000)
    return path


@pytest.mark.parametrize(
    "chosen",
    [
        RunFilter(limit=50),
        RunFilter(failed=True, limit=50),
        RunFilter(program="program7", limit=50),
        RunFilter(program="/p7.md", limit=50),
        RunFilter(since=stamp(NOW + timedelta(seconds=19_000)), limit=50),
        RunFilter(program="program0", failed=True, since=stamp(NOW), limit=50),
    ],
    ids=["all", "failed", "program", "file", "since", "together"],
)
def test_x25_a_list_reads_an_index_however_many_runs_there_are(crowded, chosen):
    """Counted in instructions of SQLite, which a loaded machine does not change: far below one for each run."""
    found = listed(crowded, chosen)
    assert 0 < len(found.runs) <= 50
    steps = 0

    def step():
        nonlocal steps
        steps += 1

    with closing(open_reader(crowded)) as connection:
        connection.set_progress_handler(step, 1)
        assert len(runs.runs(connection, chosen)) == len(found.runs)
    assert steps < 20_000


def test_x25_forgetting_leaves_what_still_goes_on(crowded, tmp_path):
    from prosa.adapters.store.writer import Holder

    path = tmp_path / "store.sqlite"
    many(path, 10)
    holder = Holder(path)
    with closing(open_store(path)) as connection:
        connection.execute("UPDATE run SET state = 'open', holder = ? WHERE id = ?", (holder.name, f"{3:012x}"))
    assert forget(path, "2099") == 9
    holder.release()
    assert [each.state for each in listed(path, RunFilter()).runs] == ["interrupted"]
    assert forget(path, "2099") == 1


def test_x25_a_run_that_was_killed_shows_what_it_took_and_how_to_resume_it(tmp_path, home):
    """X25. The totals of a run are written when it ends; a cost so far is not kept: a resumed run adds to it."""
    run = ran(tmp_path, home, *({**each, "usage": {"input_tokens": 1000, "output_tokens": 10}} for each in TWO))
    with closing(sqlite3.connect(tmp_path / "home" / ".local" / "share" / "prosa" / "store.sqlite")) as connection:
        nothing = "calls = 0, tools = 0, input_tokens = 0, output_tokens = 0, ended = NULL, cost = NULL"
        connection.execute(f"UPDATE run SET state = 'open', holder = 'gone', {nothing}")
        connection.execute("UPDATE call SET service = 'https://api.openai.com/v1' WHERE kind = 'model'")
        connection.commit()
    for _ in range(2):
        (listed_run,) = objects(home)
        assert [listed_run[name] for name in ("state", "calls", "tools", "input_tokens", "output_tokens")] == [
            "interrupted", 2, 1, 2000, 20,
        ]  # fmt: skip
        assert listed_run["cost"] == pytest.approx(0.0052)
    text = prosa("runs", run, environ=home)[1].out
    assert "took     2 model calls, 1 tool call, 2,000 → 20 tokens" in text
    assert f"resume   prosa run --resume {run}" in text
    (kept,) = rows(tmp_path / "home", "SELECT cost FROM run")
    assert kept["cost"] is None


@pytest.mark.parametrize(
    ("door", "number", "command"),
    [
        ("run", None, "prosa run --resume b1"),
        ("script", None, "prosa run --resume b1"),
        ("chat", None, "prosa chat --resume b1"),
        ("batch", 3, "prosa batch b1 --retry-failed"),
        ("python", None, None),
        ("serve", None, None),
    ],
)
def test_x25_a_run_is_resumed_by_the_command_that_began_it(door: str, number: int | None, command: str | None):
    run = RunRecord("a1", door, "b1", "", "p", "", "[]", "m", "", "2026-01-01", state="failed", calls=1, number=number)
    mark = "  resume   "
    lines = [line.removeprefix(mark) for line in run_tree(run, ()).splitlines() if line.startswith(mark)]
    assert lines == ([] if command is None else [command])
    assert mark not in run_tree(replace(run, state="open"), ())


def test_x25_a_finished_run_has_nothing_to_resume(tmp_path):
    home = user(tmp_path)
    run = ran(tmp_path, home, *TWO)
    status, at = prosa("run", "--resume", run, environ=home)
    assert status == 2 and at.err.splitlines() == [
        f"error: run {run} is done, and only a summary of it is stored: there is nothing to resume",
        f"  its output: prosa runs {run}",
    ]


def test_x10_x25_a_query_reads_the_views_and_nothing_else(tmp_path, home):
    run = ran(tmp_path, home, *TWO)
    status, at = prosa("query", "--runs", "SELECT id, state, calls FROM runs", "--format", "jsonl", environ=home)
    assert json.loads(at.out) == {"id": run, "state": "done", "calls": 2}
    _, at = prosa("query", "--runs", "SELECT path, kind FROM calls ORDER BY path", "--format", "csv", environ=home)
    assert at.out.split() == ["path,kind", "1,model", "1.0,python", "2,model"]
    for wrong, said in {
        "SELECT * FROM run": "did you mean runs?",
        "SELECT holder FROM runs": "there is no column `holder`",
        "DELETE FROM runs": "a query only reads",
        "ATTACH 'x' AS y": "ATTACH would open another file",
        "PRAGMA user_version": "PRAGMA is not allowed",
        "SELECT sql FROM sqlite_schema": "",
        "SELECT 1; SELECT 2": "more than one statement",
    }.items():
        status, at = prosa("query", "--runs", wrong, environ=home)
        assert (status, at.out) == (2, "") and said in at.err, wrong
    assert prosa("query", "--runs", "SELECT 1", "somewhere", environ=home)[0] == 2
    assert prosa("query", "SELECT 1", "--store", "x", environ=home)[0] == 2


def test_x25_dollars_are_those_of_the_day_and_may_be_asked_for_anew(tmp_path):
    prices = '[prices."gpt-4o"]\ninput = 10\noutput = 20\n'
    home = user(tmp_path, PROSA_CONFIG_DIR=configured(tmp_path, prices))
    ran(tmp_path, home)
    (then,) = objects(home)
    assert then["cost"] == pytest.approx((150 * 10 + 75 * 20) / 1e6) and then["priced"]
    configured(tmp_path, prices.replace("10", "100").replace("20", "200"))
    assert objects(home)[0]["cost"] == then["cost"]
    assert objects(home, "--prices", "now")[0]["cost"] == pytest.approx(then["cost"] * 10)
    assert objects(home)[0]["cost"] == then["cost"]


def test_x25_the_calls_of_several_processes_are_shown_as_they_were_asked_last():
    earlier, later = call("1", answer=None), CallRecord("r", "1", 2, "model", "p", "m", "d", "", "answered", "a")
    assert last_attempts([later, earlier]) == [later]


def test_x25_scripted_runs_are_marked_and_are_no_evidence_for_a_plan(tmp_path, home, model_server):
    """X25, B3: what a script said tells nothing of the tokens of a model; a run that asked a service does."""
    home = {**home, "OPENAI_BASE_URL": model_server.base_url, "OPENAI_API_KEY": "sk-x"}
    path = program(tmp_path)
    for _ in range(3):
        ran(tmp_path, home)
    plan = ("plan", path, "text=a", "--format", "json")
    assert json.loads(prosa(*plan, environ=home)[1].out)["estimate"]["likely"] is None
    assert [each["scripted"] for each in objects(home)] == [True] * 3
    model_server.script({"content": ANSWER["content"], "usage": {"input_tokens": 70, "output_tokens": 9}})
    status, at = prosa("run", path, "text=a", environ=home)
    assert status == 0, at.err
    ran(tmp_path, home)
    likely = json.loads(prosa(*plan, environ=home)[1].out)["estimate"]["likely"]
    assert likely["runs"] == 1 and likely["median"] == likely["p95"], likely
    assert (likely["median"]["tokens_in"], likely["median"]["tokens_out"]) == (70, 9), likely
    assert [each["scripted"] for each in objects(home)] == [True, False, True, True, True]
    _, at = prosa("runs", environ=home)
    assert at.out.count(" (scripted)") == 4
    (asked,) = (each["id"] for each in objects(home) if not each["scripted"])
    assert "not asked" not in prosa("runs", asked, environ=home)[1].out
    scripted = next(each["id"] for each in objects(home) if each["scripted"])
    assert "  model    not called: its replies were scripted" in prosa("runs", scripted, environ=home)[1].out
