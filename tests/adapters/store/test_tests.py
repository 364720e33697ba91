"""X25, X37. What both stores keep of tests, by the same tests: a file of SQLite and a server."""

from __future__ import annotations

from contextlib import closing

import pytest
from msgspec.structs import replace

from prosa.adapters.store import tests as stored
from prosa.adapters.store.opening import open_reader
from prosa.adapters.store.runs import TakenOver
from prosa.records.run import StorePlace
from prosa.records.test import AttemptRow, SuiteRow, TestFilter, TestRecord, TrendPoint
from tests.app.journal.test_store import write


def record(name: str = "t1", started: str = "2026-01-01T00:00:00.000Z") -> TestRecord:
    return TestRecord(name, "test", "/here", "c0ffee", True, "1.0", started, "[]", False, 2, host="there")


def suite(name: str, number: int = 0, *, baseline: bool = False) -> SuiteRow:
    return SuiteRow(name, number, "/here/a.test.md", "a.test.md", "100 % _b!" if not number else "without", baseline)


def attempt(name: str, case: str, outcome: str, *, number: int = 0, of: int = 0) -> AttemptRow:
    return AttemptRow(name, of, number, 0, case, outcome, f'{{"case": "{case}"}}', None)


def begin(name: str, started: str) -> list:
    rows = [suite(name), suite(name, 1, baseline=True)]
    return [stored.begin_test(record(name, started), rows, lambda: "h")]


def test_x37_a_test_counts_its_attempts_as_they_end(place: StorePlace):
    write(
        place,
        *begin("t1", "2026-01-01T00:00:00.000Z"),
        stored.put_attempt(attempt("t1", "One", "passed"), lambda: "h"),
        stored.put_attempt(attempt("t1", "Two", "failed", number=1), lambda: "h"),
        stored.put_attempt(attempt("t1", "One", "not measured", of=1), lambda: "h"),
    )
    with closing(open_reader(place)) as connection:
        (found,) = stored.tests(connection, TestFilter())
        assert found == replace(record(), done=3, failed=1, unmeasured=1, holder="h")
        first, second = stored.suites_of(connection, ["t1"])["t1"]
        assert (first.passed, first.measured, first.unmeasured, first.baseline) == (1, 2, 0, False)
        assert (second.passed, second.measured, second.unmeasured, second.baseline) == (0, 0, 1, True)
        assert [each.name for each in stored.attempts_of(connection, "t1")] == ["One", "Two", "One"]
    end = stored.end_test(
        "t1", "done", lambda: "h", ended="2026-01-01T00:00:09.000Z", passed=False, cost=None, costs=[0.5, None]
    )
    write(place, end)
    with closing(open_reader(place)) as connection:
        (found,) = stored.test_of(connection, "t")
        assert (found.state, found.passed, found.cost, found.heads) == ("done", False, None, "[]")
        assert [each.cost for each in stored.suites_of(connection, ["t1"])["t1"]] == [0.5, None]
        assert stored.trend_of(connection, "/here/a.test.md", "100 % _b!", "2027", 9) == [
            TrendPoint("t1", record().started, "c0ffee", True, 1, 2, 0, 0.5)
        ]


def test_x37_the_last_outcome_of_each_case_counts_and_no_baseline(place: StorePlace):
    first, second = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"
    write(
        place,
        *begin("t2", second),
        *begin("t1", first),
        stored.put_attempt(attempt("t1", "One", "failed"), lambda: "h"),
        stored.put_attempt(attempt("t1", "Two", "failed", number=1), lambda: "h"),
        stored.put_attempt(attempt("t2", "One", "passed"), lambda: "h"),
        stored.put_attempt(attempt("t2", "Three", "failed", number=1, of=1), lambda: "h"),
    )
    with closing(open_reader(place)) as connection:
        assert stored.last_outcomes(connection, "/here/a.test.md", 10) == {"One": True, "Two": False}
        assert stored.last_outcomes(connection, "/here/b.test.md", 10) == {}
        assert [each.id for each in stored.last_test(connection)] == ["t2"]


@pytest.mark.parametrize(("text", "found"), [("00 %", 2), ("% _", 2), ("_b!", 2), ("x_", 0), ("a.TEST", 2), ("%a", 0)])
def test_x37_a_part_of_a_path_or_a_label_finds_tests(place: StorePlace, text: str, found: int):
    """What is special in LIKE is not in a part of a text; case does not matter in either store."""
    write(place, *begin("t1", "2026-01-01T00:00:00.000Z"), *begin("t2", "2026-01-02T00:00:00.000Z"))
    with closing(open_reader(place)) as connection:
        assert len(stored.tests(connection, TestFilter(text=text))) == found
        assert len(stored.tests(connection, TestFilter(text=text, limit=1))) == min(found, 1)
        assert len(stored.tests(connection, TestFilter(since="2026-01-02"))) == 1


def test_x25_a_test_that_was_forgotten_takes_no_more_attempts(place: StorePlace):
    with pytest.raises(TakenOver, match="no longer in the store"):
        write(place, stored.put_attempt(attempt("t1", "One", "passed"), lambda: "h"))
    write(place, *begin("t1", "2026-01-01T00:00:00.000Z"))
    with pytest.raises(TakenOver, match="another process"):
        write(place, stored.put_attempt(attempt("t1", "One", "passed"), lambda: "other"))
