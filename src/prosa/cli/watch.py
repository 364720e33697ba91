"""What people and programs see of a run while it goes on, all on stderr: a status line, debug lines, an event log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from prosa.cli.console import Console
from prosa.cli.parser import WrongUse
from prosa.cli.progress import Progress
from prosa.cli.progress import progress as status_line

if TYPE_CHECKING:
    from prosa.render.events import Numbering
    from prosa.runtime.events import Event


@dataclass(slots=True)
class Watch:
    """A `Listener`. ``log`` gets JSON lines; with ``debug`` every event is a line on stderr."""

    console: Console
    status: Progress
    debug: bool
    log: TextIO | None = None
    numbers: Numbering | None = None
    received: int = field(default=0)

    def __call__(self, event: Event, /) -> None:
        """Shows one event."""
        from prosa.render.events import as_line
        from prosa.runtime.events import Noticed, TextArrived

        if self.log is not None and self.numbers is not None:
            self.log.write(self.numbers.line(event, datetime.now(UTC)) + "\n")
            self.log.flush()
        if isinstance(event, TextArrived):
            self.received += len(event.text)
            self.status.show(f"{event.scope.program}: {self.received} characters arrived")
            return
        self.received = 0
        line = as_line(event)
        if line is None:
            return
        if self.debug or isinstance(event, Noticed):
            self.say(line)
        else:
            self.status.show(line)

    def say(self, text: str) -> None:
        """A line that stays."""
        self.status.clear()
        self.console.err(text)

    def clear(self) -> None:
        """Removes the status line."""
        self.status.clear()


@contextmanager
def watch(console: Console, *, events: str | None, debug: bool, progress: bool) -> Iterator[Watch]:
    """A listener for the length of a run. ``events`` is None, ``jsonl`` or ``jsonl:FILE``. Raises `WrongUse`."""
    with ExitStack() as stack:
        log = _log(console, events, stack)
        status = stack.enter_context(status_line(console, wanted=progress and not debug and log is not console.stderr))
        yield Watch(console, status, debug, log, _numbering() if log else None)


def _numbering() -> Numbering:
    from prosa.render.events import Numbering

    return Numbering()


def _log(console: Console, events: str | None, stack: ExitStack) -> TextIO | None:
    if events is None:
        return None
    kind, _, path = events.partition(":")
    if kind != "jsonl":
        raise WrongUse(f"--events knows jsonl and jsonl:FILE, not {events!r}")
    if not path:
        return console.stderr
    return stack.enter_context(Path(path).open("w", encoding="utf-8"))
