"""A viewer over a store of the test, asked without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from prosa.adapters.store.writer import Writer
from prosa.app.run.world import known_prices
from prosa.records.run import StorePlace
from prosa.settings import Settings
from prosa.web.context import Sessions
from prosa.web.limits import Guard, Rate
from prosa.web.view.app import View, ViewApp
from tests.web.asking import HOST, Said, called, scope_of
from tests.web.view.stores import holder

TOKEN = "a-token-for-the-viewer"
BEARER = ("authorization", f"Bearer {TOKEN}")
FORM = ("content-type", "application/x-www-form-urlencoded")


@dataclass
class Viewer:
    """A viewer that can be asked."""

    place: StorePlace
    app: ViewApp
    faults: list[str] = field(default_factory=list)

    def ask(
        self,
        target: str,
        *headers: tuple[str, str],
        method: str = "GET",
        host: str = HOST,
        body: bytes = b"",
        accept: str = "text/html",
    ) -> Said:
        """What is said to a request with these headers; no fault is let pass."""
        lines = [("host", host), ("accept", accept), *headers]
        said = asyncio.run(called(self.app, scope_of(target, method, lines, "127.0.0.1"), body))
        assert not self.faults, self.faults
        return said

    def get(self, target: str, **more: Any) -> Said:
        """The answer to one who has the token."""
        return self.ask(target, BEARER, **more)

    def post(self, target: str, *headers: tuple[str, str], **fields: str) -> Said:
        """The answer to a form."""
        return self.ask(target, FORM, *headers, method="POST", body=urlencode(fields).encode())

    def session(self) -> tuple[str, str]:
        """The cookie of one who signed in."""
        said = self.post("/mdh/sign-in", token=TOKEN, back="/")
        assert said.status == 303, said.text
        return "cookie", said["set-cookie"].partition(";")[0]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where a store is to be."""
    return tmp_path / "store.sqlite"


@pytest.fixture
def viewer(store: Path) -> Viewer:
    """A viewer of the store."""
    return viewer_of(store)


def viewer_of(place: StorePlace) -> Viewer:
    """A viewer of a store, which takes as many requests as a test sends."""
    view = View(place, Sessions(TOKEN), lambda: known_prices(Settings()))
    guard = Guard((HOST,), changes=Rate(1e6, 1e6), questions=Rate(1e6, 1e6))
    found = Viewer(place, ViewApp(view, guard))
    found.app.fault = found.faults.append
    return found


@pytest.fixture
def alive(store: Path) -> Iterator[Writer]:
    """A process that writes the store."""
    yield from holder(store)
