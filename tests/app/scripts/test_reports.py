"""What comes out of a run besides results: summary, events, order, failures of the service, Ctrl-C."""

from __future__ import annotations

import errno
import io
import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.main import main
from tests.app.scripts.documents import asked, block, document, lines_of, own, run, whole_summary
from tests.cli.desk import desk
from tests.cli.programs import events_in, prosa, script, started
from tests.model_server.server import ModelServer

USAGE = {"input_tokens": 100, "output_tokens": 10}


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A document with three scripts."""
    return document(tmp_path, "Text.\n", block("a"), block("b"), block("c"))


def replies(**contents: Any) -> tuple[dict[str, Any], ...]:
    return tuple({"program": name, "content": text, "usage": USAGE} for name, text in contents.items())


def test_one_result_is_bare_and_several_have_headings(page: Path):
    given = replies(a="One.\n", b="Two.", c="Three.")
    assert run(page, "--script", "a", replies=given)[1].out == "One.\n"
    status, at = run(page, "--all", replies=given)
    assert (status, at.out, at.err) == (0, "## a\n\nOne.\n\n## b\n\nTwo.\n\n## c\n\nThree.\n", "")
    assert run(page, "--script", "c", "a", "--script", "b", replies=given)[1].out == at.out


def test_x16_scripted_replies_are_taken_by_script_whatever_runs_first(page: Path):
    given = replies(c="Three.", b="Two.", a="One.")
    for jobs in (1, 2, 64):
        _, at = run(page, "--all", "--format", "jsonl", "--jobs", jobs, replies=given)
        assert [(line["script"], line["result"]) for line in lines_of(at)] == [
            ("a", "One."),
            ("b", "Two."),
            ("c", "Three."),
        ]


def test_l42_l43_one_summary_with_totals_and_a_list(page: Path):
    status, at = run(page, "--all", "--summary", replies=(*replies(a="1", b="2"), {"program": "c", "error": "no"}))
    assert status == 1
    summary = whole_summary(at.err)
    assert list(summary)[:6] == ["program", "success", "error", "iterations", "tokens", "tools_called"]
    assert (summary["program"], summary["success"], summary["iterations"]) == ("report.mda", False, 2)
    assert summary["tokens"]["total"] == 220 and summary["tokens"]["cost"] > 0
    assert [(each["script"], each["success"]) for each in summary["scripts"]] == [
        ("a", True),
        ("b", True),
        ("c", False),
    ]
    assert summary["error"].startswith("c: ") and summary["scripts"][2]["error"]


def test_l44_a_run_that_never_began_has_a_summary_too(page: Path):
    status, at = run(page, "--script", "nobody", "--summary")
    assert status == 2
    summary = whole_summary(at.err)
    assert (summary["success"], summary["scripts"]) == (False, []) and "nobody" in summary["error"]


def test_events_number_the_scripts_of_a_run(page: Path):
    status, at = run(page, "--all", "--events", "jsonl", replies=replies(a="1", b="2", c="3"))
    assert status == 0
    events = events_in(at.err)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    begun = [(event["program"], event["scope"]) for event in events if event["event"] == "run-started"]
    assert sorted(begun) == [("a", 1), ("b", 2), ("c", 3)]
    assert sum(event["event"] == "run-finished" for event in events) == 3


def test_every_script_that_fails_has_one_last_event(tmp_path: Path):
    path = document(tmp_path, block("a", provider="anthropic", **{"model-name": "m"}), block("b"))
    environ = own(tmp_path)
    status, at = prosa("run", path, "--all", "--events", "jsonl", environ=environ)
    assert status == 1
    failed = [event for event in events_in(at.err) if event["event"] == "run-failed"]
    assert {event["program"] for event in failed} == {"a", "b"} and len(failed) == 2
    assert "ANTHROPIC_API_KEY is not set" in at.err and "no model to ask" in at.err


def test_one_failure_does_not_end_the_others(page: Path, model_server: ModelServer):
    model_server.script({"content": "One."}, {"status": 400, "message": "no such thing"}, {"content": "Three."})
    status, at = asked(model_server, page, "--all", "--format", "jsonl", "--jobs", "1")
    assert status == 1
    first, second, third = lines_of(at)
    assert (first["result"], second["ok"], third["result"]) == ("One.", False, "Three.")
    assert "no such thing" in second["error"] and json.loads(at.err)["error"] == "provider-bad-request"


@pytest.mark.parametrize("fault", ["reset", "truncated", "close"])
def test_l16_a_server_that_dies_mid_stream_is_asked_again(fault: str, tmp_path: Path, model_server: ModelServer):
    path = document(tmp_path, block("one", stream=True))
    model_server.script({"content": "half of it", "fault": fault}, {"content": "The whole."})
    status, at = asked(model_server, path, "--all", "--write", "--summary")
    assert (status, at.out) == (0, "")
    assert "The whole." in path.read_text() and "half of it" not in path.read_text()


def test_l16_a_server_that_stays_dead_changes_nothing(tmp_path: Path, model_server: ModelServer):
    path = document(tmp_path, block("one", stream=True))
    before = path.read_text()
    model_server.default = {"content": "half of it", "fault": "reset"}
    status, at = asked(model_server, path, "--all", "--write", "--retries", "0")
    assert (status, at.out, path.read_text()) == (1, "", before)
    assert "broke off" in at.err


CUT = {"program": "a", "content": "half a sen", "finish": "length", "model": "tiny.gguf"}


def test_la28_text_that_was_cut_off_is_no_result(page: Path):
    before = page.read_text()
    status, at = run(page, "--script", "a", "--write", replies=(CUT,))
    assert (status, at.out, page.read_text()) == (1, "", before)
    assert "a: the answer was cut off at the length limit of the model" in at.err
    assert "--allow-cut" in at.err


def test_la28_m24_a_line_of_json_says_who_answered_and_that_it_was_cut(page: Path):
    """LA28, M24."""
    _, at = run(page, "--script", "a", "--allow-cut", "--format", "jsonl", replies=(CUT,))
    (line,) = lines_of(at)
    assert (line["answered_by"], line["cut"]) == ("tiny.gguf", True)
    _, at = run(page, "--script", "a", "--format", "jsonl", replies=replies(a="1"))
    (line,) = lines_of(at)
    assert line["answered_by"] is None and "cut" not in line


def test_la28_a_cut_result_is_marked_where_it_is_written_and_says_who_answered(page: Path):
    status, at = run(page, "--script", "a", "--write", "--allow-cut", "--summary", replies=(CUT,))
    assert status == 0
    assert "half a sen" in page.read_text()
    (marker,) = (line for line in page.read_text().splitlines() if line.startswith("<!-- ai-result"))
    about = json.loads(marker.removeprefix("<!-- ai-result ").removesuffix(" -->"))
    assert (about["answered_by"], about["cut"]) == ("tiny.gguf", True)
    assert about["model"] != "tiny.gguf"
    assert '"answered_by": "tiny.gguf"' in at.err


def test_output_goes_into_a_file(page: Path, tmp_path: Path):
    target = tmp_path / "out.txt"
    assert run(page, "--all", "--output", target, replies=replies(a="1", b="2", c="3"))[1].out == ""
    assert target.read_text() == "## a\n\n1\n\n## b\n\n2\n\n## c\n\n3\n"
    assert run(page, "--script", "a", "--format", "jsonl", "--output", target, replies=replies(a="1"))[0] == 0
    assert json.loads(target.read_text())["result"] == "1"


def test_no_agreement_is_needed(page: Path):
    """LA29: the agreement gates markdownlang programs, not scripts."""
    environ = own(page.parent, MARKDOWNLANG_AGREE="")
    status, at = prosa("run", page, "--script", "a", "--model", script(page.parent, {"content": "1"}), environ=environ)
    assert (status, at.out) == (0, "1\n")


def test_limits_of_the_command_line_hold(page: Path, model_server: ModelServer):
    model_server.script({"content": "late", "delay": 5.0})
    status, at = asked(model_server, page, "--script", "a", "--timeout", "0.3")
    assert status == 1
    assert "a took longer than its wall clock limit of 0.3 s" in at.err


def test_scripts_run_side_by_side_and_results_keep_their_order(page: Path, model_server: ModelServer):
    model_server.script(*({"content": name, "delay": delay} for name, delay in (("1", 0.6), ("2", 0.6), ("3", 0.6))))
    status, at = asked(model_server, page, "--all", "--jobs", "3", "--format", "jsonl")
    assert (status, model_server.most_in_flight) == (0, 3)
    assert [line["script"] for line in lines_of(at)] == ["a", "b", "c"]


def test_a_reader_that_goes_away_is_no_error(page: Path):
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(errno.EPIPE, "nobody reads")

    model = script(page.parent, {"content": "1"}, {"content": "2"}, {"content": "3"})
    at = desk("", own(page.parent))
    console = at.console.changed(stdout=Gone())
    assert main(["run", str(page), "--all", "--model", model], console) == 0
    assert at.err == ""


def test_ctrl_c_keeps_what_was_finished(page: Path, model_server: ModelServer):
    model_server.script({"content": "Finished."}, {"content": "never", "delay": 20.0})
    environ = own(page.parent, OPENAI_BASE_URL=model_server.base_url)
    argv = ("run", page, "--script", "a", "b", "--jobs", "1", "--write", "--summary")
    with started(*argv, environ=environ) as process:
        deadline = time.monotonic() + 120
        while len(model_server.bodies) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, b"")
    assert "Finished." in page.read_text() and page.read_text().count("ai-result {") == 1
    summary = whole_summary(err.decode())
    assert [(each["script"], each["success"]) for each in summary["scripts"]] == [("a", True), ("b", False)]
    assert summary["scripts"][1]["error"] == "interrupted"
