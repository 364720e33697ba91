"""A run with a recording (X27): one that answers its calls, a recorder that keeps them, both, or neither.

In: a program with its input, and what the user chose. Out: a `RecordedRun`, whose journal is asked around every call.
Without a recording nothing of it is loaded; with one `prosa.app.run.recordings` finds and writes the files.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.options import Environment, Options
from prosa.data import Value
from prosa.runtime.errors import CassetteProblem, RunError
from prosa.runtime.events import Listener, ignore
from prosa.runtime.journal import UNRECORDED, Journal, chained
from prosa.runtime.program import Program, reachable

if TYPE_CHECKING:
    from prosa.app.run.recordings import Target
    from prosa.records.replay import Player, Recorder
    from prosa.records.summary import Tally
    from prosa.runtime.ports import Provider
    from prosa.runtime.world import World

MAX_NAMED = 5
"""Calls that a message names."""


class RecordedRun(Struct):
    """The recordings of one run: what plays one and what makes one, where there is either. ``unwritten`` is why what
    was recorded stands in no file."""

    player: Player | None = None
    recorder: Recorder | None = None
    target: Target | None = None
    strict: bool = False
    unwritten: RunError | None = None

    @property
    def journal(self) -> Journal:
        """What is asked around every call."""
        return chained(self.recorder or UNRECORDED, self.player or UNRECORDED)

    @property
    def listener(self) -> Listener:
        """Hears of attempts that failed."""
        return self.recorder or ignore

    @property
    def nobody(self) -> Provider | None:
        """The provider that is never asked, where everything is played."""
        if self.player is None or self.player.asks:
            return None
        return self.absent(CassetteProblem("no model is called in a replay"))

    @property
    def stands_in(self) -> Player | None:
        """What stands in for tool servers, sandbox and sites; None where they are real."""
        player = self.player
        return None if player is None or player.asks or player.uses else player

    @property
    def chosen_model(self) -> str | None:
        """The model that the user had chosen when the run was recorded."""
        return self.player.recording.chosen_model if self.player is not None else None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to play."""
        return self.player is None or not self.player.recording.replies

    def absent(self, error: RunError) -> Provider:
        """Return a provider that raises the error when it is asked."""
        from prosa.records.replay import NobodyThere

        return NobodyThere(error)

    def answers(self, model_name: str | None) -> None:
        """Record the default model of the provider for the whole run."""
        if self.recorder is not None and model_name is not None:
            self.recorder.about = replace(self.recorder.about, chosen_model=model_name)

    @contextmanager
    def around(
        self, program: Program, world: World, tally: Tally, environment: Environment, run: str = ""
    ) -> Iterator[None]:
        """Write what was answered at the end of the run, whatever ended it; ``run`` is its id, where it has one. Raises
        `CassetteProblem` for recorded calls that were not asked for, where that is an error."""
        if self.recorder is not None:
            without = world.sandbox is None and any(reached.uses_python for reached in reachable(program))
            self.recorder.about = replace(self.recorder.about, without_python=without)
        try:
            yield
        except BaseException as error:
            self._write(program, tally, run, _words(error))
            if self.unwritten is not None:
                environment.notice(f"error: {self.unwritten.message}")
            raise
        self._require_used(environment)
        self._write(program, tally, run, None)

    def _require_used(self, environment: Environment) -> None:
        if self.player is None or not (unused := self.player.unused()):
            return
        more = f" and {len(unused) - MAX_NAMED} more" if len(unused) > MAX_NAMED else ""
        message = f"{self.player.name}: recorded calls that were not made: {', '.join(unused[:MAX_NAMED])}{more}"
        if self.strict:
            raise CassetteProblem(message, hint="record it again with --record")
        environment.notice(f"note: {message}")

    def _write(self, program: Program, tally: Tally, run: str, error: str | None) -> None:
        if self.recorder is not None and self.target is not None:
            self.unwritten = self.target.write(self.recorder.recording(), program, tally, run, error)


NOT_RECORDED = RecordedRun()


def open_recorded(
    program: Program, input_value: Value, options: Options, environment: Environment, take: int = 1
) -> RecordedRun:
    """Return the recordings of a run of ``program``. ``take`` counts equal runs of a call.

    Raises `CassetteProblem` and `FileProblem`, before anything is asked.
    """
    if options.recording is None:
        return NOT_RECORDED
    from prosa.app.run.recordings import open_recordings  # a run without a recording needs none of it

    player, recorder, target = open_recordings(options.recording, program, input_value, options, environment, take)
    replay = options.recording.replay
    return RecordedRun(player, recorder, target, replay is not None and replay.strict)


def _words(error: BaseException) -> str:
    if isinstance(error, RunError):
        return error.message
    return "interrupted" if isinstance(error, asyncio.CancelledError | KeyboardInterrupt) else type(error).__name__
