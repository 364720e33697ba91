"""A suite of tests that is played from its recording: a hundred cases of one call each, and what each further one adds.

The replies are scripted and recorded first, unmeasured; what is measured is a whole process that needs no model.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import ANSWER, write_program
from bench.measure import Row, process, python

CASES, MORE = 100, 500
ROUNDS = 3


def rows() -> Iterator[Row]:
    """The table."""
    with tempfile.TemporaryDirectory() as name:
        small, large = (_played(Path(name) / str(cases), cases) for cases in (CASES, MORE))
    yield Row(f"a test of {CASES} cases, replayed", small[0], "ms", aim="≤ 2,000 ms")
    yield Row("  processors", small[1], "ms")
    yield Row("  each further case, processors", (large[1] - small[1]) / (MORE - CASES), "ms", aim="≤ 3 ms")


def write_suite(folder: Path, cases: int) -> Path:
    """A program with a test of so many cases, and the replies for them."""
    folder.mkdir(parents=True, exist_ok=True)
    write_program(folder)
    blocks = "".join(
        f"\n## Case {at}\n\n```yaml input\ntext: words {at}\n```\n\n```yaml expect\nwords: 2\n```\n"
        for at in range(cases)
    )
    path = folder / "words.test.md"
    path.write_text(f"---\ntests: ./words.md\n---\n{blocks}", encoding="utf-8")
    reply = json.dumps({"content": ANSWER, "usage": {"input_tokens": 100, "output_tokens": 5}})
    (folder / "replies.jsonl").write_text(f"{reply}\n" * cases, encoding="utf-8")
    return path


def _played(folder: Path, cases: int) -> tuple[float, float]:
    """Wall clock and processor time of a replay, in milliseconds."""
    path = write_suite(folder, cases)
    environ = os.environ | {
        "MARKDOWNLANG_AGREE": "Trans rights are human rights",
        "PROSA_CACHE_DIR": str(folder / "cache"),
    }
    command = python("-m", "prosa", "test", str(path), "--format", "json")
    process([*command, "--record", str(folder / "tape"), "--model", f"scripted:{folder}/replies.jsonl"], environ)
    found = [process([*command, "--replay", str(folder / "tape")], environ) for _ in range(ROUNDS)]
    return statistics.median(each.wall for each in found), statistics.median(each.used for each in found)
