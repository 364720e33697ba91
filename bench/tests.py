"""Tests that are played from their recording: a hundred cases of one call each, what each further one adds, and the
cases of a skill.

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
    """Yield the table."""
    with tempfile.TemporaryDirectory() as name:
        small, large = (_played(Path(name) / str(cases), cases) for cases in (CASES, MORE))
        skill = _replayed(write_skill(Path(name) / "skill", CASES), Path(name) / "skill")
    yield Row(f"a test of {CASES} cases, replayed", small[0], "ms", aim="≤ 2,000 ms")
    yield Row("  processors", small[1], "ms")
    yield Row("  each further case, processors", (large[1] - small[1]) / (MORE - CASES), "ms", aim="≤ 3 ms")
    yield Row(f"a skill with {CASES} cases, with and without it, replayed", skill[0], "ms", aim="≤ 2,000 ms")
    yield Row("  processors", skill[1], "ms")


def write_suite(folder: Path, cases: int) -> Path:
    """Return a program with a test of so many cases, and the replies for them."""
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


def write_skill(folder: Path, cases: int) -> Path:
    """Return a skill with so many cases, and the replies for each of them with it and without it."""
    home = folder / "word-count"
    (home / "evals").mkdir(parents=True)
    text = "---\nname: word-count\ndescription: Counts words.\n---\n\nSay the number.\n"
    (home / "SKILL.md").write_text(text, encoding="utf-8")
    evals = [{"id": at, "prompt": f"Count words {at}.", "assertions": [{"contains": "2"}]} for at in range(cases)]
    (home / "evals" / "evals.json").write_text(json.dumps({"skill_name": "word-count", "evals": evals}))
    reply = json.dumps({"content": "2 words", "usage": {"input_tokens": 100, "output_tokens": 5}})
    (folder / "replies.jsonl").write_text(f"{reply}\n" * cases * 2, encoding="utf-8")
    return home


def _played(folder: Path, cases: int) -> tuple[float, float]:
    """Return the figures of a suite of so many cases."""
    return _replayed(write_suite(folder, cases), folder)


def _replayed(path: Path, folder: Path) -> tuple[float, float]:
    """Wall clock and processor time of a replay, in milliseconds."""
    environ = os.environ | {
        "MARKDOWNLANG_AGREE": "Trans rights are human rights",
        "PROSA_CACHE_DIR": str(folder / "cache"),
    }
    command = python("-m", "prosa", "test", str(path), "--format", "json")
    process([*command, "--record", str(folder / "tape"), "--model", f"scripted:{folder}/replies.jsonl"], environ)
    found = [process([*command, "--replay", str(folder / "tape")], environ) for _ in range(ROUNDS)]
    return statistics.median(each.wall for each in found), statistics.median(each.used for each in found)
