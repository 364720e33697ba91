"""`python -m tests.requirements`: what is done but named by no test, and what waits for what. `--count`: one line."""

from __future__ import annotations

import sys
from collections import Counter

from tests.requirements.gaps import count, misnamed, untested
from tests.requirements.ledger import load
from tests.requirements.scan import scan


def main() -> int:
    """Prints the table; 1 when there is a gap."""
    requirements, tests = load(), scan()
    print(count(requirements))
    if "--count" in sys.argv:
        return 0
    gaps = untested(requirements, tests)
    wrong = list(misnamed(requirements, tests))
    for title, number in Counter(r.waits_for for r in requirements.values() if r.waits_for).items():
        print(f"  {number:3} wait for: {title}")
    if gaps:
        print(f"\nno asserting test names these {len(gaps)}:")
    for requirement in gaps:
        print(f"  {requirement.id:5} {requirement.says}")
    for sentence in wrong:
        print(f"\n{sentence}")
    return 1 if gaps or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
