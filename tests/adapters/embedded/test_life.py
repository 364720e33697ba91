"""The life of an engine: it ends with whoever started it, comes back once, and is shared by all who ask (X35)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import prosa
from prosa.adapters.embedded import engine as engines
from prosa.adapters.embedded.engine import Engine, Plan
from prosa.adapters.embedded.weights import model_in
from prosa.app.run.embedded import EmbeddedProvider
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import Message, ModelReply, ModelRequest
from tests.adapters.embedded.presence import weights
from tests.adapters.embedded.runs import BRIEF, engines_below, is_there, program, ran, short, started
from tests.cli.programs import prosa as command
from tests.depth import DEEP

ROWS = 4 if DEEP else 2
LONG = "Write a long story about the sea."
FEW = 12 if DEEP else 4
"""Tokens of an answer of which only the end counts."""


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """What a condition gives as soon as it holds."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)
    return found


def own_engine() -> Engine:
    """An engine that no other test asks."""
    return Engine(model_in(weights()), Plan(2048, 1, 1), os.environ)


@pytest.fixture(scope="module")
def mortal() -> Iterator[Engine]:
    """An engine for the tests of this file that kill it: each finds it as the last one left it, running or not."""
    engine = own_engine()
    yield engine
    engine.end()


async def asked(
    engine: Engine, hears: Callable[[str], None] | None = None, most: int = 300, text: str = LONG
) -> ModelReply:
    """The reply to a question, at first hand."""
    provider = EmbeddedProvider(engine, str, completion=False)
    try:
        return await provider.complete(ModelRequest("m", (Message("user", text),), max_output=most), hears)
    finally:
        await provider.aclose()


def kill(engine: Engine) -> None:
    """Ends the child of an engine as the system does where memory is short."""
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGKILL)


def test_x35_an_engine_that_dies_over_an_answer_is_started_once_more(mortal: Engine):
    engine, deaths = mortal, []

    def hears(text: str) -> None:
        if not deaths:
            deaths.append(text)
            kill(engine)

    reply = asyncio.run(asked(engine, hears, most=FEW))
    assert deaths
    assert reply.usage.output_tokens == FEW
    assert reply.model_name == engine.model.name
    assert reply.service == f"embedded:{engine.model.name}"


def test_x35_an_engine_that_dies_again_is_a_sentence_and_not_tried_further(mortal: Engine):
    engine = mortal
    with pytest.raises(ProviderError, match="ended by the system, probably for memory: it needs about") as caught:
        asyncio.run(asked(engine, lambda text: kill(engine)))
    assert not caught.value.retryable
    assert "--model local" in caught.value.hint


def test_x35_an_engine_ends_with_its_parent_whatever_happens(tmp_path: Path, environ: dict[str, str]):
    path = program(tmp_path, "Write a long story.", {"type": "array", "items": {"type": "string", "minLength": 300}})
    for ending in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        process = started("run", path, "text=the sea", "-m", "embedded", environ=environ)
        (child,) = wait_for(lambda pid=process.pid: engines_below(pid))
        process.send_signal(ending)
        process.communicate(timeout=60)
        assert process.returncode == (130 if ending == signal.SIGINT else 143 if ending == signal.SIGTERM else -9)
        wait_for(lambda gone=child: not is_there(gone), 10)


def test_x35_a_question_that_is_given_up_leaves_the_engine_free(mortal: Engine):
    """What streams is cut where nobody listens any more: the only slot answers the next question at once."""
    engine = mortal

    async def two() -> ModelReply:
        begun = asyncio.Event()
        first = asyncio.create_task(asked(engine, lambda text: begun.set(), most=1500))
        await begun.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        async with asyncio.timeout(15):
            return await asked(engine, most=3)

    assert asyncio.run(two()).usage.output_tokens == 3


def test_x35_a_start_that_is_given_up_leaves_nothing_behind():
    engine = own_engine()

    async def give_up() -> None:
        starting = asyncio.create_task(engine.running())
        while engine.pid is None:
            await asyncio.sleep(0.005)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    asyncio.run(give_up())
    wait_for(lambda: engines_below(os.getpid()) == [] or engine.pid is None, 10)


def test_x35_a_text_that_no_window_holds_is_a_sentence(tmp_path: Path, environ: dict[str, str]):
    path = program(tmp_path, "Extract the name.", {"type": "object", "properties": {"name": BRIEF}})
    with pytest.raises(ProviderError, match="the embedded model smollm2 says that the input is too long") as caught:
        ran(path, "word " * 6000, environ)
    assert "127.0.0.1" not in caught.value.message


