"""Processes that share out work: order, one worker, a worker that dies."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from prosa.adapters.processes import Pool, worker_count


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


def is_locked(_: int) -> bool:
    return LOCK.locked()


def test_results_come_in_order_from_other_processes():
    results = list(Pool(2).map(double, range(20)))
    assert [value for value, _ in results] == [number * 2 for number in range(20)]
    assert os.getpid() not in {process for _, process in results}


@pytest.mark.parametrize(("count", "jobs"), [(1, [1, 2]), (4, [1]), (4, [])])
def test_one_worker_or_one_job_stays_here(count: int, jobs: list[int]):
    assert [process for _, process in Pool(count).map(double, jobs)] == [os.getpid()] * len(jobs)


def test_fresh_workers_do_the_same_and_inherit_no_lock_that_a_thread_holds():
    with LOCK:
        assert list(Pool(2, fresh=True).map(is_locked, range(4))) == [False] * 4
    assert [value for value, _ in Pool(2, fresh=True).map(double, range(6))] == [number * 2 for number in range(6)]


def test_a_worker_that_dies_takes_nothing_along():
    assert list(Pool(2).map(die_once, range(8))) == list(range(8))


def test_an_error_of_the_work_is_raised_here():
    with pytest.raises(ValueError, match="no 0"):
        list(Pool(2).map(refuse, range(3)))


def test_there_is_at_least_one_worker():
    assert worker_count() >= 1
