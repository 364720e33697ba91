"""The progress of a command on stderr: a status line, the events of a run or of a batch as lines, and as JSON for
`--events`.

In: what is going on, as texts or events. Out: one line that is rewritten in place on a terminal and cleared at the end,
and absent everywhere else; lines that stay; lines of JSON. Only rows of a batch whose order does not matter go to
stdout, as they are done.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from prosa.cli.console import Console
from prosa.cli.errors import words_of
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from asyncio import TimerHandle

    from prosa.app.batch.run import BatchEnd
    from prosa.data import Value
    from prosa.records.batch import BatchProgress, RowResult
    from prosa.render.events import Numbering
    from prosa.runtime.events import Event, Listener


TICK = 1.0
"""Seconds after which a status that still holds is shown again."""

# Erases from the cursor to the end of the line (ECMA-48 EL); every terminal that is not "dumb" knows it.
_ERASE = "\r\x1b[K"


class Progress(Struct):
    """The receiver of status texts; ``enabled`` is False without a terminal. A status counts the seconds for which
    asynchronous work is awaited."""

    console: Console
    enabled: bool
    _timer: TimerHandle | None = None

    def show(self, text: str) -> None:
        """Replace the status by the first line of ``text``, cut to the width of the terminal."""
        if self.enabled:
            self._stop()
            self._tick("".join(c if c.isprintable() else " " for c in text.split("\n", 1)[0]), 0)

    def clear(self) -> None:
        """Remove the status, so that other text can follow."""
        if self.enabled:
            self._stop()
            self.console.err("", end="", control=_ERASE)

    def _tick(self, line: str, ticks: int) -> None:
        from shutil import get_terminal_size

        waited = f" · {ticks} s" if ticks else ""
        shown = _fit(line, get_terminal_size().columns - 1 - len(waited))
        self.console.err(f"{shown}{waited}", end="", control=_ERASE)
        if "asyncio" in sys.modules:
            from asyncio import get_running_loop

            with suppress(RuntimeError):  # nothing is awaited
                self._timer = get_running_loop().call_later(TICK, self._tick, line, ticks + 1)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


@contextmanager
def progress(console: Console, *, wanted: bool = True) -> Iterator[Progress]:
    """Return a status line for the length of a block, cleared however the block ends."""
    line = Progress(console, wanted and console.shows_progress)
    try:
        yield line
    finally:
        line.clear()


def _fit(text: str, width: int) -> str:
    """Return the text cut to ``width`` characters, with an ellipsis where something is missing."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


Log: TypeAlias = "Callable[[str], None] | None"


def logged(log: Log, line: str, say: Callable[[str], None]) -> Log:
    """Write a line of the log, and return the log. A full disk costs the log, not what was paid for."""
    try:
        if log is not None:
            log(line)
    except OSError as error:
        say(f"warning: the event log ends here: {error.strerror or error}")
        return None
    return log


class Watch(Struct):
    """A `Listener`. ``log`` takes JSON lines; with ``debug`` every event is a line on stderr.

    Where the log itself goes ``to_stderr``, a notice is a line of the log and nothing else. Where no status line shows
    that an attempt failed and when the next one comes, that is a line too (LA7), unless ``quiet``.
    """

    console: Console
    status: Progress
    program: str
    debug: bool
    log: Callable[[str], None] | None = None
    numbers: Numbering | None = None
    to_stderr: bool = False
    quiet: bool = False
    received: int = 0
    heard: bool = False

    def __call__(self, event: Event, /) -> None:
        """Show one event."""
        from prosa.runtime.events import AttemptFailed, Noticed, TextArrived

        self.heard = self.heard or not isinstance(event, Noticed)
        if self.log is not None and self.numbers is not None:
            self._record(self.numbers.line(event, datetime.now(UTC)))
        if isinstance(event, TextArrived):
            self.received += len(event.text)
            self.status.show(f"{event.scope.program}: {self.received} characters arrived")
            return
        self.received = 0
        stays = isinstance(event, Noticed) or (
            isinstance(event, AttemptFailed) and not self.status.enabled and not self.quiet
        )
        if stays or self.debug or self.status.enabled:
            from prosa.render.events import as_line  # only here: most runs show no events

            self._show(event.message if isinstance(event, Noticed) else as_line(event), stays=stays)

    def _show(self, line: str | None, *, stays: bool) -> None:
        if line is None:
            return
        if self.debug or (stays and not self.to_stderr and not self.console.quiet):
            self.say(line)
        elif not stays:
            self.status.show(line)

    def notice(self, text: str) -> None:
        """Something a person should know, which belongs into the log too."""
        from prosa.runtime.events import Noticed, Scope

        self(Noticed(Scope(self.program), text))

    def failed(self, reason: str) -> None:
        """Report a failed run. One that never started has no event of its own, and a log must not end in silence."""
        from prosa.runtime.events import RunFailed, Scope

        if not self.heard:
            self(RunFailed(Scope(self.program), reason, 0.0))
        self.status.clear()

    def _record(self, line: str) -> None:
        self.log = logged(self.log, line, self.say)

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.status.clear()
        self.console.err(text)


