"""Recordings of runs at a model service (X27): what it said is in them, and no key or header is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.app.run.cassettes import load_cassette
from tests.model_server.server import ModelServer
from tests.replay.runs import command, only, program

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
