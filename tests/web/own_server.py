"""A site in a process of its own, on a real port, with an application of the test below `/api/`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import warm

_BEFORE = """
import asyncio, os, sys
from pathlib import Path
from prosa.app.site.keeper import SiteOptions
from prosa.app.site.live import LiveSite
from prosa.settings import Settings
from prosa.web import serving
from prosa.web.app import SiteApp
from prosa.web.context import Web
from prosa.web.limits import Guard, Rate
from prosa.web.limits import ConnectionLimits
from prosa.web.context import Sessions
"""
_AFTER = """
site = LiveSite(Path(sys.argv[1]).resolve(), SiteOptions("Harbour"), dict(os.environ), Settings(), 10**7)
made = serving.bound("127.0.0.1", 0)
port = made.getsockname()[1]
guard = Guard(serving.hosts_of("127.0.0.1", port, ()), changes=Rate(1e6, 1e6))
app = SiteApp(Web(site, Sessions("")), guard, api=api)
app.under_way.most = int(sys.argv[3]) or app.under_way.most
site.start()
serving.serve(app, made, lambda: print(port, flush=True), bounds=ConnectionLimits(**eval(sys.argv[2])))
site.close()
"""


@contextmanager
def running(
    root: Path, api: str, *, under_way: int = 0, quiet: bool = True, **bounds: float
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server of the folder with these bounds of a connection, as its process and its port; killed at the end. ``api``
    is code that defines `api`; ``under_way`` is how many bytes may be under way in all."""
    folder = root.parent
    environ = {**os.environ, "PROSA_CACHE_DIR": str(folder / "cache"), "HOME": str(folder)}
    command = [sys.executable, "-c", f"{_BEFORE}{api}{_AFTER}", str(root), repr(bounds), str(under_way)]
    errors = subprocess.DEVNULL if quiet else None
    process = warm.popen(command, env=environ, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert process.stdout is not None
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
