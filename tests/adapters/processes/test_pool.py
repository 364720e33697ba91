"""Processes that share out work: order, one worker, a worker that dies; forked, and where they cannot be."""

from __future__ import annotations

import gc
import os
import signal
import threading
import weakref
from multiprocessing import get_context

import pytest

from prosa.adapters.processes import Pool, worker_count
from prosa.adapters.processes.forked import TICKETS
from tests.depth import DEEP


@pytest.fixture(params=[True, False], autouse=True)
def forking(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test holds for forked processes and for those that are started in another way."""
    monkeypatch.setattr("prosa.adapters.processes.pool.FORKING", request.param)


FRESH = pytest.mark.parametrize("forking", [True, False] if DEEP else [False], indirect=True)
"""Fresh workers are never forked, wherever this runs."""


def double(number: int) -> tuple[int, int]:
    return number * 2, os.getpid()


def die_once(number: int) -> int:
    """Ends a worker of another process; does its work in the first one."""
    if number == 3 and os.getpid() != FIRST:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def refuse(number: int) -> int:
    raise ValueError(f"no {number}")


FIRST = os.getpid()
LOCK = threading.Lock()


def locked_and_double(number: int) -> tuple[bool, int]:
    return LOCK.locked(), number * 2


def test_results_come_in_order_from_other_processes():
    results = list(Pool(2).map(double, range(20)))
    assert [value for value, _ in results] == [number * 2 for number in range(20)]
    assert os.getpid() not in {process for _, process in results}


@pytest.mark.parametrize(("count", "jobs"), [(1, [1, 2]), (4, [1]), (4, [])])
def test_one_worker_or_one_job_stays_here(count: int, jobs: list[int]):
    assert [process for _, process in Pool(count).map(double, jobs)] == [os.getpid()] * len(jobs)


@FRESH
def test_fresh_workers_do_the_same_and_inherit_no_lock_that_a_thread_holds():
    with LOCK:
        results = list(Pool(2, fresh=True).map(locked_and_double, range(6)))
    assert [locked for locked, _ in results] == [False] * 6
    assert [value for _, value in results] == [number * 2 for number in range(6)]


def test_a_worker_that_dies_takes_nothing_along():
    assert list(Pool(2).map(die_once, range(8))) == list(range(8))


def test_an_error_of_the_work_is_raised_here():
    with pytest.raises(ValueError, match="no 0"):
        list(Pool(2).map(refuse, range(3)))


def test_there_is_at_least_one_worker():
    assert worker_count() >= 1


def both(number: int) -> tuple[int, int]:
    """Waits, in this process and in the other one, until both are at work."""
    (HERE if os.getpid() == FIRST else THERE).set()
    assert HERE.wait(timeout=120)
    assert THERE.wait(timeout=120)
    return number, os.getpid()


HERE, THERE = get_context("fork").Event(), get_context("fork").Event()


def test_this_process_works_too_where_it_is_one_of_them():
    HERE.clear()
    THERE.clear()
    results = list(Pool(2, here=True).map(both, range(8)))
    assert [number for number, _ in results] == list(range(8))
    assert {process == FIRST for _, process in results} == {True, False}


def test_a_worker_that_dies_takes_nothing_along_where_this_process_works_too():
    assert list(Pool(3, here=True).map(die_once, range(12))) == list(range(12))


def refuse_last(number: int) -> int:
    if number in (0, 7):
        raise ValueError(f"no {number}")
    return number


def test_an_error_of_the_work_is_raised_whoever_does_it():
    with pytest.raises(ValueError, match=r"no [07]"):
        list(Pool(2, here=True).map(refuse_last, range(8)))


@FRESH
def test_fresh_workers_and_this_process_share_out_work():
    assert [value for value, _ in Pool(2, fresh=True, here=True).map(double, range(6))] == [
        number * 2 for number in range(6)
    ]


@pytest.mark.parametrize("here", [True, False])
def test_who_stops_asking_ends_the_work(here: bool):
    results = Pool(2, here=here).map(double, range(1000))
    assert next(results)[0] == 0
    results.close()


class Rows:
    """A result that can be watched."""


def rows(_: int) -> Rows:
    return Rows()


def test_a_result_that_was_given_is_not_kept():
    given: list[weakref.ref[Rows]] = []
    for result in Pool(2).map(rows, range(8)):
        given.append(weakref.ref(result))
        del result
        gc.collect()
        assert sum(each() is not None for each in given) <= 1
    assert len(given) == 8


def test_more_jobs_than_tickets_are_all_done():
    count = 2 * TICKETS + 7
    assert [value for value, _ in Pool(3).map(double, range(count))] == [number * 2 for number in range(count)]


def large(number: int) -> bytes:
    return bytes([number]) * 3_000_000


def test_results_that_no_pipe_holds_come_whole():
    assert [(each[0], len(each)) for each in Pool(3, here=True).map(large, range(6))] == [
        (number, 3_000_000) for number in range(6)
    ]
