"""Batches of a model service, at half the price: many requests in one file, answered some time later (X29).

In: requests with an id each. Out: what became of each, in any order. An adapter speaks the interface of one service;
what is sent, waited for and written down is decided in `app/batch/waves`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from hashlib import sha256
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from prosa.runtime.messages import ModelReply, ModelRequest

BackendName: TypeAlias = Literal["live", "openai-batch", "anthropic-batch"]

MAX_ID = 64
"""Characters of the id of a request, by both services; its alphabet is letters, digits, `-` and `_`."""

_PATH_LETTERS = str.maketrans("./", "-_")
_PATH_SIGNS = str.maketrans("-_", "./")


class BatchBounds(Struct, frozen=True):
    """How much one batch of a service takes: requests, and bytes."""

    lines: int
    size: int


class WavePart(Struct, frozen=True):
    """One batch of a service as the store has it. ``number`` is that of its wave, ``held`` what its requests may cost
    at most, in billionths of a US dollar; ``file`` and ``remote`` are ids that the service gave.

    It is ``written`` before anything is sent, ``uploaded`` and ``sent`` as soon as the service has said its id, and
    ``done`` when every result is in the journal of its row. One that never came to be sent is ``dropped``.
    """

    id: str
    batch: str
    number: int
    backend: str
    service: str
    model: str
    lines: int
    held: int
    created: str
    state: Literal["written", "uploaded", "sent", "done", "dropped"] = "written"
    file: str = ""
    remote: str = ""
    ended: str | None = None
    reason: str | None = None


class RemoteBatch(Struct, frozen=True):
    """A batch as the service tells of it. ``done`` counts requests that are over, ``results`` say where they are.
    One that was ``refused`` as a whole has done nothing, for ``reason``; one that was ``cancelled`` only a part.
    ``is_sure`` is False where the service cannot say whose batch it is before it has ended."""

    id: str
    state: Literal["working", "ended", "refused"]
    done: int = 0
    results: tuple[str, ...] = ()
    reason: str = ""
    cancelled: bool = False
    is_sure: bool = True


class LineResult(Struct, frozen=True):
    """What became of one request: a reply, or why there is none. ``again`` says that it makes sense to send it once
    more: it expired, or the service was in trouble."""

    custom_id: str
    reply: ModelReply | None = None
    error: str = ""
    again: bool = False


class ProviderBatches(Protocol):
    """The batches of one service. Every method raises `prosa.runtime.errors.ProviderError`."""

    @property
    def service(self) -> str:
        """The base URL, as people may see it."""
        ...

    @property
    def bounds(self) -> BatchBounds:
        """How much fits into one batch."""
        ...

    def line(self, custom_id: str, request: ModelRequest) -> bytes:
        """Return one request as it is sent, without a line end."""
        ...

    async def upload(self, part: WavePart, lines: Path) -> str:
        """Send a file of requests, a line each, and return its id, empty where the service knows no files."""
        ...

    async def create(self, part: WavePart, lines: Path, file: str) -> str:
        """Begin a batch, and return its id. From here on it costs money."""
        ...

    async def find(self, part: WavePart, known: Collection[str]) -> list[RemoteBatch]:
        """Return the batches that may be this one, where its id is not known; ``known`` are ids of others."""
        ...

    async def state(self, remote: str) -> RemoteBatch:
        """Return how far a batch is."""
        ...

    def results(self, remote: RemoteBatch) -> AsyncIterator[LineResult]:
        """Return what became of the requests, in any order."""
        ...

    async def cancel(self, remote: str) -> None:
        """Ask the service to cancel the requests that it has not started."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


def custom_id(run: str, path: str) -> str:
    """Return the id of the model call at a path of a run, which is named after a batch and the number of a row."""
    batch, _, number = run.partition(".")
    head = f"{batch}-{number}-"
    plain = head + path.translate(_PATH_LETTERS)
    return plain if len(plain) <= MAX_ID else f"{head}x{sha256(path.encode()).hexdigest()[: MAX_ID - len(head) - 1]}"


def run_of_id(name: str) -> tuple[str, str | None] | None:
    """Return the run and the path of an id; None for a path that was too long for the id, and for an unknown id."""
    parts = name.split("-", 2)
    if len(parts) != 3 or not parts[0] or not parts[1].isascii() or not parts[1].isdigit() or not parts[2]:
        return None
    batch, number, path = parts
    return f"{batch}.{number}", None if path.startswith("x") else path.translate(_PATH_SIGNS)
