"""`prosa` called many times in one process that has only the packages named, and may lack more."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

AGREED = {"MARKDOWNLANG_AGREE": "Trans rights are human rights"}

CALLS = """
import io, json, sys
about = json.load(sys.stdin)
sys.path += about["path"]
exec(about["before"])
from prosa.cli.console import Console
from prosa.cli.main import main
told = []
for argv in about["calls"]:
    out, err = io.StringIO(), io.StringIO()
    status = main(argv, Console(io.StringIO(), out, err, about["environ"]))
    told.append([status, out.getvalue(), err.getvalue()])
json.dump(told, sys.stdout)
"""


def called(
    folder: Path, calls: Sequence[Sequence[str]], *, path: Sequence[str], before: str = ""
) -> list[tuple[int, str, str]]:
    """Exit status, output and messages of each call, in ``folder``. The process has no site packages but those of
    ``path``, and runs the statements ``before`` first."""
    environ = AGREED | {"HOME": str(folder / "home"), "PROSA_CACHE_DIR": str(folder / "cache")}
    about = {"path": [*path], "before": before, "calls": [[*call] for call in calls], "environ": environ}
    command = [sys.executable, "-I", "-S", "-c", CALLS]
    options = {"capture_output": True, "text": True, "check": False, "env": environ}
    done = subprocess.run(command, cwd=folder, input=json.dumps(about), **options)
    assert done.returncode == 0, done.stderr
    return [(status, out, err) for status, out, err in json.loads(done.stdout)]
