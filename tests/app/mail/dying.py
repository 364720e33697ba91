"""A process that receives a message, sends one, and is killed while its model is asked again.

In: the folder of the program, the home, and whether it is a ``run`` or a ``worker``, as arguments.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from prosa.app.mail.work import WorkerOptions, work_mail
from prosa.app.options import JournalOptions, Options
from tests.app.journal.runs import environment, ran
from tests.app.mail.steps import Steps, call, program

SENDS = "mailbox: {send: [box]}\n"


def die(results: list[Any]) -> None:
    """What the model does last."""
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Runs until it is killed."""
    folder, home, what = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    reader = program(folder, "reader", SENDS)
    send = call("mail_send", to="box", payload="from the killed one")
    if what == "run":
        ran(reader, home, Steps(reader=[call("mail_receive"), send, die]))
    else:
        options = Options(journal=JournalOptions("mail"))
        model = Steps(reader=[send, die])
        asyncio.run(work_mail(reader, WorkerOptions(), options, environment(home), provider=model))


if __name__ == "__main__":
    main()
