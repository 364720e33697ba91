"""`python -m bench [startup|calls|sandbox|pure …]`: prints the table, one section after another."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator

from bench import model_calls, pure, sandbox, startup
from bench.measure import HEAD, Row

SECTIONS: dict[str, Callable[[], Iterator[Row]]] = {
    "startup": startup.rows,
    "calls": model_calls.rows,
    "sandbox": sandbox.rows,
    "pure": pure.rows,
}


def main(names: list[str]) -> int:
    """Measures the named sections, all by default."""
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        print(f"unknown section {unknown[0]}; there are {', '.join(SECTIONS)}", file=sys.stderr)
        return 2
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} processors, medians\n")
    print(HEAD)
    for name in names or SECTIONS:
        for row in SECTIONS[name]():
            print(row.text(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
