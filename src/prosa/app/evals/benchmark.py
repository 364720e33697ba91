"""Files of a test for other tools for skills: `--report DIR/` (X37).

In: a test with its answers, and a folder that the user named. Out: a new iteration in it; those before it stay.
"""

from __future__ import annotations

from pathlib import Path

from prosa.adapters.files.write import write_numbered
from prosa.records.test import ShownTest
from prosa.render.benchmark import benchmark_files


def write_benchmark(shown: ShownTest, folder: Path) -> Path:
    """Write a test as the next iteration in a folder, and return that. Raises `OSError`."""
    return write_numbered(folder, "iteration", benchmark_files(shown))
