"""Every limit of the sandbox that a caller does not choose, each with its reason. Sizes are bytes, times seconds."""

from __future__ import annotations

MEBIBYTE = 2**20

MIN_MEMORY = 40 * MEBIBYTE
"""The started interpreter with its library takes 32 MiB; below this no useful program runs."""

OWN_MEMORY = 256 * MEBIBYTE
"""The worker itself besides the guest's memory: 50 MiB, and room for copies of the output of a hostile program."""

MAX_CODE = 4 * MEBIBYTE
"""Far beyond what a model writes; compiling more would only raise a MemoryError."""

MAX_OUTPUT = MEBIBYTE
"""stdout and stderr together. A tool result is cut at 256 KiB anyway (X9)."""

MAX_TEMP_FILE = 64 * MEBIBYTE
"""One file; held by RLIMIT_FSIZE, so a write beyond it fails inside the program."""

MAX_TEMP_BYTES = 128 * MEBIBYTE
"""All files of one run together, unlinked but open ones included."""

MAX_TEMP_ENTRIES = 10_000
"""Files and folders of one run: enough for honest work, few enough to remove at once."""

MAX_OPEN_FILES = 128
"""Descriptors of the worker: about 20 are its own."""

WATCH_INTERVAL = 0.1
"""How often the temporary folder is measured: a fast disk takes about 100 MB in that time."""

MAX_TIMEOUT = 86_400.0
"""A day: keeps an infinite timeout out of the system's timers."""

KILL_GRACE = 1.0
"""How long after the deadline the worker may take to stop the program before it is killed."""

START_TIMEOUT = 180.0
"""Starting a worker takes 0.1 s, compiling once 6 s on two quiet cores and far longer on a busy machine."""

MAX_FRAME = 16 * MEBIBYTE
"""One message between the processes: the largest output, every character escaped, with room."""

MAX_REASON = 4_000
"""Characters of an error text: the guest is not trusted to keep it short."""

WORKERS = 4
"""Programs at the same time; more wait their turn, and their time starts when they do."""

UNUSED_DAYS = 30
"""Compiled components of other versions, 60 MB each, are removed from the cache when unused for so long."""


def megabytes(size: int) -> str:
    """Return a size for people: ``128 MB``. Limits are written in MiB or MB; both print as the round number."""
    unit = MEBIBYTE if size % MEBIBYTE == 0 else 1_000_000
    return f"{size / unit:g} MB"
