"""The bounds of a run (X9). Front matter may lower any of them and raise it to a ceiling; only the user goes beyond."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run. Times are seconds, sizes bytes.

    ``retries`` bounds further attempts of one model call after transient errors (L16); it is no iteration (LA7).
    """

    iterations: int = 10
    wall_clock: float = 600.0
    retries: int = 10
    tool_result: int = 256 * 1024
    concurrency: int = 8
    python_timeout: float = 30.0
    python_memory: int = 128 * MIB
