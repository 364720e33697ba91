"""The execution summary: keys, order, durations, cost, failures."""

from __future__ import annotations

import pytest

from prosa.records.summary import before_start, duration
from prosa.testing import FakeClock
from tests.runtime.worlds import FixedPrices, call, load, run

USAGE = {"input_tokens": 150, "output_tokens": 75}


def test_l42_l43_l45_la27_la28_the_keys_of_the_sample_then_three_more(tmp_path):
    ran = run(load(tmp_path), {}, [{"content": {"n": 1}, "usage": USAGE}], prices=FixedPrices())
    summary = ran.summary.as_dict()
    assert list(summary) == [
        "program",
        "success",
        "iterations",
        "tokens",
        "tools_called",
        "duration",
        "model",
        "answered_by",
        "total",
        "errors",
        "start_time",
        "end_time",
    ]
    assert summary["program"] == "main.md"
    assert summary["success"] is True
    assert summary["tokens"] == {"input": 150, "output": 75, "total": 225, "cost": 0.001125}
    assert summary["total"] == {"tokens": 225, "cost": 0.001125}
    assert summary["model"] == "gpt-4o"
    assert summary["start_time"].endswith("Z")


def test_l44_lw9_a_failed_run_has_a_summary_with_its_error(tmp_path):
    ran = run(load(tmp_path), {}, [{"content": "no", "usage": USAGE}] * 10, prices=FixedPrices())
    summary = ran.summary.as_dict()
    assert summary["success"] is False
    assert "10 iterations" in summary["error"]
    assert (summary["iterations"], summary["errors"], summary["tokens"]["total"]) == (10, 10, 2250)


def test_l44_lw9_a_run_that_never_began_has_one_too():
    summary = before_start("gone.md", "gpt-4o", "no such file", FakeClock()).as_dict()
    assert (summary["program"], summary["success"], summary["error"]) == ("gone.md", False, "no such file")
    assert summary["iterations"] == 0


def test_la27_lw9_the_cost_of_an_unknown_model_is_null(tmp_path):
    ran = run(load(tmp_path, model="mystery"), {}, [{"content": {"n": 1}, "usage": USAGE}], prices=FixedPrices())
    summary = ran.summary.as_dict()
    assert summary["tokens"]["cost"] is None
    assert summary["model"] == "mystery"


def test_la28_tools_called_leaves_agents_out_and_counts_python(tmp_path):
    from tests.runtime.worlds import FakeSandbox

    replies = [{"tool_calls": [call("python", {"code": "1"}), call("python", {"code": "2"})]}, {"content": {"n": 1}}]
    ran = run(load(tmp_path), {}, replies, sandbox=FakeSandbox())
    assert ran.summary.as_dict()["tools_called"] == 2
    assert "agent_calls" not in ran.summary.as_dict()


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.2, "1.2s"), (5.2, "5.2s"), (1.04, "1.04s"), (12.5, "12.5s"), (0.0, "0s"), (2.0, "2s")]
)
def test_l33_la28_durations_are_strings_in_seconds(seconds, text):
    assert duration(seconds) == text


def test_la28_the_summary_says_who_was_asked_and_who_answered(tmp_path):
    reply = {"content": {"n": 1}, "usage": USAGE, "model": "tiny.gguf"}
    summary = run(load(tmp_path), {}, [{"content": "no", "model": "first"}, reply]).summary
    assert (summary.model_name, summary.answered_by) == ("gpt-4o", "tiny.gguf")
    assert (summary.as_dict()["model"], summary.as_dict()["answered_by"]) == ("gpt-4o", "tiny.gguf")
    assert run(load(tmp_path), {}, [{"content": {"n": 1}}]).summary.as_dict()["answered_by"] is None


def test_b11_a_script_without_a_reply_says_why_the_last_answer_was_refused(tmp_path):
    """L13, X16."""
    ran = run(load(tmp_path), {}, [{"content": {"n": "one"}}])
    assert "no reply left" in str(ran.error)
    assert "the last answer was rejected: /n: expected integer" in str(ran.error)
