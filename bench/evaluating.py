"""A suite of a hundred cases of one call each: `prosa test` beside `promptfoo eval`, whole processes in turn.

Both ask the same fake server, four calls at once, with one assertion on each answer, and keep no cache. What they print
is thrown away; promptfoo writes its results into a file, by which its hundred passes are counted.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.checking import Contender, in_turn
from bench.measure import Process, Row, python
from bench.model_calls import model_server
from bench.peers import find as peers
from bench.tests import write_suite

CASES, RUNS, AT_ONCE = 100, 3, 4
QUIET = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
    "PROMPTFOO_CACHE_ENABLED": "false",
    "OPENAI_API_KEY": "none",
    "MARKDOWNLANG_AGREE": "Trans rights are human rights",
}
"""What keeps promptfoo from asking other hosts, and a key that nothing checks."""


def rows(cases: int = CASES, runs: int = RUNS) -> Iterator[Row]:
    """Yield the table."""
    with tempfile.TemporaryDirectory(prefix="prosa-bench-") as name, model_server() as base_url:
        place = Path(name)
        around = {**QUIET, "HOME": name, "PROSA_CACHE_DIR": str(place / "cache"), "PROMPTFOO_CONFIG_DIR": name}
        promptfoo = peers.program("promptfoo", os.environ | around)  # the cache of the user has it
        os.environ.update(around)
        ran = in_turn(_contenders(place, base_url, cases, promptfoo), place, runs)
        if "promptfoo" in ran and (passed := _passed(place)) != cases:
            peers.leave_out(promptfoo.name, f"passed {passed} of {cases} cases")
            del ran["promptfoo"]
    yield from _table(ran, cases, promptfoo)


def _contenders(place: Path, base_url: str, cases: int, promptfoo: peers.Peer) -> dict[str, Contender]:
    suite = write_suite(place / "suite", cases)
    words = ("--model", "gpt-4o", "--base-url", base_url, "--concurrency", str(AT_ONCE), "--format", "json")
    made = {"prosa": Contender(python("-m", "prosa", "test", str(suite), *words), fine=(0,))}
    if promptfoo.start:
        settings = place / "promptfooconfig.json"
        settings.write_text(json.dumps(_settings(base_url, cases)), encoding="utf-8")
        flags = ("--no-cache", "--no-table", "--no-progress-bar", "--no-write", "-j", str(AT_ONCE))
        command = [*promptfoo.start, "eval", "-c", str(settings), "-o", str(place / "results.json"), *flags]
        made["promptfoo"] = Contender(command, fine=(0,), peer=promptfoo.name)
    return made


def _settings(base_url: str, cases: int) -> dict[str, object]:
    """Return the same suite: a prompt, a model, and cases with what is expected."""
    schema = {"type": "object", "properties": {"words": {"const": 2}}, "required": ["words"]}
    expected = [{"type": "is-json", "value": schema}]
    return {
        "prompts": ["Count the words of: {{text}}"],
        "providers": [{"id": "openai:chat:gpt-4o", "config": {"apiBaseUrl": base_url, "apiKey": "none"}}],
        "tests": [{"vars": {"text": f"words {at}"}, "assert": expected} for at in range(cases)],
    }


def _passed(place: Path) -> int:
    """Return how many cases promptfoo says passed; nothing where what it wrote cannot be read."""
    try:
        return int(json.loads((place / "results.json").read_text("utf-8"))["results"]["stats"]["successes"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _table(ran: Mapping[str, Process], cases: int, promptfoo: peers.Peer) -> Iterator[Row]:
    own, other = ran["prosa"], ran.get("promptfoo")
    what = f"a suite of {cases} cases"
    yield Row(f"{what}, wall", own.wall / 1000, "s", promptfoo.title, other.wall / 1000 if other else None)
    yield Row(f"{what}, CPU", own.used / 1000, "s", promptfoo.title, other.used / 1000 if other else None)
    yield Row(f"{what}, peak of the largest process", own.memory, "MiB", promptfoo.title, other and other.memory)
