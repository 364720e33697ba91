"""`time.sleep` that waits in the host, where the deadline of the run can end it; and a clear word about threads.

A wait inside WASI cannot be interrupted: an interpreter in a host call does not see its deadline.
"""

from __future__ import annotations

import _thread
import threading
import time

import wit_world

from prosa_guest import streams

LONGEST = 2**32 - 1
"""Milliseconds; far beyond every deadline."""


def sleep(seconds, /) -> None:
    """Waits ``seconds``, like `time.sleep`."""
    milliseconds = seconds * 1000
    if milliseconds < 0:
        raise ValueError("sleep length must be non-negative")
    streams.hand_over()
    wit_world.pause(int(min(milliseconds, LONGEST)))


def _no_threads(*_args, **_kwargs):
    raise RuntimeError("can't start new thread: threads are not available in the Prosa sandbox")


def install() -> None:
    """Replaces the waiting and thread-starting functions of the standard library."""
    time.sleep = sleep
    _thread.start_new_thread = _no_threads
    _thread.start_joinable_thread = _no_threads
    threading._start_joinable_thread = _no_threads
