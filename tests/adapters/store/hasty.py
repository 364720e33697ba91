"""The command line with little patience: what a worker waits for takes seconds in place of a quarter of a minute.

In: the arguments of `prosa`. Out: what it does.
"""

from __future__ import annotations

import sys

from prosa.adapters.store import postgres, queue
from prosa.app.batch import working
from prosa.cli.main import main

TAKEOVER = 5.0

if __name__ == "__main__":
    queue.TAKEOVER_SECONDS, working.POLL, postgres.IDLE_SECONDS = TAKEOVER, 0.1, 1
    sys.exit(main(sys.argv[1:]))
