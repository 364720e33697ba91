"""A process that forks eight others, each of which sends to one mailbox of a store; it says so when all are done.

In: the path of the store and how many messages each sends, as arguments.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from prosa.adapters.store import mail
from prosa.adapters.store.writer import writer_of
from prosa.runtime.mail import Letter

WRITERS = 8


def send_all(store: Path, sender: str, many: int) -> None:
    """Sends numbers in their order."""
    writer = writer_of(store)
    letters = (Letter(sender, "", str(n), sender, f"1.{n}", to="box", allowed=("box",)) for n in range(many))
    sent = [writer.do(mail.send(each, "2026-03-01T12:00:00.000Z")) for each in letters]
    for each in sent:
        each.result()
    writer.release()


def main() -> None:
    """Forks the writers and waits for all."""
    store, many = Path(sys.argv[1]), int(sys.argv[2])
    children = []
    for number in range(WRITERS):
        child = os.fork()
        if not child:
            send_all(store, f"s{number}", many)
            os._exit(0)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    sys.exit(any(statuses))


if __name__ == "__main__":
    main()