def test_x35_an_answer_ends_where_the_window_does():
    """Without a limit it may be 4,096 tokens long, or what the window leaves."""
    engine = Engine(model_in(weights()), Plan(256, 1, 1), os.environ)
    endless = "Repeat: " + "again and " * 106
    reply = asyncio.run(asked(engine, most=4096, text=endless))
    assert reply.finish == "length"
    assert reply.usage.input_tokens + reply.usage.output_tokens <= 256
    engine.end()


def test_x35_calls_of_a_batch_share_one_engine(tmp_path: Path, environ: dict[str, str]):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"text": f"I am Ada, {n}."}) + "\n" for n in range(ROWS)))
    output = tmp_path / "out.jsonl"
    process = started(
        "batch", short(tmp_path), "--rows", rows, "--output", output, "-m", "embedded", "--yes", environ=environ
    )
    seen: set[int] = set()
    while process.poll() is None:
        seen.update(engines_below(process.pid))
        time.sleep(0.1)
    assert process.returncode == 0, process.stderr.read() if process.stderr else ""
    assert len(seen) == 1
    said = [json.loads(line)["output"] for line in output.read_text().splitlines()]
    assert set(said) <= {"Ada", "Bob"}
    assert len(said) == ROWS


def test_x35_runs_after_each_other_share_one_engine(tmp_path: Path, environ: dict[str, str]):
    path = short(tmp_path)
    ran(path, "I am Ada.", environ)
    (engine,) = [each for (model, _), each in engines._engines.items() if model.name == "smollm2"]
    before = engine.pid
    ran(path, "I am Bob.", environ)
    assert engine.pid == before


def test_x35_one_file_under_two_names_has_the_name_that_was_asked_for(tmp_path: Path, environ: dict[str, str]):
    path = short(tmp_path)
    for model, name in ((f"gguf:{weights()}", weights().stem), ("embedded", "smollm2")):
        assert ran(path, "I am Ada.", environ, model=model).summary.answered_by == name


def test_x35_two_processes_have_an_engine_each(tmp_path: Path, environ: dict[str, str]):
    path = short(tmp_path)
    both = [started("run", path, f"text=I am {who}.", "-m", "embedded", environ=environ) for who in ("Ada", "Bob")]
    for each in both:
        out, err = each.communicate(timeout=120)
        assert each.returncode == 0, err
        assert json.loads(out) in ("Ada", "Bob")


def test_x35_what_is_recorded_is_played_without_an_engine(tmp_path: Path, environ: dict[str, str]):
    path, tapes = short(tmp_path), tmp_path / "tapes"
    first = ran(path, "I am Ada and I paid 12 euros.", environ, record=tapes)
    (recording,) = tapes.iterdir()
    assert str(weights().parent) not in recording.read_text()
    assert "127.0.0.1" not in recording.read_text()
    played = prosa.run(path, {"text": "I am Ada and I paid 12 euros."}, replay=tapes, environ=environ)
    assert played.output == first.output
    assert (played.summary.answered_by, played.summary.model_name) == ("smollm2", "smollm2")


def test_x35_the_same_question_has_the_same_answer_and_a_repeat_another_seed(tmp_path: Path, environ: dict[str, str]):
    model = model_in(weights())
    provider = EmbeddedProvider(engines.engine_of(model, engines.plan_of(model), os.environ), str, completion=False)
    plain = ModelRequest("m", (Message("user", LONG),), max_output=12)

    async def said(sample: int | None) -> str:
        return (await provider.complete(replace(plain, sample=sample))).content

    first, again, *others = [asyncio.run(said(each)) for each in (None, None, 0, 1, 2)]
    assert first == again
    assert len(set(others)) > 1
    asyncio.run(provider.aclose())


def test_x35_tools_are_not_offered_to_a_model_that_takes_none(tmp_path: Path, environ: dict[str, str]):
    """That is said once, of the tools that the program mentions; `python`, which every program has, is none of them."""
    path, said = short(tmp_path), "note: smollm2 takes no tools, so it is not offered python\n"
    for more, wanted in (("", ""), ("python: {timeout: 9}\n", said)):
        path.write_text(path.read_text().replace("output:", f"{more}output:", 1))
        status, it = command("run", path, "text=I am Ada.", "-m", "embedded", environ=environ)
        assert (status, it.err) == (0, wanted)
        assert json.loads(it.out) in ("Ada", "Bob")
