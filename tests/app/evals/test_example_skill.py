"""X32: the example is tried without a model and without a key. `PROSA_UPDATE=1` records it anew, from its replies."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from prosa.cli.main import main
from tests.app.evals.suites import report, test
from tests.cli.desk import desk
from tests.house.tree import ROOT

SKILLS = ROOT / "examples" / "skills"
HOME = SKILLS / "delay-notice"
RECORDED = HOME / "evals" / "recorded"
REPLIES = HOME / "evals" / "replies.jsonl"


def test_x32_the_example_and_its_recording_have_no_findings():
    at = desk()
    assert main(["check", "--strict", str(SKILLS)], at.console) == 0
    assert "Nothing found" in at.out + at.err


def test_x32_the_example_is_played_without_a_key(here: Path):
    if os.environ.get("PROSA_UPDATE"):
        shutil.rmtree(RECORDED, ignore_errors=True)
        scripted = f"scripted:{REPLIES}"
        assert test(here, str(HOME), "--record", str(RECORDED), "--model", scripted, "--concurrency", "1")[0] == 0
    status, at = test(here, str(HOME), "--replay", str(RECORDED), "--format", "json")
    assert status == 0, at.out + at.err
    told = report(at)
    (lift,) = [each["lift"] for each in told["comparisons"]]
    assert (lift["with"]["rate"], lift["without"]["rate"]) == (1.0, 0.0)
    (routing,) = [each["routing"] for each in told["suites"] if "routing" in each]
    assert routing["offered"] == ["delay-notice", "lost-property"]
    assert {row["expected"]: row["loaded"] for row in routing["confusion"]} == {
        "delay-notice": {"delay-notice": 2},
        "lost-property": {"lost-property": 1},
        "not delay-notice": {"none": 1},
    }
