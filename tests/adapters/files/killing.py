"""Kills a process of its own by SIGKILL before a chosen change to files: no code of it runs any more.

`main` takes STEP, CODE and ARGUMENTS from the command line, runs ``CODE`` and dies before its change number ``STEP``; a
write is cut in half first. Prints nothing; exit status 0 says that there were fewer changes. Imports stand above an
empty line.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests import warm

CHANGES = ("open", "write", "replace", "rename", "unlink", "remove", "mkdir", "rmdir")


def killed(step: int, code: str, *arguments: str) -> bool:
    """Whether the process was killed before it was done."""
    argv = [sys.executable, "-c", f"from {__name__} import main; main()", str(step), code, *arguments]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    status = warm.run(argv, env=environ, cwd=Path(__file__).parent).returncode
    assert status in (0, -signal.SIGKILL), status
    return status != 0


def main() -> None:
    step, code = int(sys.argv[1]), sys.argv[2]
    left = [step]

    def counted(name: str, under: Any) -> Any:
        def change(*args: Any, **options: Any) -> Any:
            if name != "open" or (len(args) > 1 and args[1] & os.O_CREAT):
                left[0] -= 1
                if not left[0]:
                    if name == "write":
                        under(args[0], bytes(args[1])[: len(args[1]) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
            return under(*args, **options)

        return change

    scope: dict[str, Any] = {"arguments": sys.argv[3:]}
    imports, _, work = code.partition("\n\n")
    exec(compile(imports, "imports", "exec"), scope)  # imports do not count
    for name in CHANGES:
        setattr(os, name, counted(name, getattr(os, name)))
    exec(compile(work, "work", "exec"), scope)
