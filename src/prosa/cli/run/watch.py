"""The progress of a run for people and programs, all on stderr: a status line, debug lines, an event log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.cli.console import Console
from prosa.cli.parser import WrongUse
from prosa.cli.progress import Progress
from prosa.cli.progress import progress as status_line

if TYPE_CHECKING:
    from prosa.render.events import Numbering
    from prosa.runtime.events import Event


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
        from prosa.render.events import as_line
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

    def ended(self, reason: str) -> None:
        """Report a failed run. One that never started has no event of its own, and a log must not end in silence."""
        from prosa.runtime.events import RunFailed, Scope

        if not self.heard:
            self(RunFailed(Scope(self.program), reason, 0.0))
        self.status.clear()

    def _record(self, line: str) -> None:
        """Write a line of the log. A full disk costs the log, not the run that was paid for."""
        try:
            if self.log is not None:
                self.log(line)
        except OSError as error:
            self.log = None
            self.say(f"warning: the event log ends here: {error.strerror or error}")

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.status.clear()
        self.console.err(text)


@contextmanager
def watch(
    console: Console, program: str, *, events: str | None, debug: bool, progress: bool, quiet: bool = False
) -> Iterator[Watch]:
    """Return a listener for the length of a run of ``program``. ``events`` is None, ``jsonl`` or ``jsonl:FILE``.
    ``quiet`` reserves stderr for a program that reads it.

    Raises `WrongUse`, and `OSError` for a file that cannot be written.
    """
    with ExitStack() as stack:
        log, to_stderr = event_log(console, events, stack), events == "jsonl"
        # A status line between JSON lines would spoil them.
        status = stack.enter_context(status_line(console, wanted=progress and not debug and not to_stderr))
        yield Watch(console, status, program, debug, log, numbering() if log else None, to_stderr, quiet)


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
