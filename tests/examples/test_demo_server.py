"""The server of the tour: waited for, read from, and stopped whichever way the tour ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from prosa.cli.demo.site import NoServer, served
from tests.adapters.mcp.support import wait_until

# A child that says where it is, writes what it is told by a signal into a file, and ends well.
CHILD = """
import pathlib, signal, sys, time
def stop(number, frame):
    pathlib.Path("stopped").write_text(str(number))
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("INFO: loading", file=sys.stderr)
print("serving ferries/pages at http://127.0.0.1:4321/ (Ctrl-C stops)", file=sys.stderr, flush=True)
{then}
pathlib.Path("ready").touch()
while True:
    time.sleep(0.05)  # `signal.pause` would miss a signal that comes just before it
"""


def child(then: str = "") -> tuple[str, ...]:
    return (sys.executable, "-c", CHILD.format(then=then))


def ready(folder: Path) -> None:
    assert wait_until((folder / "ready").exists)


def told(folder: Path) -> str:
    """The signal that stopped the child."""
    return (folder / "stopped").read_text("utf-8")


def test_the_url_is_that_of_the_ready_line_and_the_server_is_asked_to_stop(tmp_path: Path):
    with served(child(), os.environ, tmp_path) as url:
        assert url == "http://127.0.0.1:4321"
        ready(tmp_path)
        assert not (tmp_path / "stopped").exists()
    assert told(tmp_path) == str(int(signal.SIGTERM))


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_the_server_is_stopped_after_a_failure_and_after_ctrl_c(error: type[BaseException], tmp_path: Path):
    with pytest.raises(error), served(child(), os.environ, tmp_path):
        ready(tmp_path)
        raise error
    assert told(tmp_path) == str(int(signal.SIGTERM))


def test_a_server_with_much_to_say_goes_on(tmp_path: Path):
    with served(child('print("x" * 99 * 10_000, file=sys.stderr)'), os.environ, tmp_path):
        ready(tmp_path)
    assert told(tmp_path)


def test_a_server_that_ends_is_no_server_and_its_words_are_kept(tmp_path: Path):
    command = (sys.executable, "-c", "import sys; sys.exit('error: no such folder')")
    with pytest.raises(NoServer, match="no such folder"), served(command, os.environ, tmp_path):
        pytest.fail("there is no server")


def test_a_server_that_is_silent_is_no_server(tmp_path: Path):
    command = (sys.executable, "-c", "import signal; signal.pause()")
    with pytest.raises(NoServer), served(command, os.environ, tmp_path, seconds=0.2):
        pytest.fail("there is no server")


def test_what_kills_the_tour_stops_the_server_first(tmp_path: Path):
    """The tour is a process of its own here, and gets the signal of `kill`."""
    tour = f"""
import os, signal
from pathlib import Path
from prosa.cli.demo.site import served
with served({child()!r}, os.environ, Path({str(tmp_path)!r})):
    signal.pause()
"""
    process = subprocess.Popen([sys.executable, "-c", tour], stderr=subprocess.PIPE, text=True)
    ready(tmp_path)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1 and "stopped by signal 15" in errors
    assert told(tmp_path) == str(int(signal.SIGTERM))
