"""The first run of the README with the real model: it ends in a verdict, whatever that is."""

from __future__ import annotations

import json

from tests.adapters.embedded.runs import finished
from tests.house.tree import ROOT


def test_x34_the_reviews_of_the_readme_end_in_a_verdict(environ: dict[str, str]):
    """X34, X35. All forty answers are measured and cost nothing; which of the prompts is better is not asserted."""
    suite = ROOT / "examples" / "reviews" / "plain.test.md"
    words = ("test", suite, "--against", suite.with_name("examples.md"), "--model", "embedded", "--format", "json")
    status, out, err = finished(*words, environ=environ)
    assert status in (0, 1), err
    report = json.loads(out)
    (comparison,) = report["comparisons"]
    assert comparison["measured"] == {"first": [20, 20], "second": [20, 20]}
    assert comparison["verdict"] in ("better", "worse", "cannot tell") and 0 < comparison["p"] <= 1
    sentiments = [
        attempt["output"]["sentiment"]
        for suite in report["suites"]
        for case in suite["cases"]
        for attempt in case["attempts"]
    ]
    assert len(sentiments) == 40 and set(sentiments) <= {"positive", "negative"}
    assert report["total"]["cost"] == 0
