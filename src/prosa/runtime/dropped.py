"""What is closed where a coroutine ends, unless it was dropped: then nobody awaits it any more.

Python throws `GeneratorExit` into a coroutine that is collected before it has ended, as when its event loop was stopped
for good. Whatever awaits then is an error of its own ("coroutine ignored GeneratorExit").
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager


@asynccontextmanager
async def exit_stack() -> AsyncIterator[AsyncExitStack]:
    """An exit stack for what is closed by awaiting. A coroutine that is dropped leaves all of it as it is."""
    async with AsyncExitStack() as stack:
        try:
            yield stack
        except GeneratorExit:
            stack.pop_all()
            raise
