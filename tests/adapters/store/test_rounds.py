"""X29. Rounds over a store on a server: one process sends and fetches, and a worker finds nothing to take."""

from __future__ import annotations

from pathlib import Path

import pytest

from prosa.app.batch import rounds
from tests.app.batch.test_rounds import ROWS, command_words, home, outputs
from tests.batch_services.openai import OpenAI
from tests.batch_services.service import serving
from tests.cli.programs import prosa as command


def test_x29_rows_in_a_store_on_a_server_go_in_rounds(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch):
    """X29: what expired is sent again, and the same command asks nobody."""
    monkeypatch.setattr(rounds, "FIRST_POLL", 0.001)
    with serving(OpenAI()) as service:
        first: list[str] = []
        answer = service.answer
        service.answer = lambda name, body: answer(name, body) if name in first or first.append(name) else "expired"
        environ = home(tmp_path, service) | {"PROSA_STORE": url}
        status, at = command(*command_words(tmp_path), environ=environ)
        assert status == 0 and outputs(at) == list(range(1, ROWS + 1)), at.err
        assert command(*command_words(tmp_path), environ=environ)[0] == 0
        assert len(service.batches) == 2 and len(service.paid) == len(set(service.paid)) == ROWS
