"""The bounds of a run (X9). Front matter may lower any of them and raise it to a ceiling; only the user goes beyond."""

from __future__ import annotations

from msgspec import Struct

MIB = 1024 * 1024


class Limits(Struct, frozen=True):
    """Bounds of one run. Times are seconds, sizes bytes.

    ``retries`` bounds further attempts of one model call after transient errors (L16); it is no iteration (LA7).
    ``tool_calls`` bounds the calls of one reply, ``output_tokens`` what one model call may write, None nothing.
    """

    iterations: int = 10
    wall_clock: float = 600.0
    retries: int = 10
    tool_result: int = 256 * 1024
    concurrency: int = 8
    tool_calls: int = 32
    output_tokens: int | None = None
    python_timeout: float = 30.0
    python_memory: int = 128 * MIB
