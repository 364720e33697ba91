"""What becomes of the results of scripts: on standard output in their order, or into the document, or into a file.

In: outcomes as they come. Out: text, lines of JSON, a changed document; complaints on stderr. A result that was paid
for is never lost: what cannot be written into the document is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from prosa.cli.console import Console
from prosa.cli.errors import say
from prosa.render.scripts import headed, result_line, result_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from prosa.app.run.jobs import Outcome
    from prosa.app.scripts.write import Batches, NotWritten, Writer
    from prosa.runtime.events import Event

PRINTED = "it is printed instead, so that it is not lost"

Format: TypeAlias = Literal["text", "jsonl"]


@dataclass(slots=True)
class Live:
    """A `Listener` that shows the one streaming result on the terminal as it arrives (M36). ``shown`` is what stands
    there; after a broken attempt the text begins anew below a note."""

    console: Console
    shown: str = ""

    def __call__(self, event: Event, /) -> None:
        """Shows a piece."""
        from prosa.runtime.events import AttemptFailed, TextArrived

        if isinstance(event, TextArrived):
            self.shown += event.text
            self.console.out(event.text, end="")
        elif isinstance(event, AttemptFailed) and self.shown:
            self.shown = ""
            self.console.out("")
            self.console.err(f"note: the answer broke off and begins anew: {event.reason}")


@dataclass(slots=True)
class Delivery:
    """Where results go. ``order`` are the addresses of all that were chosen; one alone is printed bare.

    ``clear`` takes the status line away, so that other text can follow. ``failed`` says what did not go well.
    """

    console: Console
    order: Sequence[str]
    form: Format
    output: Path | None
    writer: Writer | None
    clear: Callable[[], None]
    live: Live | None = None
    failed: list[str] = field(default_factory=list)
    written: int = 0
    batches: Batches | None = None
    _hints: set[str] = field(default_factory=set)
    _ready: dict[str, str] = field(default_factory=dict)
    _kept: list[str] = field(default_factory=list)
    _next: int = 0
    _printed: bool = False

    def __post_init__(self) -> None:
        from prosa.app.scripts.write import Batches

        if self.writer is not None:
            self.batches = Batches(self.writer, self.placed)

    def done(self, outcome: Outcome) -> None:
        """Takes the outcome of one script."""
        name, error = outcome.job.program.name, outcome.error
        if error is not None:
            self.refused(name, error.message, error.hint, form=outcome.job.form, model=outcome.summary.model_name)
        elif self.batches is not None:
            self.batches.add(outcome)
        else:
            self._take(outcome, None)

    def placed(self, outcome: Outcome, problem: NotWritten | None) -> None:
        """Takes a result that stands in the document now; or does not: then why, on stderr, and the result itself."""
        assert self.writer is not None
        if problem is None:
            self.written += 1
        else:
            name = outcome.job.program.name
            self.failed.append(f"{name}: {problem.message}")
            self._complain(f"{name}: the result is not in {self.writer.file.path}: {problem.message}", PRINTED)
        self._take(outcome, problem is None)

    def _take(self, outcome: Outcome, written: bool | None) -> None:
        """Prints a result, unless it stands in the document."""
        name, model_name = outcome.job.program.name, outcome.summary.model_name
        if self.form == "jsonl":
            line = result_line(name, outcome.output, None, form=outcome.job.form, model=model_name, written=written)
            self._put(name, f"{line}\n")
        elif written:
            self._put(name, "")
        elif self.live is not None and self.live.shown:
            self._put(name, "" if self.live.shown.endswith("\n") else "\n")
        else:
            text = result_text(outcome.output)
            self._put(name, text if len(self.order) == 1 else headed(name, text))

    def refused(
        self, name: str, message: str, hint: str = "", *, form: str | None = None, model: str | None = None
    ) -> None:
        """Takes a script that has no result."""
        self.failed.append(f"{name}: {message}")
        self._complain(f"{name}: {message}", hint)
        line = result_line(name, None, message, form=form, model=model, written=None)
        self._put(name, f"{line}\n" if self.form == "jsonl" else "")

    def finish(self) -> None:
        """Writes and prints what still waits, for one before it that never came too, and writes ``--output``."""
        if self.batches is not None:
            self.batches.flush()
        for name in self.order[self._next :]:
            self._print(self._ready.pop(name, ""))
        self._next = len(self.order)
        if self.output is not None and self._kept:
            self._write_output(self.output)

    def _write_output(self, output: Path) -> None:
        from prosa.adapters.files import write_output

        text, self._kept = "".join(self._kept), []
        try:
            write_output(output, text)
        except OSError as error:
            self.failed.append(f"--output {output}: {error.strerror or error}")
            self._complain(self.failed[-1], PRINTED)
            self.console.out(text, end="")

    def _put(self, name: str, text: str) -> None:
        """Keeps a text until everything before it is there."""
        self._ready[name] = text
        while self._next < len(self.order) and self.order[self._next] in self._ready:
            self._print(self._ready.pop(self.order[self._next]))
            self._next += 1

    def _print(self, text: str) -> None:
        if not text:
            return
        if self._printed and self.form == "text":
            text = f"\n{text}"  # a blank line between several results
        self._printed = True
        if self.output is not None:
            self._kept.append(text)
        else:
            self.clear()
            self.console.out(text, end="")

    def _complain(self, message: str, hint: str) -> None:
        """A complaint. The same way on is told once: a missing key keeps every script from running."""
        self.clear()
        say(self.console, message, "" if hint in self._hints else hint)
        self._hints.add(hint)


def failure_of(failed: Sequence[str]) -> str | None:
    """Why the whole did not go well, in one line."""
    if not failed:
        return None
    return failed[0] if len(failed) == 1 else f"{len(failed)} scripts failed; the first: {failed[0]}"
