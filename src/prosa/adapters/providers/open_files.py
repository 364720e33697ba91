"""How many connections this process may have, which a limit on its open files bounds (`ulimit -n`)."""

from __future__ import annotations

from pathlib import Path

MAX_CONNECTIONS = 1_000
KEPT_FILES = 40
"""Files that a run opens beside its connections: the store, documents, outputs, tool servers."""


def limit_of_files() -> int | None:
    """Return how many files this process may have open; None if there is no limit, or it is unknown."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else int(soft)


def most_connections() -> int:
    """Return how many connections fit beside the files that are open now: at least one, at most `MAX_CONNECTIONS`."""
    limit = limit_of_files()
    if limit is None:
        return MAX_CONNECTIONS
    return max(1, min(MAX_CONNECTIONS, limit - _open_now() - KEPT_FILES))


def _open_now() -> int:
    try:
        return sum(1 for _ in Path("/dev/fd").iterdir())
    except OSError:
        return 0
