"""What is said where no answer comes: each way in which an engine cannot run, in a sentence with a way on (X35)."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from prosa.adapters.embedded import machine
from prosa.adapters.embedded.engine import Engine, Plan
from prosa.adapters.embedded.weights import TABLE, model_in
from prosa.app.doctor import examine
from prosa.app.run import embedded
from prosa.app.run.embedded import EmbeddedProvider, ready_model
from prosa.extras import install_line
from prosa.runtime.errors import ProviderError
from tests.adapters.embedded.presence import weights
from tests.adapters.embedded.runs import letter
from tests.adapters.embedded.weights.index import gguf
from tests.cli.programs import prosa


def refused(word: str, environ: dict[str, str]) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ready_model(word, environ)
    assert not caught.value.retryable
    return caught.value


def test_x35_a_processor_without_avx2(monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]):
    monkeypatch.setattr(machine, "lacks_avx2", lambda: True)
    error = refused("embedded", environ)
    assert error.message == "this processor lacks AVX2, which the engine needs"
    assert "--model local" in error.hint


@pytest.mark.parametrize("system", ["Linux with musl", "Windows on ARM", "macOS before 13"])
def test_x35_a_system_without_an_engine(system: str, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]):
    monkeypatch.setattr(machine, "engine_version", lambda: (0, 2, 13) if "musl" in system else None)
    monkeypatch.setattr(machine, "system_without_engine", lambda: system)
    error = refused("embedded", environ)
    assert error.message == f"there is no engine for this system ({system})"
    assert "--model local" in error.hint


def test_x35_an_engine_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]):
    monkeypatch.setattr(embedded, "is_installed", lambda extra: False)
    error = refused("embedded", environ)
    assert error.message == "embedded needs the engine (34 MB), which is not installed"
    assert install_line("embedded") in error.hint


def test_x35_weights_that_are_not_here(tmp_path: Path, environ: dict[str, str]):
    error = refused("embedded", {**environ, "PROSA_DATA_DIR": str(tmp_path)})
    assert (error.message, error.hint) == (
        "the model smollm2 is not here (98 MB)",
        "fetch it: prosa models pull smollm2",
    )


def test_x35_weights_that_are_others(tmp_path: Path, environ: dict[str, str]):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / TABLE[0].file).write_bytes(b"GGUF cut")
    error = refused("embedded", {**environ, "PROSA_DATA_DIR": str(tmp_path)})
    assert "is not the file that was published (0 MB)" in error.message
    assert error.hint == "fetch it again: prosa models pull smollm2 --force"


def test_x35_too_little_memory_is_said_before_anything_starts(monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]):
    monkeypatch.setattr(machine, "memory_left", lambda: 100_000_000)
    error = refused("embedded", environ)
    assert error.message.startswith("smollm2 needs about 313 MB of memory, and 100 MB are free")


def test_x35_a_file_that_the_engine_cannot_load(tmp_path: Path):
    path = tmp_path / "odd.gguf"
    path.write_bytes(gguf({"general.architecture": "nobody-knows", "tokenizer.chat_template": "x"}))
    engine = Engine(model_in(path), Plan(256, 1, 1), os.environ)
    provider = EmbeddedProvider(engine, str, completion=False)
    with pytest.raises(ProviderError, match=r"the engine cannot load odd\.gguf: ") as caught:
        asyncio.run(provider.start())
    assert not caught.value.retryable
    assert engine._child is None


def test_x35_a_command_that_cannot_run_ends_with_the_sentence_alone(tmp_path: Path, environ: dict[str, str]):
    status, it = prosa("run", letter(tmp_path), "text=x", "-m", "gguf:/nowhere/tiny.gguf", environ=environ)
    assert (status, it.out) == (1, "")
    assert it.err == "error: there is no file /nowhere/tiny.gguf\n  `--model gguf:PATH` takes the path of a GGUF file\n"


def test_x35_the_doctor_knows_engine_weights_and_hash(tmp_path: Path, environ: dict[str, str]):
    (found,) = [each for each in examine(environ, tmp_path) if each.name == "embedded"]
    assert (found.state, found.message) == ("ok", "smollm2 is here, and its hash is right: --model embedded")
    (tmp_path / "models").mkdir()
    data = bytearray(weights().read_bytes())
    data[5_000_000] ^= 1
    (tmp_path / "models" / TABLE[0].file).write_bytes(data)
    (found,) = [
        each for each in examine({**environ, "PROSA_DATA_DIR": str(tmp_path)}, tmp_path) if each.name == "embedded"
    ]
    assert found.state == "warning"
    assert "is not the file that was published (sha256 " in found.message


def test_x35_a_plan_and_the_list_of_models_know_it(tmp_path: Path, environ: dict[str, str]):
    status, it = prosa("plan", letter(tmp_path), "text=x", "-m", "embedded", environ=environ)
    assert status == 0
    assert "asks smollm2 at most 10 times (embedded: 135M, 4,096 tokens, on this machine, no network; $0)" in it.out
    assert "127.0.0.1" not in it.out
    status, it = prosa("models", "embedded", environ=environ)
    assert status == 0
    assert "smollm2  (135M, 4,096 tokens, 98 MB, Apache-2.0; here)" in it.out
    assert "a very small model: it extracts and labels, and is too small to grade skills" in it.out


def test_x35_a_budget_holds_trivially(tmp_path: Path, environ: dict[str, str]):
    arguments = ("text=I am Ada.", "-m", "embedded", "--max-cost", "0.01", "--summary", "--no-progress")
    status, it = prosa("run", letter(tmp_path), *arguments, environ=environ)
    assert status == 0, it.err
    assert '"cost": 0.0' in it.err + it.out
