"""Recordings of runs at a model service (X27): what it said is in them, and no key or header is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.app.options import Record
from prosa.app.run.recordings import load_recording as load_cassette
from tests.app.run.recordings.runs import command, only, program, ran, says
from tests.model_server.server import ModelServer

KEY = "sk-9f8e7d6c5b4a"


@pytest.mark.parametrize("flags", [(), ("--stream",), ("--api", "responses")])
def test_x27_no_key_and_no_header_is_in_a_recording(
    model_server: ModelServer, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    path, tapes = program(tmp_path), tmp_path / "tapes"
    model_server.script({"status": 503, "headers": {"Retry-After": "0"}}, {"content": {"n": 5}})
    url = model_server.base_url
    status, first = command(path, "text=a", "--record", tapes, *flags, OPENAI_BASE_URL=url, OPENAI_API_KEY=KEY)
    assert status == 0, first.err
    assert any(KEY in str(request.headers) for request in model_server.requests)
    text = only(tapes).read_text()
    assert KEY not in text and "authorization" not in text.lower()
    call = load_cassette(only(tapes)).replies["1"]
    assert len(call.attempts) == 1 and call.reply is not None and call.reply.service == url
    asked = len(model_server.requests)
    status, again = command(path, "text=a", "--replay", tapes, *flags)
    assert (status, again.out, len(model_server.requests)) == (0, first.out, asked), again.err


def loose(folder: Path) -> Path:
    """A program that takes any object for an output."""
    path = program(folder)
    path.write_text(path.read_text().replace("{n: {type: integer}}", "{n: {type: string}}"))
    return path


@pytest.mark.parametrize("said", [KEY, KEY[:13], KEY[:-2] + "…"])
@pytest.mark.parametrize("flags", [(), ("--stream",), ("--api", "responses")])
def test_x7_x27_a_reply_that_holds_the_key_is_kept_without_it(
    model_server: ModelServer, tmp_path: Path, flags: tuple[str, ...], said: str
) -> None:
    """X7, X25, X27: in the output, in events, in the store and in the recording."""
    path, tapes = loose(tmp_path), tmp_path / "tapes"
    model_server.script({"content": {"n": said}})
    where = {"OPENAI_BASE_URL": model_server.base_url, "OPENAI_API_KEY": KEY}
    kept = ("--record", tapes, "--events", "jsonl", "--store", tmp_path / "runs.db")
    status, at = command(path, "text=a", *kept, *flags, **where)
    assert status == 0, at.err
    everything = [
        at.out,
        at.err,
        *(each.read_bytes().decode("latin-1") for each in tmp_path.rglob("*") if each.is_file()),
    ]
    assert not any(KEY[:12] in each for each in everything)
    assert only(tapes).stat().st_mode & 0o777 == 0o600


def test_x27_a_recording_keeps_the_mode_that_somebody_gave_it(tmp_path: Path) -> None:
    """X27: it is the user's alone unless there was a file."""
    path, tapes = program(tmp_path), tmp_path / "tapes"
    ran(path, {"text": "a" * 100_000}, [says(1)], record=Record(tapes))
    assert {each.stat().st_mode & 0o777 for each in tapes.iterdir()} == {0o600}
    only(tapes).chmod(0o644)
    ran(path, {"text": "a" * 100_000}, [says(2)], record=Record(tapes))
    assert only(tapes).stat().st_mode & 0o777 == 0o644


def test_x27_a_refusal_of_the_service_is_played_as_it_was(model_server: ModelServer, tmp_path: Path) -> None:
    path, tapes = program(tmp_path), tmp_path / "tapes"
    model_server.script({"status": 401, "message": f"bad key {KEY}"})
    status, first = command(
        path, "text=a", "--record", tapes, OPENAI_BASE_URL=model_server.base_url, OPENAI_API_KEY=KEY
    )
    assert status == 1 and KEY not in only(tapes).read_text()
    status, again = command(path, "text=a", "--replay", tapes)
    assert (status, again.err) == (1, first.err)


def test_x27_with_new_live_and_everything_recorded_nobody_is_asked(model_server: ModelServer, tmp_path: Path) -> None:
    path, tapes = program(tmp_path), tmp_path / "tapes"
    model_server.script({"content": {"n": 5}})
    where = {"OPENAI_BASE_URL": model_server.base_url, "OPENAI_API_KEY": KEY}
    assert command(path, "text=a", "--record", tapes, **where)[0] == 0
    before = only(tapes).read_text()
    status, at = command(path, "text=a", "--replay", tapes, "--new", "live", "--record", tapes)
    assert status == 0 and json.loads(at.out) == {"n": 5}, at.err
    lines = zip(before.splitlines(), only(tapes).read_text().splitlines(), strict=True)
    assert {one.split(":")[0].strip() for one, other in lines if one != other} <= {"created", "run_id"}
    status, at = command(path, "text=b", "--replay", tapes, "--new", "live", "--record", tapes)
    assert status == 1 and "there is no key" in at.err
