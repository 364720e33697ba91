"""A lock that ends with the process that holds it: what keeps two processes from replacing one broken index at once.

In: the path of an index. Out: a context in which nobody else opens or replaces it. It is never held while documents
are read or rows are written; that is what the locks of SQLite are for.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from prosa.corpus.errors import IndexProblem

_PRIVATE = 0o600


@contextlib.contextmanager
def held(path: Path, *, alone: bool) -> Iterator[None]:
    """Holds the lock of an index, ``alone`` or together with others that only open it. Where the system has no such
    locks it does without: SQLite itself never opens a file that is being replaced there. Raises `IndexProblem`."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(f"{path}.lock", flags, _PRIVATE)
    except OSError as error:
        message = f"the index {path} cannot be made: {error.strerror or error}"
        raise IndexProblem(message, hint="PROSA_CACHE_DIR names another place") from None
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)
