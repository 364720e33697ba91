"""Waiting for a run while its client may go away. In: a run, and the messages of its request. Out: what came of it."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from prosa.web.answer import Receive
from prosa.web.run.problem import ClientGone

T = TypeVar("T")


async def gone(receive: Receive) -> None:
    """End when the client has gone away. The body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def waited(task: asyncio.Task[T], receive: Receive, *, stays: bool = False) -> T:
    """Return the result of a run. If the client disconnects, the run is cancelled at once; one that ``stays``
    continues, so that its answer can be requested again (H19). Raises `ClientGone`."""
    watching = asyncio.create_task(gone(receive))
    try:
        await asyncio.wait({task, watching}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if not stays:
            await broken_off(task)
        raise ClientGone
    except asyncio.CancelledError:
        task.cancel()
        raise
    finally:
        watching.cancel()


async def broken_off(task: asyncio.Task[Any]) -> None:
    """End a run, and wait until it has let go of everything."""
    task.cancel()
    await asyncio.wait({task})