@contextmanager
def watch(
    console: Console, program: str, *, events: str | None, debug: bool, wanted: bool, quiet: bool = False
) -> Iterator[Watch]:
    """Return a listener for the length of a run of ``program``. ``events`` is None, ``jsonl`` or ``jsonl:FILE``.
    ``quiet`` reserves stderr for a program that reads it.

    Raises `WrongUse`, and `OSError` for a file that cannot be written.
    """
    with ExitStack() as stack:
        log, to_stderr = event_log(console, events, stack), events == "jsonl"
        # A status line between JSON lines would spoil them.
        status = stack.enter_context(progress(console, wanted=wanted and not debug and not to_stderr))
        at = Watch(console, status, program, debug, log, numbering() if log else None, to_stderr, quiet)
        try:
            yield at
        except BaseException as error:
            at.failed(words_of(error))
            raise


def numbering() -> Numbering:
    """Return the numbers of the lines of a log."""
    from prosa.render.events import Numbering

    return Numbering()


def event_log(console: Console, events: str | None, stack: ExitStack) -> Callable[[str], None] | None:
    """Return where the lines of `--events` go; None without it. Raises `WrongUse`, and `OSError` for a file."""
    if events is None:
        return None
    kind, _, path = events.partition(":")
    if kind != "jsonl":
        raise WrongUse(f"--events knows jsonl and jsonl:FILE, not {events!r}")
    if not path:
        return console.err
    # Not buffered: data that a full disk did not accept must not be written again when the file is closed.
    file = Path(path).open("wb", buffering=0)  # noqa: SIM115
    stack.callback(file.close)
    return lambda line: _write_all(file, line)


def _write_all(file: RawIOBase, line: str) -> None:
    # Half of a surrogate pair, which a model can write, becomes the escape that JSON has for it.
    rest = memoryview(f"{line}\n".encode("utf-8", "backslashreplace"))
    while rest:
        rest = rest[file.write(rest) or 0 :]


SECONDS_OF_LINE = 30.0
"""How often a line says how far it is where no terminal shows it."""


class BatchWatch(Struct):
    """Receives the progress of one batch. ``log`` takes JSON lines; with ``to_stderr``, stderr has nothing else but
    the reason of a failure. With ``prints``, rows are printed as they finish."""

    console: Console
    status: Progress
    log: Callable[[str], None] | None
    numbers: Numbering | None
    to_stderr: bool
    quiet: bool
    prints: bool
    batch: str = ""
    model: str = ""
    said: float = 0.0
    logged: float | None = None
    over: bool = False

    def listens(self, row: int) -> Listener:
        """Return the listener of one row."""
        about: dict[str, Value] = {"batch": self.batch, "row": row}

        def hear(event: Event, /) -> None:
            if self.numbers is not None:
                self._record(self.numbers.line(event, datetime.now(UTC), about))

        return hear

    def show_progress(self, at: BatchProgress) -> None:
        """Show how far it is: at once on a terminal, elsewhere now and then."""
        from prosa.render.batch import progress_json, progress_line

        now = time.monotonic()
        if self.log is not None and (self.logged is None or now - self.logged >= SECONDS_OF_LINE):
            self.logged = now
            self._told("batch-progress", progress_json(at))
        if self.status.enabled:
            self.status.show(progress_line(at, self.model))
        elif now - self.said >= SECONDS_OF_LINE and not self.quiet:
            self.said = now
            self.console.note(progress_line(at, self.model))

    def row(self, result: RowResult) -> None:
        """Report a row that has ended."""
        if self.prints and result.ok:
            from prosa.app.batch.control import line_of

            self.console.out(line_of(result))

    def ended(self, end: BatchEnd) -> None:
        """Report that the batch is over, or stops here."""
        from prosa.render.batch import counts_json

        self.over = True
        state: dict[str, Value] = {"state": end.batch.state, "reason": end.reason or None}
        self._told("batch-ended", state | counts_json(end.counts))

    def failed(self, reason: str) -> None:
        """Record that the command failed: a log must not end in silence."""
        if not self.over:
            self._told("batch-ended", {"state": "stopped", "reason": reason})

    def notice(self, text: str) -> None:
        """Something a person should know; among JSON lines it is one of them."""
        if self.log is not None:
            self._told("noticed", {"message": text})
        if not self.to_stderr:
            self.console.note(text)

    def _told(self, name: str, data: Mapping[str, Value]) -> None:
        if self.numbers is not None:
            self._record(self.numbers.told(name, {"batch": self.batch or None, **data}, datetime.now(UTC)))

    def _record(self, line: str) -> None:
        self.log = logged(self.log, line, self.console.err)


@contextmanager
def watch_batch(console: Console, *, events: str | None, wanted: bool, prints: bool) -> Iterator[BatchWatch]:
    """Return the watcher of a batch. ``events`` is None, ``jsonl`` or ``jsonl:FILE``; ``wanted`` enables progress
    lines. Raises `WrongUse`, and `OSError` for a file that cannot be written."""
    with ExitStack() as stack:
        log, to_stderr = event_log(console, events, stack), events == "jsonl"
        # A status line between JSON lines would spoil them.
        status = stack.enter_context(progress(console, wanted=wanted and not to_stderr))
        numbers = numbering() if log is not None else None
        quiet = not wanted or to_stderr
        at = BatchWatch(console, status, log, numbers, to_stderr, quiet, prints, said=time.monotonic())
        try:
            yield at
        except BaseException as error:
            at.failed(words_of(error))
            raise
