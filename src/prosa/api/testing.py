"""Tools for testing programs: fixed replies as a provider and as a service, recordings to replay, and a clock.

Providers and clocks use no network, read no time of day and never sleep; a `ScriptedService` listens on loopback; a
`Recorder` calls the model once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, get_args

from prosa.adapters.agents.scripted_service import ScriptedService
from prosa.adapters.agents.wires.exchange import ServiceRequest
from prosa.adapters.providers.scripted import ScriptedProvider, ScriptProblem
from prosa.api.arguments import words
from prosa.api.chat import achat, chat
from prosa.api.run import arun, run
from prosa.api.scripts import arun_scripts, run_scripts
from prosa.app.options import Record, Replay
from prosa.records.replay import Match
from prosa.runtime.errors import CassetteProblem, ReplayDrift

__all__ = ["FakeClock", "Recorder", "ScriptProblem", "ScriptedProvider", "ScriptedService", "ServiceRequest"]

P = ParamSpec("P")
T = TypeVar("T")

Recording = Literal["once", "new", "never"]
"""When the model is called: if there is no recording yet, always, never."""

VARIABLE = "PROSA_RECORD"


class Recorder:
    """Runs that are recorded once and replayed from then on: in tests, with or without a key.

    ``run``, ``chat`` and ``run_scripts``, with ``arun``, ``achat`` and ``arun_scripts`` to await, take the arguments
    of those in `prosa`. Recordings are files of ``folder``, one for each program and input. ``when`` is when a model
    is called: ``once`` if there is no recording, ``new`` always, ``never``. Its default is the variable
    `PROSA_RECORD`; if that is not set, nothing is recorded in CI (the variable `CI` is set), so that a test without a
    recording fails there. ``match``, ``redact`` and ``force`` are as in `prosa.Replay` and `prosa.Record`; with
    ``strict`` an unused recorded call fails.

    Raises ValueError for an invalid ``when``. A run raises `prosa.CassetteProblem` if its recording is missing or
    cannot be used, and `prosa.ReplayDrift` if it differs from the recording.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        when: Recording | None = None,
        match: Match = "exact",
        redact: str | Iterable[str] = (),
        force: bool = False,
        strict: bool = False,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.when: str = when or _when(os.environ if environ is None else environ)
        if self.when not in get_args(Recording):
            raise ValueError(f"{self.when!r} does not say when to record: `once`, `new` or `never`")
        self._record = Record(Path(folder), words(redact), force, once=self.when == "once")
        self._replay = Replay(Path(folder), match, strict=strict)
        self.run, self.arun = self._with(run), self._awaited(arun)
        self.chat, self.achat = self._with(chat), self._awaited(achat)
        self.run_scripts, self.arun_scripts = self._with(run_scripts), self._awaited(arun_scripts)

    @property
    def options(self) -> dict[str, Record | Replay]:
        """The options ``record`` and ``replay``, for a call of your own."""
        record = {"record": self._record} if self.when != "never" else {}
        return {**record, **({"replay": self._replay} if self.when != "new" else {})}

    def _with(self, call: Callable[P, T]) -> Callable[P, T]:
        @wraps(call)
        def recorded(*args: P.args, **kwargs: P.kwargs) -> T:
            kwargs.update(self.options)
            with self._explained():
                return call(*args, **kwargs)

        return recorded

    def _awaited(self, call: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @wraps(call)
        async def recorded(*args: P.args, **kwargs: P.kwargs) -> T:
            kwargs.update(self.options)
            with self._explained():
                return await call(*args, **kwargs)

        return recorded

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Explain how a test records missing or changed calls."""
        try:
            yield
        except CassetteProblem as error:
            error.hint = f"{error.hint}; in a test: {VARIABLE}={'new' if isinstance(error, ReplayDrift) else 'once'}"
            raise


def _when(environ: Mapping[str, str]) -> str:
    """Return what the variables say."""
    named = environ.get(VARIABLE, "").strip()
    in_ci = environ.get("CI", "").strip().lower() not in ("", "0", "false")
    return named or ("never" if in_ci else "once")


class FakeClock:
    """Meets the port `Clock`. A sleep returns at once and moves the time forward; ``sleeps`` lists their seconds."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed = 0.0
        self.sleeps: list[float] = []

    def now(self) -> datetime:
        """Return the start plus all seconds that were slept or advanced."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Return seconds that were slept or advanced."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Move the time forward by ``seconds`` and let others run once."""
        self.sleeps.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Move the time forward; a negative number is taken as 0."""
        self._elapsed += max(0.0, seconds)
