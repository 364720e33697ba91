"""What the store has of tests: the test itself, its suites, and every attempt (X25, X37).

In: records. Out: pieces of work for the writer, and what is read. An attempt is written as soon as it is over, so that
a page can show how a test is going, and a killed test keeps what it paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import convert
from msgspec.structs import astuple, replace

from prosa.adapters.store.database import deferred
from prosa.adapters.store.runs import TakenOver, require_token, stored
from prosa.data import Value
from prosa.records.test import AttemptRow, SuiteRow, TestFilter, TestRecord, TestState, TrendPoint

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database

TEST_COLUMNS = TestRecord.__struct_fields__
SUITE_COLUMNS = SuiteRow.__struct_fields__
ATTEMPT_COLUMNS = AttemptRow.__struct_fields__


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608


_INSERT_TEST = _insert("test", TEST_COLUMNS)
_INSERT_SUITE = _insert("suite", SUITE_COLUMNS)
_INSERT_ATTEMPT = _insert("attempt", ATTEMPT_COLUMNS)
_TEST = f"SELECT {', '.join(TEST_COLUMNS)} FROM test"  # noqa: S608 - names of ours
_LISTED = ", ".join("'[]'" if name == "heads" else name for name in TEST_COLUMNS)
_FLAGS = ("changed", "lower", "passed")


@deferred
def begin_test(connection: Database, test: TestRecord, suites: Sequence[SuiteRow], holder: Callable[[], str]) -> None:
    """Record the start of a test; ``holder`` names this process once the store is open."""
    connection.execute(_INSERT_TEST, stored(astuple(replace(test, holder=holder()))))
    connection.executemany(_INSERT_SUITE, [stored(astuple(suite)) for suite in suites])


@deferred
def put_attempt(
    connection: Database, attempt: AttemptRow, holder: Callable[[], str], cost: float | None = None
) -> None:
    """Record an attempt that is over, and what is known of its cost. Raises `TakenOver` where the test was forgotten
    meanwhile."""
    _require_held(connection, attempt.test, holder())
    connection.execute(_INSERT_ATTEMPT, stored(astuple(attempt)))
    failed, unmeasured = attempt.outcome == "failed", attempt.outcome not in ("passed", "failed")
    text = "UPDATE test SET done = done + 1, failed = failed + ?, unmeasured = unmeasured + ? WHERE id = ?"
    connection.execute(text, (int(failed), int(unmeasured), attempt.test))
    if cost is not None:
        text = "UPDATE test SET cost = COALESCE(cost, 0) + ? WHERE id = ?"
        connection.execute(text, (cost, attempt.test))
    passed = attempt.outcome == "passed"
    text = (
        "UPDATE suite SET passed = passed + ?, measured = measured + ?, unmeasured = unmeasured + ?"
        " WHERE test = ? AND number = ?"
    )
    connection.execute(text, (int(passed), int(not unmeasured), int(unmeasured), attempt.test, attempt.suite))


@deferred
def end_test(
    connection: Database,
    test: str,
    state: TestState,
    holder: Callable[[], str],
    *,
    ended: str,
    passed: bool,
    cost: float | None,
    costs: Sequence[float | None],
) -> None:
    """Record the end of a test; ``costs`` are those of its suites."""
    _require_held(connection, test, holder())
    text = "UPDATE test SET state = ?, ended = ?, passed = ?, cost = ? WHERE id = ?"
    connection.execute(text, (state, ended, int(passed), cost, test))
    rows = [(amount, test, number) for number, amount in enumerate(costs)]
    connection.executemany("UPDATE suite SET cost = ? WHERE test = ? AND number = ?", rows)


def _require_held(connection: Database, test: str, holder: str) -> None:
    gone = f"test {test} is no longer in the store: it was deleted while it was in progress"
    taken = f"another process has test {test}"
    text = "SELECT 1 FROM test WHERE id = ?"

    def lost() -> TakenOver:
        return TakenOver(gone if connection.execute(text, (test,)).fetchone() is None else taken)

    require_token(connection, f"{text} AND holder = ?", (test, holder), lost)


def tests(connection: Database, chosen: TestFilter) -> list[TestRecord]:
    """Return the tests that are meant, those that started last first, without what they tried."""
    conditions: list[tuple[str, tuple[str, ...]]] = []
    if chosen.since is not None:
        conditions.append(("started >= ?", (chosen.since,)))
    if chosen.text is not None:
        like = f"%{_literal(chosen.text.lower())}%"
        text = (
            "(test.id LIKE ? ESCAPE '!' OR EXISTS (SELECT 1 FROM suite WHERE suite.test = test.id"
            " AND (LOWER(suite.path) LIKE ? ESCAPE '!' OR LOWER(suite.label) LIKE ? ESCAPE '!')))"
        )
        conditions.append((text, (like, like, like)))
    if chosen.subject is not None:
        text = "EXISTS (SELECT 1 FROM suite WHERE suite.test = test.id AND ? IN (suite.path, suite.file, suite.label))"
        conditions.append((text, (chosen.subject,)))
    if chosen.below is not None:
        conditions.append(("(started, id) < (?, ?)", chosen.below))
    where = f" WHERE {' AND '.join(clause for clause, _ in conditions)}" if conditions else ""
    values: list[str | int] = [value for _, some in conditions for value in some]
    text = f"SELECT {_LISTED} FROM test{where} ORDER BY started DESC, id DESC"  # noqa: S608
    if chosen.limit is not None:
        text, values = f"{text} LIMIT ?", [*values, chosen.limit]
    return [_test(row) for row in connection.execute(text, values)]


def _literal(text: str) -> str:
    for char in "!%_":
        text = text.replace(char, f"!{char}")
    return text


def suites_of(connection: Database, ids: Sequence[str]) -> dict[str, list[SuiteRow]]:
    """Return the suites of some tests, by test."""
    by_test: dict[str, list[SuiteRow]] = {test: [] for test in ids}
    for test in ids:
        text = f"SELECT {', '.join(SUITE_COLUMNS)} FROM suite WHERE test = ? ORDER BY number"  # noqa: S608
        for row in connection.execute(text, (test,)):
            values = dict(zip(SUITE_COLUMNS, row, strict=True))
            by_test[test].append(convert(values | {"baseline": bool(values["baseline"])}, SuiteRow))
    return by_test


def test_of(connection: Database, name: str) -> list[TestRecord]:
    """Return the test of an id, or those whose id begins so; at most ten."""
    exact = connection.execute(f"{_TEST} WHERE id = ?", (name,)).fetchall()
    between = (name, f"{name}\uffff")
    rows = exact or connection.execute(f"{_TEST} WHERE id >= ? AND id < ? ORDER BY id LIMIT 10", between).fetchall()
    return [_test(row) for row in rows]


def last_test(connection: Database) -> list[TestRecord]:
    """Return the test that started last, if there is one."""
    rows = connection.execute(f"{_TEST} ORDER BY started DESC, id LIMIT 1").fetchall()
    return [_test(row) for row in rows]


def attempts_of(connection: Database, test: str) -> list[AttemptRow]:
    """Return the attempts of a test by their place."""
    text = f"SELECT {', '.join(ATTEMPT_COLUMNS)} FROM attempt WHERE test = ? ORDER BY suite, number, repeat"  # noqa: S608
    return [AttemptRow(*row) for row in connection.execute(text, (test,))]


def trend_of(connection: Database, file: str, label: str, before: str, most: int) -> list[TrendPoint]:
    """Return how a suite came out in the last tests up to a moment, oldest first, of those with a result."""
    text = (
        "SELECT test.id, test.started, test.revision, test.changed, suite.passed, suite.measured, suite.unmeasured,"
        " suite.cost FROM suite JOIN test ON test.id = suite.test WHERE suite.file = ? AND suite.label = ?"
        " AND test.started <= ? AND suite.measured > 0 ORDER BY test.started DESC, test.id LIMIT ?"
    )
    rows = connection.execute(text, (file, label, before, most)).fetchall()
    return [_point(*row) for row in reversed(rows)]


def _point(
    test: str,
    started: str,
    revision: str,
    changed: int,
    passed: int,
    measured: int,
    unmeasured: int,
    cost: float | None,
) -> TrendPoint:
    return TrendPoint(test, started, revision, bool(changed), passed, measured, unmeasured, cost)


def last_outcomes(connection: Database, file: str, most: int) -> dict[str, bool]:
    """Return whether each case of a file passed in the last test that ran it, by its name, of the last tests of the
    file. Baselines do not count."""
    text = (
        "SELECT DISTINCT test.id, test.started FROM test JOIN suite ON suite.test = test.id"
        " WHERE suite.file = ? AND suite.baseline = 0 ORDER BY test.started DESC LIMIT ?"
    )
    outcomes: dict[str, bool] = {}
    for test, _ in connection.execute(text, (file, most)).fetchall():
        rows = connection.execute(
            "SELECT attempt.name, SUM(CASE WHEN attempt.outcome = 'passed' THEN 0 ELSE 1 END) FROM attempt"
            " JOIN suite ON suite.test = attempt.test AND suite.number = attempt.suite"
            " WHERE attempt.test = ? AND suite.file = ? AND suite.baseline = 0 GROUP BY attempt.name",
            (test, file),
        )
        for name, not_passed in rows.fetchall():
            outcomes.setdefault(name, not not_passed)
    return outcomes


def _test(row: Sequence[Value]) -> TestRecord:
    """Raise `ValidationError` for what no store of ours ever wrote."""
    values = dict(zip(TEST_COLUMNS, row, strict=True))
    for name in _FLAGS:
        values[name] = None if values[name] is None else bool(values[name])
    return convert(values, TestRecord)
