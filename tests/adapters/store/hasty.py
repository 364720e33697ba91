"""The command line with little patience: what a worker waits for takes seconds in place of a quarter of a minute.

In: the arguments of `prosa`. Out: what it does.
"""

from __future__ import annotations

import sys

from prosa.adapters.store import postgres, queue
from prosa.app.batch import shared, working
from prosa.cli.main import main

TAKEOVER = 5.0

if __name__ == "__main__":
    queue.TAKEOVER_SECONDS, postgres.IDLE_SECONDS = TAKEOVER, 1
    working.POLL = shared.POLL = 0.1  # the second module may have been imported with the value of the first
    sys.exit(main(sys.argv[1:]))
