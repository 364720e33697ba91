"""Run the suites that are below a folder and the shared tests, and keep their figures in `docs/compatibility.md`.

`python -m tests.suites DIR`: what is missing is named and not counted, and keeps its row. Ends with 1 where a suite
differs in a case without a known reason, or where a known reason is needed no more.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.house.tree import ROOT
from tests.suites.shared import refresh
from tests.suites.suite import Outcome, Suite
from tests.suites.table import SUITES

PAGE = ROOT / "docs" / "compatibility.md"


def main(folder: Path) -> int:
    """Run what is there, and rewrite its rows of the page."""
    status, page = 0, PAGE.read_text(encoding="utf-8")
    for suite in SUITES:
        place = folder / suite.where
        if not place.is_dir():
            print(f"missing: {suite.name}, from {suite.origin}, in {place}")
            continue
        try:
            outcome = suite.run(place)
        except (OSError, ImportError, LookupError) as error:
            print(f"missing: {suite.name} is not whole in {place}: {error}")
            continue
        unknown = [case for case in outcome.differing if not suite.reason(case)]
        stale = [start for start in suite.reasons if not any(each.startswith(start) for each in outcome.differing)]
        print(f"{suite.name} {outcome.version}: {outcome.total - len(outcome.differing)} of {outcome.total}")
        print("".join(f"  differs for no known reason: {case}\n" for case in unknown), end="")
        print("".join(f"  differs no more: {start}\n" for start in stale), end="")
        status = status or int(bool(unknown or stale))
        page = with_row(page, suite, outcome)
    page, shared = refresh(page, folder)
    PAGE.write_text(page, encoding="utf-8")
    return status or shared


def with_row(page: str, suite: Suite, outcome: Outcome) -> str:
    """Return the page with the row of a suite; one without a row gets the last."""
    lines = page.splitlines()
    at = next((number for number, line in enumerate(lines) if line.startswith(f"| {suite.name} |")), None)
    last = lines.index("", lines.index("|---|---|---|---|")) - 1
    new = row(suite, outcome)
    lines[last + 1 if at is None else at : last + 1 if at is None else at + 1] = [new]
    return "\n".join(lines) + "\n"


def row(suite: Suite, outcome: Outcome) -> str:
    """Return a row: the suite, its version, its figures, and why how many of its cases differ."""
    reasons: dict[str, int] = {}
    for case in outcome.differing:
        reason = suite.reason(case) or "not known"
        reasons[reason] = reasons.get(reason, 0) + 1
    why = "; ".join(f"{number}: {reason}" for reason, number in reasons.items()) or "nothing"
    passed = outcome.total - len(outcome.differing)
    return f"| {suite.name} | {outcome.version} | {passed:,} of {outcome.total:,} | {why} |"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.suites DIR")
    sys.exit(main(Path(sys.argv[1])))
