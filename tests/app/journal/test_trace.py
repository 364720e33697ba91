"""X25, X27. A run of full history is a recording: checked, played, and equal to one that was made at once."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.records.recording import request_data
from prosa.records.requests import request_content, requests_of
from prosa.records.run import CallRecord
from prosa.runtime.digest import as_json
from prosa.runtime.messages import ModelRequest
from tests.cli.programs import ANSWER, configured, nested, program, prosa, script, user
from tests.depth import examples
from tests.runtime.test_cassette import requests

TWO = ({"tool_calls": [{"name": "python", "arguments": {"code": "print(1)"}}]}, ANSWER)


def kept(folder: Path) -> dict[str, str]:
    return user(folder, PROSA_CONFIG_DIR=configured(folder, 'history = "full"\n'))


def calls(path: Path) -> str:
    """What a recording says of calls, between what is the same for all and the footer."""
    return path.read_text().partition("\n## 1")[2].rpartition("\n```json\n")[0]


def test_x25_x27_a_run_of_the_history_is_a_recording(tmp_path: Path) -> None:
    home = kept(tmp_path)
    path, replies = nested(tmp_path)
    tape = tmp_path / "tape"
    status, at = prosa("run", path, "text=a", "--model", script(tmp_path, *replies), "--record", tape, environ=home)
    assert status == 0, at.err
    run = prosa("runs", "--format", "jsonl", "--limit", "1", environ=home)[1].out.split('"')[3]
    status, made = prosa("runs", run, "--trace", tmp_path / "traces", environ=home)
    assert status == 0, made.err
    trace, (recorded,) = Path(made.out.strip()), tape.glob("*.ymj")
    assert trace.name == recorded.name
    assert calls(trace) == calls(recorded) != ""
    assert prosa("check", trace, environ=home)[0] == 0
    status, played = prosa("run", path, "text=a", "--replay", trace, environ=home)
    assert (status, played.out) == (0, at.out), played.err
    status, again = prosa("runs", run, "--trace", tmp_path / "traces", environ=home)
    assert status == 1 and "is there already" in again.err


def test_x27_a_summary_is_no_recording(tmp_path: Path) -> None:
    home = user(tmp_path)
    prosa("run", program(tmp_path), "text=a", "--model", script(tmp_path, *TWO), environ=home)
    run = prosa("runs", "--format", "jsonl", environ=home)[1].out.split('"')[3]
    status, at = prosa("runs", run, "--trace", tmp_path, environ=home)
    assert status == 1 and "only a summary was kept" in at.err and 'history = "full"' in at.err
    assert prosa("runs", "--trace", environ=home)[0] == 2


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(requests, max_size=4), st.booleans())
def test_x25_requests_come_back_from_what_each_adds(asked: list[ModelRequest], grows: bool) -> None:
    calls: list[CallRecord] = []
    whole: list[ModelRequest] = []
    for number, each in enumerate(asked, 1):
        before = whole[-1] if whole else None
        request = replace(each, messages=(*before.messages, *each.messages)) if grows and before else each
        kept = as_json(request_content(request, str(number - 1), before))
        name = request.model_name
        calls.append(CallRecord("r", str(number), 1, "model", request.program, name, "", "", request=kept))
        whole.append(request)
    found = dict(requests_of(calls))
    assert {path: request_data(each) for path, each in found.items()} == {
        str(number): request_data(each) for number, each in enumerate(whole, 1)
    }
