"""The progress of a batch for people and programs: a status line, periodic lines, an event log.

In: the progress, the events of each row. Out: lines on stderr or in the file of `--events`; rows on stdout as they are
done, where their order does not matter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.cli.console import Console
from prosa.cli.progress import Progress
from prosa.cli.progress import progress as status_line
from prosa.cli.run.delivery import words
from prosa.cli.run.watch import event_log, numbering

if TYPE_CHECKING:
    from prosa.app.batch.run import BatchEnd
    from prosa.data import Value
    from prosa.records.batch import BatchProgress, RowResult
    from prosa.render.events import Numbering
    from prosa.runtime.events import Event, Listener

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

    def heard(self, at: BatchProgress) -> None:
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
            from prosa.app.batch.results import line_of

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
        """Write a line of the log. A full disk costs the log, not the batch that was paid for."""
        try:
            if self.log is not None:
                self.log(line)
        except OSError as error:
            self.log = None
            self.console.err(f"warning: the event log ends here: {error.strerror or error}")


@contextmanager
def watch_batch(console: Console, *, events: str | None, progress: bool, prints: bool) -> Iterator[BatchWatch]:
    """Return the watcher of a batch. ``events`` is None, ``jsonl`` or ``jsonl:FILE``; ``progress`` enables progress
    lines. Raises `WrongUse`, and `OSError` for a file that cannot be written."""
    with ExitStack() as stack:
        log, to_stderr = event_log(console, events, stack), events == "jsonl"
        # A status line between JSON lines would spoil them.
        status = stack.enter_context(status_line(console, wanted=progress and not to_stderr))
        numbers = numbering() if log is not None else None
        quiet = not progress or to_stderr
        at = BatchWatch(console, status, log, numbers, to_stderr, quiet, prints, said=time.monotonic())
        try:
            yield at
        except BaseException as error:
            at.failed(words(error))
            raise
