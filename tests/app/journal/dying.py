"""A process that forks others which run a program with a journal and kill themselves at a chosen point.

In: lines of JSON on standard input: the home, the seed of the delays, and at which commit a child dies, ``before`` or
``after`` it (null: not at all). Out: for each line what became of the child: the signal that ended it, and the calls
that its model was asked, in a file of the home.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from prosa.adapters.store import opening
from prosa.runtime.program import Program
from tests.app.journal.runs import Model, nested, ran


class Mortal(opening.SqliteDatabase):
    """A connection that ends its process around a commit."""

    commits = 0
    at = 0
    when = ""

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        if statement != "COMMIT":
            return super().execute(statement, *values)
        Mortal.commits += 1
        if Mortal.commits == Mortal.at and Mortal.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = super().execute(statement, *values)
        if Mortal.commits == Mortal.at and Mortal.when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return done


def delays(seed: int) -> Iterator[int]:
    """Turns of the event loop that answers take."""
    chance = random.Random(seed)
    while True:
        yield chance.randrange(12)


def die(program: Program, asked: dict[str, Any]) -> NoReturn:
    """Runs a program, perhaps to its end."""
    home = Path(asked["home"])
    home.mkdir()
    log = os.open(home / "asked", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    Mortal.at, Mortal.when = asked["at"], asked["when"] or ""
    ran(program, home, Model(lambda request: _note(log, request.program), delays(asked["seed"])))
    (home / "commits").write_text(str(Mortal.commits))
    os._exit(0)


def _note(log: int, program: str) -> None:
    os.write(log, f"{program}\n".encode())


def main() -> None:
    """Forks a child for each line."""
    program = nested(Path(sys.argv[1]))
    connect = sqlite3.connect
    opening.sqlite3.connect = lambda *given, **about: connect(*given, **about | {"factory": Mortal})  # type: ignore[attr-defined]
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            die(program, asked)
        print(json.dumps(os.WTERMSIG(os.waitpid(child, 0)[1])), flush=True)


if __name__ == "__main__":
    main()
