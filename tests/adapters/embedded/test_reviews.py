"""The first run of the README with the real model: it ends in a verdict, whatever that is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.adapters.embedded.runs import finished
from tests.depth import DEEP
from tests.house.tree import ROOT

CASES = 20 if DEEP else 2
AT_ONCE = () if DEEP else ("--concurrency", "1")
"""Of two calls at once, each reads the prompt anew that a call after another finds read."""

"""How many of the twenty reviews are asked about."""


def test_x34_the_reviews_of_the_readme_end_in_a_verdict(environ: dict[str, str], tmp_path: Path):
    """X34, X35. All answers are measured and cost nothing; which of the prompts is better is not asserted."""
    shutil.copytree(ROOT / "examples" / "reviews", tmp_path / "reviews")
    suite = tmp_path / "reviews" / "plain.test.md"
    head, *cases = suite.read_text("utf-8").split("\n## ")
    assert len(cases) == 20
    suite.write_text("\n## ".join([head, *cases[:CASES]]), "utf-8")
    words = (
        "test",
        suite,
        "--against",
        suite.with_name("examples.md"),
        "--model",
        "embedded",
        "--format",
        "json",
        *AT_ONCE,
    )
    status, out, err = finished(*words, environ=environ)
    assert status in (0, 1), err
    report = json.loads(out)
    (comparison,) = report["comparisons"]
    assert comparison["measured"] == {"first": [CASES, CASES], "second": [CASES, CASES]}
    assert comparison["verdict"] in ("better", "worse", "cannot tell") and 0 < comparison["p"] <= 1
    sentiments = [
        attempt["output"]["sentiment"]
        for suite in report["suites"]
        for case in suite["cases"]
        for attempt in case["attempts"]
    ]
    assert len(sentiments) == 2 * CASES and set(sentiments) <= {"positive", "negative"}
    assert report["total"]["cost"] == 0
