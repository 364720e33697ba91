"""The guest: runs one Python program inside the WebAssembly interpreter.

In comes the program's source; out goes None or one line that says how it failed. Text goes to the host in pieces.
This package is imported once, when the component is built; the started interpreter with every module it loaded is
stored as a snapshot, and each run starts from a fresh copy of it. So everything slow happens at import time here.
"""

from __future__ import annotations

import gc

from prosa_guest import event_loop, modules, streams, time_zones, waiting
from prosa_guest.program import execute

modules.load_all()
modules.install_finder()
time_zones.install()
event_loop.install()
waiting.install()

# The collector leaves the library alone from here on: visiting it would copy its 30 MB out of the snapshot.
gc.collect()
gc.freeze()


class WitWorld:
    """What the component exports; the name is fixed by componentize-py."""

    def run(self, source: str) -> str | None:
        """Runs ``source`` as ``__main__``."""
        streams.install()
        try:
            return execute(source)
        finally:
            streams.finish()
