"""A process that forks workers of a mailbox, each of which kills itself around another commit.

In: the folder of the homes, in each of which messages wait, and how many there are, as arguments. Out: a line for each:
the signal that ended its worker, 0 for one that came to its end. The worker of home ``n`` dies at its commit
``n // 2``, before it where ``n`` is even.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

from prosa.adapters.store import opening
from prosa.app.mail.work import WorkerOptions, work_mail
from prosa.app.options import JournalOptions, Options
from prosa.runtime.messages import ModelReply, ModelRequest, Usage
from tests.app.journal.dying import Mortal
from tests.app.journal.runs import environment
from tests.app.mail.dying import SENDS
from tests.app.mail.steps import call, program


class Forwarding:
    """A model whose answer follows from what it is asked alone: it sends on what it reads, then it answers."""

    asked = 0

    async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
        self.asked += 1
        said = [each for each in request.messages if each.role == "tool"]
        if said:
            return ModelReply('{"n": 1}', (), Usage(10, 5), model_name="fake-1")
        send = call("mail_send", to="box", payload=request.messages[-1].content)
        return ModelReply("", (send,), Usage(10, 5), finish="tool_calls")

    async def aclose(self) -> None:
        pass


def handle(folder: Path, home: Path, model: Any) -> None:
    """A worker until nothing is left."""
    options = Options(journal=JournalOptions("mail"))
    reader = program(folder, "reader", SENDS)
    asyncio.run(work_mail(reader, WorkerOptions(until_empty=True), options, environment(home), provider=model))


def main() -> None:
    """Forks a worker for each home."""
    folder, homes = Path(sys.argv[1]), int(sys.argv[2])
    connect = sqlite3.connect
    opening.sqlite3.connect = lambda *given, **about: connect(*given, **about | {"factory": Mortal})  # type: ignore[attr-defined]
    for number in range(2, homes + 2):
        home = folder / str(number)
        child = os.fork()
        if not child:
            Mortal.at, Mortal.when = number // 2, ("before", "after")[number % 2]
            handle(home, home, Forwarding())
            os._exit(0)
        print(os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
