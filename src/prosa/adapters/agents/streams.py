"""What agents print in their headless modes, read line by line: steps, final text, end, and their own figures.

In: the lines of one of the forms in `FORMS`. Out: a `Stream`. Nothing that an agent prints raises: a line that cannot
be read is counted and said. No line tells reliably which files changed, or what the model was offered: the workspace
and the tap know.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from prosa.adapters.agents.forms import FORMS, STEP_CHARACTERS, Log, Odd, parsed, quoted, step
from prosa.records.agent import AgentStep, Reported

__all__ = ["FORMS", "STEP_CHARACTERS", "Stream", "StreamReader", "quoted", "read_stream", "step"]

TEXT_CHARACTERS: Final = 1_000_000
"""Characters kept of a final answer."""
_PARTIAL: Final = ('{"type":"message_update"', '{"type":"tool_execution_update"')
"""How lines begin that repeat a whole message with every piece: the message itself comes at its end."""


class Stream(Struct, frozen=True):
    """What an agent printed. ``ended`` is whether its last line came; ``problem`` the error that it reported.
    ``unreadable`` says why the lines are no stream of the expected form, or are empty. ``skills`` are those that the
    agent says it knows, None where it does not say. ``denied`` are refused permissions."""

    steps: tuple[AgentStep, ...] = ()
    text: str = ""
    ended: bool = False
    problem: str = ""
    unreadable: str = ""
    denied: tuple[str, ...] = ()
    skills: tuple[str, ...] | None = None
    reported: Reported | None = None
    version: str = ""
    lines: int = 0


class StreamReader:
    """Reads the lines of one agent as they come: `feed` each, then take `stream`. ``last`` is when one came."""

    def __init__(self, form: str) -> None:
        self._read = FORMS[form]
        self._log = Log()
        self._lines = self._known = self._odd = 0
        self._first = ""
        self.last = time.monotonic()

    @property
    def has_ended(self) -> bool:
        """Whether the last line of a run was read; an agent may begin again after it."""
        return self._log.ended

    def feed(self, line: bytes | str) -> None:
        """Take one line. An empty one counts for nothing."""
        text = line.decode(errors="replace") if isinstance(line, bytes) else line
        if not text.strip():
            return
        self._lines += 1
        self.last = time.monotonic()
        if text.startswith(_PARTIAL):
            return
        event = parsed(text)
        kind = event.get("type") if event is not None else None
        if event is None or not isinstance(kind, str):
            self._strange(text)
            return
        try:
            self._known += self._read(self._log, kind, event)
        except Odd:
            self._strange(text)

    def stream(self) -> Stream:
        """Return what was read so far."""
        log = self._log
        text = log.text if log.text is not None else "\n\n".join(log.said)
        return Stream(
            steps=tuple(log.steps),
            text=text[:TEXT_CHARACTERS],
            ended=log.ended,
            problem=log.problem,
            unreadable=self._unreadable(),
            denied=tuple(dict.fromkeys(log.denied)),
            skills=log.skills,
            reported=log.reported,
            version=log.version,
            lines=self._lines,
        )

    def _strange(self, line: str) -> None:
        self._odd += 1
        self._first = self._first or quoted(line)

    def _unreadable(self) -> str:
        if not self._lines:
            return "it printed nothing"
        if not self._known:
            return f"nothing that it printed is of the expected form: {self._first or 'no event is known'}"
        # A single strange line between others is what a library printed; without an end it may be what is missing.
        return f"a line of its stream cannot be read: {self._first}" if self._odd and not self._log.ended else ""


def read_stream(form: str, lines: Sequence[bytes | str]) -> Stream:
    """Return what the lines of a whole run say. ``form`` is one of `FORMS`."""
    reader = StreamReader(form)
    for line in lines:
        reader.feed(line)
    return reader.stream()
