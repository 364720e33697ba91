"""The documentation as a site, built once for all workers of a session, which takes eight seconds. It is only read."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from prosa.cli.main import main
from tools.docs.generate import stage

BASE_URL = "https://docs.example"


def built(factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site. The first to ask builds it; of two that ask at once, each does."""
    own = factory.getbasetemp()
    site = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "documentation"
    if site.exists():
        return site
    folder = factory.mktemp("docs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROSA_CACHE_DIR", str(folder / "cache"))
        patch.setenv("PROSA_CONFIG_DIR", str(folder / "config"))
        assert main(["build", str(stage(folder / "sources")), str(folder / "out"), "--base-url", BASE_URL]) == 0
    with suppress(OSError):  # another worker was as quick
        (folder / "out").rename(site)
    return site
