"""The stations of the tour with the real model, as far as they take a few seconds; `make demo` walks through all."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from prosa.cli.demo import batch, command, model
from tests import warm
from tests.cli.desk import desk
from tests.depth import DEEP

LETTERS = 12 if DEEP else 4


def test_x35_the_tour_extracts_with_the_model_and_plays_the_recording(environ: dict[str, str], tmp_path: Path):
    assert model.model_fault(environ) is None
    at = desk(environ=environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(model.FOLDER)
        told = at.console.changed(stdout=at.console.stderr)
        model._ran(told, tmp_path, progress=False)
    first, again = at.err.split(model.AGAIN)
    answer = first[first.index("{") :].strip()
    assert answer.startswith('{\n  "name": "') and answer in again
    assert str(tmp_path) not in at.err


def test_x35_the_tour_kills_a_batch_half_way_and_goes_on(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PROSA_DATA_DIR", environ["PROSA_DATA_DIR"])
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(batch, "PAID", ", ".join(batch.PAID.split(", ")[:LETTERS]))
    monkeypatch.setattr(batch, "subprocess", SimpleNamespace(Popen=warm.popen, PIPE=subprocess.PIPE))
    at = desk(environ=environ)
    assert batch.tour_letters(at.console) == 0
    assert f"killed after {LETTERS // 2} rows\n" in at.err and f"{LETTERS} of {LETTERS} rows done" in at.err
    assert all(len(line) <= 80 for line in at.err.splitlines())


def test_x35_without_the_weights_the_tour_says_why_in_a_sentence(environ: dict[str, str], tmp_path: Path):
    why = model.model_fault({**environ, "PROSA_DATA_DIR": str(tmp_path)})
    assert why == "the model smollm2 is not here (98 MB)"
    assert model.NO_MODEL.format(why=why).count(".") == 1
    assert command.NO_MODEL is model.NO_MODEL
