"""What becomes of the results of scripts: on standard output in their order, or into the document, or into a file.

In: outcomes as they come. Out: text, lines of JSON, a changed document; complaints on stderr. A result that was paid
for is never lost: what cannot be written into the document is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field

from prosa.cli.console import Console
from prosa.cli.errors import say
from prosa.render.plan import headed, result_line, result_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from prosa.app.scripts.run import ScriptResult
    from prosa.runtime.errors import RunError
    from prosa.runtime.events import Event

PRINTED = "it is printed instead, so that it is not lost"

Format: TypeAlias = Literal["text", "jsonl"]


class LiveScript(Struct):
    """A `Listener` that shows the one streaming result on the terminal as it arrives (M36). ``shown`` is the text on
    the screen; after a failed attempt it restarts below a note."""

    console: Console
    shown: str = ""

    def __call__(self, event: Event, /) -> None:
        """Show a piece."""
        from prosa.runtime.events import AttemptFailed, TextArrived

        if isinstance(event, TextArrived):
            self.shown += event.text
            self.console.out(event.text, end="")
        elif isinstance(event, AttemptFailed) and self.shown:
            self.shown = ""
            self.console.out("")
            self.console.note(f"note: the answer was interrupted and restarts: {event.reason}")


class Delivery(Struct):
    """Where results go. ``order`` are the addresses of all that were chosen; one alone is printed bare. ``into`` is the
    document that they are written into, None where they are printed.

    ``clear`` takes the status line away, so that other text can follow. ``failed`` says what did not go well.
    """

    console: Console
    order: Sequence[str]
    form: Format
    output: Path | None
    into: Path | None
    clear: Callable[[], None]
    failed: list[str]
    live: LiveScript | None = None
    written: int = 0
    _hints: set[str] = field(default_factory=set)
    _ready: dict[str, str] = field(default_factory=dict)
    _kept: list[str] = field(default_factory=list)
    _next: int = 0
    _printed: bool = False

    def take(self, result: ScriptResult) -> None:
        """Take what came of one script. What could not be written into the document is printed, and on stderr why."""
        error = result.error
        if result.written:
            self.written += 1
        if error is not None:
            self.failed.append(f"{result.script}: {error.message}")
            if result.written is None:
                self._refused(result, error)
                return
            self._complain(f"{result.script}: the result is not in {self.into}: {error.message}", PRINTED)
        self._put(result.script, self._shown(result))

    def _shown(self, result: ScriptResult) -> str:
        """Return the printed form of a result; empty if it is written to the document."""
        name = result.script
        if self.form == "jsonl":
            return f"{_line(result, None)}\n"
        if result.written:
            return ""
        if self.live is not None and self.live.shown:
            return "" if self.live.shown.endswith("\n") else "\n"
        text = result_text(result.output)
        return text if len(self.order) == 1 else headed(name, text)

    def _refused(self, result: ScriptResult, error: RunError) -> None:
        """Take a script that has no result."""
        self._complain(f"{result.script}: {error.message}", error.hint)
        self._put(result.script, f"{_line(result, error)}\n" if self.form == "jsonl" else "")

    def finish(self) -> None:
        """Print what still waits, for one before it that never came too, and write ``--output``."""
        for name in self.order[self._next :]:
            self._print(self._ready.pop(name, ""))
        self._next = len(self.order)
        if self.output is not None and self._kept:
            self._write_output(self.output)

    def _write_output(self, output: Path) -> None:
        from prosa.app.text_files import write_output

        text, self._kept = "".join(self._kept), []
        try:
            write_output(output, text)
        except OSError as error:
            self.failed.append(f"--output {output}: {error.strerror or error}")
            self._complain(self.failed[-1], PRINTED)
            self.console.out(text, end="")

    def _put(self, name: str, text: str) -> None:
        """Hold a text back until everything before it has arrived."""
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
        """Print a complaint. The same hint is printed once: a missing key keeps every script from running."""
        self.clear()
        say(self.console, message, "" if hint in self._hints else hint)
        self._hints.add(hint)


def _line(result: ScriptResult, error: RunError | None) -> str:
    """Return a result as one line of JSON; ``error`` says why there is none."""
    summary = result.summary
    return result_line(
        result.script,
        result.output if error is None else None,
        error.message if error is not None else None,
        form=result.form,
        model=summary.model_name if result.form else None,
        answered_by=summary.answered_by,
        cut=summary.cut,
        written=result.written if error is None else None,
    )


def failure_of(failed: Sequence[str]) -> str | None:
    """Return why the whole did not go well, in one line."""
    if not failed:
        return None
    return failed[0] if len(failed) == 1 else f"{len(failed)} scripts failed; the first: {failed[0]}"
