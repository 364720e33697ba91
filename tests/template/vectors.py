"""Reads the template cases and Go's answers to them, and says how our answer differs from what is expected."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from prosa.template import Template, TemplateError

HERE = Path(__file__).parent
FILES = sorted(path.stem for path in (HERE / "cases").glob("*.jsonl"))


def lines(path: Path) -> list[dict[str, Any]]:
    """The JSON lines of a file. A line ends at LF only: U+2028 occurs inside of cases."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


CASES: dict[str, list[dict[str, Any]]] = {name: lines(HERE / "cases" / f"{name}.jsonl") for name in FILES}
_GOLDEN = lines(HERE / "golden.jsonl")
GO_VERSION: str = _GOLDEN[0]["go"]
GOLDEN: dict[str, dict[str, Any]] = {line["id"]: line for line in _GOLDEN[1:]}


def fingerprint(case: dict[str, Any]) -> str:
    """The hash that ties Go's answer to the question."""
    asked = json.dumps([case["template"], case["data"]], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:12]


def ours(case: dict[str, Any]) -> str | int:
    """Our text, or the line of our error."""
    try:
        return Template(case["template"]).render(case["data"])
    except TemplateError as error:
        return error.line


def go(case: dict[str, Any]) -> str | int:
    """Go's text, or the line of Go's error."""
    answer = GOLDEN[case["id"]]
    return answer["out"] if "out" in answer else answer["line"]


def expected(case: dict[str, Any]) -> str | int:
    """What must come out: Go's answer, unless the case decides otherwise."""
    if case["mode"] == "go":
        return case.get("line", go(case))
    expect = case["expect"]
    return expect if isinstance(expect, str) else expect["error_line"]


def differences(name: str) -> list[str]:
    """The cases of a file that come out otherwise than expected, one line for each."""
    found = []
    for case in CASES[name]:
        got, wanted = ours(case), expected(case)
        if got != wanted or type(got) is not type(wanted):
            found.append(f"{case['id']}: {case['template']!r}: expected {_shown(wanted)}, found {_shown(got)}")
    return found


def _shown(answer: str | int) -> str:
    return repr(answer) if isinstance(answer, str) else f"an error on line {answer}"
