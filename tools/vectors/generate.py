"""Asks the real Go what it makes of every template case, and writes its answers to ``tests/template/golden.jsonl``.

In: ``tests/template/cases/*.jsonl`` and ``go`` on the PATH (``make vectors`` puts it there). Out: the golden file: one
line that names the Go version, then one line for each case, and a summary on stdout. The oracle is built in a temporary
folder; nothing is downloaded and no binary stays. Refuses a case file with two cases of one name.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TESTS = HERE.parents[1] / "tests" / "template"
GOLDEN = TESTS / "golden.jsonl"


def main() -> int:
    """Build the oracle, ask it, write the golden file. Exit status 0 or 1."""
    cases = read_cases(TESTS / "cases")
    with tempfile.TemporaryDirectory(prefix="prosa-vectors-") as folder:
        environment = offline(Path(folder))
        version = run(["go", "env", "GOVERSION"], environment).decode().strip()
        oracle = Path(folder) / "oracle"
        run(["go", "build", "-o", str(oracle), str(HERE / "main.go")], environment)
        answers = ask(oracle, cases, environment)
    write_golden(version, cases, answers)
    kinds = Counter(next(iter(answer)) for answer in answers)
    counted = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    sys.stdout.write(f"{version}: {len(cases)} cases, {counted}\n")
    return 0


def offline(folder: Path) -> dict[str, str]:
    """Return the environment of the Go commands: everything they write goes to ``folder``, nothing comes from the
    network.

    A ``GOCACHE`` that is already set is kept, so that a second call need not compile Go's library again.
    """
    return {
        **os.environ,
        "GOCACHE": os.environ.get("GOCACHE", str(folder / "cache")),
        "GOPATH": str(folder / "path"),
        "GOENV": "off",
        "GOFLAGS": "-mod=mod",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "XDG_CONFIG_HOME": str(folder / "config"),
    }


def run(command: list[str], environment: dict[str, str], given: bytes = b"") -> bytes:
    """Return the stdout of a command that must succeed."""
    return subprocess.run(command, env=environment, input=given, stdout=subprocess.PIPE, check=True).stdout


def read_cases(folder: Path) -> list[dict[str, Any]]:
    """Return all cases, file by file. A text line ends at LF only: U+2028 occurs inside of cases."""
    cases = [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").split("\n")
        if line
    ]
    twice = [name for name, number in Counter(case["id"] for case in cases).items() if number > 1]
    if twice:
        raise SystemExit(f"two cases have the name {twice[0]}")
    return cases


def ask(oracle: Path, cases: list[dict[str, Any]], environment: dict[str, str]) -> list[dict[str, Any]]:
    """Go's answers, one for each case."""
    asked = "".join(json.dumps({"template": case["template"], "data": case["data"]}) + "\n" for case in cases)
    lines = run([str(oracle)], environment, asked.encode()).decode().split("\n")
    answers = [json.loads(line) for line in lines if line]
    if len(answers) != len(cases):
        raise SystemExit(f"{len(cases)} cases were asked and {len(answers)} answered")
    return answers


def write_golden(version: str, cases: list[dict[str, Any]], answers: list[dict[str, Any]]) -> None:
    """Rewrite the golden file. ``asked`` ties an answer to the text of its case."""
    lines = [{"go": version}]
    for case, answer in zip(cases, answers, strict=True):
        lines.append({"id": case["id"], "asked": fingerprint(case), **answer})
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    GOLDEN.write_text(text, encoding="utf-8", newline="\n")


def fingerprint(case: dict[str, Any]) -> str:
    """Return a short hash of the question: a case that changed has another one, and its answer is out of date."""
    asked = json.dumps([case["template"], case["data"]], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:12]


if __name__ == "__main__":
    sys.exit(main())
